// SPDX-License-Identifier: MIT
// Prints at most 20 lines: what was asked for, what happened from the release to the end, the cause, what would have
// been needed, and where to search further.
#include "host/cli/command/summary/summary_view.hpp"
#include "host/cli/command/time_text.hpp"
#include "host/cli/command/why/why_view.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/text/wrap.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace host::cli {

namespace {

using analyse::why::Diagnosis;
using analyse::why::Finding;
using analyse::why::JobCase;
using analyse::why::Passage;
using analyse::why::Story;
using schedule::Part;

constexpr std::size_t kLinesMax = 20;
constexpr std::size_t kPassagesLeast = 6; // unless nothing else can be left out
constexpr std::size_t kPortionsShown = 3;
constexpr std::uint64_t kPortionLeast = 50;  // part of its passage
constexpr std::uint64_t kMentionLeast = 100; // part of the response time
constexpr std::size_t kTogetherMax = 3;

class WhyText {
  public:
    explicit WhyText(const WhyView& view, std::size_t columns = text::kColumns)
        : m_columns(columns)
        , m_view(view)
        , m_khz(view.trace.facts().clock.khz) {}

    // The least important parts are left out first: details of the story, what could also be improved, then more of the
    // story. No sentence is cut.
    [[nodiscard]] std::vector<std::string> lines() {
        Story story = m_view.explained().job.story;
        describe(story);
        shorten(story, kPassagesLeast, {});
        drop(kLeast);
        shorten(story, 1, kLeast);
        drop(std::to_array({Kind::note}));
        std::vector<std::string> lines;
        for (const Entry& entry : m_entries) {
            lines.insert(lines.end(), entry.lines.begin(), entry.lines.end());
        }
        return lines;
    }

    // Returns the sentences about the cause, each of them whole.
    [[nodiscard]] std::vector<std::string> verdict() {
        const ExplainedJob& explained = m_view.explained();
        if (m_view.first) {
            add_row();
        }
        if (explained.diagnosis) {
            add_verdict(explained);
        }
        std::vector<std::string> sentences;
        for (const Entry& entry : m_entries) {
            if (entry.kind != Kind::also) {
                sentences.push_back(entry.lines.front());
            }
        }
        return sentences;
    }

  private:
    enum class Kind : std::uint8_t { essential, also, share, needed, note };

    // The parts that can be left out, in this order.
    static constexpr auto kLeast = std::to_array({Kind::also, Kind::share, Kind::needed});

    struct Entry {
        Kind kind = Kind::essential;
        std::vector<std::string> lines;
    };

    // Describes a passage in words; portions with equal words become one.
    struct PassageText {
        lib::Ticks begin{};
        lib::Ticks length{};
        schedule::RecordPlace place{};
        std::vector<std::pair<std::string, lib::Ticks>> portions;

        void add(const std::string& words, lib::Ticks ticks) {
            const auto same = std::ranges::find(portions, words, &std::pair<std::string, lib::Ticks>::first);
            if (same != portions.end()) {
                same->second = same->second + ticks;
            } else {
                portions.emplace_back(words, ticks);
            }
            std::ranges::stable_sort(portions, std::ranges::greater{}, &std::pair<std::string, lib::Ticks>::second);
        }
    };

    void describe(const Story& story) {
        m_entries.clear();
        add_head(m_view.asked);
        const ExplainedJob& explained = m_view.explained();
        if (m_view.first) {
            add_row();
            add_head(*m_view.first);
        }
        if (explained.diagnosis) {
            std::ranges::for_each(passages_of(story), [this](const PassageText& passage) { add(passage); });
            add_verdict(explained);
        }
        add_notes(explained);
    }

    void add_row() {
        add(fmt::format(
            "It began late, because the job before was not complete: job {} is the first of {} such jobs in "
            "a row, and explains them.",
            m_view.first->job.account.job.number, m_view.found.row));
    }

