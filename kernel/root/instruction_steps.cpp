// SPDX-License-Identifier: MIT
#include "kernel/root/instruction_steps.hpp"

#include "arch/arch.hpp"
#include "kernel/compensation/compensated_clock.hpp"
#include "kernel/irq_guard.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/task_object.hpp"
#include "tracer/instance.hpp"

#include <algorithm>

namespace kernel::root {

namespace {

// 0 stands for the boot context.
std::uint16_t running_context() {
    const Task* const task = this_processor().loaded;
    return task != nullptr ? task->context : std::uint16_t{0};
}

// Null if there is none.
const Task* find(std::uint16_t context) {
    const auto task = std::ranges::find_if(
        task_table(), [context](const Task& one) { return one.state != TaskState::free && one.context == context; });
    return task != task_table().end() ? &*task : nullptr;
}

bool is_task(std::uint16_t context) {
    return find(context) != nullptr;
}

// What is executed is mapped, and so is what follows it: the image ends in read-only data.
const std::uint8_t* code_at(std::uint64_t address) {
    return reinterpret_cast<const std::uint8_t*>(address);
}

struct Step {
    std::uint64_t address;
    bool recorded;
    bool goes_on = false;
};

void take(void* argument) {
    Step& step = *static_cast<Step*>(argument);
    step.goes_on = tracer::instance().instructions.step(running_context(), step.address, step.recorded);
}

bool step(std::uint64_t address, bool recorded) {
    Step step{address, recorded};
    if constexpr (kCompensationBuilt) {
        compensation::step_irq_off(&take, &step);
    } else {
        take(&step);
    }
    return step.goes_on;
}

// What ran freely was genuine.
void untraced() {
    if constexpr (kCompensationBuilt) {
        compensation::untraced_irq_off();
    }
}

// A clock that was set back stays behind, and records of it get lost or overwritten.
void tell_clock() {
    if constexpr (kCompensationBuilt) {
        const IrqGuard guard;
        compensation::tell_removed_irq_off();
    }
}

// At the end of an interrupt.
bool wanted() {
    untraced();
    tell_clock();
    return tracer::instance().instructions.wants(running_context());
}

// What the context did until here it did freely.
void set(bool on) {
    if (on) {
        const IrqGuard guard;
        untraced();
    }
    arch::single_step(on);
}

constexpr arch::StepUpcalls kUpcalls{.step = &step, .wanted = &wanted};

// Interrupts ask from the first time on, and for ever: some context may still have to be taken out of its steps.
void begin() {
    arch::set_step_upcalls(&kUpcalls);
}

} // namespace

void instruction_steps_configure() {
    tracer::instance().instructions.set_hooks({.context = &running_context,
                                               .is_task = &is_task,
                                               .set = &set,
                                               .code = &code_at,
                                               .gap = &tell_clock,
                                               .begin = &begin});
}

} // namespace kernel::root
