// SPDX-License-Identifier: MIT
// Implements the published-style interface of instruction-level tracing: checks arguments and reports reasons. While
// the lock is held no other context runs, so the table and the processor's flag change together.
#include "tracer/ftrace.hpp"
#include "tracer/ftrace_call.hpp"

#include <limits>

namespace {

using tracer::instance;
using tracer::InstructionTrace;
using tracer::detail::Call;

bool is_grain(int grain) {
    return grain == FTRACE_ITRACE_INSTRUCTIONS || grain == FTRACE_ITRACE_BLOCKS;
}

static_assert(static_cast<int>(tracer::Grain::instructions) == FTRACE_ITRACE_INSTRUCTIONS &&
              static_cast<int>(tracer::Grain::blocks) == FTRACE_ITRACE_BLOCKS);

std::uint64_t address_of(const void* place) {
    return reinterpret_cast<std::uint64_t>(place);
}

} // namespace

int FTrace_itrace_begin(int grain) {
    {
        const Call call("FTrace_itrace_begin");
        if (!call.locked()) {
            return -1;
        }
        InstructionTrace& trace = instance().instructions;
        if (!is_grain(grain)) {
            return call.fail("grain", grain, "use FTRACE_ITRACE_INSTRUCTIONS or FTRACE_ITRACE_BLOCKS");
        }
        if (trace.hooks().set == nullptr) {
            return call.fail("this machine cannot step");
        }
        const std::uint16_t context = trace.hooks().context();
        if (context == 0) {
            return call.fail("no task is running");
        }
        if (!trace.add(context, static_cast<tracer::Grain>(grain))) {
            return call.fail("the task already runs in steps");
        }
    }
    instance().instructions.hooks().set(true); // last: the code above is not part of the application
    return 0;
}

int FTrace_itrace_end() {
    const tracer::StepHooks& hooks = instance().instructions.hooks();
    if (hooks.set != nullptr) {
        hooks.set(false); // first: this code is not the application's
    }
    const Call call("FTrace_itrace_end");
    if (!call.locked()) {
        return -1;
    }
    if (hooks.set == nullptr || !instance().instructions.remove(hooks.context())) {
        return call.fail("the calling task does not run in steps");
    }
    hooks.set(false); // an interrupt may have set it again meanwhile
    return 0;
}

int FTrace_itrace_task(int context, int status, int grain) {
    const Call call("FTrace_itrace_task");
    if (!call.locked()) {
        return -1;
    }
    InstructionTrace& trace = instance().instructions;
    if (trace.hooks().set == nullptr) {
        return call.fail("this machine cannot step");
    }
    if (status != 0 && status != 1) {
        return call.fail("status", status, "0 or 1");
    }
    if (status == 1 && !is_grain(grain)) {
        return call.fail("grain", grain, "use FTRACE_ITRACE_INSTRUCTIONS or FTRACE_ITRACE_BLOCKS");
    }
    if (context < 1 || context > std::numeric_limits<WORD>::max() ||
        !trace.hooks().is_task(static_cast<WORD>(context))) {
        return call.fail("context", context, "no task has this context");
    }
    const auto task = static_cast<WORD>(context);
    const bool done = status == 1 ? trace.add(task, static_cast<tracer::Grain>(grain)) : trace.remove(task);
    if (!done) {
        return call.fail("status", status, "the task is already in this state");
    }
    if (task == trace.hooks().context()) {
        trace.hooks().set(status == 1);
    }
    return 0;
}

int FTrace_itrace_range(const void* begin, const void* end) {
    const Call call("FTrace_itrace_range");
    if (!call.locked()) {
        return -1;
    }
    if (address_of(end) < address_of(begin)) {
        return call.fail("end", static_cast<long long>(address_of(end)), "end is before begin");
    }
    instance().instructions.set_range(address_of(begin), address_of(end));
    return 0;
}

int FTrace_itrace_flag(const volatile int* flag) {
    const Call call("FTrace_itrace_flag");
    if (!call.locked()) {
        return -1;
    }
    instance().instructions.set_flag(flag);
    return 0;
}
