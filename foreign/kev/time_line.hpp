// SPDX-License-Identifier: MIT
// Computes 64-bit times from the 32-bit stamps of a .kev file. Each processor has its own turn (the high half), which a
// TIME event of that processor sets. Slots after TIME belong to its turn, with these exceptions:
//  - An event may be written after TIME although it was stamped before: between two TIMEs, if a stamp lower by more
//    than half a turn follows, the higher one is of the turn before. So a stamp that leaps by more than half a turn
//    waits until such a stamp, the next TIME, or kPendingMax slots have settled it.
//  - TIME was lost: a stamp that falls by more than half a turn begins the next turn (Note::turn_unseen).
//  - Slots before a processor's first TIME wait for it and are counted back from it. If none comes they get the turn of
//    the others, or 0.
// All slots of one event have the time of the first.
#pragma once

#include "foreign/kev/slot.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>

namespace host::formats::kev {

struct Time {
    std::uint64_t ticks = 0;
    bool known = false;
    bool late = false; // below the time of a slot that the same processor wrote earlier
};

// The time of a stamp may become known later.
class Stamp {
  public:
    Stamp() = default;

    explicit Stamp(const Time& time)
        : m_time(time) {}

    explicit Stamp(std::shared_ptr<const Time> awaited)
        : m_awaited(std::move(awaited)) {}

    [[nodiscard]] const Time& time() const { return m_awaited != nullptr ? *m_awaited : m_time; }

  private:
    Time m_time;
    std::shared_ptr<const Time> m_awaited;
};

class TimeLine {
  public:
    static constexpr std::size_t kPendingMax = 1024; // of all processors together

    enum class Note : std::uint8_t {
        none,
        turn_unseen, // the stamp fell by more than half a turn without a TIME
        contradicts, // this TIME is more than half a turn before the time of its processor; it is used nevertheless
    };

    // Takes the slots in the order of the file. slot: simple, or the first of an event, or one whose first is missing.
    [[nodiscard]] Stamp add(const Slot& slot, Note& note);

    // Settles everything that is pending for this processor.
    void settle(std::uint8_t cpu);

    // Returns whether slots of this processor had to be settled before any TIME.
    [[nodiscard]] bool is_guessed(std::uint8_t cpu) const { return m_processors[cpu].guessed; }

    // Settles everything: at the end of the file, or at a gap after which later slots do not determine earlier ones.
    void settle_all();

  private:
    struct Pending {
        std::shared_ptr<Time> time;
        std::uint32_t stamp = 0;
        bool decided = false; // it waits only for those before it
    };

    struct Processor {
        bool anchored = false;
        bool guessed = false;        // anchored without a TIME
        std::uint64_t reference = 0; // newest settled time that was in order
        std::uint64_t newest = 0;    // greatest time that was returned
        std::deque<Pending> pending;
    };

    [[nodiscard]] static Time finished(Processor& processor, std::uint64_t ticks);
    [[nodiscard]] Stamp hand_out(Processor& processor, std::uint32_t stamp, const Time& time);
    void settle_pending(Processor& processor, std::uint64_t bound);
    void settle_beginning(Processor& processor, std::uint64_t from);
    void release(Processor& processor);
    [[nodiscard]] std::uint64_t greatest_reference() const;

    std::array<Processor, kProcessorsMax> m_processors;
    std::size_t m_pending = 0;
};

} // namespace host::formats::kev
