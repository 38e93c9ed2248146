// SPDX-License-Identifier: MIT
#include "fleet/report/gathered.hpp"

#include "fleet/questions/question.hpp"

#include <utility>

namespace host::fleet::report {

lib::Result<Gathered, StoreFailure> gather(const questions::Asked& asked, std::int64_t made_s, Database& database,
                                           const Limits& limits) {
    Gathered gathered{.asked = asked, .made_s = made_s, .limits = limits};
    questions::Asked all = asked;
    all.limit = 0;
    all.by.clear();
    const auto take = [](auto&& result, auto& into) -> lib::Result<void, StoreFailure> {
        if (!result) {
            return result.error();
        }
        into = std::move(result.value());
        return {};
    };
    if (auto done = take(questions::ask(questions::kNodes, all, database), gathered.nodes); !done) {
        return done.error();
    }
    if (auto done = take(questions::ask(questions::kVerify, all, database), gathered.accounts); !done) {
        return done.error();
    }
    if (auto done = take(counts_of(asked.only, database, limits.counts), gathered.counts); !done) {
        return done.error();
    }
    if (auto done = take(responses_of(asked.only, database, limits.responses), gathered.responses); !done) {
        return done.error();
    }
    if (auto done = take(worst_cases_of(all, database, limits.worst), gathered.worst); !done) {
        return done.error();
    }
    return gathered;
}

} // namespace host::fleet::report
