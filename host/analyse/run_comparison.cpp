// SPDX-License-Identifier: MIT
#include "host/analyse/run_comparison.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/value_text.hpp"
#include "lib/wire_numbers.hpp"
#include "tracer/record/unit_words.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <span>

namespace host::analyse {

namespace {

using schedule::By;
using schedule::Culprit;
using schedule::JobAccount;
using schedule::Part;
using tracer::Unit;

std::uint64_t distance(std::uint64_t a, std::uint64_t b) {
    return a < b ? b - a : a - b;
}

std::string task_name(const trace::Names& names, std::uint32_t context) {
    return context == schedule::kUnknownContext ? "an unknown task"
                                                : trace::name_or_number(names, Unit::context, context);
}

std::string executor_text(const Culprit& culprit, const trace::Names& names) {
    switch (culprit.by) {
    case By::unknown:
        return "something unknown";
    case By::self:
        return "itself";
    case By::task:
        return task_name(names, culprit.who);
    case By::interrupt:
        return culprit.who == schedule::kTimerHandler
                   ? "the timer"
                   : "interrupt " + trace::name_or_number(names, Unit::vector, culprit.who);
    case By::kernel:
        return "the kernel";
    case By::section:
        return fmt::format("interrupts off in {}", task_name(names, culprit.who));
    case By::throttling:
        return "the empty server " + trace::name_or_number(names, Unit::server, culprit.who);
    case By::backlog:
        return "its job before";
    }
    return {};
}

// object: what a task waits for, as the parameter of task_block.
std::string wait_text(std::uint32_t object, const trace::Names& names) {
    const std::string_view kind = tracer::word_for(lib::kWords<lib::WaitKind>, object >> 16);
    const std::uint32_t id = object & 0xFFFF;
    if (kind == "semaphore" && id != 0) {
        return "semaphore " + trace::name_or_number(names, Unit::semaphore, id);
    }
    return std::string(kind);
}

// Returns the shares of one job in ns, by their words.
std::map<std::string, std::uint64_t> shares_of(const JobAccount& account, const Run& run) {
    std::map<std::string, std::uint64_t> shares;
    for (const schedule::Share& share : account.shares) {
        shares[culprit_text(share.culprit, run.names)] += run.ns(share.ticks);
    }
    return shares;
}

std::vector<ShareChange> share_changes(const JobAccount& a, const Run& run_a, const JobAccount& b, const Run& run_b) {
    std::map<std::string, Both<std::uint64_t>> both;
    for (const auto& [culprit, ns] : shares_of(a, run_a)) {
        both[culprit][0] = ns;
    }
    for (const auto& [culprit, ns] : shares_of(b, run_b)) {
        both[culprit][1] = ns;
    }
    std::vector<ShareChange> changes;
    for (const auto& [culprit, ns] : both) {
        if (ns[0] != ns[1]) {
            changes.push_back({culprit, ns});
        }
    }
    std::ranges::stable_sort(changes, std::ranges::greater{},
                             [](const ShareChange& change) { return distance(change.ns[0], change.ns[1]); });
    return changes;
}

// Returns the decisions from the release of a job to its end.
std::span<const RunDecision> window(const JobAccount& account, const Run& run) {
    const auto from =
        std::ranges::lower_bound(run.decisions, account.job.release_ns().value_or(0), {}, &RunDecision::time_ns);
    const auto to =
        std::ranges::upper_bound(from, run.decisions.end(), account.job.end->ns.value_or(0), {}, &RunDecision::time_ns);
    return {from, to};
}

void find_decision(JobChange& change, const Run& run_a, const Run& run_b, const Tolerance& tolerance) {
    const std::span<const RunDecision> a = window(*change.jobs[0], run_a);
    const std::span<const RunDecision> b = window(*change.jobs[1], run_b);
    // The same decision at another time since the release also counts as different, because it changes the response
    // time.
    const Tolerance strict{.times = true, .resolution_ns = tolerance.resolution_ns};
    const std::int64_t shift =
        change.jobs[1]->job.release_ns().value_or(0) - change.jobs[0]->job.release_ns().value_or(0);
    std::size_t i = 0;
    while (i < a.size() && i < b.size() &&
           strict.is_same(a[i], {.time_ns = b[i].time_ns - shift, .phrase = b[i].phrase})) {
        ++i;
    }
    const auto index = [i](std::span<const RunDecision> of, const Run& run) {
        return i < of.size() ? std::optional(static_cast<std::size_t>(of.data() - run.decisions.data()) + i)
                             : std::nullopt;
    };
    change.decision = {index(a, run_a), index(b, run_b)};
}

TaskFiguresOfRun figures_of(std::span<const JobAccount> jobs, const Run& run) {
    TaskFiguresOfRun figures{.jobs = jobs.size()};
    for (const JobAccount& account : jobs) {
        figures.missed += account.job.is_late() ? 1U : 0U;
        if (account.is_known()) {
            const std::uint64_t response_ns = run.ns(account.response());
            ++figures.known;
            figures.response_ns_sum += response_ns;
            figures.response_ns_max = std::max(figures.response_ns_max, response_ns);
            figures.blocking_ns_sum += run.ns(account.part(Part::blocking));
        }
    }
    return figures;
}

std::span<const JobAccount> jobs_of(const Run& run, const std::string& task) {
    const auto found = run.jobs.find(task);
    return found == run.jobs.end() ? std::span<const JobAccount>() : found->second;
}

// A life is a task of the given name, from its creation to its end: several may have the name, at a time or one after
// another.
struct JobKey {
    std::size_t life = 0;
    std::uint64_t number = 0;

