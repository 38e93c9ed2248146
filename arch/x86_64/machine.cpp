// SPDX-License-Identifier: MIT
#include "arch/x86_64/machine.hpp"

#include "arch/arch.hpp"
#include "arch/x86_64/hpet.hpp"
#include "arch/x86_64/interrupts.hpp"
#include "arch/x86_64/msr.hpp"
#include "arch/x86_64/paging.hpp"
#include "arch/x86_64/pic.hpp"
#include "arch/x86_64/power.hpp"
#include "arch/x86_64/segments.hpp"

#include <algorithm>

namespace arch {

namespace x86_64 {

namespace {

constexpr Vector kVectorLines = 0x30; // global lines 0.. -> 0x30..
constexpr std::uint32_t kLinesMax = kVectorTimer - kVectorLines;

constinit std::array<IoApic, kIoApicsMax> g_io_apics{};
constinit MachineDescription g_machine{};
constinit lib::TickRate g_clock{};
constinit lib::TickConversion g_conversion;

struct LineState {
    bool enabled = false; // by its driver
    bool held = false;    // by line_hold()
};

struct VectorLine {
    std::uint8_t line = 0;
    bool routed = false;
};

constinit std::array<LineState, 256> g_lines{};
constinit std::array<VectorLine, 256> g_vector_lines{};

const IoApic* io_apic_of(std::uint32_t global_line) {
    for (const IoApic& apic : g_io_apics) {
        if (apic.serves(global_line)) {
            return &apic;
        }
    }
    return nullptr;
}

// ISA lines may be re-routed; a PCI pin of a PC is level-triggered, active low.
IsaRoute route_of(std::uint8_t line) {
    return line < kIsaLines ? g_machine.isa_routes[line] : IsaRoute{line, {.level = true, .active_low = true}};
}

Vector remember(Vector vector, std::uint8_t line) {
    arch::detail::external_vectors[vector] = true;
    g_vector_lines[vector] = {line, true};
    return vector;
}

// Masks or opens the line according to its state.
void apply(std::uint8_t line) {
    const bool open = g_lines[line].enabled && !g_lines[line].held;
    const IsaRoute route = route_of(line);
    if (const IoApic* const apic = io_apic_of(route.global_line); apic != nullptr) {
        apic->enable(route.global_line, open);
    } else if (line < kPicLines) {
        pic_enable(line, open);
    }
}

bool is_pic_vector(Vector vector) {
    return vector >= kPicVectorBase && vector < kPicVectorBase + kPicLines;
}

} // namespace

void start_processor(void* per_cpu_base) {
    load_segments();
    load_interrupt_table();
    arch::detail::external_vectors[kVectorSpurious] = true;
    for (Vector line = 0; line < kPicLines; ++line) {
        arch::detail::external_vectors[kPicVectorBase + line] = true;
    }
    load_page_tables();
    write_msr(kMsrGsBase, reinterpret_cast<std::uint64_t>(per_cpu_base));
}

lib::Result<TscCalibration> start_devices(const MachineDescription& machine) {
    g_machine = machine;
    pic_start();
    for (std::size_t i = 0; i < machine.io_apic_count; ++i) {
        g_io_apics[i].start(machine.io_apics[i].base, machine.io_apics[i].line_base);
    }
    local_apic_start(machine.local_apic_base, machine.io_apic_count == 0 ? ExternalLines::pic : ExternalLines::io_apic);

    const auto hpet_khz = machine.hpet_base != 0 ? hpet_start(machine.hpet_base) : lib::Error::not_found;
    const auto calibration = calibrate_tsc({.hpet_khz = hpet_khz.ok() ? hpet_khz.value() : 0,
                                            .pm_timer_port = machine.pm_timer_port,
                                            .pm_timer_32bit = machine.pm_timer_32bit});
    if (!calibration.ok()) {
        return calibration;
    }
    if constexpr (REMORA_TSC == 1) {
        g_clock = calibration.value().rate;
    } else {
        if (!hpet_khz.ok()) {
            return lib::Error::not_found;
        }
        g_clock = {hpet_khz.value()};
    }
    g_conversion = lib::TickConversion(g_clock);
    local_apic_calibrate(g_clock);
    return calibration;
}

bool any_line_open() {
    return std::ranges::any_of(g_lines, [](const LineState& line) { return line.enabled; });
}

lib::Result<void> route_nmi(std::uint32_t global_line) {
    const IoApic* const apic = io_apic_of(global_line);
    if (apic == nullptr) {
        return lib::Error::not_found;
    }
    apic->route_nmi(global_line);
    return {};
}

} // namespace x86_64

lib::TickRate tick_rate() {
    return x86_64::g_clock;
}

const lib::TickConversion& tick_conversion() {
    return x86_64::g_conversion;
}

void timer_arm(lib::Ticks at) {
    x86_64::local_apic_timer_arm(at);
}

void timer_disarm() {
    x86_64::local_apic_timer_disarm();
}

lib::Ticks timer_left() {
    return x86_64::local_apic_timer_left(x86_64::g_clock);
}

void wait_for_interrupt() {
    // STI takes effect after the next instruction: no interrupt can occur between the two.
    asm volatile("sti; hlt; cli" : : : "memory");
}

void wait_by_counting() {
    // The sequence is long, because an emulator runs hundreds of instructions as one step.
    asm volatile("sti\n1: .fill 1024, 1, 0x90\n jmp 1b");
    __builtin_unreachable();
}

bool readable(std::uint64_t address) {
    return x86_64::is_mapped(address);
}

void stop() {
    x86_64::halt();
}

bool is_spurious(Vector vector) {
    if (x86_64::is_pic_vector(vector)) {
        return !x86_64::pic_is_real(static_cast<std::uint8_t>(vector - x86_64::kPicVectorBase));
    }
    return vector == x86_64::kVectorSpurious;
}

void end_of_interrupt(Vector vector) {
    if (x86_64::is_pic_vector(vector)) {
        x86_64::pic_end_of_interrupt(static_cast<std::uint8_t>(vector - x86_64::kPicVectorBase));
    } else if (vector != x86_64::kVectorSpurious) {
        x86_64::local_apic_end_of_interrupt();
    }
}

Vector timer_vector() {
    return x86_64::kVectorTimer;
}

lib::Result<Vector> line_vector(std::uint8_t line) {
    const x86_64::IsaRoute route = x86_64::route_of(line);
    const x86_64::IoApic* const apic = x86_64::io_apic_of(route.global_line);
    if (apic != nullptr && route.global_line < x86_64::kLinesMax) {
        const auto vector = static_cast<Vector>(x86_64::kVectorLines + route.global_line);
        apic->route(route.global_line, vector, route.mode);
        x86_64::g_lines[line].enabled = false;
        return x86_64::remember(vector, line);
    }
    if (line < x86_64::kPicLines && x86_64::g_machine.io_apic_count == 0) {
        return x86_64::remember(static_cast<Vector>(x86_64::kPicVectorBase + line), line);
    }
    return lib::Error::not_found;
}

void line_enable(std::uint8_t line, bool enabled) {
    x86_64::g_lines[line].enabled = enabled;
    x86_64::apply(line);
}

void line_hold(std::uint8_t line, bool held) {
    x86_64::g_lines[line].held = held;
    x86_64::apply(line);
}

lib::Result<std::uint8_t> vector_line(Vector vector) {
    const x86_64::VectorLine& known = x86_64::g_vector_lines[vector];
    return known.routed ? lib::Result<std::uint8_t>(known.line) : lib::Error::not_found;
}

} // namespace arch
