// SPDX-License-Identifier: MIT
// This hosted machine runs the whole kernel: contexts are fibers with stacks of their own, the one-shot timer and the
// clock are virtual. It checks errors that a real machine shows late or never: switching, arming or waiting with
// interrupts on, waiting for an interrupt that cannot occur.
//
// Interrupts are taken when time passes in burn() or while waiting, and when interrupts are enabled with one due. One
// that is due exactly at the end of a burn is taken after the task's next kernel call: work that ends on its deadline
// is in time.
#pragma once

#include <cstdint>

namespace fake_machine {

// Gets the intervals of a burst of work between interrupts, in order.
using Interval = void (*)(void* context, std::uint64_t from, std::uint64_t to);

// Lets the running context work for a number of ticks of virtual time. Precondition: interrupts are on.
void burn(std::uint64_t ticks, Interval interval, void* context);

// Returns how often the one-shot timer was armed or disarmed.
[[nodiscard]] std::uint64_t timer_settings();

} // namespace fake_machine
