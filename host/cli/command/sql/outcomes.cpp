// SPDX-License-Identifier: MIT
// Implements `remora check --expect`: each expectation is evaluated by the tables of `remora sql`, or by the oracle's
// verdicts.
#include "host/cli/expect/expectation.hpp"

#include "host/sql/database.hpp"
#include "host/text/digits.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/text/nearest.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

namespace host::cli {

namespace {

using analyse::oracle::kRules;
using analyse::oracle::kSubjectNames;
using analyse::oracle::Subject;
using analyse::oracle::Tally;
using trace::ExitStatus;

std::string sql_quoted(std::string_view text) {
    std::string quoted = "'";
    for (const char character : text) {
        quoted += character == '\'' ? std::string_view("''") : std::string_view(&character, 1);
    }
    return quoted + "'";
}

class Asked {
  public:
    explicit Asked(const AskOptions& options)
        : m_limit(options.limit) {
        sql::Source::Options source{.path = options.path, .open = options.open, .watch = [this](std::uint64_t) {
                                        return !m_end || std::chrono::steady_clock::now() < *m_end;
                                    }};
        source.open.machine_clock = true; // as in `remora sql`
        if (auto opened = sql::Source::open(source, [](std::string_view) {})) {
            m_source = std::move(opened.value());
        }
        if (m_source != nullptr) {
            if (auto database = sql::Database::open(*m_source)) {
                m_database = std::move(database.value());
            }
        }
    }

    struct Answer {
        std::vector<std::string> values; // of all rows; without NULL
        std::string failure;
        bool stopped = false;
    };

    // Runs a statement of the file, within the limit of time.
    Answer ask_limited(std::string_view statement) {
        m_end = std::chrono::steady_clock::now() + m_limit;
        Answer answer = ask(statement);
        m_end.reset();
        return answer;
    }

    Answer ask(std::string_view statement) {
        Answer answer;
        if (m_database == nullptr) {
            answer.failure = "the trace cannot be read again";
            return answer;
        }
        const auto failure = m_database->run(statement, {.begin = [](std::span<const std::string>) {},
                                                         .row =
                                                             [&](std::span<const sql::Value> values) {
                                                                 for (const sql::Value& value : values) {
                                                                     if (value.kind != sql::Value::Kind::null) {
                                                                         answer.values.emplace_back(value.text);
                                                                     }
                                                                 }
                                                                 return true;
                                                             }});
        if (failure) {
            answer.stopped = failure->stopped;
            answer.failure = failure->stopped ? fmt::format("no answer within {} s (--timeout)",
                                                            std::chrono::duration<double>(m_limit).count())
                                              : text::escaped(failure->text);
        }
        return answer;
    }

    [[nodiscard]] ExitStatus status() const { return m_database == nullptr ? ExitStatus::usage : m_source->status(); }

