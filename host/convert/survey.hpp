// SPDX-License-Identifier: MIT
// The first pass over a trace, for formats whose head describes what follows.
#pragma once

#include "host/convert/writer.hpp"
#include "host/formats/trace.hpp"

namespace host::convert {

// Takes every event of the trace. Time in proportion to its length.
[[nodiscard]] Survey survey_of(formats::Trace& trace);

} // namespace host::convert
