// SPDX-License-Identifier: MIT
// Defines the table that the record path's assembly reads, and checks the whole event table. The check is not in the
// header, where each of the hundreds of sources that include it would repeat the comparison of all rows.
#include "tracer/record/record_path.hpp"

#include "tracer/record/event_table.hpp"

namespace tracer {

namespace {

consteval bool codes_and_names_are_unique() {
    for (std::size_t i = 0; i < kEvents.size(); ++i) {
        for (std::size_t j = i + 1; j < kEvents.size(); ++j) {
            if (kEvents[i].code == kEvents[j].code || kEvents[i].name == kEvents[j].name) {
                return false;
            }
        }
    }
    return true;
}

static_assert(codes_and_names_are_unique());

} // namespace

} // namespace tracer

// The record path's assembly reads this table, which states the codes that may use the emergency area.
extern "C" {
[[gnu::visibility("hidden")]] extern const std::array<std::uint32_t, 8> tracer_emergency_bitmap;
constinit const std::array<std::uint32_t, 8> tracer_emergency_bitmap = tracer::emergency_bitmap();
}
