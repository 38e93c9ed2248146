// SPDX-License-Identifier: MIT
// What the files of the C interface share.
#pragma once

#include "tracer/instance.hpp"

namespace port {

// Returns the tracer of a processor; null if it has none yet, or if there is no such processor.
[[nodiscard]] tracer::Instance* instance_of(unsigned cpu);

// States in its descriptor that nothing is recorded any more on this processor, which has a tracer.
void mark_ended(unsigned cpu);

// Notes why a function of this name returns -1, which it returns. argument: null if none is at fault.
int fail(const char* function, const char* argument, long long value, const char* text);

} // namespace port
