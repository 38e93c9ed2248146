// SPDX-License-Identifier: MIT
// The table that the record path's assembly reads: which codes may use the emergency area. Derived from the event
// table.
#include "tracer/record/record_path.hpp"

extern "C" {
[[gnu::visibility("hidden")]] extern const std::array<std::uint32_t, 8> tracer_emergency_bitmap;
constinit const std::array<std::uint32_t, 8> tracer_emergency_bitmap = tracer::emergency_bitmap();
}
