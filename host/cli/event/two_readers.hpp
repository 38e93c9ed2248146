// SPDX-License-Identifier: MIT
// The events of a trace for two consumers that know nothing of each other, each of which sees all of them in order.
// With several workers they run side by side: the caller reads, and hands over runs of records as they are, which both
// decode, because 16 bytes go from one processor to the other faster than an event. What is no run is shown to both by
// the caller, after the other has seen all that was before.
#pragma once

#include "host/formats/trace.hpp"

#include <cstdint>
#include <functional>
#include <span>

namespace host::cli {

// khz: the clock's rate as far as it is known at these events, else 0. They are valid during the call.
using Reader = std::function<void(std::span<const trace::Event> events, std::uint32_t khz)>;

// To the end of the trace. workers: 1 or more. Throws what a reader throws.
void read_twice(formats::Trace& trace, unsigned workers, const Reader& here, const Reader& beside);

} // namespace host::cli
