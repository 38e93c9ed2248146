// SPDX-License-Identifier: MIT
// Looks at many slots at the speed of memory: where nothing is odd among them, a file without headers need not be
// looked through slot by slot. Of a long file several workers look at ranges in advance.
#pragma once

#include "host/trace/byte_source.hpp"
#include "lib/units.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace host::formats::dat {

struct SlotsSeen {
    bool rises = false;    // none of the slots is empty or metadata, and no stamp falls, below the one before neither
    bool is_plain = false; // likewise, all are plain, and their stamps close to each other
    lib::Ticks last;       // stamp
};

// before: the stamp of the slot before them. Whole slots, at least one.
[[nodiscard]] SlotsSeen look_at(std::span<const std::byte> slots, lib::Ticks before);

struct RangeSeen {
    std::uint64_t begin_bytes = 0;
    std::uint64_t end_bytes = 0;
    lib::Ticks before; // the stamp of the slot before the range
    SlotsSeen seen;    // of a range that could not be read it says that nothing rises
};

// The slots of the source from the second one on, in ranges without gap; nothing if one worker is to do it, or if the
// source is too short to be worth it.
[[nodiscard]] std::vector<RangeSeen> look_ahead(trace::ByteSource& source, unsigned workers);

} // namespace host::formats::dat
