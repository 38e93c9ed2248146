// SPDX-License-Identifier: MIT
// Lists the words for numbers in records, in the order of the kernel's enumerations, and how a number with two parts is
// split. Printers, converters and the dissector all derive from this file. An empty word means that the number has
// none. Host-safe.
#pragma once

#include "lib/wire_numbers.hpp"
#include "tracer/record/event_table.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tracer {

inline constexpr std::array<std::string_view, 2> kStatusNames = {"off", "on"};

// Returns what the low half of a wait word names, or none if it is no number of an object.
[[nodiscard]] constexpr Unit object_of(lib::WaitKind kind) {
    switch (kind) {
    case lib::WaitKind::semaphore:
        return Unit::semaphore;
    case lib::WaitKind::condition:
        return Unit::condition;
    case lib::WaitKind::receive:
    case lib::WaitKind::send:
        return Unit::port;
    case lib::WaitKind::mutex:
        return Unit::mutex;
    case lib::WaitKind::channel:
        return Unit::number;
    case lib::WaitKind::delay:
    case lib::WaitKind::suspended:
    case lib::WaitKind::signal:
        return Unit::none;
    }
    return Unit::none;
}

// Returns the kind in a wait word, or nothing if it has no word.
[[nodiscard]] constexpr std::optional<lib::WaitKind> wait_kind(std::uint32_t wait) {
    return lib::number_from<lib::WaitKind>(wait >> 16);
}

// The word of a block has the flow in its high bits and the number of instructions in its low ones.
inline constexpr unsigned kBlockFlowShift = 12;

struct UnitWords {
    std::span<const std::string_view> words; // of the number, or of the part above its low part
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
    at(Unit::wait) = {.words = lib::kWords<lib::WaitKind>, .low_bits = 16, .low = {}};
    at(Unit::exception) = {.words = lib::kWords<lib::TaskException>, .low_bits = 16, .low = lib::kWords<lib::Reaction>};
    at(Unit::protocol).words = lib::kWords<lib::MutexProtocol>;
    at(Unit::server_kind).words = lib::kWords<lib::ServerKind>;
    at(Unit::flow).words = lib::kWords<lib::Flow>;
    at(Unit::block) = {.words = lib::kWords<lib::Flow>, .low_bits = kBlockFlowShift, .low = {}};
    at(Unit::outcome).words = lib::kWords<lib::StepOutcome>;
    at(Unit::grain).words = lib::kWords<lib::Grain>;
    return table;
}();

} // namespace detail

// Returns the words of a unit. Without words, its numbers are printed as numbers, or have names in the trace.
[[nodiscard]] constexpr const UnitWords& words_of(Unit unit) {
    return detail::kUnitWords[static_cast<std::size_t>(unit)];
}

// Returns the word for a number, or nothing if the list has none.
[[nodiscard]] constexpr std::string_view word_for(std::span<const std::string_view> words, std::uint32_t number) {
    return number < words.size() ? words[number] : std::string_view();
}

} // namespace tracer
