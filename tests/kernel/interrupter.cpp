// SPDX-License-Identifier: MIT
#include "tests/kernel/interrupter.hpp"

#include "kernel/interrupt/interrupt.hpp"
#include "tests/kernel/recording.hpp"
#include "tracer/record/record_path.hpp"

#include <algorithm>

namespace guest {

namespace {

constexpr std::uint64_t kArm = 0x1; // DR7: local enable of breakpoint 0, on execution
constexpr std::uint64_t kDisarm = 0x0;
constexpr arch::Vector kVectorIrq = 0x90;
constexpr std::uint16_t kLong = tracer::event_code("task_name");

constinit int g_hits = 0;
constinit std::uint32_t g_nested_long_slots = 0;

void log_nested() {
    static constinit std::array<tracer::Record, kLongSlotsMax> slots{};
    ++g_hits;
    if (g_nested_long_slots != 0) {
        record_freely(long_event(std::span(slots).first(g_nested_long_slots), kNested));
    } else {
        TRACER_LOGEVENT(FTrace_EVT_user_event_0, kNested, 0);
    }
}

// Serves #DB; the stub has rewound the interrupted record already.
void on_debug(arch::x86_64::InterruptFrame&) {
    clear_breakpoint();
    log_nested();
}

// The kernel logs the start and the end of a device's interrupt and of an NMI; NMIs log nothing else.
void on_irq(void*) {
    log_nested();
}

} // namespace

void start_interrupter() {
    arch::x86_64::set_debug_hook(&on_debug);
    must(kernel::interrupt_attach(kVectorIrq, "irq", &on_irq, nullptr));
    count_nmis();
}

void stop_interrupter() {
    must(kernel::interrupt_detach(kVectorIrq));
    must(kernel::interrupt_detach(arch::x86_64::kVectorNmi));
    arch::x86_64::set_debug_hook(nullptr);
}

void set_nested_long_slots(std::uint32_t slots) {
    g_nested_long_slots = slots;
}

int interrupter_hits() {
    return g_hits;
}

void set_breakpoint(std::uint64_t address) {
    asm volatile("movq %0, %%dr0" : : "r"(address));
    asm volatile("movq %0, %%dr7" : : "r"(kArm));
}

void clear_breakpoint() {
    asm volatile("movq %0, %%dr7" : : "r"(kDisarm));
}

RawEvent long_event(std::span<tracer::Record> slots, std::uint16_t number) {
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const auto combine = slots.size() == 1       ? tracer::Combine::simple
                             : i == 0                ? tracer::Combine::first
                             : i + 1 == slots.size() ? tracer::Combine::last
                                                     : tracer::Combine::middle;
        slots[i] = {.code = static_cast<std::uint16_t>(kLong | static_cast<std::uint16_t>(combine)),
                    .par1 = number,
                    .par2 = static_cast<std::uint32_t>(i)};
    }
    return {.rdi = slots[0].code | std::uint32_t{number} << 16 | std::uint64_t{slots.size() * kRecordBytes} << 32,
            .rsi = reinterpret_cast<std::uint64_t>(slots.data()),
            .path = &tracer_record_long};
}

std::uint8_t vector_of(Way way) {
    switch (way) {
    case Way::irq:
        return kVectorIrq;
    case Way::nmi:
        return arch::x86_64::kVectorNmi;
    case Way::debug:
    case Way::breakpoint:
        return arch::x86_64::kVectorDebug;
    }
    return 0;
}

void interrupt_by_instruction(Way way) {
    switch (way) {
    case Way::irq:
        asm volatile("int %0" : : "i"(kVectorIrq) : "memory");
        return;
    case Way::nmi:
        asm volatile("int $2" : : : "memory");
        return;
    case Way::debug:
    case Way::breakpoint:
        asm volatile("int $1" : : : "memory");
        return;
    }
}

void Boundaries::take_path() {
    m_size = path().size();
    std::ranges::copy(path(), m_steps.begin());
    check(m_size >= 11, "the path was stepped through");
}

bool Boundaries::choose(std::size_t step) {
    std::size_t times = 0;
    std::size_t before = 0;
    for (std::size_t i = 0; i < m_size; ++i) {
        times += m_steps[i] == m_steps[step] ? 1U : 0U;
        before += i < step && m_steps[i] == m_steps[step] ? 1U : 0U;
    }
    const bool chosen = before == 0 || before == times / 2 || before + 1 == times;
    if (chosen) {
        ++m_injections;
        m_chosen[m_steps[step] - reinterpret_cast<std::uint64_t>(&tracer_region_begin)] = true;
    }
    return chosen;
}

void Boundaries::report(std::uint64_t instructions_min) const {
    const auto instructions = static_cast<std::uint64_t>(std::ranges::count(m_chosen, true));
    kernel::console().line("interrupted ", m_injections, " times, before ", instructions, " instructions");
    check(instructions >= instructions_min, "the situations lead through the whole path");
}

} // namespace guest
