// SPDX-License-Identifier: MIT
// The first pass over a trace, for formats whose head tells what follows.
#pragma once

#include "host/convert/writer.hpp"
#include "host/trace/trace.hpp"

namespace host::convert {

// Takes every event of the trace. Time in proportion to its length.
[[nodiscard]] Survey survey_of(trace::Trace& trace);

} // namespace host::convert
