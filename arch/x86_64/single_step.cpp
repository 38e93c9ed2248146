// SPDX-License-Identifier: MIT
// The record path must not be stepped through: the stub of each debug exception rewinds it, so it would never end. The
// first step inside finds it at its beginning; the whole path is then executed here, on behalf of the context, as one
// step.
#include "arch/x86_64/single_step.hpp"

#if REMORA_TRACER == 1
extern "C" void tracer_region_restart(); // see the rule in entry.S
#endif

namespace arch {

void set_step_upcalls(const StepUpcalls* upcalls) {
    x86_64::detail::step_upcalls = upcalls;
}

void single_step(bool on) {
    if (on) {
        asm volatile("pushfq; orq %0, (%%rsp); popfq" : : "i"(x86_64::kTrapFlag) : "cc", "memory");
    } else {
        asm volatile("pushfq; andq %0, (%%rsp); popfq" : : "i"(~x86_64::kTrapFlag) : "cc", "memory");
    }
}

bool single_stepping() {
    return (flags_register() & x86_64::kTrapFlag) != 0;
}

namespace x86_64 {

namespace {

constexpr std::uint64_t kStepHappened = 1U << 14; // DR6.BS

bool is_step() {
    std::uint64_t status = 0;
    asm volatile("movq %%dr6, %0" : "=r"(status));
    asm volatile("movq %0, %%dr6" : : "r"(status & ~kStepHappened));
    return (status & kStepHappened) != 0;
}

#if REMORA_TRACER == 1

// Executes the record path for the interrupted context, and returns from it. It returns false if the path was not
// called.
bool finish_record(InterruptFrame& frame) {
    if (frame.rip != reinterpret_cast<std::uint64_t>(&tracer_region_restart)) {
        return false;
    }
    asm volatile("call *%[path]"
                 :
                 : "D"(frame.rdi), "S"(frame.rsi), [path] "b"(&tracer_region_restart)
                 : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "cc", "memory");
    frame.rip = *reinterpret_cast<const std::uint64_t*>(frame.rsp);
    frame.rsp += sizeof(std::uint64_t);
    return true;
}

#else

bool finish_record(InterruptFrame&) {
    return false;
}

#endif

} // namespace

bool serve_step(InterruptFrame& frame) {
    if (detail::step_upcalls == nullptr || !is_step()) {
        return false;
    }
    const bool recorded = finish_record(frame);
    if (!detail::step_upcalls->step(frame.rip, recorded)) {
        frame.rflags &= ~kTrapFlag;
    }
    return true;
}

void detail::request_steps(InterruptFrame& frame) {
    frame.rflags = step_upcalls->wanted() ? frame.rflags | kTrapFlag : frame.rflags & ~kTrapFlag;
}

} // namespace x86_64

} // namespace arch
