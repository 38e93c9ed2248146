// SPDX-License-Identifier: MIT
// Splitting and judging the header. One pass over the text.
#include "host/formats/kev/header.hpp"

#include "host/text/escape.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>

namespace host::formats::kev {

namespace {

constexpr std::string_view kPrefix = "TRACE_";
constexpr std::string_view kSeparator = "::";

bool is_key_character(char character) {
    return (character >= 'A' && character <= 'Z') || (character >= 'a' && character <= 'z') ||
           (character >= '0' && character <= '9') || character == '_';
}

struct KeyPlace {
    std::size_t begin = std::string_view::npos; // of TRACE_
    std::size_t end = std::string_view::npos;   // after ::
};

// The first key that begins at `from` or later.
KeyPlace next_key(std::string_view text, std::size_t from) {
    std::size_t run = from; // start of the key characters that are being walked over
    for (std::size_t at = from; at + kSeparator.size() <= text.size(); ++at) {
        if (text.substr(at, kSeparator.size()) == kSeparator) {
            const std::string_view characters = text.substr(run, at - run);
            const std::size_t prefix = characters.rfind(kPrefix);
            if (prefix != std::string_view::npos && prefix + kPrefix.size() < characters.size()) {
                return {.begin = run + prefix, .end = at + kSeparator.size()};
            }
        }
        if (!is_key_character(text[at])) {
            run = at + 1;
        }
    }
    return {};
}

// Decimal, blanks around it allowed.
std::optional<std::uint64_t> number_of(std::string_view text) {
    while (!text.empty() && text.front() == ' ') {
        text.remove_prefix(1);
    }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\n' || text.back() == '\0')) {
        text.remove_suffix(1);
    }
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

bool is_true(const std::string* value) {
    return value != nullptr && value->starts_with("TRUE");
}

struct Judge {
    Header& header;
    std::string& why;

    HeaderError number(std::string_view key, std::uint64_t& value) {
        const std::string* const text = header.find(key);
        if (text == nullptr) {
            why = fmt::format("the header has no TRACE_{}: it was cut, or is not of a .kev file", key);
            return HeaderError::missing_key;
        }
        const auto parsed = number_of(*text);
        if (!parsed) {
            why = fmt::format("TRACE_{} is \"{}\", which is no number", key, text::escaped(*text));
            return HeaderError::number;
        }
        value = *parsed;
        return HeaderError::none;
    }

    HeaderError version() {
        std::uint64_t major = 0;
        std::uint64_t minor = 0;
        if (const auto error = number("VER_MAJOR", major); error != HeaderError::none) {
            return error;
        }
        if (const auto error = number("VER_MINOR", minor); error != HeaderError::none) {
            return error;
        }
        if (major == 0 || (major == 1 && minor == 0)) {
            why = fmt::format("version {}.{:02}: this reader needs 1.01 or later", major, minor);
            return HeaderError::version;
        }
        if (major > 1) {
            why = fmt::format("version {}.{:02} is newer than 1.xx, which this reader knows", major, minor);
            return HeaderError::version;
        }
        header.newer = minor > 1;
        return HeaderError::none;
    }

    HeaderError byte_order() {
        const bool little = is_true(header.find("LITTLE_ENDIAN"));
        const bool big = is_true(header.find("BIG_ENDIAN"));
        if (little == big) {
            why = little ? "both TRACE_LITTLE_ENDIAN and TRACE_BIG_ENDIAN are TRUE"
                         : "neither TRACE_LITTLE_ENDIAN nor TRACE_BIG_ENDIAN is TRUE: the byte order is not known";
            return HeaderError::byte_order;
        }
        header.byte_order = little ? ByteOrder::little : ByteOrder::big;
        return HeaderError::none;
    }

    HeaderError encoding() {
        const std::string* const text = header.find("ENCODING");
        if (text == nullptr) {
            why = "the header has no TRACE_ENCODING: it was cut, or is not of a .kev file";
            return HeaderError::missing_key;
        }
        if (!text->starts_with(kEncoding)) {
            why = fmt::format("TRACE_ENCODING is \"{}\": only \"{}\" is known", text::escaped(*text), kEncoding);
            return HeaderError::encoding;
        }
        return HeaderError::none;
    }

    // Stops at the first error.
    HeaderError all() {
        std::uint64_t processors = 0;
        HeaderError error = version();
        if (error == HeaderError::none) {
            error = byte_order();
        }
        if (error == HeaderError::none) {
            error = encoding();
        }
        if (error == HeaderError::none) {
            error = number("CYCLES_PER_SEC", header.cycles_per_second);
        }
        if (error == HeaderError::none) {
            error = number("CPU_NUM", processors);
        }
        if (error == HeaderError::none) {
            error = number("SYSPAGE_LEN", header.syspage_bytes);
        }
        if (error != HeaderError::none) {
            return error;
        }
        header.processors = static_cast<std::uint32_t>(std::min<std::uint64_t>(processors, kProcessorsMax));
        if (header.syspage_bytes > kSyspageBytesMax) {
            why = fmt::format("TRACE_SYSPAGE_LEN is {}: more than {} bytes are not believed", header.syspage_bytes,
                              kSyspageBytesMax);
            return HeaderError::syspage_size;
        }
        return HeaderError::none;
    }
};

} // namespace

const std::string* Header::find(std::string_view key) const {
    const auto found = std::ranges::find(entries, key, &std::pair<std::string, std::string>::first);
    return found != entries.end() ? &found->second : nullptr;
}

bool Header::is_ours() const {
    const std::string* const system = find("SYSNAME");
    return system != nullptr && *system == kOurSystem;
}

std::optional<std::size_t> find_header_end(std::string_view text) {
    const std::size_t begin = text.find(kHeaderEnd);
    return begin != std::string_view::npos ? std::optional(begin + kHeaderEnd.size()) : std::nullopt;
}

HeaderError parse_header(std::string_view text, Header& header, std::string& why) {
    if (!text.starts_with(kHeaderBegin)) {
        why = fmt::format("the file does not begin with {}", kHeaderBegin);
        return HeaderError::no_begin;
    }
    if (!text.ends_with(kHeaderEnd)) {
        why = fmt::format("no {} in the first {} bytes: the header was cut", kHeaderEnd, text.size());
        return HeaderError::no_end;
    }
    KeyPlace key = next_key(text, kHeaderBegin.size());
    while (key.begin != std::string_view::npos && key.end != text.size()) {
        const KeyPlace next = next_key(text, key.end);
        const std::size_t name = key.begin + kPrefix.size();
        header.entries.emplace_back(text.substr(name, key.end - kSeparator.size() - name),
                                    text.substr(key.end, next.begin - key.end));
        key = next;
    }
    return Judge{header, why}.all();
}

} // namespace host::formats::kev
