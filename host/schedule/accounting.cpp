// SPDX-License-Identifier: MIT
// After each event, each job that is open on the event's processor is classified again. A piece ends where the class
// changes.
#include "host/schedule/accounting.hpp"

#include "lib/wire_numbers.hpp"

#include <algorithm>
#include <utility>

namespace host::schedule {

namespace {

using Kind = Change::Kind;
using trace::kCodeOf;

constexpr trace::Families kSwitches = trace::families({tracer::Family::attribute}); // each trace has them

Culprit interference(const Executor& executor) {
    return {.part = Part::interference, .by = executor.by, .who = executor.who};
}

} // namespace

Accounting::Accounting(Sink sink, PieceSink pieces)
    : m_sink(std::move(sink))
    , m_pieces(std::move(pieces))
    , m_jobs([this](const Job& job) { end_job(job); })
    , m_expected(kSwitches) {}

void Accounting::add_tasks(std::uint32_t context) {
    m_tasks.resize(std::size_t{context} + 1);
}

ExecutorHistory& Accounting::new_history(std::uint16_t cpu) {
    if (cpu >= m_processors.size()) {
        m_processors.resize(std::size_t{cpu} + 1);
    }
    m_processors[cpu] = std::make_unique<ExecutorHistory>();
    return *m_processors[cpu];
}

void Accounting::note_fall() {
    std::ranges::for_each(open_jobs(), [](Open& open) { open.fell = true; });
}

Accounting::Open* Accounting::open_of(std::uint32_t context) {
    const std::uint32_t position = context < m_tasks.size() ? m_tasks[context].open : 0;
    return position != 0 ? &m_open[position - 1] : nullptr;
}

// Precondition: the context is that of an event, so it has 16 bits.
Accounting::Task& Accounting::task(std::uint32_t context) {
    if (context >= m_tasks.size()) [[unlikely]] {
        add_tasks(context);
    }
    return m_tasks[context];
}

void Accounting::switched(const trace::Event& event, const Change& change, const Schedule& schedule) {
    if (Open* const chosen = open_of(change.context)) {
        if (chosen->account.cpu != event.cpu) [[unlikely]] {
            migrate(*chosen, event.cpu);
        }
        ++chosen->account.dispatches;
    }
    if (Open* const left = open_of(change.other); left != nullptr && schedule.state(change.other) == TaskState::ready) {
        ++left->account.preemptions;
    }
}

void Accounting::note(const trace::Event& event, const Change& change, const Schedule& schedule) {
    if (Open* const open = open_of(change.context)) {
        open->rests = false;
    }
    if (change.kind == Change::Kind::job_began) {
        begin_job(event, static_cast<std::uint16_t>(change.context));
    } else if (change.kind == Change::Kind::switched) {
        switched(event, change, schedule);
    } else if (change.kind == Change::Kind::created) {
        task(change.context).last_end.reset();
    } else if (change.begins_wait()) {
        m_waits.note_wait(event, change);
    }
}

void Accounting::follow(const trace::Event& event, std::span<const Change> changes, const Schedule& schedule,
                        std::uint32_t khz, bool executes_another) {
    m_event = &event;
    if (Open* const open = event.code == kCodeOf<"task_epilogue"> ? open_of(event.par1) : nullptr) {
        open->rests = false; // the record only states that the task has the processor
    }
    if (m_lost && kEndsJob[event.code]) {
        end_lost_job(event);
    }
    if (event.code == kCodeOf<"trace_start"> && event.par1 == 0) {
        m_expected = 0; // the trace begins with the machine
    }
    m_waits.take(event, changes, schedule);
    for (const Change& change : changes) {
        if (change.concerns_task()) {
            m_jobs.take(event, change, khz);
            note(event, change, schedule);
        } else if (change.kind == Change::Kind::gap) [[unlikely]] {
            m_priorities.forget();
            m_waits.forget();
            m_lost = true;
            if (!trace::kSetsFilter[event.code]) {
                m_expected |= std::exchange(m_seen, 0) | kSwitches;
            }
        }
    }
    if (Jobs::kConcerns[event.code]) {
        m_jobs.note(event, khz);
    }
    if (m_opened != 0 && (executes_another || !changes.empty() || kMayReclassify[event.code])) {
        reclassify(event, schedule);
    }
}

// The job continues on another processor, so the piece on the former one ends.
void Accounting::migrate(Open& open, std::uint16_t cpu) {
    JobAccount& account = open.account;
    account.migrations += account.dispatches != 0 ? 1U : 0U;
    end_piece(open, history(account.cpu));
    account.cpu = cpu;
    open.records_since = history(cpu).records();
}

void Accounting::begin_job(const trace::Event& event, std::uint16_t context) {
    const Job* const job = m_jobs.open(context);
    if (job == nullptr) {
        return;
    }
    if (m_opened == m_open.size()) {
        m_open.emplace_back();
    }
    Open& open = m_open[m_opened++];
    task(context).open = static_cast<std::uint32_t>(m_opened);
    std::vector<Share> shares = std::move(open.account.shares);
    shares.clear();
    open = {};
    open.account.shares = std::move(shares); // the vector keeps its memory
    open.account.job = *job;
    open.account.cpu = event.cpu;
    open.account.ready = Moment::of(event);
    open.place = RecordPlace::of(event);
    if (job->release) {
        add_jitter(open, event, job->release->ticks);
    }
    open.since = m_now;
    open.records_since = history(event.cpu).records();
    open.fell = event.ticks < m_now;
}

// Accounts for what ran from the release to the record of it. As long as an earlier job of the task was not complete,
// the culprit is that job.
void Accounting::add_jitter(Open& open, const trace::Event& event, lib::Ticks release) {
    const ExecutorHistory& history = this->history(event.cpu);
    const auto give = [&](const Executor& executor, lib::Ticks begin, lib::Ticks end) {
        open.now = {.part = Part::jitter, .by = executor.by, .who = executor.who};
        open.since = begin;
        add(open, end, history.records_within(begin, end), {});
    };
    lib::Ticks begin = release;
    if (const auto last_end = task(event.par1).last_end; last_end && *last_end > release) {
        begin = std::min(*last_end, m_now);
        open.unsure = task(event.par1).is_end_of_lost;
        give({By::backlog, event.par1}, release, begin);
    }
    history.within(begin, m_now, [&](const ExecutorHistory::Stretch& stretch) {
        give(stretch.executor, stretch.begin, stretch.end);
    });
}

void Accounting::reclassify(const trace::Event& event, const Schedule& schedule) {
    const ExecutorHistory& history = this->history(event.cpu);
    const View view{schedule, schedule.processor(event.cpu), history.now()};
    for (Open& open : open_jobs()) {
        if (open.rests || open.account.cpu != event.cpu) {
            continue;
        }
        const std::uint32_t context = open.account.job.context;
        const Culprit next = classify(context, view);
        if (next == open.now && open.since != m_now) {
            open.rests = next.part == Part::suspension;
            continue;
        }
        end_piece(open, history);
        open.now = next;
        open.begun_by = view.executor;
        open.on_processor = view.here.running == context;
        open.place = RecordPlace::of(event);
    }
}

inline Culprit Accounting::classify(std::uint32_t context, const View& view) const {
    if (view.here.running == context) {
        return view.executor.by == By::interrupt ? interference(view.executor)
                                                 : Culprit{.part = Part::execution, .by = By::self};
    }
    const TaskState state = view.schedule.state(context);
    if (state == TaskState::mutex) {
        if (const auto mutex = m_waits.blocked_by(context, view.schedule)) {
            return classify_mutex(context, *mutex, view);
        }
    } else if (state != TaskState::ready) {
        return is_blocked(state) ? Culprit{.part = Part::suspension, .by = By::self, .object = m_waits.wait_of(context)}
                                 : Culprit{};
    }
    if (const auto server = m_priorities.throttled_by(context)) {
        return {.part = Part::interference, .by = By::throttling, .who = *server};
    }
    if (m_lost && m_priorities.may_be_throttled(context)) {
        return {};
    }
    if (view.executor.by != By::task && view.executor.by != By::section) {
        return interference(view.executor);
    }
    return classify_ready(context, view);
}

Culprit Accounting::classify_ready(std::uint32_t context, const View& view) const {
    const Executor& executor = view.executor;
    const std::uint32_t place = view.here.place;
    const Executor running{By::task, executor.who};
    const bool is_known = !m_lost || (view.here.chosen != kUnknownContext && view.here.dispatched != kUnknownContext);
    if (is_known && executor.who == place) {
        // It continues although the task precedes it: the scheduler has not decided yet.
        const Order order = m_priorities.order(place, context);
        if (m_lost && order == Order::unknown) {
            return {};
        }
        const bool undecided = order == Order::lower;
        return interference(undecided && executor.by == By::task ? Executor{By::kernel, executor.who}
                            : undecided                          ? executor
                                                                 : running);
    }
    const Order order = m_priorities.order(executor.who, context);
    if (!is_known || (m_lost && place != context && order == Order::unknown)) {
        return {};
    }
    if (place == context || order == Order::lower) {
        // The executor runs in the place of this task, which a ceiling stops, or in that of a task that precedes it.
        const auto waited_for = place != context ? m_waits.link_to(executor.who, place, view.schedule) : std::nullopt;
        return {.part = Part::blocking,
                .by = By::task,
                .inversion = Inversion::bounded,
                .who = executor.who,
                .object = waited_for.value_or(m_waits.mutex_of(executor.who)),
                .holder = executor.who,
                .chain_end = executor.who};
    }
    return interference(running);
}

Culprit Accounting::classify_mutex(std::uint32_t context, std::uint32_t mutex, const View& view) const {
    const Schedule& schedule = view.schedule;
    Culprit culprit{.part = Part::blocking,
                    .by = view.executor.by == By::section ? By::task : view.executor.by,
                    .who = view.executor.who,
                    .object = mutex};
    culprit.holder = schedule.holder(mutex);
    culprit.chain_end = culprit.holder;
    auto next = m_waits.blocked_by(culprit.chain_end, schedule);
    for (std::uint32_t i = 0; i < kChainMax && next; ++i) {
        culprit.chain_end = schedule.holder(*next);
        next = m_waits.blocked_by(culprit.chain_end, schedule);
    }
    if (const TaskState end = schedule.state(culprit.chain_end); is_blocked(end) && end != TaskState::mutex) {
        culprit.end_waits = m_waits.wait_of(culprit.chain_end);
    }
    culprit.inversion = inversion(culprit, context, view);
    return culprit;
}

Inversion Accounting::inversion(const Culprit& culprit, std::uint32_t context, const View& view) const {
    if (culprit.by == By::unknown) {
        return Inversion::unknown;
    }
    const std::uint32_t place = view.here.place;
    if (culprit.by != By::task || culprit.who == culprit.chain_end || place == context) {
        return Inversion::bounded;
    }
    if (culprit.chain_end == kUnknownContext) {
        return Inversion::unknown; // the executor may belong to the chain
    }
    std::uint32_t link = culprit.holder;
    for (std::uint32_t i = 0; i < kChainMax && link != kUnknownContext; ++i) {
        if (link == culprit.who || link == place) {
            return Inversion::bounded;
        }
        const auto next = m_waits.blocked_by(link, view.schedule);
        link = next ? view.schedule.holder(*next) : kUnknownContext;
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

// Its release is lost.
void Accounting::end_lost_job(const trace::Event& event) {
    if (open_of(event.par1) == nullptr) {
        task(event.par1).last_end = event.ticks;
        task(event.par1).is_end_of_lost = true;
    }
}

// If anything is lost, the record of a filter may be. It hides no family of which a record has come since. None is
// expected of a family that had none before, if nothing that it concerns has a name.
bool Accounting::may_be_filtered(const trace::Names& names) const {
    const auto has = [&](tracer::Unit unit) {
        const auto* const named = names.entries(unit);
        return named != nullptr && !named->empty();
    };
    const trace::Families named =
        (has(tracer::Unit::mutex) || has(tracer::Unit::semaphore) ? trace::families({tracer::Family::mutex}) : 0) |
        (has(tracer::Unit::server) ? trace::families({tracer::Family::server}) : 0);
    constexpr trace::Families kFrequent = trace::Filters::kParts & ~trace::families({tracer::Family::general});
    return m_expected != 0 && ((m_expected | named) & kFrequent & ~m_seen) != 0;
}

inline void Accounting::end_piece(Open& open, const ExecutorHistory& history) {
    const std::uint64_t records = history.records();
    if (open.since < m_now) {
        if (open.on_processor) {
            open.account.gross = open.account.gross + (m_now - open.since);
        }
        open.unsure = open.unsure || (m_lost && open.now.part == Part::interference && open.now.by == By::unknown);
        add(open, m_now, records - open.records_since, history.now());
    }
    open.since = m_now;
    open.records_since = records;
}

inline Share& Accounting::share_of(Open& open, const Culprit& culprit) {
    std::vector<Share>& shares = open.account.shares;
    const std::size_t hash = static_cast<std::size_t>(culprit.part) + 3 * static_cast<std::size_t>(culprit.by) +
                             5 * culprit.who + 7 * culprit.object;
    std::uint32_t& recent = open.recent[hash % kRecentShares];
    if (recent < shares.size() && shares[recent].culprit == culprit) {
        return shares[recent];
    }
    const auto found = std::ranges::find(shares, culprit, &Share::culprit);
    recent = static_cast<std::uint32_t>(found - shares.begin());
    return found != shares.end() ? *found : shares.emplace_back(Share{.culprit = culprit});
}

// Adds the piece that began at open.since.
void Accounting::add(Open& open, lib::Ticks end, std::uint64_t records, Executor ended_by) {
    JobAccount& account = open.account;
    const lib::Ticks length = end - open.since;
    lib::Ticks& part = account.parts[static_cast<std::size_t>(open.now.part)];
    part = part + length;
    account.records += records;
    Share& share = share_of(open, open.now);
    share.ticks = share.ticks + length;
    share.records += records;
    ++share.pieces;
    if (share.longest < length) {
        share.longest = length;
        share.longest_begin = open.since;
        share.longest_place = open.place;
    }
    if (m_pieces) {
        m_pieces({.context = account.job.context,
                  .job = account.job.number,
                  .culprit = open.now,
                  .begin = open.since,
                  .end = end,
                  .records = records,
                  .place = open.place,
                  .ended_by = ended_by,
                  .begun_by = open.begun_by});
    }
}

void Accounting::end_job(const Job& job) {
    task(job.context).last_end = job.end ? std::optional(job.end->ticks) : std::nullopt;
    task(job.context).is_end_of_lost = false;
    Open* const open = open_of(job.context);
    if (open == nullptr) {
        return;
    }
    end_piece(*open, history(open->account.cpu));
    JobAccount& account = open->account;
    account.job = job;
    if (job.doubtful) {
        account.unaccounted = Unaccounted::damaged;
    } else if (!job.end || open->unsure || m_hidden || may_be_filtered(*m_event->names)) {
        account.unaccounted = Unaccounted::no_end;
    } else if (open->fell) {
        account.unaccounted = Unaccounted::stamps_fell;
    } else if (!job.release) {
        account.unaccounted = Unaccounted::no_release;
    } else if (job.release->ticks > account.ready.ticks) {
        account.unaccounted = Unaccounted::early;
    } else {
        account.unaccounted = Unaccounted::no;
        std::uint64_t sum = 0;
        for (const lib::Ticks part : account.parts) {
            sum += part.value;
        }
        account.residue = static_cast<std::int64_t>(account.response().value - sum);
    }
    m_sink(account);
    Open& last = m_open[--m_opened];
    task(last.account.job.context).open = task(job.context).open;
    task(job.context).open = 0;
    std::swap(*open, last);
}

void Accounting::finish() {
    m_event = nullptr;
    m_jobs.finish();
}

} // namespace host::schedule