    friend auto operator<=>(const JobKey&, const JobKey&) = default;
};

// Returns the jobs of the tasks of one name. Those of a life have increasing numbers; in a part of a run they are
// counted from its begin.
std::map<JobKey, const JobAccount*> by_key(std::span<const JobAccount> jobs, bool is_part) {
    std::map<JobKey, const JobAccount*> keyed;

    struct Life {
        std::size_t life = 0;
        std::uint64_t number = 0;
        std::uint64_t count = 0;
    };

    std::map<std::uint16_t, Life> latest; // by context
    std::size_t lives = 0;
    for (const JobAccount& account : jobs) {
        const auto [found, is_new] = latest.try_emplace(account.job.context);
        Life& life = found->second;
        if (is_new || account.job.number <= life.number) {
            life = {.life = lives++};
        }
        life.number = account.job.number;
        keyed[{.life = life.life, .number = is_part ? ++life.count : life.number}] = &account;
    }
    return keyed;
}

std::optional<JobChange> most_changed(std::span<const JobAccount> a, const Run& run_a, std::span<const JobAccount> b,
                                      const Run& run_b) {
    JobChange most;
    std::uint64_t greatest = 0;
    const auto others = by_key(b, run_b.is_part);
    for (const auto& [key, job] : by_key(a, run_a.is_part)) {
        const auto other = others.find(key);
        if (other == others.end() || !job->is_known() || !other->second->is_known()) {
            continue;
        }
        const std::uint64_t change = distance(run_a.ns(job->response()), run_b.ns(other->second->response()));
        if (change > greatest) {
            greatest = change;
            most.number = key.number;
            most.jobs = {job, other->second};
        }
    }
    return greatest != 0 ? std::optional(std::move(most)) : std::nullopt;
}

} // namespace

std::uint32_t Phrases::number_of(std::string_view text) {
    const auto [found, added] = m_numbers.try_emplace(std::string(text), static_cast<std::uint32_t>(m_texts.size()));
    if (added) {
        m_texts.push_back(&found->first);
    }
    return found->second;
}

std::uint64_t Run::ns(lib::Ticks ticks) const {
    return khz != 0 ? lib::TickRate{khz}.to_nanoseconds(ticks).value : ticks.value;
}

Run part_of(const Run& run, std::int64_t from_ns, std::optional<std::int64_t> to_ns) {
    const auto in_span = [&](std::int64_t time_ns) { return time_ns >= from_ns && (!to_ns || time_ns < *to_ns); };
    Run part{.decisions = {}, .jobs = {}, .names = run.names, .khz = run.khz, .is_part = true};
    std::ranges::copy_if(run.decisions, std::back_inserter(part.decisions), in_span, &RunDecision::time_ns);
    for (const auto& [task, jobs] : run.jobs) {
        for (const JobAccount& account : jobs) {
            if (const auto release = account.job.release_ns(); release && in_span(*release)) {
                part.jobs[task].push_back(account);
            }
        }
    }
    return part;
}

RunReader::RunReader(Phrases& phrases, Run& run, Filter wanted)
    : m_run(run)
    , m_narrator([&phrases, &run, wanted = std::move(wanted)](const Decision& decision) {
        if (!wanted || wanted(decision)) {
            run.decisions.push_back({decision.event.time_ns, phrases.number_of(decision.text)});
        }
    })
    , m_accounting([this](const JobAccount& account) { m_run.jobs[m_names[account.job.context]].push_back(account); }) {
}

void RunReader::add(const trace::Event& event, std::uint32_t khz) {
    m_narrator.add(event);
    m_run.khz = khz;
    if (event.is_sound() && event.code == trace::kCodeOf<"job_release">) {
        m_names[event.par1] = trace::name_or_number(*event.names, Unit::context, event.par1);
    }
    const std::span<const schedule::Change> changes = m_schedule.take(event);
    m_accounting.take(event, changes, m_schedule, khz);
}

void RunReader::finish() {
    m_accounting.finish();
}

bool Tolerance::is_same(const RunDecision& a, const RunDecision& b) const {
    return a.phrase == b.phrase && (!times || std::abs(a.time_ns / resolution_ns - b.time_ns / resolution_ns) <= 1);
}

std::optional<std::size_t> first_difference(const std::vector<RunDecision>& a, const std::vector<RunDecision>& b,
                                            const Tolerance& tolerance) {
    const auto same = [&](const RunDecision& x, const RunDecision& y) { return tolerance.is_same(x, y); };
    const auto index = static_cast<std::size_t>(std::ranges::mismatch(a, b, same).in1 - a.begin());
    return index == a.size() && index == b.size() ? std::nullopt : std::optional(index);
}

std::vector<TaskChange> task_changes(const Run& a, const Run& b, const Tolerance& tolerance) {
    std::map<std::string, TaskChange> tasks;
    for (const Run* const run : {&a, &b}) {
        for (const auto& [task, jobs] : run->jobs) {
            tasks[task].task = task;
        }
    }
    std::vector<TaskChange> changes;
    for (auto& [task, change] : tasks) {
        const std::span<const JobAccount> jobs_a = jobs_of(a, task);
        const std::span<const JobAccount> jobs_b = jobs_of(b, task);
        change.figures = {figures_of(jobs_a, a), figures_of(jobs_b, b)};
        change.most = most_changed(jobs_a, a, jobs_b, b);
        if (change.most) {
            find_decision(*change.most, a, b, tolerance);
            change.most->shares = share_changes(*change.most->jobs[0], a, *change.most->jobs[1], b);
        }
        changes.push_back(std::move(change));
    }
    return changes;
}

bool are_same(const std::vector<TaskChange>& tasks, const Tolerance& tolerance) {
    return std::ranges::all_of(tasks, [&](const TaskChange& task) {
        const auto& [a, b] = task.figures;
        return a.jobs == b.jobs && a.missed == b.missed && a.known == b.known && !(tolerance.times && task.most);
    });
}

std::string culprit_text(const Culprit& culprit, const trace::Names& names) {
    const std::string_view part = schedule::part_name(culprit.part);
    switch (culprit.part) {
    case Part::execution:
        return std::string(part);
    case Part::suspension:
        return fmt::format("{} for {}", part, wait_text(culprit.object, names));
    case Part::jitter:
    case Part::interference:
        return fmt::format("{} by {}", part, executor_text(culprit, names));
    case Part::blocking:
        return fmt::format("{} by {} ({}{}held by {}, {})", part, executor_text(culprit, names),
                           culprit.object != 0 ? trace::name_or_number(names, Unit::mutex, culprit.object) : "",
                           culprit.object != 0 ? ", " : "", task_name(names, culprit.holder),
                           schedule::inversion_name(culprit.inversion));
    }
    return {};
}

} // namespace host::analyse
