// SPDX-License-Identifier: MIT
// A .kev file begins with a text: `TRACE_HEADER_BEGIN::`, then pairs `TRACE_key::value` without anything between a
// value and the next key, `TRACE_HEADER_END::`, then SYSPAGE_LEN bytes of "system page", then the slots. A key begins
// at the last `TRACE_` before a `::` with only letters, digits and underscores between, so a value may be any text,
// even with `TRACE_`, that does not itself look like a key. Keys of any name are kept.
#pragma once

#include "foreign/kev/slot.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/facts.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace host::formats::kev {

inline constexpr std::string_view kHeaderBegin = "TRACE_HEADER_BEGIN::";
inline constexpr std::string_view kHeaderEnd = "TRACE_HEADER_END::";
inline constexpr std::string_view kEncoding = "16 byte events";
inline constexpr std::string_view kOurSystem = "Remora"; // SYSNAME of files whose events are ours

// A longer text is not accepted as a header, nor a longer system page, so that memory is limited.
inline constexpr std::size_t kHeaderBytesMax = 1 << 20;
inline constexpr std::size_t kSyspageBytesMax = 16 << 20;

enum class HeaderError : std::uint8_t {
    no_begin,     // the file does not start with kHeaderBegin
    no_end,       // the input, or kHeaderBytesMax, ends before kHeaderEnd
    missing_key,  // a required key is missing
    version,      // below 1.01, or no number
    byte_order,   // neither little nor big, or both
    encoding,     // slots of another size
    number,       // a value is no number
    syspage_size, // SYSPAGE_LEN is beyond the end of the input, or too large
    cannot_read,  // the read failed; never from parse_header()
};

struct Header {
    std::vector<std::pair<std::string, std::string>> entries; // key without TRACE_, value; in the order of the file
    ByteOrder byte_order = ByteOrder::little;
    std::uint64_t cycles_per_second = 0; // 0 if unknown
    std::uint32_t processors = 0;        // 0 if not stated
    std::uint64_t syspage_bytes = 0;
    bool newer = false; // the file has a later version than this reader was written for

    // Returns the first value of a key, which is given without its TRACE_; null if the file has none.
    [[nodiscard]] const std::string* find(std::string_view key) const;

    // Returns whether our own writer made the file.
    [[nodiscard]] bool is_ours() const;
};

// Returns where kHeaderEnd ends in `text`, if it is there.
[[nodiscard]] std::optional<std::size_t> find_header_end(std::string_view text);

// text: from kHeaderBegin to the end of kHeaderEnd. The text of an error names the key and the remedy.
[[nodiscard]] lib::Result<Header, trace::Failure<HeaderError>> parse_header(std::string_view text);

// The next functions convert cycles to nanoseconds, at any rate that a header may name.

// Returns the rate in Hz, or 0 if it is not plausible.
[[nodiscard]] constexpr std::uint64_t believed_hertz(std::uint64_t cycles_per_second) {
    const std::uint64_t khz = cycles_per_second / 1000;
    return khz >= trace::kTscKhzMin && khz <= trace::kTscKhzMax ? cycles_per_second : 0;
}

// Converts ticks, rounds down, and saturates at 2^63-1. Precondition: hertz is not 0.
[[nodiscard]] constexpr std::int64_t nanoseconds(std::uint64_t ticks, std::uint64_t hertz) {
    __extension__ using Wide = unsigned __int128;
    const Wide time = static_cast<Wide>(ticks) * 1'000'000'000 / hertz;
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    return time > static_cast<Wide>(kMax) ? kMax : static_cast<std::int64_t>(time);
}

// Returns the time since `start`, negative before it.
[[nodiscard]] constexpr std::int64_t nanoseconds_since(std::uint64_t start, std::uint64_t ticks, std::uint64_t hertz) {
    return ticks < start ? -nanoseconds(start - ticks, hertz) : nanoseconds(ticks - start, hertz);
}

} // namespace host::formats::kev
