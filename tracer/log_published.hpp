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

// How to handle a code. A code without a row is recorded as it is; readers skip it.
enum class CodeKind : std::uint8_t {
    unknown,
    loggable,
    unloggable, // the empty slot, combined and consumed events
};

inline constexpr auto kCodeKinds = [] {
    std::array<CodeKind, 256> kinds{};
    for (std::size_t i = 0; i < kEvents.size(); ++i) {
        kinds[kEvents[i].code] = is_loggable(kEvents[i]) ? CodeKind::loggable : CodeKind::unloggable;
    }
    return kinds;
}();

namespace detail {

// Never defined: reached only by a constant that log_published() may not take.
[[gnu::error("TRACER_LOGEVENT: no loggable event has this code; use an FTrace_EVT_* or FTrace_filter_* constant")]] void
event_code_is_not_loggable();

// Counts one refused record; next_chunk: see Control::close_active.
void refuse_record();
void request_next_chunk();

[[gnu::always_inline]] inline bool is_ordinary(std::uint16_t type) {
    const auto code = static_cast<std::uint8_t>(type & kCodeMask);
    if (code == kNextChunkCode) {
        request_next_chunk();
        return false;
    }
    if (__builtin_constant_p(type) && (type > kCodeMask || kCodeKinds[code] != CodeKind::loggable)) {
        event_code_is_not_loggable();
    }
    if (kCodeKinds[code] == CodeKind::unloggable) {
        refuse_record();
        return false;
    }
    return true;
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
    const auto code = static_cast<std::uint16_t>(type & kCodeMask);
    if (detail::family_enabled(mask_bit(code)) && detail::is_ordinary(type)) {
        detail::record(code, par1, par2);
    }
}

[[gnu::always_inline]] inline void log_published_fast(std::uint16_t type, std::uint16_t par1, std::uint32_t par2) {
    if (detail::is_ordinary(type)) {
        detail::record(static_cast<std::uint16_t>((type & kCodeMask) | kFastPathBit), par1, par2);
    }
}

} // namespace tracer
