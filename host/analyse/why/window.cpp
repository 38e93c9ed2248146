// SPDX-License-Identifier: MIT
#include "host/analyse/why/window.hpp"

#include "lib/wire_numbers.hpp"

#include <algorithm>
#include <utility>

namespace host::analyse::why {

namespace {

using schedule::By;
using schedule::Executor;
using schedule::ExecutorHistory;
using schedule::Part;
using schedule::Piece;
using Role = Item::Role;

constexpr std::uint32_t kKindShift = 16; // where the parameter of task_block has the kind of the wait

bool is_delay(std::uint32_t object) {
    return object >> kKindShift == static_cast<std::uint32_t>(lib::WaitKind::delay);
}

bool is_suspended(std::uint32_t object) {
    return object >> kKindShift == static_cast<std::uint32_t>(lib::WaitKind::suspended);
}

bool is_of_task(const Executor& executor) {
    return executor.by == By::task || executor.by == By::section || executor.by == By::kernel;
}

// Completes the item by what executed. A handler precedes every task; whether a task precedes is decided when its
// deadline is known.
Item executed(Item item, const Executor& executor) {
    item.executor = executor;
    item.chain.reset();
    if (executor.by == By::interrupt) {
        item.role = Role::preceding;
        item.cause = Cause::interrupt_load;
        item.who = executor.who;
    } else if (is_of_task(executor)) {
        item.role = Role::undecided;
        item.cause = Cause::load;
        item.who = schedule::kUnknownContext;
    } else {
        item.role = Role::note;
        item.cause = Cause::unknown;
        item.who = schedule::kUnknownContext;
    }
    return item;
}

// Returns the first mutex without inheritance; if there is none, the first one without a known protocol; else null.
const Link* weakest(const Chain& chain) {
    auto found = std::ranges::find(chain, std::optional(lib::MutexProtocol::none), &Link::protocol);
    if (found == chain.end()) {
        found = std::ranges::find_if(chain, [](const Link& link) { return !link.protocol; });
    }
    return found != chain.end() ? &*found : nullptr;
}

} // namespace

void Runs::add(const Run& run) {
    m_runs.push_back(run);
    if (m_runs.size() > kRunsMax) {
        m_runs.pop_front();
    }
}

void Window::restart(lib::Ticks now) {
    m_items.clear();
    m_decided = 0;
    m_last = now;
}

void Window::push(const Item& item) {
    if (item.begin >= item.end && item.role != Role::until) {
        return;
    }
    const bool continues = !m_items.empty() && item.executor.by == By::interrupt &&
                           m_items.back().executor == item.executor && m_items.back().end == item.begin;
    const lib::Ticks arrival = continues ? m_items.back().arrival : item.begin;
    m_items.push_back(item);
    m_items.back().arrival = arrival;
}

// Adds what ran in a span of time in which the task does not need the processor.
void Window::add_within(const Item& whole, const ExecutorHistory& history) {
    history.within(whole.begin, whole.end, [&](const ExecutorHistory::Stretch& stretch) {
        Item item = whole;
        item.begin = stretch.begin;
        item.end = stretch.end;
        item.quiet = true;
        item.otherwise = Role::note;
        item.object = 0;
        push(executed(item, stretch.executor));
    });
}

void Window::begin_job(const Piece& piece, const ExecutorHistory& history) {
    m_job = piece.job;
    m_release = piece.begin;
    if (m_last && *m_last < piece.begin) {
        add_within({.begin = *m_last, .end = piece.begin, .place = piece.place}, history);
    }
    m_last = std::max(m_last.value_or(piece.begin), piece.begin);
    push({.role = Role::until, .begin = piece.begin, .end = piece.begin, .job = piece.job, .place = piece.place});
}

void Window::add(const Piece& piece, const ExecutorHistory& history, Chain chain, bool postponed) {
    if (piece.job != m_job || !m_last) {
        begin_job(piece, history);
    }
    Item item{.begin = std::max(piece.begin, *m_last),
              .end = piece.end,
              .job = piece.job,
              .postponed = postponed,
              .place = piece.place};
    if (item.begin >= item.end) {
        return; // this time belongs to an earlier job of the task
    }
    m_last = item.end;
    item.executor = {piece.culprit.by, piece.culprit.who};
    switch (piece.culprit.part) {
    case Part::execution:
        item.role = Role::own;
        item.cause = Cause::execution;
        item.who = piece.context;
        item.executor = {By::task, piece.context};
        push(item);
        break;
    case Part::interference:
        add_interference(item, piece, history);
        break;
    case Part::blocking:
        add_blocking(item, piece.culprit, std::move(chain));
        break;
    case Part::suspension:
        add_suspension(item, piece, history);
        break;
    case Part::jitter:
        add_jitter(item);
        break;
    }
}

void Window::add_interference(Item item, const Piece& piece, const ExecutorHistory& history) {
    item.role = Role::path;
    switch (piece.culprit.by) {
    case By::task:
        item.role = Role::preceding;
        item.cause = Cause::load;
        break;
    case By::interrupt:
        item = executed(item, item.executor);
        break;
    case By::section:
        item.cause = Cause::interrupts_off;
        item.who = piece.culprit.who;
        break;
    case By::throttling:
        item.role = Role::until;
        item.cause = Cause::server_budget;
        item.who = piece.culprit.who;
        push(item);
        add_within(item, history);
        return;
    case By::kernel:
    case By::self:
    case By::backlog:
        break;
    case By::unknown:
        item.cause = Cause::unknown;
        break;
    }
    push(item);
}

void Window::add_blocking(Item item, const schedule::Culprit& culprit, Chain chain) {
    item.role = Role::path;
    item.chain = std::make_shared<const Chain>(std::move(chain));
    const Link& first = item.chain->front();
    const Link& last = item.chain->back();
    const auto blame = [&item](Cause cause, const Link& link) {
        item.cause = cause;
        item.object = link.mutex;
        item.who = link.holder;
    };
    const auto ran = std::ranges::find(*item.chain, culprit.who, &Link::holder);
    if (culprit.by == By::interrupt) {
        item = executed(item, item.executor);
    } else if (last.holder == schedule::kUnknownContext || culprit.by == By::unknown) {
        blame(Cause::unknown, {.mutex = last.mutex});
    } else if (culprit.end_waits != 0) {
        Item meanwhile = item;
        item.role = Role::until;
        blame(Cause::lock_across_wait, last);
        item.wait = culprit.end_waits;
        push(item);
        meanwhile.quiet = true;
        item = executed(meanwhile, meanwhile.executor);
    } else if (culprit.by != By::task) {
        blame(Cause::kernel, first);
    } else if (ran != item.chain->end()) {
        blame(Cause::critical_section, *ran);
    } else if (culprit.inversion == schedule::Inversion::unbounded) {
        const Link* const weak = weakest(*item.chain);
        weak != nullptr ? blame(Cause::missing_inheritance, *weak) : blame(Cause::kernel, {.holder = culprit.who});
    } else if (culprit.inversion == schedule::Inversion::bounded) {
        item = executed(item, item.executor);
        item.role = Role::preceding;
    } else {
        blame(Cause::unknown, first);
    }
    push(item);
}

// A wait that another task ends lasts as long as that task needs for its work; any other wait ends at the time at which
// it ended.
void Window::add_suspension(Item item, const Piece& piece, const ExecutorHistory& history) {
    item.cause = Cause::late_event;
    item.object = piece.culprit.object;
    item.who = schedule::kUnknownContext;
    item.ended_by = piece.ended_by;
    if (is_suspended(item.object) && is_of_task(piece.begun_by) && piece.begun_by.who != piece.context) {
        item.begun_by = piece.begun_by;
    }
    const bool by_task = piece.ended_by.by == By::task && piece.ended_by.who != piece.context;
    item.role = is_delay(item.object) ? Role::delay : by_task ? Role::note : Role::until;
    push(item);
    if (item.role != Role::note) {
        add_within(item, history);
        return;
    }
    history.within(item.begin, item.end, [&](const ExecutorHistory::Stretch& stretch) {
        Item part = item;
        part.begin = stretch.begin;
        part.end = stretch.end;
        part.quiet = true;
        part.executor = stretch.executor;
        if (stretch.executor.by == By::task && stretch.executor.who == piece.ended_by.who) {
            part.role = Role::path;
        } else {
            part.object = 0;
            part.for_wait = item.object;
            part.worker = piece.ended_by.who;
            part.otherwise = Role::note;
            part = executed(part, stretch.executor);
        }
        push(part);
    });
}

void Window::add_jitter(Item item) {
    const Executor executor = item.executor;
    switch (executor.by) {
    case By::task:
    case By::section:
        item.role = Role::undecided;
        item.otherwise = Role::path;
        item.cause = Cause::interrupts_off;
        item.who = executor.who;
        break;
    case By::interrupt:
        push(executed(item, executor));
        m_items.back().arrival = m_release; // the handler that releases the job was delayed, too
        return;
    case By::unknown:
        item.role = Role::path;
        item.cause = Cause::unknown;
        break;
    case By::kernel:
    case By::self:
    case By::throttling:
    case By::backlog:
        item.role = Role::path;
        break;
    }
    push(item);
}

namespace {

// Completes the item by the runs of the task that executed.
void look_up(Item& item, const Runs& runs, const Window::Judge& judge) {
    if (!is_of_task(item.executor)) {
        item.postponed = false;
        return;
    }
    std::optional<std::uint64_t> deadline;
    const auto first = std::ranges::partition_point(runs.all(), [&](const Run& run) { return run.end <= item.begin; });
    for (auto run = first; run != runs.all().end(); ++run) {
        if (run->context != item.executor.who || run->begin >= item.end) {
            continue;
        }
        const lib::Ticks from = std::max(item.begin, run->end - run->excess);
        const lib::Ticks to = std::min(item.end, run->end);
        item.excess = from < to ? item.excess + (to - from) : item.excess;
        item.total = std::max(item.total, run->total);
        item.arrival = std::min(item.arrival, run->arrival);
        deadline = run->deadline;
    }
    if (item.role == Role::undecided) {
        const std::uint32_t who = item.executor.who;
        if (judge.is_idle(who)) {
            item.role = item.otherwise == Role::path ? Role::until : Role::note;
            item.cause = Cause::kernel;
        } else if (judge.precedes(who, deadline, schedule::kUnknownContext)) {
            item.role = Role::preceding;
            item.cause = Cause::load;
            item.who = schedule::kUnknownContext;
            item.for_wait = 0;
        } else if (item.worker != schedule::kUnknownContext && judge.precedes(who, deadline, item.worker)) {
            item.role = Role::preceding;
        } else {
            item.role = item.otherwise;
        }
    }
    item.postponed = item.postponed && judge.is_postponed(item.executor.who, deadline);
    item.later = item.role == Role::preceding && judge.is_later(item.executor.who, deadline);
}

bool unites(const Item& a, const Item& b) {
    return a.role == b.role && a.cause == b.cause && a.who == b.who && a.object == b.object && a.job == b.job &&
           a.executor == b.executor && a.role != Role::until && a.quiet == b.quiet && a.for_wait == b.for_wait;
}

} // namespace

// If two kinds of items alternate, two items of each kind become one: v own v own -> v own.
void Window::compact(const Runs& runs, const Judge& judge) {
    if (m_items.size() <= kItemsMax) {
        return;
    }
    decide(runs, judge);
    std::vector<Item> kept;
    for (std::size_t i = 0; i < m_items.size(); ++i) {
        if (kept.size() >= 2 && i + 1 < m_items.size() && unites(kept[kept.size() - 2], m_items[i]) &&
            unites(kept.back(), m_items[i + 1]) && kept.back().end == m_items[i].begin) {
            Item& first = kept[kept.size() - 2];
            Item& second = kept.back();
            const lib::Ticks end = m_items[i + 1].end;
            const lib::Ticks of_second = second.length() + m_items[i + 1].length();
            first.excess = first.excess + m_items[i].excess;
            second.excess = second.excess + m_items[i + 1].excess;
            first.end = second.begin = end - of_second;
            second.end = end;
            ++i;
        } else {
            kept.push_back(m_items[i]);
        }
    }
    m_items = std::move(kept);
    if (m_items.size() > kItemsMax / 2) {
        m_items.erase(m_items.begin(), m_items.end() - kItemsMax / 2);
    }
    m_decided = m_items.size();
}

void Window::decide(const Runs& runs, const Judge& judge) {
    for (; m_decided < m_items.size(); ++m_decided) {
        look_up(m_items[m_decided], runs, judge);
    }
}

std::shared_ptr<const std::vector<Item>> Window::at_end(const Runs& runs, const Judge& judge) {
    decide(runs, judge);
    return std::make_shared<const std::vector<Item>>(m_items);
}

void Window::forget_early() {
    if (m_items.size() > kEarlyMax) {
        const std::size_t gone = m_items.size() - kEarlyMax;
        m_items.erase(m_items.begin(), m_items.begin() + static_cast<std::ptrdiff_t>(gone));
        m_decided -= std::min(m_decided, gone);
    }
}

} // namespace host::analyse::why
