// SPDX-License-Identifier: MIT
// Connects the processor's single steps with the tracer's table of the tasks that want them.
#include "kernel/root/tracing_parts.hpp"

#include "arch/arch.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/state/processor.hpp"
#include "kernel/state/task_table.hpp"
#include "kernel/time/compensated_clock.hpp"
#include "tracer/instance.hpp"

#include <algorithm>

namespace kernel::root {

namespace {

// Returns the context number of the running task; 0 is the boot context.
std::uint16_t running_context() {
    const Task* const task = this_processor().loaded;
    return task != nullptr ? task->context : std::uint16_t{0};
}

// Returns the task with this context number, or null.
const Task* find(std::uint16_t context) {
    const arch::IrqGuard off;
    const auto task = std::ranges::find_if(
        task_table(off), [context](const Task& one) { return one.state != TaskState::free && one.context == context; });
    return task != task_table(off).end() ? &*task : nullptr;
}

bool is_task(std::uint16_t context) {
    return find(context) != nullptr;
}

// Returns code, which is mapped like what follows it, because the image ends in read-only data.
const std::uint8_t* code_at(std::uint64_t address) {
    return reinterpret_cast<const std::uint8_t*>(address);
}

struct Step {
    std::uint64_t address;
    bool recorded;
    bool continues = false;
};

void take(void* argument) {
    Step& step = *static_cast<Step*>(argument);
    step.continues = tracer::instance().instructions.step(running_context(), step.address, step.recorded);
}

bool step(std::uint64_t address, bool recorded) {
    Step step{address, recorded};
    if constexpr (kCompensationBuilt) {
        const IrqOff off = IrqOff::from_entry();
        compensation::step(&take, &step, off);
    } else {
        take(&step);
    }
    return step.continues;
}

// Records by how much the clock was set back, because earlier such records may be lost or overwritten.
void record_clock() {
    if constexpr (kCompensationBuilt) {
        const IrqGuard off;
        compensation::record_removed(off);
    }
}

// Returns at an interrupt's end whether the context runs in steps.
bool wanted() {
    const IrqOff off = IrqOff::from_entry();
    clock_untraced(off); // the time of what ran freely was genuine
    record_clock();
    return tracer::instance().instructions.wants(running_context());
}

// Begins or ends steps of a context that has run freely until here.
void set(bool on) {
    if (on) {
        const IrqGuard off;
        clock_untraced(off);
    }
    arch::single_step(on);
}

constexpr arch::StepUpcalls kUpcalls{.step = &step, .wanted = &wanted};

// Sets the upcalls permanently, because some context may still have to be taken out of its steps.
void begin() {
    arch::set_step_upcalls(&kUpcalls);
}

} // namespace

void instruction_steps_configure() {
    tracer::instance().instructions.set_hooks({.context = &running_context,
                                               .is_task = &is_task,
                                               .set = &set,
                                               .code = &code_at,
                                               .gap = &record_clock,
                                               .begin = &begin});
}

} // namespace kernel::root
