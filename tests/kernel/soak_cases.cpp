// SPDX-License-Identifier: MIT
// The soak in the guest writes records under the machine's own interrupts, which come in through the kernel's own
// stubs. A timer event of the kernel posts itself again and again at random distances and logs; the PIT's line is an
// NMI (the I/O APIC delivers it so), which interrupts the timer's handler as well. Before the two stubs there is a
// counter of the test that looks where the interrupt hit and changes nothing.
//
// QEMU takes interrupts between translated blocks only, and the record path is a few of them: on the host's clock this
// proves little unless QEMU runs single instructions. On the exact clock (icount) a block ends where an interrupt is
// due. The runner boots it both ways; the figures show what was hit.
#include "arch/x86_64/local_apic.hpp"
#include "arch/x86_64/mmio.hpp"
#include "arch/x86_64/port_io.hpp"
#include "kernel/interrupt/interrupt.hpp"
#include "kernel/panic/hang.hpp"
#include "kernel/time/timer.hpp"
#include "tests/kernel/interrupt_table.hpp"
#include "tests/kernel/recording.hpp"
#include "tests/soak/checker.hpp"
#include "tracer/record/record_path.hpp"

#include <algorithm>

extern "C" {
void guest_count_nmi();
void guest_count_timer();
constinit std::uint64_t guest_nmi_stub = 0;
constinit std::uint64_t guest_timer_stub = 0;
constinit std::uint64_t guest_nmi_rewinds = 0;
constinit std::uint64_t guest_timer_rewinds = 0;
constinit std::uint64_t guest_nested_rewinds = 0;
constinit std::uint64_t guest_handlers = 0; // timer handlers under way
constinit std::uint32_t guest_hits[8192]{}; // by offset in the record path
}

asm(R"(
    .text
.macro count_interrupt name
    .balign 16
guest_count_\name:
    pushq %rax
    movq 8(%rsp), %rax
    cmpq $tracer_region_begin, %rax
    jb 1f
    cmpq $tracer_region_end, %rax
    jae 1f
    cmpq $tracer_region_exit, %rax
    je 1f
    incq guest_\name\()_rewinds
    subq $tracer_region_begin, %rax
    incl guest_hits(,%rax,4)
    movq guest_handlers, %rax
    addq %rax, guest_nested_rewinds
1:
    popq %rax
    jmp *guest_\name\()_stub
.endm
    count_interrupt nmi
    count_interrupt timer
)");

