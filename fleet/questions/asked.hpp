// SPDX-License-Identifier: MIT
// What a question is asked about: which runs, from when to when, how much of the answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace host::fleet::questions {

// Empty: any.
struct Selection {
    std::string site{};
    std::string node{};
    std::string boot{};
    std::string application{};
    std::string task{};
    std::optional<std::int64_t> since_s{}; // since 1970, UTC; itself included
    std::optional<std::int64_t> until_s{}; // not included
};

struct Asked {
    std::string place; // as the user named it
    Selection only;
    std::uint64_t limit = 100; // rows of the answer
    std::string by;            // empty: the first of the question's words
    Selection a;               // of two that are compared
    Selection b;
    bool events = false; // verify: count the rows of `events`, too
};

} // namespace host::fleet::questions
