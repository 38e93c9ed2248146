// SPDX-License-Identifier: MIT
#include "host/analyse/why/job_watch.hpp"

#include "host/trace/tick_scale.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace host::analyse::why {

namespace {

using schedule::By;
using schedule::Change;
using schedule::Part;
using trace::kCodeOf;

constexpr std::size_t kPassagesKept = 8;
constexpr std::uint32_t kReasonShift = 16; // of the parameters of task_block and task_exception

bool by_deadline(const trace::Names& names, const tracer::TaskParameters& parameters) {
    const std::string_view level = names.find(tracer::Unit::level, parameters.level);
    return level == "EDF" || level == "CBS" || level == "GRUB";
}

const tracer::TaskParameters* parameters_of(const trace::Names* names, std::uint32_t context) {
    const trace::TaskNames* const task =
        names != nullptr && context < schedule::kContexts ? names->task(static_cast<std::uint16_t>(context)) : nullptr;
    return task != nullptr && task->parameters ? &*task->parameters : nullptr;
}

} // namespace

JobWatch::JobWatch(Wanted wanted, IsTask is_task)
    : m_wanted(wanted)
    , m_is_task(std::move(is_task))
    , m_accounting([this](const schedule::JobAccount& account) { take_account(account); },
                   [this](const schedule::Piece& piece) { take_piece(piece); }) {}

void JobWatch::take(const trace::Event& event, std::uint32_t khz) {
    m_khz = khz;
    m_event = &event;
    if (event.names != nullptr && event.names->version() != m_names_version && !event.metadata) {
        m_names_version = event.names->version();
        m_names = std::make_shared<const trace::Names>(*event.names);
    }
    const std::span<const Change> changes = m_schedule.take(event);
    m_accounting.take(event, changes, m_schedule, khz);
    m_event = nullptr;
    if (event.metadata || event.row == nullptr || !event.is_sound()) {
        return;
    }
    for (const Change& change : changes) {
        if (change.kind == Change::Kind::job_began) {
            open(event);
        } else if (change.kind == Change::Kind::woken) {
            m_tasks[change.context].ready = event.ticks;
        } else if (change.kind == Change::Kind::waits && change.state == schedule::TaskState::mutex) {
            m_tasks[change.context].waits_for = change.object;
        } else if (change.kind == Change::Kind::gap) {
            m_holders.clear();
        } else if (change.kind == Change::Kind::switched) {
            for (auto& [watched, window] : m_windows) {
                if (frees(change.context, watched)) {
                    window.restart(event.ticks);
                }
            }
        }
    }
    note(event);
}

// Returns whether a task of lower priority runs while the watched task has no job: what delays its next job happens
// later.
bool JobWatch::frees(std::uint32_t runs, std::uint32_t watched) const {
    if (runs == watched || m_open.contains(watched) ||
        m_accounting.priorities().order(runs, watched) != schedule::Order::lower) {
        return false;
    }
    const tracer::TaskParameters* const own = parameters_of(m_names.get(), watched);
    const tracer::TaskParameters* const other = parameters_of(m_names.get(), runs);
    // With deadlines a lower priority means a later deadline, and that of the next job may be even later.
    return own == nullptr || other == nullptr || !by_deadline(*m_names, *own) || !by_deadline(*m_names, *other);
}

void JobWatch::note(const trace::Event& event) {
    switch (event.code) {
    case kCodeOf<"interrupt_start">:
    case kCodeOf<"interrupt_hit">:
    case kCodeOf<"timer_wakeup_start">:
        for (auto& [context, job] : m_open) {
            ++job.interrupts[event.is(kCodeOf<"timer_wakeup_start">) ? schedule::kTimerHandler : event.par1];
        }
        break;
    case kCodeOf<"job_deadline">:
    case kCodeOf<"set_priority">: {
        Task& task = m_tasks[event.par1];
        task.deadline = m_accounting.jobs().times().deadline(event.par1);
        task.first_deadline = task.first_deadline ? task.first_deadline : task.deadline;
        break;
    }
    case kCodeOf<"set_mutex_protocol">:
        if (const auto protocol = lib::number_from<lib::MutexProtocol>(event.par1)) {
            m_protocols[event.par2] = *protocol;
        }
        break;
    case kCodeOf<"set_mutex_acquire">:
        m_holders[event.par2] = event.par1;
        break;
    case kCodeOf<"set_mutex_unlock">:
    case kCodeOf<"set_mutex_owner_died">:
        m_holders.erase(event.par2);
        break;
    case kCodeOf<"task_create">:
        m_tasks[event.par1] = {};
        m_rows.erase(event.par1);
        m_windows.erase(event.par1);
        break;
    default:
        note_server(event);
        note_handlers(event);
        break;
    }
}

