// SPDX-License-Identifier: MIT
// Two runs as JSON. Pairs are arrays: what the first run has, then what the second has.
#include "host/cli/command/diff/diff_view.hpp"
#include "host/cli/event/json_version.hpp"

#include "host/text/json_writer.hpp"

namespace host::cli {

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

// of: of one run, by its number.
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
    json.begin_array("tasks");
    for (const analyse::TaskChange& task : view.tasks ? *view.tasks : std::vector<analyse::TaskChange>{}) {
        add_task(json, view, task);
    }
    json.end_array();
    json.end_object();
}

void print_diff_json(Output& out, const DiffView& view) {
    write_diff_json(out.buffer(), view);
    out.print("\n");
}

} // namespace host::cli
