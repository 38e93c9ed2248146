// SPDX-License-Identifier: MIT
// The cases t_row_*: each provokes kernel paths and looks for the record that the event table promises, both parameters
// compared. docs/events.md says which case covers which row; `make test-structure` compares the two.
#pragma once

#include "tests/kernel/recording.hpp"

namespace guest::rows {

inline constinit Recording recording;

// Selects a fresh chunk, in which recording continues; filters are as they were.
inline int begin(int slots = 250, FTrace_flags mode = FTRACE_CHUNK_FLAG_STOP) {
    const int number = FTrace_chunk_create(slots * kRecordBytes, 8 * kRecordBytes,
                                           static_cast<FTrace_flags>(FTRACE_CHUNK_FLAG_FREE | mode));
    ASSERT(number >= 0 && FTrace_actual_chunk_select(number) == 0 && enable_bare());
    return number;
}

inline void end(int number) {
    FTrace_disable();
    recording.read(number);
}

[[nodiscard]] inline std::size_t count(std::uint16_t code, std::uint16_t par1, std::uint32_t par2) {
    std::size_t found = 0;
    for (const tracer::Record& record : recording.records()) {
        found += record.event_code() == code && record.par1 == par1 && record.par2 == par2 ? 1U : 0U;
    }
    return found;
}

// Expects the record with these parameters at least once.
inline void expect(std::uint16_t code, std::uint32_t par1, std::uint32_t par2) {
    if (count(code, static_cast<std::uint16_t>(par1), par2) == 0) {
        ++failures;
        const tracer::EventRow* const row = tracer::find_event(static_cast<std::uint8_t>(code));
        kernel::console().line("failed: no ", row != nullptr ? row->name : "?", " ", par1, " ", par2);
        for (const tracer::Record& record : recording.records()) {
            if (record.event_code() == code) {
                kernel::console().line("  but: ", record.par1, " ", record.par2);
            }
        }
    }
}

[[nodiscard]] inline std::uint16_t context_of(kernel::Pid pid) {
    return must(kernel::task_info(pid)).context;
}

} // namespace guest::rows
