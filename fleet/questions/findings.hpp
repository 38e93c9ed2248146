// SPDX-License-Identifier: MIT
// What a question finds: tables of typed fields, which are shown as text or as JSON, sentences below them, and a
// verdict. How they are printed is the command's business.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace host::fleet::questions {

// Not known, a whole number, a ratio, or a text.
using Field = std::variant<std::monostate, std::int64_t, double, std::string>;

enum class Form : std::uint8_t {
    text,
    count,    // 12,345
    duration, // ns; as 1.50 ms
    moment,   // seconds since 1970; as UTC
    share,    // of 1; as per cent
    ratio,    // of two values; as 1.25 x
};

enum class Shown : std::uint8_t { both, text, json };

struct View {
    std::string_view key; // in JSON
    std::string_view heading;
    Form form = Form::text;
    Shown shown = Shown::both;
};

struct Listing {
    std::string_view name; // in JSON
    std::vector<View> views{};
    std::vector<std::vector<Field>> rows{};
    Shown shown = Shown::both;
    bool cut = false; // there are more rows than asked for
};

enum class Verdict : std::uint8_t { none, closed, missing, open };

struct Findings {
    std::vector<Listing> listings;
    std::vector<std::string> lines{}; // below them; in JSON as `lines`
    Verdict verdict = Verdict::none;
};

} // namespace host::fleet::questions