namespace {

namespace soak_cases {

using namespace guest;
using arch::x86_64::PortIo;

constexpr std::uint8_t kPitLine = 0;
constexpr std::uint64_t kIoApicBase = 0xFEC0'0000; // where QEMU's chipsets have the first one
constexpr std::uint32_t kDeliverNmi = 0x4U << 8;
constexpr std::uint32_t kEmergencySlots = 4;
constexpr std::uint64_t kDefaultDuration = 50'000'000; // ns
constexpr int kEventsOfTimer = 20;

constinit InterruptTable g_table;
constinit std::array<soak::Source, 2> g_sources = {soak::Source(0), soak::Source(1)};
constinit std::uint64_t g_random = 1;
constinit bool g_storm = false;

// States how dense the storm is: an exact clock allows interrupts every few hundred instructions; on the host's clock
// the machine may be so slow that nothing else would run. The units are microseconds and PIT ticks (838 ns).
struct Density {
    std::uint32_t timer_us_min;
    std::uint32_t pit_ticks_min;
};

constexpr Density kExactClock{1, 2};
constexpr Density kHostClock{100, 60};
constinit Density g_density = kHostClock;

std::uint32_t random_below(std::uint32_t limit) {
    g_random = g_random * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
    return static_cast<std::uint32_t>(g_random >> 33) % limit;
}

// --- the storm
// ---------------------------------------------------------------------------------------------------------

std::uint32_t io_apic_read(std::uint32_t index) {
    arch::x86_64::mmio_write(kIoApicBase, index);
    return arch::x86_64::mmio_read<std::uint32_t>(kIoApicBase + 0x10);
}

void io_apic_write(std::uint32_t index, std::uint32_t value) {
    arch::x86_64::mmio_write(kIoApicBase, index);
    arch::x86_64::mmio_write(kIoApicBase + 0x10, value);
}

// Makes an NMI of a line, which keeps its place.
void make_nmi_of(arch::Vector vector) {
    bool found = false;
    for (std::uint32_t index = 0x10; index < 0x10 + 2 * 24; index += 2) {
        const std::uint32_t low = io_apic_read(index);
        if ((low & 0x7FF) == vector) {
            io_apic_write(index, low | kDeliverNmi);
            found = true;
        }
    }
    ASSERT(found);
}

// Starts channel 0 as a rate generator with this period in PIT ticks (838 ns).
void start_pit(std::uint16_t period) {
    PortIo::out8(0x43, 0x34);
    PortIo::out8(0x40, static_cast<std::uint8_t>(period));
    PortIo::out8(0x40, static_cast<std::uint8_t>(period >> 8));
}

void post_timer();

void on_timer(void*) {
    if (!g_storm) {
        return;
    }
    ++guest_handlers;
    for (int i = 0; i < kEventsOfTimer; ++i) {
        g_sources[1].log();
    }
    --guest_handlers;
    start_pit(static_cast<std::uint16_t>(g_density.pit_ticks_min * (1 + random_below(4))));
    post_timer();
}

void post_timer() {
    const lib::Nanoseconds distance{std::uint64_t{g_density.timer_us_min} * (1'000 + random_below(4'000))};
    must(kernel::kern_event_post(kernel::after(distance), &on_timer, nullptr));
}

// Serves the last NMI on its way before it returns. Context: irq-off.
void release_storm_irq_off() {
    g_storm = true;
    post_timer();
    start_pit(static_cast<std::uint16_t>(g_density.pit_ticks_min));
    arch::line_enable(kPitLine, true);
}

void hold_storm_irq_off() {
    g_storm = false;
    arch::line_enable(kPitLine, false);
    for (int i = 0; i < 1'000; ++i) {
        PortIo::pause();
    }
}

// --- rounds
// ------------------------------------------------------------------------------------------------------------

std::uint64_t attempted_slots() {
    return g_sources[0].slots() + g_sources[1].slots();
}

constinit std::uint64_t g_checked = 0;
constinit std::uint64_t g_rounds = 0;

void read(soak::Checker& checker, const tracer::Chunk& chunk) {
    const tracer::ChunkContents contents = tracer::ChunkStore::contents(chunk);
    checker.read(contents.older);
    checker.read(contents.newer);
    checker.read_emergency(contents.emergency);
}

void compare(const tracer::Totals& before, std::uint64_t attempts, const soak::Checker& checker) {
    const tracer::Totals after = tracer::totals(0);
    const std::uint64_t committed = after.committed - before.committed;
    const std::uint64_t lost = after.dropped - before.dropped + after.refused - before.refused;
    const std::uint64_t made = after.tracer_made - before.tracer_made;
    const std::uint64_t overwritten = after.overwritten - before.overwritten;
    const std::uint64_t seen = checker.slots() + checker.interrupt_records() + checker.tracer_made();
    g_checked += checker.slots() + checker.interrupt_records();
    check(checker.gaps() == 0, "records are missing in the middle");
    check(committed + lost == attempts, "attempts are not committed + lost");
    check(seen + overwritten == committed + made, "not as many records as were counted");
    if (!checker.fault().empty()) {
        ++failures;
        const tracer::Record& record = checker.faulty_record();
        kernel::console().line("failed: ", checker.fault(), ": record ", checker.faulty_number(), " is code ",
                               static_cast<std::uint32_t>(record.code), " par1 ",
                               static_cast<std::uint32_t>(record.par1), " par2 ", record.par2);
    }
}

void round(FTrace_flags mode) {
    static constinit int former = -1;
    const auto slots = static_cast<int>(4'000 + random_below(1'000));
    const int number = FTrace_chunk_create(slots * kRecordBytes, kEmergencySlots * kRecordBytes,
                                           static_cast<FTrace_flags>(FTRACE_CHUNK_FLAG_FREE | mode));
    ASSERT(number >= 0 && FTrace_actual_chunk_select(number) == 0);
    ASSERT(former < 0 || FTrace_chunk_delete(former) == 0);
    former = number;

