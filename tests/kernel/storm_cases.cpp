// SPDX-License-Identifier: MIT
// Tests interrupts in masses: a line that storms is masked and tried again, a vector that is not served is counted, an
// NMI in an NMI is survived. s_* need a device or an outside hand: tests/integration/guest.py.
#include "kernel/interrupt/storm.hpp"

#include "arch/x86_64/mmio.hpp"
#include "arch/x86_64/port_io.hpp"
#include "drivers/pci.hpp"
#include "kernel/interrupt/interrupt.hpp"
#include "kernel/panic/hang.hpp"
#include "tests/kernel/row_cases.hpp"

#include <array>
#include <iterator>
#include <utility>

namespace {

namespace storm_cases {

using namespace guest;
using namespace guest::rows;
using arch::x86_64::PortIo;

constexpr std::uint8_t kPitLine = 0;
constexpr arch::Vector kNmi = 2;

void set_pit(std::uint16_t period) {
    PortIo::out8(0x43, 0x36);
    PortIo::out8(0x40, static_cast<std::uint8_t>(period));
    PortIo::out8(0x40, static_cast<std::uint8_t>(period >> 8));
}

constinit volatile std::uint64_t g_hits = 0;

void count_hit(void*) {
    g_hits = g_hits + 1;
}

// 53 63: 99,432 interrupts a second for a while, and then a thousand.
int storm(const kernel::AppArguments&) {
    const arch::Vector vector = must(arch::line_vector(kPitLine));
    must(kernel::interrupt_attach(vector, "pit", &count_hit, nullptr));
    kernel::record_interrupt(vector, kernel::InterruptDetail::count, 1'000'000);
    const int chunk = begin();
    for (const BYTE family : {FTrace_filter_task, FTrace_filter_CPU, FTrace_filter_priority, FTrace_filter_timer}) {
        FTrace_set_filter(family, 1);
    }
    kernel::record_interrupt(arch::timer_vector(), kernel::InterruptDetail::count, 1'000'000);
    set_pit(12);
    arch::line_enable(kPitLine, true);
    while (kernel::storms_of(vector) < 3) {
        kernel::task_delay(lib::milliseconds(1));
    }
    set_pit(1'193); // as much as anybody may
    const std::uint64_t hits = g_hits;
    while (g_hits < hits + 200) {
        kernel::task_delay(lib::milliseconds(1));
    }
    check(kernel::storms_of(vector) == 3, "a line that has come to rest is not masked again");
    arch::line_enable(kPitLine, false);
    end(chunk);
    check(kernel::interrupt_counters().storms == 3 && kernel::interrupt_counters(vector).storms == 3, "counted");
    check(kernel::interrupt_counters(vector).taken >= 3 * (kernel::kStormLimit + 1), "each storm was let begin");
    lib::Ticks masked;
    std::array<std::uint64_t, 3> backoffs{};
    std::size_t count = 0;
    for (const tracer::Record& record : recording.records()) {
        if (record.event_code() == FTrace_EVT_interrupt_masked) {
            check(record.par1 == vector && record.par2 == kernel::kStormLimit + 1, "one too many");
            masked = record.stamp();
        }
        if (record.event_code() == FTrace_EVT_interrupt_unmasked && count < backoffs.size()) {
            check(record.par1 == vector, "the same vector");
            backoffs[count++] = kernel::to_nanoseconds(record.stamp() - masked).value;
        }
    }
    check(count == 3, "masked and tried again, three times");
    for (std::size_t i = 0; i < count; ++i) {
        check(backoffs[i] >= kernel::kBackoffMin.value << i, "the back-off doubles");
    }
    return failures;
}

// What its driver has disabled, the governor does not enable.
int disabled_meanwhile(const kernel::AppArguments&) {
    const arch::Vector vector = must(arch::line_vector(kPitLine));
    must(kernel::interrupt_attach(vector, "pit", &count_hit, nullptr));
    set_pit(12);
    arch::line_enable(kPitLine, true);
    while (kernel::storms_of(vector) < 1) {
        kernel::task_delay(lib::microseconds(100));
    }
    arch::line_enable(kPitLine, false); // while it is masked
    const std::uint64_t hits = g_hits;
    kernel::task_delay(lib::milliseconds(50));
    check(g_hits <= hits + 1, "it stays silent"); // one may have been on its way
    return failures;
}

// The edu device of QEMU holds its line until the interrupt is acknowledged; this driver does not acknowledge it.
int stuck_line(const kernel::AppArguments&) {
    constexpr drivers::PciId kEdu{0x1234, 0x11E8};
    constexpr std::uint8_t kEduLine = 20; // device 4, pin A of a q35: PIRQ E
    constexpr std::uint64_t kRegRaise = 0x60;
    constexpr std::uint64_t kRegAcknowledge = 0x64;
    PortIo ports;
    drivers::PciConfig<PortIo> config{ports};
    const auto device = must(config.find(kEdu));
    const drivers::PciBar bar = must(config.bar(device, 0));
    config.enable(device, drivers::PciConfig<PortIo>::kCommandMemory);
    const arch::Vector vector = must(arch::line_vector(kEduLine));
    must(kernel::interrupt_attach(vector, "edu", &count_hit, nullptr));
    kernel::record_interrupt(vector, kernel::InterruptDetail::count, 1'000'000);
    arch::line_enable(kEduLine, true);
    arch::x86_64::mmio_write<std::uint32_t>(bar.base + kRegRaise, 1); // from here on no other task would run
    while (kernel::storms_of(vector) < 4) {
        kernel::task_delay(lib::milliseconds(1));
    }
    arch::x86_64::mmio_write<std::uint32_t>(bar.base + kRegAcknowledge, 1);
    kernel::task_delay(lib::milliseconds(200));
    const std::uint64_t hits = g_hits;
    check(hits >= std::uint64_t{4} * kernel::kStormLimit, "the line interrupted all the time");
    arch::x86_64::mmio_write<std::uint32_t>(bar.base + kRegRaise, 1);
    spin_until([hits] { return g_hits > hits; });
    arch::x86_64::mmio_write<std::uint32_t>(bar.base + kRegAcknowledge, 1);
    arch::line_enable(kEduLine, false);
    return failures;
}

template <std::size_t Vector>
void raise() {
    asm volatile("int %0" : : "i"(Vector) : "memory");
}

template <std::size_t... Vectors>
constexpr std::array<void (*)(), sizeof...(Vectors)> raisers(std::index_sequence<Vectors...>) {
    return {&raise<Vectors>...};
}

constexpr std::array<void (*)(), 256> kRaise = raisers(std::make_index_sequence<256>{});
constexpr std::size_t kFirstInterrupt = 32;
constexpr std::size_t kDoubleFault = 8;
constexpr std::size_t kMachineCheck = 18;

// `int n` for every n: served, counted or killed for, and never waited for.
int every_vector(const kernel::AppArguments&) {
    static constinit volatile std::size_t next = 0;
    std::uint64_t unassigned = kernel::interrupt_counters().unassigned;
    const std::uint64_t nmi = kernel::interrupt_counters().nmi;
    for (std::size_t vector = kFirstInterrupt; vector < kRaise.size(); ++vector) {
        const auto number = static_cast<arch::Vector>(vector);
        const kernel::InterruptCounters before = kernel::interrupt_counters(number);
        kRaise[vector]();
        const kernel::InterruptCounters after = kernel::interrupt_counters(number);
        check(after.taken > before.taken, "taken");
        check(number == arch::timer_vector() ||
                  after.unassigned + after.spurious == before.unassigned + before.spurious + 1,
              "counted as unassigned or spurious");
    }
    check(kernel::interrupt_counters().unassigned > unassigned + 200, "and in sum");
    int exceptions = 0;
    for (std::size_t vector = 0; vector < kFirstInterrupt; ++vector) {
        if (vector == kNmi || vector == kDoubleFault || vector == kMachineCheck) {
            continue;
        }
        next = vector;
        const kernel::Pid pid = must(kernel::task_create({.name = "raiser",
                                                          .body = [](void*) { kRaise[next](); },
                                                          .model = kernel::NrtModel{},
                                                          .reactions = {.fault = kernel::Reaction::kill}}));
        must(kernel::task_activate(pid));
        while (kernel::task_info(pid).ok()) {
            kernel::task_delay(lib::microseconds(100));
        }
        ++exceptions;
    }
    check(exceptions == 29 && kernel::tasks_killed_by_faults() == 29, "an exception each");
    count_nmis();
    kRaise[kNmi]();
    check(kernel::interrupt_counters().nmi == nmi + 1, "an NMI by software");
    kernel::task_delay(lib::milliseconds(1)); // the timer still interrupts
    return failures;
}

template <std::size_t Vector>
int fatal_vector(const kernel::AppArguments&) {
    TRACER_LOGEVENT(FTrace_EVT_ipoint, 4711, 0);
    must(kernel::task_activate(must(kernel::task_create({.name = "raiser",
                                                         .body = [](void*) { raise<Vector>(); },
                                                         .model = kernel::NrtModel{},
                                                         .reactions = {.fault = kernel::Reaction::kill}}))));
    kernel::task_delay(lib::milliseconds(50));
    return failures;
}

// The outer one finds everything as it left it, and the interrupted task as well.
int nested_nmi(const kernel::AppArguments&) {
    static constinit int depth = 0;
    static constinit bool whole = true;
    const kernel::InterruptCounters before = kernel::interrupt_counters();
    must(kernel::interrupt_attach(
        kNmi, "nmi",
        [](void*) {
            volatile std::uint64_t mine[32] = {};
            for (std::size_t i = 0; i < std::size(mine); ++i) {
                mine[i] = (static_cast<std::uint64_t>(depth) << 32) | i;
            }
            const int at = depth;
            if (++depth < 3) {
                raise<kNmi>();
            }
            for (std::size_t i = 0; i < std::size(mine); ++i) {
                whole = whole && mine[i] == ((static_cast<std::uint64_t>(at) << 32) | i);
            }
        },
        nullptr));
    raise<kNmi>();
    must(kernel::interrupt_detach(kNmi));
    check(depth == 3 && whole, "three NMIs, one in another, each with a stack of its own");
    check(kernel::interrupt_counters().nmi == before.nmi + 3, "each was counted");
    check(kernel::interrupt_counters().nmi_nested == before.nmi_nested + 2, "two were nested");
    check(kernel::interrupt_attach_driver(kNmi, "nmi", nullptr, nullptr, kernel::task_self()).error() ==
              lib::Error::refused,
          "no task is activated by an NMI");
    return failures;
}

// Counts NMIs in a chunk that holds more than a Recording.
std::size_t count_in(int chunk, std::uint16_t code) {
    std::size_t found = 0;
    const tracer::ChunkContents contents = tracer::ChunkStore::contents(*must(tracer::instance().store.find(chunk)));
    for (const auto part : {contents.older, contents.newer, contents.emergency}) {
        for (std::size_t at = 0; at < part.size(); at += tracer::kRecordBytes) {
            const tracer::Record record = tracer::decode_record(part.subspan(at, tracer::kRecordBytes));
            found += record.event_code() == code && record.par1 == kNmi ? 1U : 0U;
        }
    }
    return found;
}

// NMIs come from outside (QEMU's monitor) until there were enough; every one is in the trace or counted as lost.
int nmi_storm(const kernel::AppArguments&) {
    constexpr std::uint64_t kEnough = 3'000;
    count_nmis();
    kernel::console().mark("storm begins");
    const std::uint64_t first = kernel::interrupt_counters().nmi;
    const int chunk = begin(200'000);                              // the timer's records of a slow host are in it, too
    const std::uint64_t before = kernel::interrupt_counters().nmi; // a few may come between
    std::uint64_t work = 0;
    std::uint64_t rounds_with = 0; // of work, during which NMIs came
    std::uint64_t seen = before;
    while (seen < before + kEnough) {
        const std::uint64_t now = kernel::interrupt_counters().nmi;
        rounds_with += now != seen ? 1 : 0;
        seen = now;
        ++work;
        kernel::watchdog_kick();
        look_again();
    }
    const std::uint64_t last = kernel::interrupt_counters().nmi;
    FTrace_disable();
    const std::uint64_t served = kernel::interrupt_counters().nmi - first;
    const std::size_t started = count_in(chunk, FTrace_EVT_interrupt_start);
    const std::size_t ended = count_in(chunk, FTrace_EVT_interrupt_end);
    kernel::console().line("storm: ", served, " NMIs, ", started, " recorded, ", work, " rounds of work");
    check(started >= last - before && started <= served && ended + 1 >= started && ended <= started + 1,
          "each is in the trace");
    check(kernel::interrupt_counters().nmi_nested == 0, "none came while another was served");
    check(rounds_with > kEnough / 10 && work > rounds_with, "the task continues between them");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_row_irq_storm", "a line that storms is masked, and tried again", &checked<&storm>, true},
    {"t_irq_storm_disabled", "a masked line that its driver disables", &checked<&disabled_meanwhile>, false},
    {"s_irq_stuck_line", "a level-triggered line that is never acknowledged", &checked<&stuck_line>, false},
    {"t_irq_every_vector", "int n for every vector", &checked<&every_vector>, false},
    {"p_int_double_fault", "int 8 names no culprit", &checked<&fatal_vector<kDoubleFault>>, false},
    {"p_int_machine_check", "int 18 names no culprit", &checked<&fatal_vector<kMachineCheck>>, false},
    {"t_irq_nmi_nested", "NMIs inside NMIs", &checked<&nested_nmi>, false},
    {"s_nmi_storm", "NMIs from outside, as many as there can be", &checked<&nmi_storm>, true},
};

} // namespace storm_cases

} // namespace
