// SPDX-License-Identifier: MIT
// The usual run through the C interface: one chunk per processor, then an export through a callback of the kernel.
#include "port/port.hpp"
#include "port/remora_tracer.h"
#include "tracer/ftrace_statements.hpp"
#include "tracer/log.hpp"
#include "tracer/names/metadata_writer.hpp"

#include <algorithm>
#include <array>

namespace port {

using namespace tracer;

namespace {

using Put = int (*)(void* context, const void* bytes, std::size_t size);

// Passes each chunk on in pieces, one per step. The totals of all processors are added up: the last one ends the file.
class CallbackSink final : public ChunkSink {
  public:
    void begin(Put put, void* context) {
        m_put = put;
        m_context = context;
    }

    [[nodiscard]] std::string_view name() const override { return "callback"; }

    [[nodiscard]] lib::Result<void> submit(const ChunkImage& image) override {
        m_image = image;
        m_offset = 0;
        m_state = SinkState::busy;
        return {};
    }

    SinkState step() override {
        auto piece = m_image.piece(m_offset);
        piece = piece.first(std::min(piece.size(), kPieceBytesMax));
        m_offset += piece.size();
        if (piece.empty()) {
            return m_state = SinkState::idle;
        }
        m_result = m_put(m_context, piece.data(), piece.size());
        return m_state = m_result == 0 ? SinkState::busy : SinkState::failed;
    }

    [[nodiscard]] lib::Result<void> finish(const ExportEnd& totals) override {
        m_totals.chunks += totals.chunks;
        m_totals.result = totals.result;
        m_totals.records += totals.records;
        m_totals.dropped += totals.dropped;
        m_totals.refused += totals.refused;
        m_totals.overwritten += totals.overwritten;
        m_totals.committed += totals.committed;
        m_totals.tracer_made += totals.tracer_made;
        return {};
    }

    [[nodiscard]] SinkState state() const override { return m_state; }

    [[nodiscard]] lib::Error last_error() const override { return lib::Error::refused; }

    // Passes the totals on; returns what the callback returned last.
    int end() {
        if (m_ended) {
            return m_result;
        }
        m_ended = true;
        std::array<std::byte, kEndSlots * kRecordBytes> bytes{};
        MetadataWriter writer(bytes, {});
        writer.combined(event_code(ExportEnd::kEvent), m_totals);
        if (m_result == 0) {
            m_result = m_put(m_context, writer.written().data(), writer.written().size());
        }
        return m_result;
    }

    [[nodiscard]] bool used() const { return m_put != nullptr; }

    [[nodiscard]] int result() const { return m_result; }

  private:
    static constexpr std::size_t kPieceBytesMax = 4'096;
    static constexpr std::size_t kEndSlots = 16;

    Put m_put = nullptr;
    void* m_context = nullptr;
    ChunkImage m_image;
    std::size_t m_offset = 0;
    SinkState m_state = SinkState::idle;
    ExportEnd m_totals;
    int m_result = 0;
    bool m_ended = false;
};

struct Export {
    CallbackSink sink;
    unsigned cpu = 0; // whose chunks are passed on
};

constinit Export g_export;

} // namespace

} // namespace port

using namespace tracer;
using namespace port;

extern "C" {

int remora_start(remora_mode mode) {
    Instance& tracer = instance();
    constexpr std::size_t kEmergencyRecords = 8;
    constexpr std::size_t kEmergencyBytes = kEmergencyRecords * kRecordBytes;
    const std::size_t whole =
        std::min<std::size_t>(tracer.store.arena().size() / kRecordBytes * kRecordBytes, kAreaBytesMax);
    if (whole <= kEmergencyBytes) {
        return fail("remora_start", nullptr, 0, "remora_init(), or remora_cpu_init() and GS come first");
    }
    const auto chunk = tracer.store.create(static_cast<std::uint32_t>(whole - kEmergencyBytes), kEmergencyBytes,
                                           static_cast<ChunkFlags>(mode | kFlagFree));
    if (!chunk) {
        return fail("remora_start", "mode", mode, "it is none, or this processor has a chunk already");
    }
    if (!tracer.control.select(*chunk.value()) || !tracer.control.enable()) {
        return fail("remora_start", nullptr, 0, "another call is in progress");
    }
    const std::uint32_t khz = tracer.exporter.setup().tsc_khz;
    log<"cycles_per_msec">(0, khz);
    log<"trace_start">(0, khz);
    detail::state_enabled();
    return 0;
}

void remora_stop(void) {
    if (Instance& tracer = instance(); tracer.control.enabled()) {
        log<"trace_stop">(0, tracer.exporter.setup().tsc_khz);
        tracer.control.disable();
        mark_ended(tracer.cpu.cpu);
    }
}

int remora_export_begin(Put put, void* context) {
    if (instance_of(0) == nullptr || g_export.sink.used()) {
        return fail("remora_export_begin", nullptr, 0, "there is no trace, or it was exported already");
    }
    g_export.sink.begin(put, context);
    for (unsigned cpu = 0; cpu < REMORA_CPUS; ++cpu) {
        if (Instance* const tracer = instance_of(cpu); tracer != nullptr) {
            if (!tracer->exporter.attach(g_export.sink, SinkTime::at_once)) {
                return fail("remora_export_begin", "sizes", 0, "the memory was given with no_export");
            }
            tracer->exporter.begin_exit();
            tracer->exporter.export_unsent();
            tracer->exporter.finish(RunResult::completed);
        }
    }
    return 0;
}

int remora_export_step(void) {
    while (g_export.cpu < REMORA_CPUS && g_export.sink.result() == 0) {
        Instance* const tracer = instance_of(g_export.cpu);
        if (tracer != nullptr && tracer->exporter.step() == StepResult::more) {
            return 1;
        }
        ++g_export.cpu;
    }
    return g_export.sink.end();
}

int remora_export(Put put, void* context) {
    int result = remora_export_begin(put, context);
    if (result == 0) {
        do {
            result = remora_export_step();
        } while (result == 1);
    }
    return result;
}

void remora_totals(remora_counts* counts) {
    const Totals all = instance().control.totals();
    *counts = {all.committed, all.dropped, all.refused, all.tracer_made, all.overwritten};
}

} // extern "C"
