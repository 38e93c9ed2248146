// SPDX-License-Identifier: MIT
// verify: does the account of each run close, from the machine's counters to the store?
//
//   attempts = committed + dropped + refused          counted by the tracer
//   committed + made by the tracer - overwritten = sent    the machine's totals; of runs without compact chunks
//   sent = listed                                     the totals and the manifest
//   each listed chunk is stored, with its checksum    the manifest and the store
//   the session's rows were made of all its events    the store, if each listed chunk and no other is stored
//   each chunk has all its events                     with --events, in a store that has a table of them
//
// A run whose end is not stored, or whose machine did not count, is open: an unknown count is no fault. Of a run that
// ended badly that is said first; its account may close all the same.
#include "fleet/questions/findings.hpp"
#include "fleet/questions/question.hpp"
#include "fleet/questions/runs.hpp"
#include "fleet/questions/selection.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/text/list.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

namespace host::fleet::questions {

namespace {

// Counts the chunks of one run whose events are not all stored.
struct Events {
    std::uint64_t chunks = 0;
    std::uint64_t expected = 0; // in the first of these chunks
    std::uint64_t found = 0;
    std::string first;
};

using EventsByRun = std::map<RunName, Events>;

struct Judged {
    RunRow run;
    Gaps gaps;
    std::vector<std::string> faults;
    std::string unknown; // why the account is open, if there is no fault

