// SPDX-License-Identifier: MIT
// Plain records in a row, looked at but not decoded: their stamps never fall, nothing is to be reported about any of
// them, and what their events have in common is known. So whoever has a run decodes it, in any thread, while the trace
// is read on.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/names.hpp"
#include "host/trace/tick_scale.hpp"
#include "lib/units.hpp"
#include "tracer/record/record.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace host::formats::dat {

// From least to less than limit.
struct StampRange {
    std::uint64_t least = 0;
    std::uint64_t limit = ~std::uint64_t{0};
};

class RecordRun {
  public:
    // common: the first record's event but for what its 16 bytes say; its names are those that hold for all of them.
    RecordRun(std::span<const std::byte> slots, const trace::Event& common)
        : m_slots(slots.begin(), slots.end())
        , m_names(*common.names)
        , m_common(common) {}

    // Times are those since `start`. Without this, events are not timed.
    void set_time(lib::Ticks start, const trace::TickScale& scale) {
        m_start = start;
        m_scale = scale;
    }

    [[nodiscard]] std::uint16_t cpu() const { return m_common.cpu; }

    [[nodiscard]] lib::Ticks last_stamp() const;

    // 16 bytes for each record, as they were read.
    [[nodiscard]] std::span<const std::byte> slots() const { return m_slots; }

    // Records.
    [[nodiscard]] std::size_t size() const { return m_slots.size() / tracer::kRecordBytes; }

    // What all events of the run have in common, for the events that decode() fills.
    [[nodiscard]] trace::Event common() const;

    // From the record `first` on; all of them are in the run. events: each was common() or of this run before. They are
    // valid as long as the run.
    void decode(std::size_t first, std::span<trace::Event> events) const;

  private:
    std::vector<std::byte> m_slots;
    trace::Names m_names;
    trace::Event m_common;
    lib::Ticks m_start;
    std::optional<trace::TickScale> m_scale;
};

} // namespace host::formats::dat
