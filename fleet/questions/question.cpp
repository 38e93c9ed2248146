// SPDX-License-Identifier: MIT
#include "fleet/questions/question.hpp"

#include <algorithm>

namespace host::fleet::questions {

namespace {

constexpr std::array<const Question*, 6> kQuestions = {&kNodes, &kMisses, &kWorst, &kCompare, &kLosses, &kVerify};

} // namespace

std::span<const Question* const> all_questions() {
    return kQuestions;
}

const Question* find_question(std::string_view name) {
    const auto* const found = std::ranges::find(kQuestions, name, &Question::name);
    return found != kQuestions.end() ? *found : nullptr;
}

std::string_view by_of(const Question& question, const Asked& asked) {
    return asked.by.empty() ? question.by.substr(0, question.by.find(' ')) : std::string_view(asked.by);
}

lib::Result<Findings, StoreFailure> ask(const Question& question, const Asked& asked, Database& database) {
    std::vector<Answer> answers;
    for (const std::string& statement : question.statements(asked, database)) {
        auto answer = database.query(statement);
        if (!answer) {
            return answer.error();
        }
        answers.push_back(std::move(answer.value()));
    }
    return question.findings(asked, answers);
}

} // namespace host::fleet::questions
