// SPDX-License-Identifier: MIT
// The text by which Linux describes a traced event (events/SYSTEM/EVENT/format in tracefs): fields with their places,
// and how to print them. A trace.dat file carries one for each of its events.
#pragma once

#include "tracer/record/event_table.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace host::convert::linux::tracefs {

// What every event begins with: u16 type, u8 flags, u8 preempt count, i32 pid.
inline constexpr std::size_t kCommonBytes = 8;

inline constexpr std::uint8_t kFlagHardInterrupt = 0x08;

struct Field {
    std::string_view declaration; // `int prev_prio`; a text of its own place: `__data_loc char[] name`
    std::size_t bytes;
    bool is_signed;
};

// print: in the language of these files, after `print fmt: `.
[[nodiscard]] std::string format(std::string_view name, std::uint32_t id, const std::vector<Field>& fields,
                                 std::string_view print);

// Of a record: par1 and par2 as u32, those that the row uses.
[[nodiscard]] std::string record_format(const tracer::EventRow& row, std::uint32_t id, std::string_view par1_names,
                                        std::string_view par2_names);

// A name that these files can hold: letters, digits and underscores, not empty.
[[nodiscard]] std::string plain_name(std::string_view text_untrusted);

extern const std::string_view kHeaderPage;
extern const std::string_view kHeaderEvent;

} // namespace host::convert::linux::tracefs
