// SPDX-License-Identifier: MIT
// Puts the slots of combine events together. Any number of them may be open at once, in any nesting, with slots of
// other events and other processors between theirs: a slot belongs to the open event that agrees with it in processor,
// class, event and stamp, and to no other. Nothing is dropped: an event that is given up is delivered with the reason.
// Memory is bounded by kOpenMax events of kSlotsMax slots.
#pragma once

#include "foreign/kev/slot.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace host::formats::kev {

// An event before its time is known.
struct Assembled {
    std::uint32_t header = 0; // of the first slot
    std::uint32_t stamp = 0;
    std::uint64_t slot = 0; // number of the first slot in the file
    std::vector<std::uint32_t> words;
    bool too_long = false; // more than kSlotsMax slots: the rest is skipped
};

class Assembler {
  public:
    static constexpr std::size_t kSlotsMax = 1024;
    static constexpr std::size_t kOpenMax = 256;

    enum class Outcome : std::uint8_t {
        open,     // belongs to an event that continues, or begins one
        complete, // take() gives the event
        orphan,   // continues or ends an event that never began
        too_long, // take() gives what there is of an event that exceeds kSlotsMax
        skipping, // rest of an event that was too long
    };

    // slot: not simple. Of a begin: replaced is set if an event with the same key was open, or if too many are (then
    // the oldest); it will not be completed any more.
    Outcome feed(const Slot& slot, std::uint64_t number, std::optional<Assembled>& replaced);

    // An event that this slot continues or ends has begun.
    [[nodiscard]] bool is_open(const Slot& slot) const { return m_open.contains(slot.key()); }

    // After `complete` and `too_long`, once.
    [[nodiscard]] Assembled take();

    // Gives up the oldest event that is open; none if none is. Call until there is none.
    [[nodiscard]] std::optional<Assembled> give_up();

  private:
    using Open = std::map<std::uint64_t, Assembled>; // by Slot::key()

    std::optional<Assembled> remove(Open::iterator at);

    Open m_open;
    Assembled m_done;
};

} // namespace host::formats::kev
