// SPDX-License-Identifier: MIT
#include "foreign/kev/time_line.hpp"

#include "host/trace/tick_scale.hpp"

#include <algorithm>
#include <limits>

namespace host::formats::kev {

namespace {

constexpr std::uint64_t kTurn = std::uint64_t{1} << 32;
constexpr std::uint64_t kHalfTurn = kTurn / 2;

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
    return a > std::numeric_limits<std::uint64_t>::max() - b ? std::numeric_limits<std::uint64_t>::max() : a + b;
}

} // namespace

Stamp TimeLine::add(const Slot& slot, Note& note) {
    note = Note::none;
    Processor& processor = m_processors[slot.cpu()];
    if (slot.is(Class::control, kControlTime)) {
        const std::uint64_t stated = (static_cast<std::uint64_t>(slot.data[0]) << 32) | slot.data[1];
        const std::uint64_t ticks = trace::nearest_time(slot.stamp, stated);
        if (!processor.anchored) {
            settle_beginning(processor, stated);
        } else {
            settle_pending(processor, saturating_add(stated, kHalfTurn));
        }
        const bool contradicts = processor.anchored && saturating_add(stated, kHalfTurn) < processor.reference;
        note = contradicts ? Note::contradicts : Note::none;
        const std::uint64_t newest = std::max(stated, ticks);
        processor.reference = processor.anchored && !contradicts ? std::max(processor.reference, newest) : newest;
        processor.anchored = true;
        return hand_out(processor, slot.stamp, {.ticks = ticks, .known = true});
    }
    if (!processor.anchored) {
        return hand_out(processor, slot.stamp, {});
    }
    const std::uint64_t turn = processor.reference & ~(kTurn - 1);
    const std::uint64_t same_turn = turn | slot.stamp;
    if (same_turn >= processor.reference && same_turn - processor.reference > kHalfTurn) {
        return hand_out(processor, slot.stamp, {}); // of this turn, or a late slot of the previous turn
    }
    std::uint64_t ticks = same_turn;
    if (processor.reference > same_turn && processor.reference - same_turn > kHalfTurn) {
        note = Note::turn_unseen;
        ticks = trace::nearest_time(slot.stamp, processor.reference);
    }
    processor.reference = std::max(processor.reference, ticks);
    settle_pending(processor, saturating_add(ticks, kHalfTurn));
    return hand_out(processor, slot.stamp, {.ticks = ticks, .known = true});
}

// Times are returned in the order of the slots, so that `late` does not depend on whether a slot had to wait.
Stamp TimeLine::hand_out(Processor& processor, std::uint32_t stamp, const Time& time) {
    if (time.known && processor.pending.empty()) {
        return Stamp(finished(processor, time.ticks));
    }
    const auto awaited = std::make_shared<Time>(Time{.ticks = time.ticks});
    processor.pending.push_back({.time = awaited, .stamp = stamp, .decided = time.known});
    ++m_pending;
    if (time.known) {
        release(processor);
    } else if (m_pending > kPendingMax) {
        settle_all();
    }
    return Stamp(awaited);
}

Time TimeLine::finished(Processor& processor, std::uint64_t ticks) {
    const bool late = ticks < processor.newest;
    processor.newest = std::max(processor.newest, ticks);
    return {.ticks = ticks, .known = true, .late = late};
}

// Pending stamps that would be after `bound` in this turn belong to the previous turn.
void TimeLine::settle_pending(Processor& processor, std::uint64_t bound) {
    const std::uint64_t turn = processor.reference & ~(kTurn - 1);
    for (Pending& pending : processor.pending) {
        if (!pending.decided) {
            const std::uint64_t in_turn = turn | pending.stamp;
            const bool turn_before = in_turn > bound && in_turn >= kTurn;
            pending.time->ticks = turn_before ? in_turn - kTurn : in_turn;
            pending.decided = true;
            processor.reference = turn_before ? processor.reference : std::max(processor.reference, in_turn);
        }
    }
    release(processor);
}

void TimeLine::settle_beginning(Processor& processor, std::uint64_t from) {
    for (auto pending = processor.pending.rbegin(); pending != processor.pending.rend(); ++pending) {
        from = trace::nearest_time(pending->stamp, from);
        pending->time->ticks = from;
        pending->decided = true;
    }
    release(processor);
}

void TimeLine::release(Processor& processor) {
    while (!processor.pending.empty() && processor.pending.front().decided) {
        Time& time = *processor.pending.front().time;
        time = finished(processor, time.ticks);
        processor.pending.pop_front();
        --m_pending;
    }
}

void TimeLine::settle(std::uint8_t cpu) {
    Processor& processor = m_processors[cpu];
    if (processor.pending.empty()) {
        return;
    }
    if (processor.anchored) {
        settle_pending(processor, std::numeric_limits<std::uint64_t>::max());
        return;
    }
    processor.reference = trace::nearest_time(processor.pending.front().stamp, greatest_reference());
    processor.anchored = true;
    processor.guessed = true;
    for (Pending& pending : processor.pending) {
        pending.time->ticks = trace::nearest_time(pending.stamp, processor.reference);
        pending.decided = true;
        processor.reference = std::max(processor.reference, pending.time->ticks);
    }
    release(processor);
}

void TimeLine::settle_all() {
    for (std::size_t cpu = 0; cpu < m_processors.size(); ++cpu) {
        settle(static_cast<std::uint8_t>(cpu));
    }
}

std::uint64_t TimeLine::greatest_reference() const {
    const auto greatest = std::ranges::max_element(m_processors, {}, &Processor::reference);
    return greatest->reference;
}

} // namespace host::formats::kev
