// SPDX-License-Identifier: MIT
// Declares the questions that a fleet answers. Each has SQL for the store, and a function that makes findings of the
// answers, so that any store answers it, and it can be tested without one.
#pragma once

#include "fleet/database.hpp"
#include "fleet/questions/findings.hpp"
#include "fleet/questions/selection.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::fleet::questions {

struct Question {
    std::string_view name;
    std::string_view meaning;
    std::string_view by{}; // the words that --by takes, separated by blanks; the first is the default
    std::uint64_t limit = 100;
    std::vector<std::string> (*statements)(const Asked& asked, const Database& database) = nullptr;
    Findings (*findings)(const Asked& asked, std::span<const Answer> answers) = nullptr;
};

extern const Question kNodes;
extern const Question kMisses;
extern const Question kWorst;
extern const Question kCompare;
extern const Question kLosses;
extern const Question kVerify;

[[nodiscard]] std::span<const Question* const> all_questions();

// Returns null if there is no such question.
[[nodiscard]] const Question* find_question(std::string_view name);

// Returns asked.by, or the default of the question.
[[nodiscard]] std::string_view by_of(const Question& question, const Asked& asked);

// Sends the statements one after the other.
[[nodiscard]] lib::Result<Findings, StoreFailure> ask(const Question& question, const Asked& asked, Database& database);

} // namespace host::fleet::questions