// A task that waits for a signal takes it without a handler.
void JobWatch::note_handlers(const trace::Event& event) {
    const auto job = m_open.find(event.par1);
    if (event.is(kCodeOf<"task_block">)) {
        const bool signal = event.par2 >> kReasonShift == static_cast<std::uint32_t>(lib::WaitKind::signal);
        m_tasks[event.par1].awaits_signal = m_tasks[event.par1].awaits_signal || signal;
    } else if (event.is(kCodeOf<"signal">)) {
        if (!std::exchange(m_tasks[event.par1].awaits_signal, false) && job != m_open.end()) {
            ++job->second.handlers[event.par2];
        }
    } else if (event.is(kCodeOf<"task_exception">) && job != m_open.end() &&
               (event.par2 & 0xFFFF) == static_cast<std::uint32_t>(lib::Reaction::handler)) {
        ++job->second.handlers[kExceptionHandlers | event.par2 >> kReasonShift];
    }
}

void JobWatch::note_server(const trace::Event& event) {
    switch (event.code) {
    case kCodeOf<"server_create">:
        m_servers[event.par2] = {.id = static_cast<std::uint16_t>(event.par2)};
        break;
    case kCodeOf<"server_attach">:
        m_tasks[event.par2].server = event.par1;
        break;
    case kCodeOf<"server_kind">:
        m_servers[event.par2].kind = lib::number_from<lib::ServerKind>(event.par1);
        break;
    case kCodeOf<"server_capacity">:
        m_servers[event.par1].capacity_ns = event.par2;
        break;
    case kCodeOf<"server_period">:
        m_servers[event.par1].period_ns = event.par2;
        break;
    case kCodeOf<"server_budget">:
        m_servers[event.par1].left = lib::Ticks{event.par2};
        m_servers[event.par1].found_none = event.par2 == 0 ? std::optional(event.ticks) : std::nullopt;
        break;
    case kCodeOf<"server_exhaust">:
        m_servers[event.par2].found_none.reset();
        for (auto& [context, job] : m_open) {
            if (m_tasks[context].server == event.par2 && job.server) {
                ++job.server->exhausted;
            }
        }
        break;
    default:
        break;
    }
}

void JobWatch::open(const trace::Event& event) {
    Task& task = m_tasks[event.par1];
    task.deadline.reset();
    task.first_deadline.reset();
    const schedule::Job* const begun = m_accounting.jobs().open(event.par1);
    task.ready = begun != nullptr && begun->release ? std::min(begun->release->ticks, event.ticks) : event.ticks;
    if (event.names == nullptr || !m_is_task(*event.names, event.par1)) {
        return;
    }
    // The first pieces, those of the jitter, came before and may have made the case.
    JobCase& job = m_open[event.par1];
    job.released = schedule::RecordPlace::of(event);
    if (task.server) {
        const auto server = m_servers.find(*task.server);
        job.server = server != m_servers.end() ? server->second : ServerFacts{};
        job.server->id = *task.server;
        // While the server serves, what it has left is recorded only when it ends that.
        if (const auto runs = m_tasks.find(m_schedule.running(event.cpu));
            runs != m_tasks.end() && runs->second.server == task.server) {
            job.server->left.reset();
        }
    }
}

std::optional<lib::Ticks> JobWatch::declared(std::uint32_t context) const {
    const tracer::TaskParameters* const parameters = parameters_of(m_names.get(), context);
    return m_khz != 0 && parameters != nullptr && parameters->wcet_ns != 0
               ? std::optional(lib::TickRate{m_khz}.to_ticks({parameters->wcet_ns}))
               : std::nullopt;
}