  private:
    std::chrono::milliseconds m_limit;
    std::optional<std::chrono::steady_clock::time_point> m_end; // end of the time for the running statement
    std::unique_ptr<sql::Source> m_source;
    std::unique_ptr<sql::Database> m_database;
};

ExpectationOutcome outcome_of(const Expectation& expectation, long double found) {
    return {.holds = expectation.holds_for(found), .found = value_text(expectation.figure->unit, found)};
}

// Evaluates the figures that the oracle knows, which have no query.
ExpectationOutcome judged_outcome(const Expectation& expectation, const JudgedTrace& judged) {
    if (expectation.figure->words == "no loss") {
        return {.holds = judged.loss.empty(), .found = judged.loss};
    }
    if (expectation.figure->unit == FigureUnit::count) {
        const auto* const subject = std::ranges::find(kSubjectNames, expectation.names.front());
        const Tally tally = judged.verdicts.of(static_cast<Subject>(subject - kSubjectNames.begin()));
        return outcome_of(expectation, static_cast<long double>(tally.checked));
    }
    const Tally tally =
        expectation.names.empty()
            ? judged.verdicts.total()
            : judged.verdicts.of(
                  std::ranges::find(kRules, expectation.names.front(), &analyse::oracle::RuleRow::name)->rule);
    if (tally.checked == 0) {
        return {.holds = false, .found = fmt::format("nothing was decided, {} undecided", tally.undecided)};
    }
    return {.holds = tally.violations == 0,
            .found = fmt::format("{} violation{}", tally.violations, tally.violations == 1 ? "" : "s")};
}

// Returns why no figure of these names can be computed; empty: it can be.
std::string missing_name(const Expectation& expectation, Asked& asked) {
    const bool mutex_first = expectation.figure->words.find(" MUTEX") != std::string_view::npos;
    for (std::size_t i = 0; i < expectation.names.size(); ++i) {
        const bool mutex = mutex_first && i == 0;
        const std::vector<std::string> names =
            asked
                .ask(mutex ? "SELECT name FROM mutexes UNION SELECT mutex FROM holds"
                           : "SELECT name FROM tasks UNION SELECT task FROM intervals")
                .values;
        if (std::ranges::find(names, expectation.names[i]) == names.end()) {
            return fmt::format("the trace has no {} {}{}", mutex ? "mutex" : "task",
                               text::escaped(expectation.names[i]), text::did_you_mean(expectation.names[i], names));
        }
    }
    return {};
}

ExpectationOutcome asked_outcome(const Expectation& expectation, Asked& asked) {
    const bool names_objects = expectation.figure->words.find(" TASK") != std::string_view::npos ||
                               expectation.figure->words.find(" MUTEX") != std::string_view::npos;
    if (names_objects) {
        if (std::string missing = missing_name(expectation, asked); !missing.empty()) {
            return {.found = std::move(missing)};
        }
    }
    const std::string first = sql_quoted(expectation.names.front());
    const std::string second = sql_quoted(expectation.names.back());
    const bool own = expectation.figure->query.empty(); // sql STATEMENT
    const Asked::Answer answer = own ? asked.ask_limited(expectation.names.front())
                                     : asked.ask(fmt::format(fmt::runtime(expectation.figure->query), first, second));
    if (!answer.failure.empty()) {
        return {.invalid = true, .stopped = answer.stopped, .found = answer.failure};
    }
    if (answer.values.empty()) {
        return {.found = "nothing"};
    }
    const std::string& text = answer.values.front();
    const auto found = text::number_of<long double>(text);
    if (answer.values.size() != 1 || !found) {
        return {.invalid = true,
                .found = answer.values.size() == 1 ? fmt::format("{}, no number", text::escaped(text))
                                                   : fmt::format("{} values, not one", answer.values.size())};
    }
    return outcome_of(expectation, *found);
}

} // namespace

OutcomesOfTrace outcomes_of(std::span<const Expectation> expectations, const AskOptions& options,
                            const JudgedTrace& judged) {
    OutcomesOfTrace result;
    std::unique_ptr<Asked> asked; // has a fixed address, because its source calls it for the time
    for (const Expectation& expectation : expectations) {
        const bool known = expectation.figure->query.empty() && !expectation.figure->words.starts_with("sql ");
        if (!known && asked == nullptr) {
            asked = std::make_unique<Asked>(options);
        }
        ExpectationOutcome outcome = known ? judged_outcome(expectation, judged) : asked_outcome(expectation, *asked);
        const ExitStatus status = outcome.stopped   ? ExitStatus::timeout
                                  : outcome.invalid ? ExitStatus::usage
                                  : outcome.holds   ? ExitStatus::clean
                                                    : ExitStatus::damaged;
        result.status = std::max({result.status, status, asked != nullptr ? asked->status() : ExitStatus::clean});
        if (outcome.stopped) {
            asked.reset(); // a source that was stopped remains so
        }
        result.outcomes.push_back(std::move(outcome));
    }
    return result;
}

} // namespace host::cli
