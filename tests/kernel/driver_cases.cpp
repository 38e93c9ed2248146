// SPDX-License-Identifier: MIT
// A driver task does what the fast handler leaves to do, and the trace shows who asked for it.
#include "arch/x86_64/port_io.hpp"
#include "kernel/interrupt/interrupt.hpp"
#include "tests/kernel/row_cases.hpp"

#include <array>

namespace {

namespace driver_cases {

using namespace guest;
using namespace guest::rows;
using kernel::DriverWork;

constexpr arch::Vector kVector = 0x91;
constexpr std::uint8_t kPitLine = 0;

void raise() {
    asm volatile("int %0" : : "i"(kVector) : "memory");
}

constinit bool g_has_work = true;

DriverWork fast(void* argument) {
    check(argument == &g_has_work && arch::interrupts_disabled(), "a handler like others");
    order.add('h');
    return g_has_work ? DriverWork::activate : DriverWork::none;
}

void driver_body(void*) {
    for (;;) {
        order.add('d');
        kernel::task_endcycle();
    }
}

void attach(const kernel::TaskModel& model, kernel::Pid& pid) {
    pid = create("driver", model, &driver_body);
    must(kernel::interrupt_attach_driver(kVector, "device", &fast, &g_has_work, pid));
}

// Start, fast handler, activation and release, and end come in this order, then the task at once, for it beats the main
// one.
int activates(const kernel::AppArguments&) {
    kernel::Pid pid;
    attach(kernel::HardModel{lib::milliseconds(1),
                             lib::milliseconds(10),
                             {},
                             {},
                             kernel::HardPriority::dynamic,
                             kernel::Arrival::sporadic},
           pid);
    check(kernel::interrupt_attach_driver(kVector, "device", &fast, nullptr, pid).error() == lib::Error::exists,
          "one handler a vector");
    const auto context = context_of(pid);
    const int chunk = begin();
    raise();
    order.add('m');
    g_has_work = false;
    raise();
    order.add('m');
    end(chunk);
    check_order("hdmhm");
    std::size_t step = 0;
    constexpr std::uint16_t kExpected[] = {FTrace_EVT_interrupt_start, FTrace_EVT_task_activate, FTrace_EVT_job_release,
                                           FTrace_EVT_interrupt_end, FTrace_EVT_context_switch};
    for (const tracer::Record& record : recording.records()) {
        const bool about_us =
            record.event_code() == FTrace_EVT_interrupt_start || record.event_code() == FTrace_EVT_interrupt_end
                ? record.par1 == kVector
                : record.par1 == context;
        if (step < std::size(kExpected) && record.event_code() == kExpected[step] && about_us) {
            ++step;
        }
    }
    check(step == std::size(kExpected), "the records are in this order");
    check(rows::count(FTrace_EVT_task_activate, context, 0) == 1, "without work there is no activation");
    check(kernel::interrupt_counters(kVector).driver_refused == 0, "nothing was refused");
    must(kernel::interrupt_detach(kVector));
    raise();
    check(kernel::interrupt_counters(kVector).unassigned == 1, "detached: no task's");
    return failures;
}

// A task that does not queue refuses while it is busy; one that has ended refuses permanently, whichever task has its
// number.
int refusals(const kernel::AppArguments&) {
    kernel::Pid pid;
    attach(kernel::BackgroundModel{}, pid); // does not run before the main task waits
    raise();
    raise();
    check(kernel::interrupt_counters(kVector).driver_refused == 1, "busy");
    kernel::task_delay(lib::milliseconds(1));
    check_order("hhd");
    raise();
    check(kernel::interrupt_counters(kVector).driver_refused == 1, "ready again");
    must(kernel::task_kill(pid));
    const kernel::Pid heir = create("heir", kernel::BackgroundModel{}, &driver_body);
    check(heir == pid, "the number is used again");
    raise();
    check(kernel::interrupt_counters(kVector).driver_refused == 2, "the task has ended");
    check(kernel::task_info(heir).value().jobs.released == 0, "the heir is not the driver");
    check_error(kernel::interrupt_attach_driver(kVector, "device", &fast, nullptr, {.value = 40}),
                lib::Error::not_found, "no such task");
    return failures;
}

// Activations that come while the task works are kept and served later, as its model wants.
int queued(const kernel::AppArguments&) {
    kernel::Pid pid;
    attach(kernel::NrtModel{lib::milliseconds(5), 1, kernel::Overlap::save}, pid);
    {
        const arch::IrqGuard guard; // software interrupts come all the same
        for (int i = 0; i < 4; ++i) {
            raise();
        }
    }
    kernel::task_delay(lib::milliseconds(30));
    check_order("hhhhdddd");
    check(kernel::interrupt_counters(kVector).driver_refused == 0, "none was lost");
    return failures;
}

// A real line in light mode, with the kernel's sections shown, has as many hits as jobs.
int line(const kernel::AppArguments&) {
    static constinit volatile int jobs = 0;
    const arch::Vector vector = must(arch::line_vector(kPitLine));
    const kernel::Pid pid = create("pit", kernel::NrtModel{}, [](void*) {
        for (;;) {
            jobs = jobs + 1;
            kernel::task_endcycle();
        }
    });
    must(kernel::interrupt_attach_driver(
        vector, "pit", [](void*) { return DriverWork::activate; }, nullptr, pid));
    kernel::record_interrupt(vector, kernel::InterruptDetail::hit);
    kernel::record_interrupt_sections(true);
    const int chunk = begin();
    arch::x86_64::PortIo::out8(0x43, 0x36);
    arch::x86_64::PortIo::out8(0x40, 1'193 & 0xFF);
    arch::x86_64::PortIo::out8(0x40, 1'193 >> 8);
    const std::uint64_t before = kernel::interrupt_counters(vector).taken;
    arch::line_enable(kPitLine, true);
    while (jobs < 4) {
        kernel::task_delay(lib::microseconds(500));
    }
    arch::line_enable(kPitLine, false);
    kernel::task_delay(lib::milliseconds(2));
    const std::uint64_t taken = kernel::interrupt_counters(vector).taken - before;
    end(chunk);
    kernel::record_interrupt_sections(false);
    // They are not in pairs: the return from an interrupt closes a section as well, and a fresh task opens with STI.
    check(recording.count(FTrace_EVT_CLI) > 0 && recording.count(FTrace_EVT_STI) > 0, "sections are shown");
    check(rows::count(FTrace_EVT_interrupt_hit, vector, 0) == taken, "a hit for each interrupt");
    check(rows::count(FTrace_EVT_interrupt_start, vector, 0) == 0, "and no more");
    check(rows::count(FTrace_EVT_task_activate, context_of(pid), 0) == taken, "each activates");
    check(static_cast<std::uint64_t>(jobs) == taken, "each is served");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_driver_activates", "a fast handler activates its task", &checked<&activates>, true},
    {"t_driver_refusals", "a driver task that is busy, or gone", &checked<&refusals>, false},
    {"t_driver_queued", "activations that wait", &checked<&queued>, false},
    {"t_driver_line", "a driver task of a real line, in light mode", &checked<&line>, true},
};

} // namespace driver_cases

} // namespace