void JobWatch::take_piece(const schedule::Piece& piece) {
    if (piece.culprit.part == Part::execution) {
        take_execution(piece);
    }
    // The case of the job may not exist yet, because open() is called for the release, after the pieces of the jitter.
    const bool jitter = piece.culprit.part == Part::jitter && m_event != nullptr && m_event->names != nullptr &&
                        m_is_task(*m_event->names, piece.context);
    const auto open = jitter ? m_open.try_emplace(piece.context).first : m_open.find(piece.context);
    if (open == m_open.end()) {
        return;
    }
    open->second.story.add(piece);
    open->second.latest = piece;
    add_to_window(piece);
}

void JobWatch::add_to_window(const schedule::Piece& piece) {
    const auto [found, first] = m_windows.try_emplace(piece.context);
    Window& window = found->second;
    const std::optional<ServerFacts>& server = m_open[piece.context].server;
    window.add(piece, m_accounting.executors(piece.place.cpu),
               piece.culprit.part == Part::blocking ? chain_of(piece.culprit) : Chain{},
               server && server->exhausted != 0);
    window.compact(m_runs, judge_for(piece.context));
}

// Follows the holders as they were before the event that ends the piece.
Chain JobWatch::chain_of(const schedule::Culprit& culprit) const {
    constexpr std::size_t kChainMax = 64;
    Chain chain;
    Link link{culprit.object, culprit.holder, {}};
    for (;;) {
        if (const auto protocol = m_protocols.find(link.mutex); protocol != m_protocols.end()) {
            link.protocol = protocol->second;
        }
        chain.push_back(link);
        if (link.holder == culprit.chain_end || link.holder == schedule::kUnknownContext || chain.size() == kChainMax) {
            return chain;
        }
        const auto holder = m_tasks.find(link.holder);
        link = {.mutex = holder != m_tasks.end() ? holder->second.waits_for : 0, .holder = culprit.chain_end};
        if (const auto next = m_holders.find(link.mutex); next != m_holders.end()) {
            link.holder = next->second;
        }
    }
}

void JobWatch::take_execution(const schedule::Piece& piece) {
    Task& task = m_tasks[piece.context];
    if (task.job != piece.job) {
        task.job = piece.job;
        task.executed = {};
    }
    const lib::Ticks before = task.executed;
    task.executed = before + (piece.end - piece.begin);
    const auto limit = declared(piece.context);
    const bool exceeds = limit && task.executed > *limit;
    m_runs.add({.context = piece.context,
                .begin = piece.begin,
                .end = piece.end,
                .excess = exceeds ? task.executed - std::max(before, *limit) : lib::Ticks{},
                .total = task.executed,
                .arrival = task.ready,
                .deadline = task.deadline});
}

std::optional<std::uint64_t> JobWatch::deadline_of(std::uint32_t context) const {
    const auto task = m_tasks.find(context);
    return task != m_tasks.end() ? task->second.deadline : std::nullopt;
}

Window::Judge JobWatch::judge_for(std::uint32_t context) const {
    const auto dated = [this](std::uint32_t task) {
        const tracer::TaskParameters* const parameters = parameters_of(m_names.get(), task);
        return parameters != nullptr && by_deadline(*m_names, *parameters);
    };
    const auto relative = [this](std::uint32_t task) {
        const tracer::TaskParameters* const parameters = parameters_of(m_names.get(), task);
        return parameters == nullptr          ? 0
               : parameters->deadline_ns != 0 ? parameters->deadline_ns
                                              : parameters->period_ns;
    };
    return {.precedes =
                [this, context, dated](std::uint32_t who, std::optional<std::uint64_t> deadline, std::uint32_t than) {
                    const std::uint32_t other = than == schedule::kUnknownContext ? context : than;
                    if (const auto own = deadline_of(other); dated(who) && dated(other) && deadline && own) {
                        return *deadline <= *own;
                    }
                    return m_accounting.priorities().order(who, other) != schedule::Order::lower;
                },
            .is_later =
                [this, context, relative](std::uint32_t who, std::optional<std::uint64_t> deadline) {
                    const auto own = deadline_of(context);
                    return deadline && own && *deadline > *own && relative(who) > relative(context) &&
                           relative(context) != 0;
                },
            .is_postponed =
                [this, context, dated](std::uint32_t who, std::optional<std::uint64_t> deadline) {
                    const auto task = m_tasks.find(context);
                    return task != m_tasks.end() && task->second.first_deadline && deadline && dated(who) &&
                           dated(context) && *deadline > *task->second.first_deadline;
                },
            .is_idle =
                [this](std::uint32_t who) {
                    return m_names != nullptr && m_names->find(tracer::Unit::context, who) == "idle";
                }};
}