    [[nodiscard]] std::size_t count() const {
        return std::accumulate(m_entries.begin(), m_entries.end(), std::size_t{0},
                               [](std::size_t sum, const Entry& entry) { return sum + entry.lines.size(); });
    }

    // without: what is also left out of the shorter text.
    void shorten(Story& story, std::size_t least, std::span<const Kind> without) {
        while (count() > kLinesMax && story.passages().size() > least) {
            story.reduce(story.passages().size() - 1);
            describe(story);
            drop(without);
        }
    }

    // Leaves out as little as necessary of each of these kinds, the last first.
    void drop(std::span<const Kind> kinds) {
        for (const Kind kind : kinds) {
            while (count() > kLinesMax) {
                const auto last = std::ranges::find(m_entries.rbegin(), m_entries.rend(), kind, &Entry::kind);
                if (last == m_entries.rend()) {
                    break;
                }
                m_entries.erase(std::next(last).base());
            }
        }
    }

    // Joins neighbours that begin with the same words.
    [[nodiscard]] std::vector<PassageText> passages_of(const Story& story) const {
        std::vector<PassageText> all;
        for (const Passage& passage : story.passages()) {
            PassageText one{.begin = passage.begin, .length = passage.length(), .place = passage.place, .portions = {}};
            for (const auto& portion : passage.portions) {
                one.add(text_of(*m_view.explained().job.names, portion.culprit), portion.ticks);
            }
            if (all.empty() || all.back().portions.front().first != one.portions.front().first) {
                all.push_back(std::move(one));
                continue;
            }
            all.back().length = all.back().length + one.length;
            for (const auto& [words, ticks] : one.portions) {
                all.back().add(words, ticks);
            }
        }
        return all;
    }

    [[nodiscard]] std::string time(lib::Ticks ticks) const {
        return Times(m_khz).text(ticks) + (m_khz == 0 ? " ticks" : "");
    }

    [[nodiscard]] static std::string at(const schedule::Moment& moment) {
        return moment.ns ? fmt::format("{:.3f} ms", static_cast<double>(*moment.ns) / 1e6)
                         : fmt::format("{} ticks", grouped(moment.ticks.value));
    }

    [[nodiscard]] std::string at(const JobCase& job, lib::Ticks ticks) const {
        const schedule::Moment& end = *job.account.job.end;
        schedule::Moment moment{ticks};
        if (end.ns && m_khz != 0) {
            moment.ns =
                *end.ns - static_cast<std::int64_t>(lib::TickRate{m_khz}.to_nanoseconds(end.ticks - ticks).value);
        }
        return at(moment);
    }

    [[nodiscard]] std::string record(const schedule::RecordPlace& place) const {
        return m_view.trace.facts().chunks.size() > 1 ? fmt::format("record {} of chunk {}", place.record, place.chunk)
                                                      : fmt::format("record {}", place.record);
    }

    // Prints a line, which continues on the next one if it is too long.
    void add(std::string_view text, Kind kind = Kind::essential) {
        m_entries.push_back({.kind = kind, .lines = {}});
        std::vector<std::string>& lines = m_entries.back().lines;
        std::string_view indent = "";
        while (text.size() > m_columns - indent.size()) {
            const std::size_t room = m_columns - indent.size();
            const std::size_t blank = text.rfind(' ', room);
            const std::size_t end = blank == std::string_view::npos || blank < room / 2 ? room : blank;
            lines.push_back(std::string(indent) + std::string(text.substr(0, text.find_last_not_of(' ', end - 1) + 1)));
            text.remove_prefix(std::min(text.size(), end + (end == blank ? 1 : 0)));
            indent = "    ";
        }
        lines.push_back(std::string(indent) + std::string(text));
    }

