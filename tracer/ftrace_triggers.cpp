// SPDX-License-Identifier: MIT
// Implements the published-style interface of triggers: checks arguments and reports reasons; the rules are in Control.
#include "tracer/ftrace.hpp"
#include "tracer/ftrace_call.hpp"
#include "tracer/ftrace_statements.hpp"

#include <limits>

namespace {

using tracer::instance;
using tracer::detail::Call;

const char* arm_text(lib::Error error) {
    if (error == lib::Error::busy) {
        return "the event's family is filtered: it would never be recorded";
    }
    if (error == lib::Error::refused) {
        return "no chunk is selected";
    }
    return error == lib::Error::unsupported
               ? "a chunk that may be recorded into is compact: its records cannot be counted"
               : "no record carries this type, or it has no par1 and par2 to compare";
}

// Returns whether records are refused that would be recorded without a trigger.
bool refuses() {
    const tracer::Control& control = instance().control;
    return control.enabled() && (control.awaits_start() || control.has_stopped());
}

template <typename T>
bool fits(long long value) {
    return value == FTRACE_ANY || (value >= 0 && value <= std::numeric_limits<T>::max());
}

template <typename T>
std::optional<T> optional_of(long long value) {
    return value == FTRACE_ANY ? std::nullopt : std::optional<T>(static_cast<T>(value));
}

} // namespace

int FTrace_trigger_arm(int action, WORD type, int par1, long long par2, DWORD records_after) {
    const Call call("FTrace_trigger_arm");
    if (!call.locked()) {
        return -1;
    }
    if (action < FTRACE_TRIGGER_START || action > FTRACE_TRIGGER_FREEZE) {
        return call.fail("action", action, "use FTRACE_TRIGGER_START, _STOP or _FREEZE");
    }
    if (type > tracer::kCodeMask) {
        return call.fail("type", type, "use an FTrace_EVT_* constant");
    }
    if (!fits<WORD>(par1)) {
        return call.fail("par1", par1, "0 to 65535, or FTRACE_ANY");
    }
    if (!fits<DWORD>(par2)) {
        return call.fail("par2", par2, "0 to 4294967295, or FTRACE_ANY");
    }
    if (action == FTRACE_TRIGGER_START && records_after != 0) {
        return call.fail("records_after", records_after, "must be 0: recording continues after a start");
    }
    tracer::Control& control = instance().control;
    const tracer::TriggerRequest request{.action = static_cast<tracer::TriggerAction>(action),
                                         .code = static_cast<std::uint8_t>(type),
                                         .par1 = optional_of<WORD>(par1),
                                         .par2 = optional_of<DWORD>(par2),
                                         .records_after = records_after};
    if (const auto checked = control.check(request); !checked) {
        return call.fail("type", type, arm_text(checked.error()));
    }
    const bool ends_pause = refuses();
    const bool begins_pause = action == FTRACE_TRIGGER_START && control.enabled() && !ends_pause;
    if (ends_pause) {
        control.hold();
    } else if (begins_pause) {
        tracer::detail::state_stop();
    }
    const auto armed = control.arm(request);
    ASSERT(armed.ok());
    if (ends_pause) {
        tracer::detail::state_gap();
    } else if (begins_pause) {
        tracer::detail::state_stopped();
    }
    return 0;
}

int FTrace_trigger_disarm() {
    const Call call("FTrace_trigger_disarm");
    if (!call.locked()) {
        return -1;
    }
    const bool refused = refuses();
    if (refused) {
        instance().control.hold();
    }
    instance().control.disarm();
    if (refused) {
        tracer::detail::state_gap();
    }
    return 0;
}

int FTrace_trigger_state() {
    const Call call("FTrace_trigger_state");
    return call.locked() ? static_cast<int>(instance().control.trigger_state()) : -1;
}
