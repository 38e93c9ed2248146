// SPDX-License-Identifier: MIT
// Formats numbers and times as the commands show them to people, and parses seconds.
#pragma once

#include "host/text/digits.hpp"
#include "host/text/format.hpp"
#include "lib/units.hpp"

#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

namespace host::cli {

// This is the default resolution of times in the lines of a schedule (remora schedule, remora diff --golden).
inline constexpr std::uint64_t kResolutionDefaultUs = 100;
inline constexpr std::int64_t kNsPerUs = 1'000;

// Returns the digits in groups of three: 5,819.
[[nodiscard]] inline std::string grouped(std::uint64_t number) {
    std::string digits = fmt::format("{}", number);
    for (std::size_t i = digits.size(); i > 3; i -= 3) {
        digits.insert(i - 3, 1, ',');
    }
    return digits;
}

// Formats ticks as a time of a fitting unit, or as ticks while the rate is not known.
class Times {
  public:
    explicit Times(std::uint32_t khz)
        : m_khz(khz) {}

    [[nodiscard]] std::string text(lib::Ticks ticks) const {
        if (m_khz == 0) {
            return grouped(ticks.value);
        }
        const auto ns = static_cast<double>(lib::TickRate{m_khz}.to_nanoseconds(ticks).value);
        if (ns < 1e3) {
            return fmt::format("{:.0f} ns", ns);
        }
        if (ns < 1e6) {
            return fmt::format("{:.2f} us", ns / 1e3);
        }
        return ns < 1e9 ? fmt::format("{:.2f} ms", ns / 1e6) : fmt::format("{:.3f} s", ns / 1e9);
    }

  private:
    std::uint32_t m_khz;
};

inline constexpr double kSecondsMax = 31'536'000; // a year

// Converts an option in seconds, such as --timeout 1.5. Returns nothing for 0, the value of an option that was not
// given.
[[nodiscard]] inline std::optional<std::chrono::milliseconds> duration(double seconds) {
    if (seconds <= 0) {
        return std::nullopt;
    }
    return std::chrono::milliseconds(std::llround(std::ceil(seconds * 1000)));
}

// Checks an option in seconds, for Option::check. Not-a-number is refused, because it compares false with everything.
[[nodiscard]] inline std::string check_seconds(const std::string& text) {
    const auto seconds = text::number_of<double>(text);
    const bool fits = seconds && *seconds > 0 && *seconds <= kSecondsMax;
    return fits ? "" : fmt::format("{} is no number of seconds above 0 and up to {:.0f} (a year)", text, kSecondsMax);
}

} // namespace host::cli
