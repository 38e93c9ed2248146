// SPDX-License-Identifier: MIT
// Splits and checks the header in one pass over the text.
#include "foreign/kev/header.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <charconv>

namespace host::formats::kev {

namespace {

constexpr std::string_view kPrefix = "TRACE_";
constexpr std::string_view kSeparator = "::";

bool is_key_character(char character) {
    return (character >= 'A' && character <= 'Z') || (character >= 'a' && character <= 'z') ||
           (character >= '0' && character <= '9') || character == '_';
}

struct KeyPlace {
    std::size_t begin = std::string_view::npos; // position of TRACE_
    std::size_t end = std::string_view::npos;   // position after ::
};

// Returns the first key that begins at `from` or later.
KeyPlace next_key(std::string_view text, std::size_t from) {
    std::size_t run = from; // start of the current run of key characters
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

// Reads a decimal number, around which blanks are allowed.
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

using Failed = trace::Failure<HeaderError>;
using Judged = lib::Result<void, Failed>;

Failed missing(std::string_view key) {
    return {HeaderError::missing_key,
            fmt::format("the header has no TRACE_{}: it was cut, or is not of a .kev file", key)};
}

lib::Result<std::uint64_t, Failed> number(const Header& header, std::string_view key) {
    const std::string* const text = header.find(key);
    if (text == nullptr) {
        return missing(key);
    }
    const auto parsed = number_of(*text);
    if (!parsed) {
        return Failed{HeaderError::number,
                      fmt::format("TRACE_{} is \"{}\", which is no number", key, text::escaped(*text))};
    }
    return *parsed;
}

Judged judge_version(Header& header) {
    const auto major = number(header, "VER_MAJOR");
    if (!major) {
        return major.error();
    }
    const auto minor = number(header, "VER_MINOR");
    if (!minor) {
        return minor.error();
    }
    const bool older = major.value() == 0 || (major.value() == 1 && minor.value() == 0);
    if (older || major.value() > 1) {
        return Failed{HeaderError::version, fmt::format("version {}.{:02}{}", major.value(), minor.value(),
                                                        older ? ": this reader needs 1.01 or later"
                                                              : " is newer than 1.xx, which this reader knows")};
    }
    header.newer = minor.value() > 1;
    return {};
}

Judged judge_byte_order(Header& header) {
    const bool little = is_true(header.find("LITTLE_ENDIAN"));
    const bool big = is_true(header.find("BIG_ENDIAN"));
    if (little == big) {
        return Failed{HeaderError::byte_order,
                      little ? "both TRACE_LITTLE_ENDIAN and TRACE_BIG_ENDIAN are TRUE"
                             : "neither TRACE_LITTLE_ENDIAN nor TRACE_BIG_ENDIAN is TRUE: the byte order is not known"};
    }
    header.byte_order = little ? ByteOrder::little : ByteOrder::big;
    return {};
}

Judged judge_encoding(Header& header) {
    const std::string* const text = header.find("ENCODING");
    if (text == nullptr) {
        return missing("ENCODING");
    }
    if (!text->starts_with(kEncoding)) {
        return Failed{HeaderError::encoding,
                      fmt::format("TRACE_ENCODING is \"{}\": only \"{}\" is known", text::escaped(*text), kEncoding)};
    }
    return {};
}

Judged judge_numbers(Header& header) {
    std::uint64_t processors = 0;
    for (const auto& [key, value] : {std::pair{"CYCLES_PER_SEC", &header.cycles_per_second},
                                     {"CPU_NUM", &processors},
                                     {"SYSPAGE_LEN", &header.syspage_bytes}}) {
        const auto parsed = number(header, key);
        if (!parsed) {
            return parsed.error();
        }
        *value = parsed.value();
    }
    header.processors = static_cast<std::uint32_t>(std::min<std::uint64_t>(processors, kProcessorsMax));
    if (header.syspage_bytes > kSyspageBytesMax) {
        return Failed{HeaderError::syspage_size,
                      fmt::format("TRACE_SYSPAGE_LEN is {}: more than {} bytes are not believed", header.syspage_bytes,
                                  kSyspageBytesMax)};
    }
    return {};
}

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

lib::Result<Header, Failed> parse_header(std::string_view text) {
    if (!text.starts_with(kHeaderBegin)) {
        return Failed{HeaderError::no_begin, fmt::format("the file does not begin with {}", kHeaderBegin)};
    }
    if (!text.ends_with(kHeaderEnd)) {
        return Failed{HeaderError::no_end,
                      fmt::format("no {} in the first {} bytes: the header was cut", kHeaderEnd, text.size())};
    }
    Header header;
    KeyPlace key = next_key(text, kHeaderBegin.size());
    while (key.begin != std::string_view::npos && key.end != text.size()) {
        const KeyPlace next = next_key(text, key.end);
        const std::size_t name = key.begin + kPrefix.size();
        header.entries.emplace_back(text.substr(name, key.end - kSeparator.size() - name),
                                    text.substr(key.end, next.begin - key.end));
        key = next;
    }
    for (const auto judge : {judge_version, judge_byte_order, judge_encoding, judge_numbers}) {
        if (const auto judged = judge(header); !judged) {
            return judged.error();
        }
    }
    return header;
}

} // namespace host::formats::kev