    const std::uint64_t flags = arch::irq_save();
    const tracer::Totals before = tracer::totals(0);
    const std::uint64_t attempted_before = attempted_slots();
    ASSERT(enable_bare());
    const std::uint64_t taken_before = kernel::interrupt_counters().taken;
    release_storm_irq_off();
    arch::irq_restore(flags);

    // A cyclic chunk goes round once and a bit; the other one fills up and loses some.
    const std::uint64_t goal = attempted_before + static_cast<std::uint64_t>(slots);
    while (attempted_slots() < goal) {
        g_sources[0].log();
    }

    const std::uint64_t held = arch::irq_save();
    hold_storm_irq_off();
    FTrace_disable();
    const std::uint64_t interrupts = kernel::interrupt_counters().taken - taken_before;
    const std::uint64_t attempts = attempted_slots() - attempted_before + 2 * interrupts;
    soak::Checker checker;
    read(checker, *must(tracer::instance().store.find(number)));
    compare(before, attempts, checker);
    arch::irq_restore(held);
    ++g_rounds;
}

void bend_gates_irq_off(arch::Vector timer_vector) {
    g_table.copy_kernels();
    guest_nmi_stub = arch_stub_table[2];
    guest_timer_stub = arch_stub_table[timer_vector];
    g_table.bend(2, &guest_count_nmi);
    g_table.bend(timer_vector, &guest_count_timer);
    g_table.load();
}

int soak_records(const kernel::AppArguments& arguments) {
    FTrace_disable();
    filter_the_kernel();
    FTrace_set_filter(FTrace_filter_interrupt, 0);
    g_random = arguments.seed;
    g_density = arguments.icount ? kExactClock : kHostClock;
    count_nmis();
    make_nmi_of(must(arch::line_vector(kPitLine)));
    {
        const arch::IrqGuard guard;
        bend_gates_irq_off(arch::x86_64::kVectorTimer);
    }
    const lib::Nanoseconds duration =
        arguments.duration.value != 0 ? arguments.duration : lib::Nanoseconds{kDefaultDuration};
    const lib::Ticks end = kernel::after(duration);
    while (kernel::now() < end && failures == 0) {
        kernel::watchdog_kick();
        round(g_rounds % 2 == 0 ? FTRACE_CHUNK_FLAG_CYC : FTRACE_CHUNK_FLAG_STOP);
    }
    {
        const arch::IrqGuard guard;
        g_table.load_kernels();
    }
    const auto instructions = std::ranges::count_if(guest_hits, [](std::uint32_t count) { return count != 0; });
    kernel::console().line("soak: ", g_checked, " records checked in ", g_rounds, " rounds; ",
                           kernel::interrupt_counters().taken, " interrupts, ", kernel::interrupt_counters().nmi,
                           " of them NMIs");
    kernel::console().line("soak: ", guest_timer_rewinds, " + ", guest_nmi_rewinds, " rewinds at ",
                           static_cast<std::uint64_t>(instructions), " instructions, ", guest_nested_rewinds,
                           " of them nested");
    check(guest_timer_rewinds != 0 && guest_nmi_rewinds != 0, "the record path was never interrupted");
    check(guest_nested_rewinds != 0, "no interrupt's record was interrupted");
    check(instructions >= 10, "only a few instructions were interrupted: is this emulator run by single instructions?");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kSoakCase{
    "s_record_soak", "records under timer interrupts and NMIs", &soak_records, false};

} // namespace soak_cases

} // namespace
