// SPDX-License-Identifier: MIT
// Translates classes and events to their external numbers. Source of the numbers: the published class and event lists.
#include "foreign/published/traceparser_state.hpp"

#include "foreign/kev/event_names.hpp"
#include "foreign/kev/slot.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace host::compat {

namespace {

using namespace formats::kev;

constexpr auto kCallClasses =
    std::to_array<unsigned>({_NTO_TRACE_KERCALLENTER, _NTO_TRACE_KERCALLEXIT, _NTO_TRACE_KERCALLINT});
constexpr auto kInterruptClasses = std::to_array<unsigned>(
    {_NTO_TRACE_INTENTER, _NTO_TRACE_INTEXIT, _NTO_TRACE_INT_HANDLER_ENTER, _NTO_TRACE_INT_HANDLER_EXIT});

External thread_external(unsigned event) {
    if (event >= kProcessStep) {
        const unsigned number = event / kProcessStep;
        return event % kProcessStep == 0 && event <= kThreadName ? External{_NTO_TRACE_PROCESS, 1U << (number - 1)}
                                                                 : External{};
    }
    if (event >= 2U * kVirtualThreads) {
        return {};
    }
    return event >= kVirtualThreads ? External{_NTO_TRACE_VTHREAD, 1U << (event - kVirtualThreads)}
                                    : External{_NTO_TRACE_THREAD, 1U << event};
}

// The external events of a class, which may be each bit of a range or each number.
struct Numbers {
    unsigned first = 0;
    unsigned last = 0;
    bool is_bits = false;
    traceparser_error_t error = _TRACEPARSER_UNKNOWN_CLASS; // if none of them is asked for

    [[nodiscard]] bool has_any(unsigned event1, unsigned event2) const {
        const unsigned from = std::max(event1, first);
        return from <= last && (is_bits ? std::bit_ceil(from) : from) <= std::min(event2, last);
    }
};

Numbers numbers_of(unsigned class_number) {
    switch (class_number) {
    case _NTO_TRACE_CONTROL:
        return {_NTO_TRACE_CONTROLTIME, _NTO_TRACE_CONTROLBUFFER, true, _TRACEPARSER_UNKNOWN_CONTROL_EVENT};
    case _NTO_TRACE_KERCALL:
    case _NTO_TRACE_KERCALLENTER:
    case _NTO_TRACE_KERCALLEXIT:
    case _NTO_TRACE_KERCALLINT:
        return {_NTO_TRACE_KERCALLFIRST, _NTO_TRACE_KERCALLLAST, false, _TRACEPARSER_UNKNOWN_KER_CALL_EVENT};
    case _NTO_TRACE_INT:
    case _NTO_TRACE_INTENTER:
    case _NTO_TRACE_INTEXIT:
    case _NTO_TRACE_INT_HANDLER_ENTER:
    case _NTO_TRACE_INT_HANDLER_EXIT:
        return {_NTO_TRACE_INTFIRST, _NTO_TRACE_INTLAST, false, _TRACEPARSER_UNKNOWN_INT_EVENT};
    case _NTO_TRACE_PROCESS:
        return {_NTO_TRACE_PROCCREATE, _NTO_TRACE_PROCTHREAD_NAME, true, _TRACEPARSER_UNKNOWN_PR_TH_EVENT};
    case _NTO_TRACE_THREAD:
    case _NTO_TRACE_VTHREAD:
        return {_NTO_TRACE_THDEAD, _NTO_TRACE_THDESTROY, true, _TRACEPARSER_UNKNOWN_PR_TH_EVENT};
    case _NTO_TRACE_USER:
        return {_NTO_TRACE_USERFIRST, _NTO_TRACE_USERLAST, false, _TRACEPARSER_UNKNOWN_USR_EVENT};
    case _NTO_TRACE_SYSTEM:
        return {_NTO_TRACE_SYS_RESERVED, _NTO_TRACE_SYS_LAST, false, _TRACEPARSER_UNKNOWN_CONTAINER_EVENT};
    case _NTO_TRACE_COMM:
        return {_NTO_TRACE_COMM_SMSG, _NTO_TRACE_COMM_LAST, false, _TRACEPARSER_UNKNOWN_COMM_EVENT};
    default:
        return {_NTO_TRACE_EMPTYEVENT, _NTO_TRACE_EMPTYEVENT};
    }
}

} // namespace

External external_of(unsigned internal_class, unsigned internal_event, std::span<const std::uint32_t> words) {
    switch (static_cast<Class>(internal_class)) {
    case Class::empty:
        return {};
    case Class::control:
        return internal_event == kControlTime || internal_event == kControlBuffer
                   ? External{_NTO_TRACE_CONTROL, internal_event}
                   : External{};
    case Class::kernel_call: {
        const unsigned number = internal_event & ~unsigned{kCall64};
        return number < 3U * kCalls
                   ? External{kCallClasses[number / kCalls], number % kCalls | (internal_event & kCall64)}
                   : External{};
    }
    case Class::interrupt:
        return internal_event >= 1 && internal_event <= kInterruptClasses.size()
                   ? External{kInterruptClasses[internal_event - 1], words[0]}
                   : External{};
    case Class::thread:
        return thread_external(internal_event);
    case Class::system:
        return internal_event != 0 && internal_event <= _NTO_TRACE_SYS_LAST
                   ? External{_NTO_TRACE_SYSTEM, internal_event}
                   : External{};
    case Class::user:
        return {_NTO_TRACE_USER, internal_event};
    case Class::comm:
        return internal_event <= _NTO_TRACE_COMM_LAST ? External{_NTO_TRACE_COMM, internal_event} : External{};
    }
    return {};
}

std::optional<traceparser_error_t> registration_error(unsigned class_number, unsigned event1, unsigned event2) {
    const Numbers numbers = numbers_of(class_number);
    const bool is_wide_call = numbers.error == _TRACEPARSER_UNKNOWN_KER_CALL_EVENT &&
                              event1 <= (_NTO_TRACE_KERCALL64 | _NTO_TRACE_KERCALLLAST) &&
                              event2 >= _NTO_TRACE_KERCALL64;
    const bool is_known = class_number < kClassUnknown && (is_wide_call || numbers.has_any(event1, event2));
    return is_known && event1 <= event2 ? std::nullopt : std::optional(numbers.error);
}

std::span<const unsigned> members_of(const unsigned& class_number) {
    switch (class_number) {
    case _NTO_TRACE_KERCALL:
        return kCallClasses;
    case _NTO_TRACE_INT:
        return kInterruptClasses;
    default:
        return {&class_number, 1};
    }
}

} // namespace host::compat
