// SPDX-License-Identifier: MIT
// Joins the slots of events with several slots. Many events may be open at once, in any nesting, with slots of other
// events and processors between theirs: a slot belongs to the open event with the same processor, class, event and
// stamp. Nothing is dropped: an event that is given up is delivered with the reason. Memory is limited to kOpenMax
// events of kSlotsMax slots.
#pragma once

#include "foreign/kev/slot.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace host::formats::kev {

// The time of this event is not known yet.
struct Assembled {
    std::uint32_t header = 0; // of the first slot
    std::uint32_t stamp = 0;
    std::uint64_t slot = 0; // number of the first slot in the file
    std::vector<std::uint32_t> words;
    bool too_long = false; // it has more than kSlotsMax slots, and the rest is skipped
};

class Assembler {
  public:
    static constexpr std::size_t kSlotsMax = 1024;
    static constexpr std::size_t kOpenMax = 256;

    enum class Outcome : std::uint8_t {
        open,     // the slot begins an event, or continues one
        complete, // take() returns the event
        orphan,   // the slot continues or ends an event that never began
        too_long, // take() returns the first slots of an event that exceeds kSlotsMax
        skipping, // the slot is the rest of an event that was too long
    };

    // Takes a slot of an event with several slots. If the slot begins an event, `replaced` is set to an open event with
    // the same key, or to the oldest one if too many are open; it will not be completed any more.
    Outcome feed(const Slot& slot, std::uint64_t number, std::optional<Assembled>& replaced);

    // Returns whether the event that this slot continues or ends has begun.
    [[nodiscard]] bool is_open(const Slot& slot) const { return m_open.contains(slot.key()); }

    // Returns the event; must be called once after `complete` and `too_long`.
    [[nodiscard]] Assembled take();

    // Gives up the oldest open event and returns it, or nothing if none is open. It is called repeatedly at the end.
    [[nodiscard]] std::optional<Assembled> give_up();

  private:
    using Open = std::map<std::uint64_t, Assembled>; // by Slot::key()

    std::optional<Assembled> remove(Open::iterator at);

    Open m_open;
    Assembled m_done;
};

} // namespace host::formats::kev
