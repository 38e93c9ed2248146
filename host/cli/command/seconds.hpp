// SPDX-License-Identifier: MIT
// A number of seconds as an option, such as --timeout 1.5.
#pragma once

#include "host/text/format.hpp"

#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>
#include <string>

namespace host::cli {

inline constexpr double kSecondsMax = 31'536'000; // a year

// Nothing for 0, which an option has that was not given.
[[nodiscard]] inline std::optional<std::chrono::milliseconds> duration(double seconds) {
    if (seconds <= 0) {
        return std::nullopt;
    }
    return std::chrono::milliseconds(std::llround(std::ceil(seconds * 1000)));
}

// For Option::check. Not a number compares false with everything, so it is refused, too.
[[nodiscard]] inline std::string check_seconds(const std::string& text) {
    double seconds = 0;
    const char* const end = text.data() + text.size();
    const auto [parsed, error] = std::from_chars(text.data(), end, seconds);
    const bool fits = error == std::errc{} && parsed == end && seconds > 0 && seconds <= kSecondsMax;
    return fits ? "" : fmt::format("{} is no number of seconds above 0 and up to {:.0f} (a year)", text, kSecondsMax);
}

} // namespace host::cli
