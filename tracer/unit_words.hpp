// SPDX-License-Identifier: MIT
// The words that numbers in records stand for, in the order of the kernel's enumerations, and how a number is split
// that stands for two things. The only place that says so: printers, converters and the dissector derive from it. An
// empty word: the number has none. Host-safe.
#pragma once

#include "tracer/event_table.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace tracer {

inline constexpr std::array<std::string_view, 9> kWaitNames = {"",     "semaphore", "delay",  "condition", "receive",
                                                               "send", "suspended", "signal", "mutex"};
inline constexpr std::array<std::string_view, 5> kExceptionNames = {"", "deadline_miss", "wcet", "activation", "fault"};
inline constexpr std::array<std::string_view, 5> kReactionNames = {"count", "abort", "kill", "handler", "panic"};
inline constexpr std::array<std::string_view, 4> kProtocolNames = {"none", "inheritance", "ceiling", "stack"};
inline constexpr std::array<std::string_view, 5> kServerKindNames = {"", "CBS", "GRUB", "polling", "deferrable"};
inline constexpr std::array<std::string_view, 2> kStatusNames = {"off", "on"};
inline constexpr std::array<std::string_view, 5> kFlowNames = {"next", "jump", "call", "return", "resumed"};
inline constexpr std::array<std::string_view, 2> kGrainNames = {"instructions", "blocks"};
inline constexpr std::array<std::string_view, 7> kStepOutcomeNames = {
    "compensated", "rollover", "untraced", "near_zero", "near_overflow", "below_trigger", "not_ahead"};

// Of a wait: whose names its low half stands for; none: it stands for nothing.
inline constexpr std::array<Unit, kWaitNames.size()> kWaitObjects = {Unit::none,      Unit::semaphore, Unit::none,
                                                                     Unit::condition, Unit::port,      Unit::port,
                                                                     Unit::none,      Unit::none,      Unit::mutex};

// Of a block: the flow lies above, the number of instructions below.
inline constexpr unsigned kBlockFlowShift = 12;

struct UnitWords {
    std::span<const std::string_view> words; // of the number, or of what lies above its low part
    unsigned low_bits = 0;                   // of a low part; 0: it has none
    std::span<const std::string_view> low;   // its words

    [[nodiscard]] constexpr std::uint32_t high_part(std::uint32_t value) const { return value >> low_bits; }

    [[nodiscard]] constexpr std::uint32_t low_part(std::uint32_t value) const {
        return value & ((std::uint32_t{1} << low_bits) - 1);
    }
};

namespace detail {

inline constexpr auto kUnitWords = [] {
    std::array<UnitWords, kUnits> table{};
    const auto at = [&table](Unit unit) -> UnitWords& { return table[static_cast<std::size_t>(unit)]; };
    at(Unit::status).words = kStatusNames;
    at(Unit::wait) = {.words = kWaitNames, .low_bits = 16, .low = {}};
    at(Unit::exception) = {.words = kExceptionNames, .low_bits = 16, .low = kReactionNames};
    at(Unit::protocol).words = kProtocolNames;
    at(Unit::server_kind).words = kServerKindNames;
    at(Unit::flow).words = kFlowNames;
    at(Unit::block) = {.words = kFlowNames, .low_bits = kBlockFlowShift, .low = {}};
    at(Unit::outcome).words = kStepOutcomeNames;
    at(Unit::grain).words = kGrainNames;
    return table;
}();

} // namespace detail

// No words: numbers of this unit are numbers, or have names in the trace.
[[nodiscard]] constexpr const UnitWords& words_of(Unit unit) {
    return detail::kUnitWords[static_cast<std::size_t>(unit)];
}

// The word for a number, or nothing if the list has none.
[[nodiscard]] constexpr std::string_view word_for(std::span<const std::string_view> words, std::uint32_t number) {
    return number < words.size() ? words[number] : std::string_view();
}

} // namespace tracer
