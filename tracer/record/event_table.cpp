// SPDX-License-Identifier: MIT
// What must hold of the whole event table. It is checked here, once: in the header the comparison of all rows would be
// repeated by each of the hundreds of sources that include it.
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
