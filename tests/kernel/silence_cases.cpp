// SPDX-License-Identifier: MIT
// Exporting the trace adds nothing to it: while a chunk is compressed, sent to a sink and reported on the
// console, with recording on and no filter, not one record is attempted. Interrupts are off, so that whatever comes
// comes from there.
#include "tests/kernel/row_cases.hpp"
#include "tests/support/attempts/attempts.hpp"
#include "tracer/export/sink.hpp"

#include <array>

namespace {

namespace silence_cases {

using namespace guest;
using namespace guest::rows;

// Reads every byte, a few at a time, and reports it.
class ReadingSink final : public tracer::ChunkSink {
  public:
    constexpr ReadingSink() = default;

    [[nodiscard]] std::string_view name() const override { return "reading"; }

    [[nodiscard]] lib::Result<void> submit(const tracer::ChunkImage& image) override {
        m_image = image;
        m_offset = 0;
        m_state = tracer::SinkState::busy;
        return {};
    }

    tracer::SinkState step() override {
        std::array<std::byte, 256> bytes{};
        const std::size_t read = m_image.read(m_offset, bytes);
        m_offset += read;
        if (read == 0) {
            kernel::console().line("read ", m_offset, " bytes");
            m_state = tracer::SinkState::idle;
        }
        return m_state;
    }

    [[nodiscard]] lib::Result<void> finish(const tracer::ExportEnd&) override { return {}; }

    [[nodiscard]] tracer::SinkState state() const override { return m_state; }

    [[nodiscard]] lib::Error last_error() const override { return lib::Error::io; }

    [[nodiscard]] std::size_t bytes() const { return m_offset; }

  private:
    tracer::ChunkImage m_image;
    std::size_t m_offset = 0;
    tracer::SinkState m_state = tracer::SinkState::idle;
};

constinit ReadingSink g_sink;

int silent_export(const kernel::AppArguments&) {
    const int full = begin(64, FTRACE_CHUNK_FLAG_JTN);
    for (std::uint32_t i = 0; i < 64; ++i) {
        TRACER_LOGEVENT(FTrace_EVT_user_event_0, 0, i);
    }
    static_cast<void>(begin()); // recording continues
    must(tracer::instance().exporter.attach(g_sink, tracer::SinkTime::at_once));
    {
        const arch::IrqGuard guard;
        const std::uint64_t attempts = tests::attempted_records();
        check(FTrace_compress_chunk(full, FTRACE_CHUNK_FLAG_STOP) == 0, "compressed");
        check(FTrace_send_chunk(full, 0, FTRACE_CHUNK_FLAG_STOP) == 0, "sent");
        check(tests::attempted_records() == attempts, "nothing has recorded anything");
        TRACER_LOGEVENT(FTrace_EVT_user_event_0, 0, 0);
        check(tests::attempted_records() == attempts + 1, "which would have been seen");
    }
    check(g_sink.bytes() > 256, "the sink has read it");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kSilence{
    "t_export_is_silent", "carrying the trace away records nothing", &checked<&silent_export>, true};

} // namespace silence_cases

} // namespace
