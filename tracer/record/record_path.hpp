// SPDX-License-Identifier: MIT
// Declares what the rest of the machine must know about the record path: the bounds of its restartable sequence. Every
// entry stub applies this rule: if region_begin <= saved RIP < region_end and saved RIP is not region_exit, then saved
// RIP = region_restart. The algorithm is in record_path.S.
#pragma once

#include "lib/assert.hpp"
#include "tracer/record/event_table.hpp"

#include <array>
#include <cstdint>

extern "C" {
extern const char tracer_region_begin;
extern const char tracer_region_restart;
extern const char tracer_region_exit; // a return between the bounds, after a commit
extern const char tracer_region_end;

// These are no C++ functions: tracer/log.hpp shows how they are called.
void tracer_record();
void tracer_record_long();
void tracer_switch();
}

namespace tracer {

// Returns one bit per code, which is set for events that may use a chunk's emergency area.
[[nodiscard]] consteval std::array<std::uint32_t, 8> emergency_bitmap() {
    std::array<std::uint32_t, 8> bitmap{};
    for (std::size_t i = 0; i < kEvents.size(); ++i) {
        if (kEvents[i].space == Space::emergency) {
            bitmap[kEvents[i].code / 32] |= 1U << (kEvents[i].code % 32);
            ASSERT(kEvents[i].shape == Shape::simple); // the emergency area takes single records only
        }
    }
    return bitmap;
}

} // namespace tracer
