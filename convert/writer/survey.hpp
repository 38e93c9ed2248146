// SPDX-License-Identifier: MIT
// The first pass over a trace, for formats whose head describes what follows.
#pragma once

#include "convert/writer/writer.hpp"
#include "host/formats/trace.hpp"

#include <functional>

namespace host::convert {

// Takes every event of the trace and counts those that are wanted, or all. Time in proportion to its length.
[[nodiscard]] Survey survey_of(formats::Trace& trace, const std::function<bool(const trace::Event&)>& wanted = {});

} // namespace host::convert
