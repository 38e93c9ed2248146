// SPDX-License-Identifier: MIT
// Preambles have no bound but that of 16-bit numbers, so they grow here in a vector; the kernel's MetadataWriter writes
// the same records into a buffer of fixed size.
#include "convert/records/preamble.hpp"

#include "host/trace/event.hpp"
#include "host/trace/names.hpp"
#include "lib/assert.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace host::convert::records {

namespace {

using trace::kCodeOf;

class Preamble {
  public:
    explicit Preamble(lib::Ticks stamp)
        : m_stamp(stamp) {}

    void simple(std::uint8_t code, std::uint16_t par1, std::uint32_t par2) {
        append(tracer::make_record(code, par1, par2, m_stamp));
    }

    // The n-th long event has n ticks more: a reader never joins slots of two of them.
    template <typename Payload>
    void combined(std::uint8_t code, const Payload& payload) {
        std::array<std::byte, tracer::kCombineSlotsMax * tracer::kPayloadBytesPerSlot> bytes{};
        const auto size = tracer::encode_payload(payload, bytes);
        if (!size) {
            return; // a declaration that no long event holds: it cannot have come out of one
        }
        std::array<tracer::Record, tracer::kCombineSlotsMax> slots;
        const auto count = tracer::encode_combined(code, {m_stamp.value + m_events++},
                                                   std::span<const std::byte>(bytes).first(size.value()), slots);
        ASSERT(count.ok());
        for (std::size_t i = 0; i < count.value(); ++i) {
            append(slots[i]);
        }
    }

    [[nodiscard]] std::vector<std::byte>& bytes() { return m_bytes; }

  private:
    void append(const tracer::Record& record) {
        const std::size_t offset = m_bytes.size();
        m_bytes.resize(offset + tracer::kRecordBytes);
        tracer::encode_record(record, std::span(m_bytes).subspan(offset));
    }

    lib::Ticks m_stamp;
    std::uint64_t m_events = 0;
    std::vector<std::byte> m_bytes;
};

void add_tasks(Preamble& out, const trace::Names& names) {
    for (const auto& [context, task] : names.tasks()) {
        if (task.pid) {
            out.simple(kCodeOf<"id">, context, *task.pid);
        }
        if (!task.name.empty()) {
            out.combined(kCodeOf<"task_name">, tracer::NameOf{context, std::string_view(task.name)});
        }
        if (task.parameters) {
            out.combined(kCodeOf<"task_parameters">, *task.parameters);
        }
    }
}

void add_names(Preamble& out, const trace::Names& names) {
    for (const auto& [code, unit] : trace::kNameEvents) {
        for (const auto& [id, name] : trace::sorted_names(names, unit)) {
            out.combined(code, tracer::NameOf{id, name});
        }
    }
}

} // namespace

std::vector<std::byte> make_preamble(tracer::ChunkBegin& begin, const trace::TraceFacts& facts,
                                     const trace::Names& names, lib::Ticks stamp) {
    // chunk_begin states how long the preamble is, and its own length does not depend on that: written twice.
    Preamble out(stamp);
    out.combined(kCodeOf<"chunk_begin">, begin);
    if (facts.build) {
        out.combined(kCodeOf<"build">, *facts.build);
    }
    if (facts.cost) {
        out.combined(kCodeOf<"trace_cost">, *facts.cost);
    }
    out.simple(kCodeOf<"cycles_per_msec">, 0, begin.tsc_khz);
    add_tasks(out, names);
    add_names(out, names);
    for (const auto& [id, declaration] : names.declarations()) {
        out.combined(kCodeOf<"event_declaration">, *declaration);
    }
    for (const auto& [id, text] : names.formats()) {
        out.combined(kCodeOf<"format_text">, tracer::FormatText{id, text});
    }
    out.simple(kCodeOf<"numevents">, 0, begin.records);
    begin.preamble_slots = static_cast<std::uint32_t>(out.bytes().size() / tracer::kRecordBytes);
    Preamble head(stamp);
    head.combined(kCodeOf<"chunk_begin">, begin);
    std::ranges::copy(head.bytes(), out.bytes().begin());
    return std::move(out.bytes());
}

} // namespace host::convert::records
