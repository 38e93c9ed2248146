// SPDX-License-Identifier: MIT
// The implementation of TRACER_LOGEVENT and FAST_TRACER_LOGEVENT: logging by code instead of by name. A constant code
// is checked at compile time; any other is checked at run time, and a code that may not be recorded is counted as
// refused. Context: any.
#pragma once

#include "tracer/log.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tracer {

inline constexpr std::uint8_t kNextChunkCode = event_code("next_chunk");

// By code: the bit of CpuTrace::mask that must be set for it to be recorded; 0: no single record of the event table has
// this code.
inline constexpr auto kLoggableBits = [] {
    std::array<std::uint32_t, kCodeMask + 1> bits{};
    for (const EventRow& row : kEvents) {
        bits[row.code] = is_loggable(row) ? mask_bit(row.code) : 0;
    }
    return bits;
}();

namespace detail {

// Never defined: reached only by a constant that log_published() may not take.
[[gnu::error("TRACER_LOGEVENT: no loggable event has this code; use an FTrace_EVT_* or FTrace_filter_* constant")]] void
event_code_is_not_loggable();

// Counts one refused record; next_chunk: see Control::close_active.
void refuse_record();
void request_next_chunk();

// One look-up at run time, none for a constant. 0: not a loggable code.
[[nodiscard, gnu::always_inline]] inline std::uint32_t loggable_bit(std::uint16_t type) {
    const auto code = static_cast<std::uint8_t>(type);
    return code == type ? kLoggableBits[code] : 0;
}

// A code that is not loggable: an instruction, or a mistake.
[[gnu::always_inline]] inline void take_other(std::uint16_t type) {
    if (type == kNextChunkCode) {
        request_next_chunk();
    } else if (__builtin_constant_p(type)) {
        event_code_is_not_loggable();
    } else {
        refuse_record();
    }
}

// The published macros take any integers; values that do not fit are cut, as in C.
template <typename To, typename From>
[[nodiscard, gnu::always_inline]] constexpr To cut_to(From value) {
    if constexpr (std::is_same_v<To, From>) {
        return value;
    } else {
        return static_cast<To>(value);
    }
}

} // namespace detail

[[gnu::always_inline]] inline void log_published(std::uint16_t type, std::uint16_t par1, std::uint32_t par2) {
    if (const std::uint32_t bit = detail::loggable_bit(type); bit != 0) [[likely]] {
        if (detail::family_enabled(bit)) {
            detail::record(type, par1, par2);
        }
    } else if (detail::family_enabled(mask_bit(type))) {
        detail::take_other(type);
    }
}

[[gnu::always_inline]] inline void log_published_fast(std::uint16_t type, std::uint16_t par1, std::uint32_t par2) {
    if (detail::loggable_bit(type) != 0) [[likely]] {
        detail::record(static_cast<std::uint16_t>(type | kFastPathBit), par1, par2);
    } else {
        detail::take_other(type);
    }
}

} // namespace tracer
