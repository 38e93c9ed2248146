// SPDX-License-Identifier: MIT
// The events that a trace.dat file of ours holds: their numbers and format texts.
#pragma once

#include "host/trace/names.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace host::convert::linux::kernelshark {

// Numbers of event formats. A record's is kRecordId + code.
inline constexpr std::uint32_t kSwitchId = 100;
inline constexpr std::uint32_t kWakingId = 101;
inline constexpr std::uint32_t kIrqEntryId = 102;
inline constexpr std::uint32_t kIrqExitId = 103;
inline constexpr std::uint32_t kPrioId = 104;
inline constexpr std::uint32_t kDamagedId = 110;
inline constexpr std::uint32_t kLostId = 111;
inline constexpr std::uint32_t kOtherId = 112;
inline constexpr std::uint32_t kRecordId = 200;
inline constexpr std::uint32_t kFirstTextId = 500;
inline constexpr std::uint32_t kIdMax = 0xFFFF;

inline constexpr std::size_t kCommBytes = 16; // as the kernel has it: names of tasks are cut to fit

[[nodiscard]] std::vector<std::string> scheduler_formats();
[[nodiscard]] std::vector<std::string> interrupt_formats();

// Of our events: all of the table, and those that were found on the way, with their ids.
[[nodiscard]] std::vector<std::string> own_formats(const trace::Names& names,
                                                   const std::map<std::string, std::uint32_t>& found);

} // namespace host::convert::linux::kernelshark