    void add_head(const ExplainedJob& explained) {
        const JobCase& job = explained.job;
        const schedule::Job& facts = job.account.job;
        const std::string_view name = job.names->find(tracer::Unit::context, facts.context);
        std::string text =
            fmt::format("{} job {}: released {} ({})",
                        name.empty() ? fmt::format("context {}", facts.context) : text::escaped(name), facts.number,
                        facts.release ? "at " + at(*facts.release) : "earlier", record(job.released));
        if (!explained.diagnosis) {
            add(text);
            add(m_view.damaged ? "why is not known: the trace is damaged, and nothing is concluded from it"
                               : not_known(job.account.unaccounted));
            if (job.open_at_end) {
                add(state_at_end(job, m_khz));
            }
            return;
        }
        text += fmt::format(", ended{} at {} ({})", how(facts.outcome), at(*facts.end), record(job.ended));
        const auto deadline = job.account.job.deadline;
        add(text + (deadline ? ", deadline " + at(*deadline) : std::string(", no deadline")));
        std::string parts;
        for (const Part part : {Part::jitter, Part::execution, Part::interference, Part::blocking, Part::suspension}) {
            if (const lib::Ticks ticks = job.account.part(part); ticks > lib::Ticks{}) {
                parts += fmt::format("{}{} {}", parts.empty() ? "" : " + ", part_name(part), time(ticks));
            }
        }
        add(fmt::format("response time {} = {}", time(job.account.response()), parts));
    }

    [[nodiscard]] static std::string_view how(schedule::Outcome outcome) {
        return outcome == schedule::Outcome::ended     ? " with its task"
               : outcome == schedule::Outcome::aborted ? " by its abortion"
                                                       : "";
    }

    [[nodiscard]] static std::string_view not_known(schedule::Unaccounted why) {
        switch (why) {
        case schedule::Unaccounted::stamps_fell:
            return "why is not known: within it stamps fall";
        case schedule::Unaccounted::early:
            return "why is not known: its release is recorded before its time";
        case schedule::Unaccounted::no_release:
            return "why is not known: records are missing that show how long ago it was released";
        case schedule::Unaccounted::damaged:
            return "why is not known: it began in a damaged chunk";
        case schedule::Unaccounted::no_end:
        case schedule::Unaccounted::no:
            break;
        }
        return "why is not known: its end is not in the trace, or records are missing within it";
    }

    void add(const PassageText& passage) {
        std::string what;
        std::size_t shown = 0;
        const std::uint64_t length = passage.length.value;
        for (const auto& [words, ticks] : passage.portions) {
            if (shown == kPortionsShown || (shown != 0 && ticks.value < length / kPortionLeast)) {
                break;
            }
            what += (shown++ == 0 ? "" : "; ") + words;
            if (ticks.value < length - length / kPortionLeast) {
                what += " " + time(ticks);
            }
        }
        add(fmt::format("{:>14} {:>10}  {}  ({})", at(m_view.explained().job, passage.begin), time(passage.length),
                        what, record(passage.place)));
    }

    void add_verdict(const ExplainedJob& explained) {
        const Diagnosis& diagnosis = *explained.diagnosis;
        if (diagnosis.findings.empty()) {
            return;
        }
        const FindingText main = text_of(m_view, explained, diagnosis.findings.front());
        if (!diagnosis.is_late()) {
            add(fmt::format("{}; the greatest part: {}",
                            diagnosis.lateness ? fmt::format("on time, with {} to spare",
                                                             time({static_cast<std::uint64_t>(-*diagnosis.lateness)}))
                                               : std::string("it has no deadline"),
                            main.what));
            if (!diagnosis.lateness && diagnosis.findings.front().gain < explained.job.account.response()) {
                add(fmt::format("without {}: {}", main.without,
                                time(explained.job.account.response() - diagnosis.findings.front().gain)));
            }
            add_others(explained, 1);
            return;
        }
        const auto late = static_cast<std::uint64_t>(*diagnosis.lateness);
        if (diagnosis.needed == 0) {
            add_shares(explained, late);
            return;
        }
        add("cause: " + main.what);
        const std::string spare =
            diagnosis.together.value >= late
                ? fmt::format("on time, with {} to spare", time({diagnosis.together.value - late}))
                : std::string("on time");
        if (diagnosis.needed == 1) {
            add(fmt::format("without {}: {}", main.without, spare));
        } else {
            add_together(explained, spare);
        }
        add_others(explained, diagnosis.needed);
    }

