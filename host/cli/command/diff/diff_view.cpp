// SPDX-License-Identifier: MIT
// Prints two runs as text: `-` marks what only the first one has, `+` what only the second one has. Writes them as
// JSON, too.
#include "host/cli/command/diff/diff_view.hpp"

#include "host/cli/event/event_lines.hpp"
#include "host/text/format.hpp"
#include "host/text/json_writer.hpp"

#include <algorithm>

namespace host::cli {

namespace {

using analyse::Both;
using analyse::JobChange;
using analyse::TaskChange;
using analyse::TaskFiguresOfRun;

constexpr std::array<std::string_view, 2> kMarks = {"-", "+"};
constexpr std::size_t kSharesShown = 3;

std::string ms(std::uint64_t ns) {
    return fmt::format("{:.3f} ms", static_cast<double>(ns) / 1e6);
}

std::uint64_t distance(const Both<std::uint64_t>& of) {
    return std::max(of[0], of[1]) - std::min(of[0], of[1]);
}

Both<std::uint64_t> responses(const DiffView& view, const JobChange& job) {
    return {view.runs[0]->ns(job.jobs[0]->response()), view.runs[1]->ns(job.jobs[1]->response())};
}

// Returns whether jobs, misses, or a response time (by a step of the resolution) differ.
bool is_worth_showing(const DiffView& view, const TaskChange& task) {
    const auto& [a, b] = task.figures;
    return a.jobs != b.jobs || a.missed != b.missed || a.known != b.known ||
           (task.most && (view.tolerance.times || distance(responses(view, *task.most)) >=
                                                      static_cast<std::uint64_t>(view.tolerance.resolution_ns)));
}

std::string ms(std::optional<std::uint64_t> ns) {
    return ns ? ms(*ns) : "-";
}

std::string change(std::optional<std::uint64_t> before, std::optional<std::uint64_t> after) {
    return before == after || !before || !after
               ? ""
               : fmt::format("{}{}", *before < *after ? '+' : '-',
                             ms(std::max(*before, *after) - std::min(*before, *after)));
}

std::string count_change(std::uint64_t before, std::uint64_t after) {
    return before == after ? "" : fmt::format("{:+}", static_cast<std::int64_t>(after - before));
}

std::string marked(Output& out, std::size_t run, const std::string& line) {
    return out.styled(run == 0 ? Style::bad : Style::good, fmt::format("  {} {}", kMarks[run], line));
}

void print_first(Output& out, const DiffView& view) {
    const std::size_t first = *view.first;
    out.print("decision {} differs: {}\n", first + 1, difference_text(view));
    for (std::size_t i = first - std::min<std::size_t>(first, view.context_lines); i < first; ++i) {
        if (view.line(0, i) == view.line(1, i)) {
            out.print("    {}\n", view.line(0, i));
        } else {
            out.print("{}\n{}\n", marked(out, 0, view.line(0, i)), marked(out, 1, view.line(1, i)));
        }
    }
    for (std::size_t run = 0; run < kMarks.size(); ++run) {
        for (std::size_t i = first; i <= first + view.context_lines; ++i) {
            if (i == first || view.decision(run, i) != nullptr) {
                out.print("{}\n", marked(out, run, view.line(run, i)));
            }
        }
    }
}

void print_job(Output& out, const DiffView& view, const JobChange& job) {
    const Both<std::uint64_t> response = responses(view, job);
    out.print("  job {} changed most: {} -> {}; from its release on, first:\n", job.number, ms(response[0]),
              ms(response[1]));
    for (std::size_t run = 0; run < kMarks.size(); ++run) {
        out.print("  {}\n", marked(out, run, job.decision[run] ? view.line(run, *job.decision[run]) : "(its end)"));
    }
    for (std::size_t i = 0; i < std::min(kSharesShown, job.shares.size()); ++i) {
        const analyse::ShareChange& share = job.shares[i];
        if (distance(share.ns) >= static_cast<std::uint64_t>(view.tolerance.resolution_ns)) {
            out.print("    {:<46} {} -> {}\n", share.culprit, ms(share.ns[0]), ms(share.ns[1]));
        }
    }
}

void print_task(Output& out, const DiffView& view, const TaskChange& task) {
    constexpr auto kRow = "{:<12} {:>5} {:>6} {:>6} {:>15} {:>15} {:>15}\n";
    for (std::size_t run = 0; run < kMarks.size(); ++run) {
        const TaskFiguresOfRun& of = task.figures[run];
        out.print(fmt::runtime(kRow), run == 0 ? task.task : "", kMarks[run], of.jobs, of.missed, ms(of.mean_ns()),
                  ms(of.worst_ns()), ms(of.blocking_ns_sum));
    }
    const auto& [a, b] = task.figures;
    out.print(fmt::runtime(kRow), "", "", count_change(a.jobs, b.jobs), count_change(a.missed, b.missed),
              change(a.mean_ns(), b.mean_ns()), change(a.worst_ns(), b.worst_ns()),
              change(a.blocking_ns_sum, b.blocking_ns_sum));
    if (task.most) {
        print_job(out, view, *task.most);
    }
}

void print_tasks(Output& out, const DiffView& view, const std::vector<TaskChange>& tasks) {
    std::size_t shown = 0;
    for (const TaskChange& task : tasks) {
        if (!is_worth_showing(view, task)) {
            continue;
        }
        if (shown++ == 0) {
            out.print("\n{}\n", out.styled(Style::strong, "task                 jobs missed   mean response  worst "
                                                          "response        blocking"));
        }
        print_task(out, view, task);
    }
    if (const std::size_t same = tasks.size() - shown; same != 0) {
        out.print("\n{} task{} with the same jobs, each within {} of its response time in the other run\n", same,
                  same == 1 ? "" : "s", ms(static_cast<std::uint64_t>(view.tolerance.resolution_ns)));
    }
}

} // namespace

std::string difference_text(const DiffView& view) {
    const analyse::RunDecision* const a = view.decision(0, *view.first);
    const analyse::RunDecision* const b = view.decision(1, *view.first);
    if (a == nullptr || b == nullptr) {
        return fmt::format("{} ends before it", view.titles[a == nullptr ? 0 : 1]);
    }
    if (a->phrase == b->phrase) {
        const std::int64_t later = b->time_ns - a->time_ns;
        return fmt::format("the same at another time, {} {}",
                           ms(static_cast<std::uint64_t>(later < 0 ? -later : later)), later < 0 ? "earlier" : "later");
    }
    const auto runs = [&](const analyse::RunDecision* decision) {
        const std::string& text = view.phrases.text(decision->phrase);
        return text.ends_with(" runs") || text.find(" runs in the place of ") != std::string::npos;
    };
    return runs(a) && runs(b) ? "another task was chosen" : "another decision";
}

void print_diff_text(Output& out, const DiffView& view) {
    for (std::size_t run = 0; run < kMarks.size(); ++run) {
        for (const analyse::Crash& crash : view.crashes[run]) {
            out.print("{}\n", marked(out, run, fmt::format("{}: {}", view.titles[run], analyse::sentence(crash))));
        }
    }
    out.print("{}\n{}\n", marked(out, 0, view.titles[0]), marked(out, 1, view.titles[1]));
    if (view.first) {
        print_first(out, view);
    } else if (!view.are_same()) {
        out.print("{} decisions, the same in the same order, but {}\n", view.runs[0]->decisions.size(),
                  out.styled(Style::bad, "jobs differ"));
    } else {
        out.print("{} decisions, {}\n", view.runs[0]->decisions.size(),
                  out.styled(Style::good,
                             view.tolerance.times ? "the same at the same times" : "the same in the same order"));
    }
    if (view.tasks) {
        print_tasks(out, view, *view.tasks);
    }
}

// --- JSON ------------------------------------------------------------------------------------------------------------

// In the JSON of two runs, pairs are arrays: the value of the first run, then that of the second.

namespace {

using Json = text::JsonDocument;

void add_decision(Json& json, const DiffView& view, std::size_t run, std::optional<std::size_t> index) {
    const analyse::RunDecision* const found = index ? view.decision(run, *index) : nullptr;
    if (found == nullptr) {
        json.value(nullptr);
        return;
    }
    json.begin_object();
    json.member("time_ns", found->time_ns);
    json.member("decision", *index + 1);
    json.member("text", view.phrases.text(found->phrase));
    json.end_object();
}

// of: the value of a run, by its number.
template <typename Function>
void add_pair(Json& json, std::string_view name, Function&& of) {
    json.begin_array(name);
    json.value(of(0));
    json.value(of(1));
    json.end_array();
}

void add_job(Json& json, const DiffView& view, const analyse::JobChange& job) {
    json.begin_object("most_changed");
    json.member("job", job.number);
    add_pair(json, "contexts", [&](std::size_t run) { return job.jobs[run]->job.context; });
    add_pair(json, "response_ns", [&](std::size_t run) { return view.runs[run]->ns(job.jobs[run]->response()); });
    json.begin_array("first_difference");
    add_decision(json, view, 0, job.decision[0]);
    add_decision(json, view, 1, job.decision[1]);
    json.end_array();
    json.begin_array("shares");
    for (const analyse::ShareChange& share : job.shares) {
        json.begin_object();
        json.member("share", share.culprit);
        add_pair(json, "ns", [&](std::size_t run) { return share.ns[run]; });
        json.end_object();
    }
    json.end_array();
    json.end_object();
}

void add_task(Json& json, const DiffView& view, const analyse::TaskChange& task) {
    json.begin_object();
    json.member("task", task.task);
    const auto& of = task.figures;
    add_pair(json, "jobs", [&](std::size_t run) { return of[run].jobs; });
    add_pair(json, "missed", [&](std::size_t run) { return of[run].missed; });
    add_pair(json, "mean_response_ns", [&](std::size_t run) { return of[run].mean_ns(); });
    add_pair(json, "worst_response_ns", [&](std::size_t run) { return of[run].worst_ns(); });
    add_pair(json, "blocking_ns", [&](std::size_t run) { return of[run].blocking_ns_sum; });
    if (task.most) {
        add_job(json, view, *task.most);
    } else {
        json.member("most_changed", nullptr);
    }
    json.end_object();
}

} // namespace

void write_diff_json(fmt::memory_buffer& buffer, const DiffView& view) {
    Json json{buffer};
    json.begin_object();
    json.member("version", kJsonVersion);
    add_pair(json, "traces", [&](std::size_t run) -> std::string_view { return view.titles[run]; });
    json.member("same", view.are_same());
    json.begin_array("crashes");
    for (const std::vector<analyse::Crash>& crashes : view.crashes) {
        json.begin_array();
        for (const analyse::Crash& crash : crashes) {
            write_json(json, crash);
        }
        json.end_array();
    }
    json.end_array();
    add_pair(json, "decisions", [&](std::size_t run) { return view.runs[run]->decisions.size(); });
    if (view.first) {
        json.begin_object("first_difference");
        json.member("what", difference_text(view));
        json.begin_array("decisions");
        add_decision(json, view, 0, view.first);
        add_decision(json, view, 1, view.first);
        json.end_array();
        json.end_object();
    } else {
        json.member("first_difference", nullptr);
    }
    json.array("tasks", view.tasks ? *view.tasks : std::vector<analyse::TaskChange>{},
               [&](const analyse::TaskChange& task) { add_task(json, view, task); });
    json.end_object();
}

void print_diff_json(Output& out, const DiffView& view) {
    write_diff_json(out.buffer(), view);
    out.print("\n");
}

} // namespace host::cli
