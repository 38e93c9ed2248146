// SPDX-License-Identifier: MIT
// External and internal numbers of classes and events: callbacks are registered with the external ones, slots hold the
// internal ones.
#pragma once

#include "foreign/published/traceparser.h"

#include <cstdint>
#include <optional>
#include <span>

namespace host::compat {

// External classes, and after them one for events that no external class has.
inline constexpr unsigned kClasses = _NTO_TRACE_INT_HANDLER_EXIT + 2;
inline constexpr unsigned kClassUnknown = kClasses - 1;

struct External {
    unsigned class_number = kClassUnknown;
    unsigned event = 0;
};

// words: the event's data, at least two.
[[nodiscard]] External external_of(unsigned internal_class, unsigned internal_event,
                                   std::span<const std::uint32_t> words);

// The error of registering for these events; none if they exist.
[[nodiscard]] std::optional<traceparser_error_t> registration_error(unsigned class_number, unsigned event1,
                                                                    unsigned event2);

// The classes that a class comprises: itself, or those of the pseudo-classes KERCALL and INT.
[[nodiscard]] std::span<const unsigned> members_of(const unsigned& class_number);

} // namespace host::compat
