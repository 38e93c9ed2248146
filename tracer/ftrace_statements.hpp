// SPDX-License-Identifier: MIT
// States in the trace what a reader needs to judge a record that is absent: where recording paused, and which families
// are filtered. An absent record is then no contradiction of those around it.
//
//   enabled again, resumed by the removal of a trigger   trace_start, filter_*
//   a trigger that refuses records until its event       trace_stop, filter_*
//   the first time enabled                               filter_*; the rest is the caller's
//
// These records pass the filters and a trigger that is armed, which they do not fire (that of a call of
// FTrace_set_filter fires it, like any other event). While a trigger has stopped recording, nothing is stated before
// its removal. While something is stated all families are filtered, so that no record of an interrupt precedes it as if
// it were of the time before the pause. Context: task or irq-off, with the tracer's lock.
#pragma once

#include "tracer/instance.hpp"

#include <cstdint>

namespace tracer::detail {

// Must be called after Control::enter().
void state_enabled();

// Must be called if records were refused until now, after Control::hold(). Precondition: recording is enabled.
void state_gap();

// Must be called before and after a trigger is set that refuses records from now on. Precondition: none were refused.
void state_stop();
void state_stopped();

// Must be called after each change of a filter.
void state_filter(std::uint8_t filter_code);

} // namespace tracer::detail