    // Adds the further causes of a job for which no single cause suffices.
    void add_together(const ExplainedJob& explained, std::string_view spare) {
        const Diagnosis& diagnosis = *explained.diagnosis;
        for (std::size_t i = 1; i < std::min(diagnosis.needed, kTogetherMax); ++i) {
            add("  and: " + text_of(m_view, explained, diagnosis.findings[i]).what, Kind::needed);
        }
        if (diagnosis.needed > kTogetherMax) {
            add(fmt::format("  and {} more", diagnosis.needed - kTogetherMax), Kind::needed);
        }
        add(fmt::format("only without {}: {}", diagnosis.needed == 2 ? "both" : "all of these", spare));
    }

    // Adds the shares in the lateness of a job that no fault and nothing avoidable explains.
    void add_shares(const ExplainedJob& explained, std::uint64_t late) {
        const auto& findings = explained.diagnosis->findings;
        const bool unknown = findings.front().cause == analyse::why::Cause::unknown;
        add(fmt::format("cause: {}; it was {} late", unknown ? "not known" : "no single one suffices", time({late})));
        for (std::size_t i = 0; i < std::min(findings.size(), kTogetherMax); ++i) {
            add("  share: " + text_of(m_view, explained, findings[i]).what, Kind::share);
        }
    }

    void add_others(const ExplainedJob& explained, std::size_t from) {
        const auto& findings = explained.diagnosis->findings;
        const std::uint64_t least = explained.job.account.response().value / kMentionLeast;
        const std::size_t most = from + 2;
        for (std::size_t i = from; i < std::min(findings.size(), most); ++i) {
            if (findings[i].gain.value > least && findings[i].cause != analyse::why::Cause::execution) {
                add("also: " + text_of(m_view, explained, findings[i]).what, Kind::also);
            }
        }
    }

    void add_notes(const ExplainedJob& explained) {
        if (shows_hosts_clock(m_view.trace)) {
            add(kEmulatedNote, Kind::note);
        }
        if (explained.diagnosis && explained.job.account.residue != 0) {
            add(fmt::format("{} ticks of the response time belong to no part: an error of this tool",
                            explained.job.account.residue));
        }
        if (m_view.found.unknown != 0 && m_view.asked.diagnosis) {
            add(fmt::format("{} of its {} jobs are not known: they do not end in the trace, or records are missing",
                            m_view.found.unknown, m_view.found.jobs),
                Kind::note);
        }
        if (m_view.found.contexts.size() > 1 && !m_view.any_task) {
            add(fmt::format("{} tasks have this name: --task takes a context, too ({})", m_view.found.contexts.size(),
                            fmt::join(m_view.found.contexts, ", ")),
                Kind::note);
        }
        const schedule::Job& job = explained.job.account.job;
        const auto release_ns = job.release_ns();
        if (release_ns && job.end && job.end->ns && *release_ns >= 0) {
            add(fmt::format("more: remora print {} --from {} --to {}", text::escaped(m_view.path), *release_ns,
                            *job.end->ns + 1));
        }
    }

    std::size_t m_columns;
    const WhyView& m_view;
    std::uint32_t m_khz;
    std::vector<Entry> m_entries;
};

Style style_of(std::string_view line) {
    return line.starts_with("cause:") ? Style::bad
           : line.starts_with("without") || line.starts_with("only without") || line.starts_with("on time")
               ? Style::good
               : Style::plain;
}

} // namespace

std::vector<std::string> verdict_of(const WhyView& view) {
    return WhyText(view, std::string_view::npos).verdict();
}

void print_why(Output& out, const WhyView& view) {
    for (const std::string& line : WhyText(view).lines()) {
        out.print("{}\n", out.styled(style_of(line), line));
    }
}

} // namespace host::cli