void JobWatch::describe(JobCase& job) const {
    const std::uint16_t context = job.account.job.context;
    job.names = m_names != nullptr ? m_names : std::make_shared<const trace::Names>();
    if (const tracer::TaskParameters* const parameters = parameters_of(m_names.get(), context)) {
        job.parameters = *parameters;
    }
    job.story.reduce(kPassagesKept);
}

void JobWatch::attach_window(JobCase& job) {
    const std::uint16_t context = job.account.job.context;
    const auto window = m_windows.find(context);
    if (window == m_windows.end()) {
        return;
    }
    job.window = window->second.at_end(m_runs, judge_for(context));
    for (const Item& item : *job.window) {
        const tracer::TaskParameters* const parameters = parameters_of(m_names.get(), item.executor.who);
        if (parameters != nullptr && parameters->wcet_ns != 0) {
            job.declared_ns[item.executor.who] = parameters->wcet_ns;
        }
    }
}

void JobWatch::take_account(const schedule::JobAccount& account) {
    const auto open = m_open.find(account.job.context);
    if (open == m_open.end()) {
        return;
    }
    JobCase job = std::move(open->second);
    m_open.erase(open);
    job.account = account;
    const bool cut =
        account.job.outcome == schedule::Outcome::ended || account.job.outcome == schedule::Outcome::aborted;
    if (cut && job.latest && job.latest->culprit.part == Part::suspension) {
        job.unended_wait = job.latest;
    }
    if (m_event != nullptr) {
        job.ended = schedule::RecordPlace::of(*m_event);
    }
    job.open_at_end = m_finished;
    ++m_found.jobs;
    m_found.late += account.job.is_late() ? 1U : 0U;
    m_found.unknown += account.is_known() ? 0U : 1U;
    m_found.greatest_number = std::max(m_found.greatest_number, account.job.number);
    m_found.contexts.insert(account.job.context);
    describe(job);
    const bool better = is_better(account);
    if (account.is_known() && (better || account.job.is_late())) {
        attach_window(job);
    }
    if (job.open_at_end) {
        m_found.open = job;
    }
    add_to_row(job);
    if (better) {
        keep(job, m_found);
    }
    if (m_on_late && account.is_known() && account.job.is_late()) {
        Found found;
        keep(job, found);
        m_on_late(found);
    }
    if (const auto window = m_windows.find(account.job.context); window != m_windows.end()) {
        window->second.forget_early();
    }
}

void JobWatch::add_to_row(const JobCase& job) {
    Row& row = m_rows[job.account.job.context];
    const bool waited = job.account.is_known() && job.share_of(Part::jitter, By::backlog) > lib::Ticks{};
    if (!waited || !row.first) {
        row = {.first = job, .length = 0};
    }
    ++row.length;
}

bool JobWatch::is_better(const schedule::JobAccount& account) const {
    const std::optional<JobCase>& kept = m_found.job;
    switch (m_wanted.which) {
    case Wanted::Which::number:
        return !kept && account.job.number == m_wanted.number;
    case Wanted::Which::first_miss:
        if (kept && kept->account.job.is_late()) {
            return false;
        }
        if (account.job.is_late()) {
            return true;
        }
        break;
    case Wanted::Which::worst:
        break;
    }
    if (!account.is_known()) {
        return false;
    }
    return !kept || kept->account.response() < account.response();
}

void JobWatch::keep(const JobCase& job, Found& found) const {
    const Row& row = m_rows.at(job.account.job.context);
    found.job = job;
    found.row = row.length;
    found.first = row.length > 1 ? row.first : std::nullopt;
}

} // namespace host::analyse::why