    [[nodiscard]] Verdict verdict() const {
        return !faults.empty() ? Verdict::missing : unknown.empty() ? Verdict::closed : Verdict::open;
    }
};

std::string chunk_text(std::uint64_t cpu, std::uint64_t chunk, std::uint64_t generation) {
    return fmt::format("processor {}, chunk {}, generation {}", cpu, chunk, generation);
}

std::string events_statement(const Selection& selection, const Database& database) {
    return fmt::format("SELECT site, node, boot, cpu, chunk, generation, sum(expected) AS n_expected, sum(present) AS "
                       "n_present FROM (SELECT site, node, boot, cpu, chunk, generation, events AS expected, 0 AS "
                       "present FROM chunks{0} UNION ALL SELECT site, node, boot, cpu, chunk, generation, 0, count(*) "
                       "FROM events{0} GROUP BY site, node, boot, cpu, chunk, generation) GROUP BY site, node, boot, "
                       "cpu, chunk, generation HAVING sum(expected) <> sum(present) ORDER BY site, node, boot, cpu, "
                       "chunk, generation",
                       where(selection, database, {}));
}

std::vector<std::string> verify_statements(const Asked& asked, const Database& database) {
    std::vector<std::string> texts = {runs_statement(asked.only, database), gaps_statement(asked.only, database),
                                      nameless_statement(asked.only, database)};
    if (asked.events) {
        texts.push_back(events_statement(asked.only, database));
    }
    return texts;
}

EventsByRun events_of(const Answer& answer) {
    EventsByRun runs;
    for (const std::vector<Value>& row : answer.rows) {
        Cells cells(row);
        Events& of = runs[run_name(cells)];
        const std::uint64_t cpu = cells.count();
        const std::uint64_t chunk = cells.count();
        const std::string text = chunk_text(cpu, chunk, cells.count());
        const std::uint64_t expected = cells.count();
        if (of.chunks++ == 0) {
            of.first = text;
            of.expected = expected;
            of.found = cells.count();
        }
    }
    return runs;
}

void check_chunks(Judged& judged) {
    const Gaps& gaps = judged.gaps;
    const auto count = [](std::uint64_t number, std::string_view one, std::string_view many) {
        return fmt::format("{} {}", number, number == 1 ? one : many);
    };
    if (gaps.chunks != 0 || gaps.other != 0) {
        std::string what = gaps.chunks != 0 ? count(gaps.chunks, "listed chunk is", "listed chunks are") + " not stored"
                                            : std::string();
        if (gaps.other != 0) {
            what += fmt::format("{}{} stored with other contents than listed", what.empty() ? "" : ", ",
                                count(gaps.other, "chunk is", "chunks are"));
        }
        judged.faults.push_back(fmt::format("{}; the first is {} ({})", what, text::escaped(gaps.file),
                                            chunk_text(gaps.cpu, gaps.chunk, gaps.generation)));
    }
    if (gaps.nameless != 0) {
        judged.faults.push_back(fmt::format("{} of the session without the head of a chunk: only the recorder has {}",
                                            count(gaps.nameless, "file", "files"), gaps.nameless == 1 ? "it" : "them"));
    }
}

// A chunk that came after its session is stored, but jobs and the other rows were made without it.
void check_rows(Judged& judged) {
    const RunRow& run = judged.run;
    const bool as_listed = run.ended && judged.gaps.chunks == 0 && judged.gaps.other == 0 &&
                           run.stored_chunks == run.listed_chunks && run.compact_chunks == 0 &&
                           run.missing_records == 0;
    if (as_listed && run.derived_events != run.stored_events) {
        judged.faults.push_back(fmt::format("its jobs and other rows were made of {} of {} events: chunks came after "
                                            "the session; remove the rows of this run and load it again",
                                            run.derived_events, run.stored_events));
    }
}

void check_transfer(Judged& judged) {
    const RunRow& run = judged.run;
    if (run.missing_records != 0) {
        judged.faults.push_back(fmt::format("{} records are missing in its chunks", run.missing_records));
    }
    if (run.lost_packets != 0) {
        judged.faults.push_back(fmt::format("{} packets were lost", run.lost_packets));
    }
    if (run.ended && !run.complete) {
        judged.faults.push_back(
            fmt::format("its session is not complete{}{}", run.reason.empty() ? "" : ": ", text::escaped(run.reason)));
    }
}

// Checks what the machine counted. Pieces of compact streams are no records, so for them only `remora verify` of the
// session finds whether all have come.
void check_totals(Judged& judged) {
    const RunRow& run = judged.run;
    const auto same = [&judged](std::string_view what, std::uint64_t counted, std::uint64_t found) {
        if (counted != found) {
            judged.faults.push_back(fmt::format("{}: the machine counts {}, {} are listed", what, counted, found));
        }
    };
    if (!run.ended) {
        judged.unknown = "its session has not ended, or its end was not published";
        return;
    }
    if (!run.announced_chunks || !run.announced_records) {
        judged.unknown = "the machine's totals did not come with the session";
        return;
    }
    same("chunks sent", *run.announced_chunks, run.listed_chunks);
    same("records sent", *run.announced_records, run.listed_records);
    if (!run.committed || !run.tracer_made) {
        judged.unknown = "the machine did not say how many records it committed";
        return;
    }
    const std::uint64_t made = *run.committed + *run.tracer_made;
    const std::uint64_t kept = made - std::min(made, run.overwritten.value_or(0));
    const bool all_plain = run.compact_chunks == 0 && run.stored_chunks >= run.listed_chunks; // else it is unknown
    if (all_plain && kept != *run.announced_records) {
        judged.faults.push_back(fmt::format("records committed, and not overwritten: the machine counts {}, and sent "
                                            "{}",
                                            kept, *run.announced_records));
    }
}

Judged judge(const RunRow& run, const GapsByRun& gaps, const EventsByRun& events) {
    Judged judged{.run = run, .gaps = {}, .faults = {}, .unknown = {}};
    if (const auto found = gaps.find(run.name); found != gaps.end()) {
        judged.gaps = found->second;
    }
    check_chunks(judged);
    if (const auto found = events.find(run.name); found != events.end()) {
        judged.faults.push_back(fmt::format("of {} chunks not the right number of events is stored; the first is {}: "
                                            "{} of {}",
                                            found->second.chunks, found->second.first, found->second.found,
                                            found->second.expected));
    }
    check_rows(judged);
    check_transfer(judged);
    check_totals(judged);
    return judged;
}

std::string why_text(const Judged& judged) {
    return judged.faults.empty() ? judged.unknown : text::joined(judged.faults, "; ");
}

std::vector<View> views() {
    return {{"site", "site"},
            {"node", "node"},
            {"boot", "boot"},
            {"started_s", "started", Form::moment},
            {"attempts", "attempts", Form::count},
            {"committed", "committed", Form::count},
            {"dropped", "dropped", Form::count},
            {"refused", "refused", Form::count},
            {"overwritten", "", Form::count, Shown::json},
            {"tracer_made", "", Form::count, Shown::json},
            {"sent_records", "sent", Form::count},
            {"listed_records", "listed", Form::count},
            {"stored_records", "stored", Form::count},
            {"listed_chunks", "chunks", Form::count},
            {"stored_chunks", "stored", Form::count},
            {"state", "account"},
            {"result", "", Form::text, Shown::json},
            {"missing_chunks", "", Form::count, Shown::json},
            {"first_missing_file", "", Form::text, Shown::json},
            {"first_missing_cpu", "", Form::count, Shown::json},
            {"first_missing_chunk", "", Form::count, Shown::json},
            {"first_missing_generation", "", Form::count, Shown::json},
            {"why", "", Form::text, Shown::json}};
}

std::vector<Field> fields_of(const Judged& judged) {
    const RunRow& run = judged.run;
    const Gaps& gaps = judged.gaps;
    const bool gap = !gaps.file.empty();
    const auto attempts = run.committed ? field_of(*run.committed + run.lost_dropped() + run.lost_refused()) : Field();
    const auto of_first = [gap](std::uint64_t number) { return gap ? field_of(number) : Field(); };
    return {run.name.site,
            run.name.node,
            run.name.boot,
            run.started_s,
            attempts,
            field_of(run.committed),
            field_of(run.lost_dropped()),
            field_of(run.lost_refused()),
            field_of(run.lost_overwritten()),
            field_of(run.tracer_made),
            field_of(run.announced_records),
            run.ended ? field_of(run.listed_records) : Field(),
            field_of(run.stored_records),
            run.ended ? field_of(run.listed_chunks) : Field(),
            field_of(run.stored_chunks),
            std::string(verdict_text(judged.verdict())),
            run.result.empty() ? Field() : Field(run.result),
            field_of(gaps.chunks + gaps.other),
            gap ? Field(gaps.file) : Field(),
            of_first(gaps.cpu),
            of_first(gaps.chunk),
            of_first(gaps.generation),
            why_text(judged)};
}

Findings verify_findings(const Asked& asked, std::span<const Answer> answers) {
    const GapsByRun gaps = gaps_of(answers[1], answers[2]);
    const EventsByRun events = asked.events ? events_of(answers[3]) : EventsByRun();
    std::vector<Judged> runs;
    for (const RunRow& run : runs_of(answers[0])) {
        runs.push_back(judge(run, gaps, events));
    }
    std::ranges::stable_sort(runs, {}, [](const Judged& judged) {
        return judged.verdict() == Verdict::missing ? 0
               : judged.run.ended_badly()           ? 1
               : judged.verdict() == Verdict::open  ? 2
                                                    : 3;
    });
    std::map<Verdict, std::uint64_t> counts;
    std::vector<std::string> badly;
    Findings found{.listings = {{.name = "runs", .views = views(), .rows = {}}}, .lines = {}};
    Listing& listing = found.listings.front();
    for (const Judged& judged : runs) {
        ++counts[judged.verdict()];
        found.badly = found.badly || judged.run.ended_badly();
        if (listing.is_full(asked.limit)) {
            continue;
        }
        listing.rows.push_back(fields_of(judged));
        const RunName& name = judged.run.name;
        const std::string run = fmt::format("{}/{}/{}", name.site, name.node, name.boot);
        if (judged.run.ended_badly()) {
            badly.push_back(fmt::format("{}: the run ended badly: {}; `remora why --crash` of its session says more",
                                        run, judged.run.result));
        }
        if (judged.verdict() != Verdict::closed) {
            found.lines.push_back(fmt::format("{}: {}: {}", run, verdict_text(judged.verdict()), why_text(judged)));
        }
    }
    found.lines.insert(found.lines.begin(), badly.begin(), badly.end());
    found.lines.push_back(fmt::format("{} runs: {} closed, {} with something missing, {} open", runs.size(),
                                      counts[Verdict::closed], counts[Verdict::missing], counts[Verdict::open]));
    found.verdict = counts[Verdict::missing] != 0 ? Verdict::missing
                    : counts[Verdict::open] != 0  ? Verdict::open
                                                  : Verdict::closed;
    return found;
}

} // namespace

const Question kVerify = {.name = "verify",
                          .meaning = "does the account of each run close, from the machine's counters to the store; "
                                     "exit status 2 if something is missing, 6 if it stays open, 8 if a run ended "
                                     "badly",
                          .statements = verify_statements,
                          .findings = verify_findings};

} // namespace host::fleet::questions
