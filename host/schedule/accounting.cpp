// SPDX-License-Identifier: MIT
// After each event, each job that is open on the event's processor is classified anew. Where the class changes, a piece
// ends.
#include "host/schedule/accounting.hpp"

#include "lib/wire_numbers.hpp"

#include <algorithm>
#include <utility>

namespace host::schedule {

namespace {

using Kind = Change::Kind;
using trace::kCodeOf;

constexpr std::uint32_t kChainMax = 64; // longer ones are circles

// Events without a change of the schedule, or of what executes, that may change a class.
bool may_reclassify(std::uint8_t code) {
    switch (code) {
    case kCodeOf<"task_dispatch">:
    case kCodeOf<"set_mutex_acquire">:
    case kCodeOf<"set_mutex_unlock">:
    case kCodeOf<"set_mutex_owner_died">:
    case kCodeOf<"job_deadline">:
    case kCodeOf<"deadline_change">:
    case kCodeOf<"server_budget">:
        return true;
    default:
        return false;
    }
}

Culprit interference(const Executor& executor) {
    return {.part = Part::interference, .by = executor.by, .who = executor.who};
}

} // namespace

Accounting::Accounting(Sink sink, PieceSink pieces)
    : m_sink(std::move(sink))
    , m_pieces(std::move(pieces))
    , m_jobs([this](const Job& job) { end_job(job); }) {}

// Precondition: a context of an event, which has 16 bits.
Accounting::Task& Accounting::task(std::uint32_t context) {
    if (context >= m_tasks.size()) {
        m_tasks.resize(std::size_t{context} + 1);
    }
    return m_tasks[context];
}

ExecutorHistory& Accounting::history(std::uint16_t cpu) {
    if (cpu >= m_processors.size()) {
        m_processors.resize(std::size_t{cpu} + 1);
    }
    if (m_processors[cpu] == nullptr) {
        m_processors[cpu] = std::make_unique<ExecutorHistory>();
    }
    return *m_processors[cpu];
}

Accounting::Open* Accounting::open_of(std::uint32_t context) {
    const std::uint32_t position = context < m_tasks.size() ? m_tasks[context].open : 0;
    return position != 0 ? &m_open[position - 1] : nullptr;
}

std::uint32_t Accounting::wait_of(std::uint32_t context) const {
    return context < m_tasks.size() ? m_tasks[context].wait : 0;
}

// None while the mutex is free between two holders: the protocol none hands it over in the unlock.
std::optional<std::uint32_t> Accounting::blocked_by(std::uint32_t context, const Schedule& schedule) const {
    if (schedule.state(context) != TaskState::mutex) {
        return std::nullopt;
    }
    const std::uint32_t mutex = wait_of(context);
    const auto found = m_held.find(mutex);
    return found == m_held.end() || found->second.order != kFree ? std::optional(mutex) : std::nullopt;
}

// A task releases what it took last first.
std::uint32_t Accounting::latest_mutex_of(std::uint32_t context) const {
    std::uint32_t mutex = 0;
    std::uint64_t latest = 0;
    for (const auto& [id, held] : m_held) {
        if (held.context == context && held.order > latest) {
            mutex = id;
            latest = held.order;
        }
    }
    return mutex;
}

void Accounting::take(const trace::Event& event, std::span<const Change> changes, const Schedule& schedule,
                      std::uint32_t khz) {
    if (event.metadata || event.row == nullptr || !event.is_sound()) {
        return;
    }
    if (event.ticks < m_now) {
        std::ranges::for_each(m_open, [](Open& open) { open.fell = true; });
    }
    m_now = std::max(m_now, event.ticks);
    m_cpu = event.cpu;
    m_priorities.take(event);
    ExecutorHistory& executors = history(event.cpu);
    const Executor before = executors.now();
    executors.take(event, schedule, m_now);
    note_mutex(event);
    for (const Change& change : changes) {
        note(event, change);
    }
    m_jobs.take(event, changes, khz);
    for (const Change& change : changes) {
        if (change.kind == Kind::job_began) {
            begin_job(event, static_cast<std::uint16_t>(change.context));
        } else if (change.kind == Kind::switched) {
            switched(event, change, schedule);
        } else if (change.kind == Kind::gap) {
            m_priorities.forget();
            m_held.clear();
        }
    }
    if (!changes.empty() || may_reclassify(event.code) || !(before == executors.now())) {
        reclassify(event, schedule);
    }
}

void Accounting::note(const trace::Event& event, const Change& change) {
    if (change.kind == Kind::waits && is_blocked(change.state)) {
        task(change.context).wait =
            event.is(kCodeOf<"task_block">) && change.state != TaskState::mutex ? event.par2 : change.object;
    } else if (change.kind == Kind::created) {
        task(change.context).last_end.reset();
    }
}

void Accounting::note_mutex(const trace::Event& event) {
    if (event.is(kCodeOf<"set_mutex_acquire">)) {
        m_held[event.par2] = {event.par1, ++m_acquisitions};
    } else if (event.is(kCodeOf<"set_mutex_unlock">) || event.is(kCodeOf<"set_mutex_owner_died">)) {
        m_held[event.par2] = {kUnknownContext, kFree};
    }
}

void Accounting::begin_job(const trace::Event& event, std::uint16_t context) {
    const Job* const job = m_jobs.open(context);
    if (job == nullptr) {
        return;
    }
    Open* const left = open_of(context); // the record of its end is missing
    Open& open = left != nullptr ? *left : m_open.emplace_back();
    if (left != nullptr) {
        open = {};
    } else {
        task(context).open = static_cast<std::uint32_t>(m_open.size());
    }
    open.account.job = *job;
    open.account.cpu = event.cpu;
    open.account.ready = Moment::of(event);
    open.since = m_now;
    open.records_since = history(event.cpu).records();
    open.place = RecordPlace::of(event);
    open.fell = event.ticks < m_now;
    add_jitter(open, event, job->release.ticks);
}

// What ran from the release to its record; as long as an earlier job of the task was not complete, that one.
void Accounting::add_jitter(Open& open, const trace::Event& event, lib::Ticks release) {
    const ExecutorHistory& history = this->history(event.cpu);
    const auto give = [&](const Executor& executor, lib::Ticks begin, lib::Ticks end) {
        add(open, {.culprit = {.part = Part::jitter, .by = executor.by, .who = executor.who},
                   .begin = begin,
                   .end = end,
                   .records = history.records_within(begin, end),
                   .place = open.place});
    };
    lib::Ticks begin = release;
    if (const auto last_end = task(event.par1).last_end; last_end && *last_end > release) {
        begin = std::min(*last_end, m_now);
        give({By::backlog, event.par1}, release, begin);
    }
    history.within(begin, m_now, [&](const ExecutorHistory::Stretch& stretch) {
        give(stretch.executor, stretch.begin, stretch.end);
    });
}

void Accounting::switched(const trace::Event& event, const Change& change, const Schedule& schedule) {
    if (Open* const chosen = open_of(change.context)) {
        JobAccount& account = chosen->account;
        if (account.dispatches != 0 && account.cpu != event.cpu) {
            ++account.migrations;
        }
        if (account.cpu != event.cpu) {
            end_piece(*chosen);
            account.cpu = event.cpu;
            chosen->records_since = history(event.cpu).records();
        }
        ++account.dispatches;
    }
    if (Open* const left = open_of(change.other); left != nullptr && schedule.state(change.other) == TaskState::ready) {
        ++left->account.preemptions;
    }
}

void Accounting::reclassify(const trace::Event& event, const Schedule& schedule) {
    for (Open& open : m_open) {
        if (open.account.cpu != event.cpu) {
            continue;
        }
        const Culprit next = classify(open, schedule);
        if (next == open.now && open.since != m_now) {
            continue;
        }
        end_piece(open);
        open.now = next;
        open.on_processor = schedule.running(open.account.cpu) == open.account.job.context;
        open.place = RecordPlace::of(event);
    }
}

Culprit Accounting::classify(const Open& open, const Schedule& schedule) const {
    const std::uint32_t context = open.account.job.context;
    const std::uint16_t cpu = open.account.cpu;
    if (schedule.running(cpu) == context) {
        const Executor executor = m_processors[cpu]->now();
        return executor.by == By::interrupt ? interference(executor) : Culprit{.part = Part::execution, .by = By::self};
    }
    const TaskState state = schedule.state(context);
    if (const auto mutex = blocked_by(context, schedule)) {
        return classify_mutex(context, *mutex, schedule, cpu);
    }
    if (state == TaskState::ready || state == TaskState::mutex) {
        return classify_ready(context, schedule, cpu);
    }
    return is_blocked(state) ? Culprit{.part = Part::suspension, .by = By::self, .object = wait_of(context)}
                             : Culprit{};
}

Culprit Accounting::classify_ready(std::uint32_t context, const Schedule& schedule, std::uint16_t cpu) const {
    if (const auto server = m_priorities.throttled_by(context)) {
        return {.part = Part::interference, .by = By::throttling, .who = *server};
    }
    const Executor executor = m_processors[cpu]->now();
    if (executor.by != By::task && executor.by != By::section) {
        return interference(executor);
    }
    const std::uint32_t place = schedule.processor(cpu).place;
    const Executor running{By::task, executor.who};
    if (executor.who == place) {
        // It runs on although the task precedes it: the scheduler has not been asked yet.
        const bool undecided = m_priorities.order(place, context) == Order::lower;
        return interference(undecided && executor.by == By::task ? Executor{By::kernel, executor.who}
                            : undecided                          ? executor
                                                                 : running);
    }
    if (place == context || m_priorities.order(executor.who, context) == Order::lower) {
        // It runs in the place of this task (a ceiling stops it), or of one that precedes it.
        const auto waited_for = place != context ? blocked_by(place, schedule) : std::nullopt;
        return {.part = Part::blocking,
                .by = By::task,
                .inversion = Inversion::bounded,
                .who = executor.who,
                .object = waited_for.value_or(latest_mutex_of(executor.who)),
                .holder = executor.who,
                .chain_end = executor.who};
    }
    return interference(running);
}

Culprit Accounting::classify_mutex(std::uint32_t context, std::uint32_t mutex, const Schedule& schedule,
                                   std::uint16_t cpu) const {
    const Executor executor = m_processors[cpu]->now();
    Culprit culprit{.part = Part::blocking,
                    .by = executor.by == By::section ? By::task : executor.by,
                    .who = executor.who,
                    .object = mutex};
    culprit.holder = schedule.holder(mutex);
    culprit.chain_end = culprit.holder;
    auto next = blocked_by(culprit.chain_end, schedule);
    for (std::uint32_t i = 0; i < kChainMax && next; ++i) {
        culprit.chain_end = schedule.holder(*next);
        next = blocked_by(culprit.chain_end, schedule);
    }
    if (const TaskState end = schedule.state(culprit.chain_end); is_blocked(end) && end != TaskState::mutex) {
        culprit.end_waits = wait_of(culprit.chain_end);
    }
    culprit.inversion = inversion(culprit, context, schedule, cpu);
    return culprit;
}

Inversion Accounting::inversion(const Culprit& culprit, std::uint32_t context, const Schedule& schedule,
                                std::uint16_t cpu) const {
    if (culprit.by == By::unknown) {
        return Inversion::unknown;
    }
    const std::uint32_t place = schedule.processor(cpu).place;
    if (culprit.by != By::task || culprit.who == culprit.chain_end || place == context) {
        return Inversion::bounded;
    }
    std::uint32_t link = culprit.holder;
    for (std::uint32_t i = 0; i < kChainMax && link != kUnknownContext; ++i) {
        if (link == culprit.who || link == place) {
            return Inversion::bounded;
        }
        const auto next = blocked_by(link, schedule);
        link = next ? schedule.holder(*next) : kUnknownContext;
    }
    switch (m_priorities.order(place, context)) {
    case Order::lower:
        return Inversion::unbounded;
    case Order::higher:
    case Order::equal:
        return Inversion::bounded;
    case Order::unknown:
        break;
    }
    return Inversion::unknown;
}

void Accounting::end_piece(Open& open) {
    const ExecutorHistory& history = this->history(open.account.cpu);
    const std::uint64_t records = history.records();
    if (open.since < m_now) {
        if (open.on_processor) {
            open.account.gross = open.account.gross + (m_now - open.since);
        }
        add(open, {.culprit = open.now,
                   .begin = open.since,
                   .end = m_now,
                   .records = records - open.records_since,
                   .place = open.place,
                   .ended_by = history.now()});
    }
    open.since = m_now;
    open.records_since = records;
}

void Accounting::add(Open& open, const Piece& piece) {
    JobAccount& account = open.account;
    const lib::Ticks length = piece.end - piece.begin;
    lib::Ticks& part = account.parts[static_cast<std::size_t>(piece.culprit.part)];
    part = part + length;
    account.records += piece.records;
    auto share = std::ranges::find(account.shares, piece.culprit, &Share::culprit);
    if (share == account.shares.end()) {
        share = account.shares.insert(share, Share{.culprit = piece.culprit});
    }
    share->ticks = share->ticks + length;
    share->records += piece.records;
    ++share->pieces;
    if (share->longest < length) {
        share->longest = length;
        share->longest_begin = piece.begin;
        share->longest_place = piece.place;
    }
    if (m_pieces) {
        Piece whole = piece;
        whole.context = account.job.context;
        whole.job = account.job.number;
        m_pieces(whole);
    }
}

void Accounting::end_job(const Job& job) {
    task(job.context).last_end = job.end ? std::optional(job.end->ticks) : std::nullopt;
    Open* const open = open_of(job.context);
    if (open == nullptr) {
        return;
    }
    end_piece(*open);
    JobAccount account = std::move(open->account);
    account.job = job;
    if (!job.end) {
        account.unaccounted = Unaccounted::no_end;
    } else if (open->fell) {
        account.unaccounted = Unaccounted::stamps_fell;
    } else if (job.release.ticks > account.ready.ticks) {
        account.unaccounted = Unaccounted::early;
    } else {
        account.unaccounted = Unaccounted::no;
        std::uint64_t sum = 0;
        for (const lib::Ticks part : account.parts) {
            sum += part.value;
        }
        account.residue = static_cast<std::int64_t>(account.response().value - sum);
    }
    std::swap(*open, m_open.back());
    task(open->account.job.context).open = task(job.context).open;
    task(job.context).open = 0;
    m_open.pop_back();
    m_sink(account);
}

void Accounting::finish() {
    m_jobs.finish();
}

} // namespace host::schedule
