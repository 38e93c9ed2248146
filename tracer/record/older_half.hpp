// SPDX-License-Identifier: MIT
// Which records of the previous lap of a cyclic chunk are still whole. Host-safe: the exporter and the reader of a
// machine's memory apply the same rule.
#pragma once

#include "tracer/record/record.hpp"
#include "tracer/record/record_path_layout.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer {

// word and scribbled: of its ChunkControl. Bytes from the beginning of the main area up to here are those of the
// present lap, or scratch: the slot at the position, and what an unfinished long event may have overwritten.
[[nodiscard]] constexpr std::size_t scratch_end(std::uint64_t word, std::uint64_t scribbled) {
    const std::size_t end = (word & TRACER_WORD_POSITION_MASK) + kRecordBytes;
    return scribbled >> 32 == word >> 32 ? std::max<std::size_t>(end, scribbled & 0xFFFF'FFFF) : end;
}

// The offset of the first record that begins an event: a long event whose first slots are overwritten is left out as a
// whole. records.size() if there is none. Precondition: whole records.
[[nodiscard]] constexpr std::size_t first_event(std::span<const std::byte> records) {
    std::size_t at = 0;
    while (at < records.size()) {
        const Combine combine = decode_record(records.subspan(at)).combine();
        if (combine == Combine::simple || combine == Combine::first) {
            break;
        }
        at += kRecordBytes;
    }
    return at;
}

} // namespace tracer
