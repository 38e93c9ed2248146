// SPDX-License-Identifier: MIT
// This is the one declaration of every event: code, name, parameters, units, meaning. The logging call, the printers,
// the metadata and the documentation all derive from kEvents; events are listed only here. Host-safe. Source of the
// codes: S.Ha.R.K. user manual, volume V, "Event types description". Families C, D and E, which the published table
// leaves free, hold our own events, so an old reader skips them instead of misreading them.
//
// Usage:   tracer::log<"task_dispatch">(context, level);
// Good:    an unknown name, or a parameter that does not fit its 16 or 32 bits, does not compile.
// Bad:     a number typed from memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracer {

// The family is bits 3..0 of the code, and the number of a bit in the filter mask.
enum class Family : std::uint8_t {
    general = 0x0,
    ipoint = 0x1,
    task = 0x2,
    interrupt = 0x3,
    cpu = 0x4,
    attribute = 0x5,
    mutex = 0x6,
    signal = 0x7,
    server = 0x8,
    user = 0x9,
    data = 0xA,
    timer = 0xB,
    metadata = 0xC, // names and the like: never filtered
    job = 0xD,
    typed = 0xE,
    filter = 0xF, // records of set_filter itself: code = 0xF0 | family
};

inline constexpr std::size_t kFamilies = 16;

inline constexpr std::array<std::string_view, kFamilies> kFamilyNames = {
    "general", "ipoint", "task", "interrupt", "cpu",      "attribute", "mutex", "signal",
    "server",  "user",   "data", "timer",     "metadata", "job",       "typed", "filter"};

// States what a parameter counts or refers to, so that a tool can print, for example, the name of a task instead of its
// number.
enum class Unit : std::uint8_t {
    none, // not used by this event: written as 0
    number,
    context, // 16-bit task context
    pid,
    level,  // scheduling level, in registration order
    vector, // interrupt vector
    mutex,  // mutex id
    semaphore,
    condition, // condition variable
    port,      // message port
    server,
    signal,
    cycles_per_ms,
    count, // how many
    timer, // index of a timer event
    pointer,
    hexadecimal,
    status, // 1 on, 0 off
    priority,
    ticks_low,    // low 32 bits of a time in ticks; readers restore the rest from other records (docs/metrics.md)
    ticks,        // a length of time; saturates
    nanoseconds,  // a length of time; saturates
    microseconds, // a length of time; saturates
    bandwidth,    // 2^32-1 is the whole processor
    // These numbers have words, which tracer/record/unit_words.hpp lists; it also splits numbers of two parts.
    wait,      // high half: the kind of object a task waits for; low half: which one
    exception, // high half: which exception; low half: the reaction
    protocol,  // of a mutex
    server_kind,
    flow,    // how the processor came to an instruction
    block,   // flow, and the number of instructions since the last branch
    outcome, // what a step did to the clock
    grain,   // how much of a task in steps is recorded
    code,    // low 32 bits of an instruction's address: the image is below 4 GiB
};

inline constexpr std::size_t kUnits = static_cast<std::size_t>(Unit::code) + 1;

struct Parameter {
    std::string_view name;
    Unit unit = Unit::none;
};

// States what the record path does with an event when the chunk is full.
enum class Space : std::uint8_t {
    normal,    // dropped and counted
    emergency, // explains a loss or the end: may use the chunk's emergency area
};

enum class Shape : std::uint8_t {
    simple,   // one record; par1 and par2 are the parameters
    combined, // a long event: 1 to 64 slots, payload described in tracer/names/metadata.hpp and
              // tracer/names/user_fields.hpp
    consumed, // an instruction to the tracer: never stored
};

struct EventRow {
    std::uint8_t code;
    std::string_view name;
    Parameter par1;
    Parameter par2;
    std::string_view meaning;
    Space space = Space::normal;
    Shape shape = Shape::simple;

    [[nodiscard]] constexpr Family family() const { return static_cast<Family>(code & 0x0F); }
};

inline constexpr Parameter kNoParameter{};

// These published values state what the address of a data_pointer points to.
inline constexpr std::uint16_t kDataInt = 1;
inline constexpr std::uint16_t kDataChar = 2;

namespace detail {

inline constexpr Parameter kContext{"context", Unit::context};
inline constexpr Parameter kPid{"pid", Unit::pid};
inline constexpr Parameter kLevel{"level", Unit::level};
inline constexpr Parameter kShadow{"exec_shadow", Unit::context};
inline constexpr Parameter kExec{"exec", Unit::context};
inline constexpr Parameter kVector{"vector", Unit::vector};
inline constexpr Parameter kMutex{"mutex", Unit::mutex};
inline constexpr Parameter kSemaphore{"semaphore", Unit::semaphore};
inline constexpr Parameter kCondition{"condition", Unit::condition};
inline constexpr Parameter kPort{"port", Unit::port};
inline constexpr Parameter kServer{"server", Unit::server};
inline constexpr Parameter kTimer{"timer", Unit::timer};
inline constexpr Parameter kFree1{"par1", Unit::number};
inline constexpr Parameter kFree2{"par2", Unit::number};
inline constexpr Parameter kStatus{"status", Unit::status};
inline constexpr Parameter kDropped{"dropped", Unit::count};
inline constexpr Parameter kClock{"cycles_per_ms", Unit::cycles_per_ms};
inline constexpr Parameter kWait{"wait", Unit::wait};
inline constexpr Parameter kExceptionWord{"exception", Unit::exception};
inline constexpr Parameter kHighAddress{"address_47_32", Unit::hexadecimal};
inline constexpr Parameter kCode{"address", Unit::code};
inline constexpr Parameter kLowAddress{"address_31_0", Unit::hexadecimal};

} // namespace detail

inline constexpr auto kEvents = std::to_array<EventRow>({
    // 0: general
    {0x00, "empty", kNoParameter, kNoParameter, "an unused slot; never exported"},
    {0x10, "cycles_per_msec", kNoParameter, detail::kClock, "the rate of the time stamp counter"},
    {0x20, "trace_start", detail::kContext, detail::kClock, "the tracer was enabled", Space::emergency},
    {0x30, "trace_stop", detail::kContext, detail::kClock, "the tracer was disabled", Space::emergency},
    {0x40, "blackout_start", kNoParameter, kNoParameter, "from here records are dropped", Space::emergency},
    {0x50, "blackout_end", kNoParameter, detail::kDropped, "records are kept again; so many were dropped",
     Space::emergency},
    {0x60, "id", detail::kContext, detail::kPid, "this context belongs to this process id"},
    {0x70, "numevents", kNoParameter, {"records", Unit::count}, "records in the chunk that follows"},
    // 1: ipoint
    {0x01, "ipoint", {"number", Unit::number}, detail::kFree2, "an instrumentation point of the application"},
    // 2: task
    {0x02, "task_create", detail::kContext, detail::kPid, "a task exists"},
    {0x12, "task_activate", detail::kContext, kNoParameter, "a task is about to be activated"},
    {0x22, "task_dispatch", detail::kContext, detail::kLevel, "a level gave the processor to this task"},
    {0x32, "task_epilogue", detail::kContext, detail::kLevel, "a level is about to withdraw the processor"},
    {0x42, "task_end", detail::kContext, detail::kPid, "a task ends; its context is freed after this"},
    {0x52, "task_begin_cycle", detail::kContext, detail::kLevel, "first dispatch of a job"},
    {0x62, "task_end_cycle", detail::kContext, detail::kLevel, "a job is complete"},
    {0x72, "task_sleep", detail::kContext, detail::kLevel, "a task suspends itself until it is activated"},
    {0x82, "task_schedule", detail::kShadow, detail::kExec, "the scheduler decided, changed or not"},
    {0x92, "task_timer", detail::kContext, detail::kLevel, "a periodic release or reactivation"},
    {0xA2, "task_disable", detail::kContext, detail::kLevel, "a level stops releasing this task"},
    {0xB2, "task_deadline_miss", detail::kContext, detail::kLevel, "a job passed its deadline", Space::emergency},
    {0xC2, "task_wcet_violation", detail::kContext, detail::kLevel, "a job used more than its declared worst case"},
    {0xD2, "task_block", detail::kContext, detail::kWait, "a task leaves its ready queue to wait"},
    {0xE2, "task_unblock", detail::kContext, detail::kWait, "a task is back in its ready queue"},
    // 3: interrupt
    {0x03, "interrupt_start", detail::kVector, kNoParameter, "an interrupt handler begins"},
    {0x13, "interrupt_end", detail::kVector, kNoParameter, "an interrupt handler has ended"},
    {0x23, "interrupt_hit", detail::kVector, kNoParameter, "an interrupt was taken (light mode)"},
    {0x33, "interrupt_count", detail::kVector, {"interrupts", Unit::count}, "interrupts since the last count"},
    {0x53, "interrupt_masked", detail::kVector, {"interrupts", Unit::count}, "a line raised too many interrupts"},
    {0x63, "interrupt_unmasked", detail::kVector, kNoParameter, "a masked line is tried again"},
    // 4: processor
    {0x04, "to_real_mode", kNoParameter, kNoParameter, "the processor leaves protected mode"},
    {0x14, "to_protected_mode", kNoParameter, kNoParameter, "the processor is back in protected mode"},
    {0x24, "CLI", kNoParameter, kNoParameter, "interrupts go off (outermost section)"},
    {0x34, "STI", kNoParameter, kNoParameter, "interrupts come on (outermost section)"},
    {0x44, "spin_acquire", detail::kMutex, {"waited", Unit::ticks}, "the processor owns a spin lock"},
    {0x54, "spin_release", detail::kMutex, kNoParameter, "the processor gives the spin lock up"},
    // 5: attributes
    {0x05, "set_priority", detail::kContext, {"priority", Unit::priority}, "a deadline or priority changed"},
    {0x15, "context_switch", detail::kContext, kNoParameter, "the processor switches to this context"},
    {0x25, "inheritance", detail::kShadow, detail::kExec, "exec_shadow runs on behalf of exec"},
    // 6: mutexes and semaphores
    {0x06, "set_mutex_create", detail::kContext, detail::kMutex, "a mutex exists"},
    {0x16, "set_mutex_lock", detail::kContext, detail::kMutex, "a task tries to lock (the attempt)"},
    {0x26, "set_mutex_inherit", detail::kContext, detail::kMutex, "the owner inherits through this mutex"},
    {0x36, "set_mutex_unlock", detail::kContext, detail::kMutex, "the owner unlocks"},
    {0x46, "set_mutex_wait", detail::kContext, detail::kSemaphore, "a task waits on a semaphore"},
    {0x56, "set_mutex_post", detail::kContext, detail::kSemaphore, "a task or handler posts a semaphore"},
    {0x66, "set_mutex_protocol", {"protocol", Unit::protocol}, detail::kMutex, "how the mutex bounds inversion"},
    {0x76,
     "set_mutex_ceiling",
     detail::kMutex,
     {"ceiling", Unit::microseconds},
     "the shortest relative deadline among the mutex's users; 2^32-1: no users"},
    {0x86, "set_mutex_acquire", detail::kContext, detail::kMutex, "a task owns the mutex from here on"},
    {0x96, "set_mutex_deadlock", detail::kContext, detail::kMutex, "a lock was refused: it would close a cycle"},
    {0xA6, "set_mutex_timeout", detail::kContext, detail::kMutex, "a timed lock gave up"},
    {0xB6, "set_mutex_owner_died", detail::kContext, detail::kMutex, "the owner ended and left the mutex abandoned"},
    {0xC6, "set_mutex_block", detail::kContext, detail::kMutex, "a task lends its place until this mutex is free"},
    {0xD6,
     "set_semaphore_create",
     {"units", Unit::count},
     detail::kSemaphore,
     "a semaphore exists, with so many units"},
    {0xE6, "set_mutex_unwait", detail::kContext, detail::kSemaphore, "a timed wait gave up"},
    // 7: signals
    {0x07, "signal", detail::kContext, {"signal", Unit::signal}, "a signal is delivered"},
    {0x17, "signal_raise", detail::kContext, {"signal", Unit::signal}, "a signal is sent, and pending from here on"},
    // 8: servers
    {0x08, "server_create", kNoParameter, detail::kServer, "a server exists"},
    {0x18, "server_replenish", kNoParameter, detail::kServer, "a server's budget is refilled"},
    {0x28, "server_exhaust", kNoParameter, detail::kServer, "a server's budget is used up"},
    {0x38, "server_reclaiming", kNoParameter, detail::kServer, "a server's unused budget is reclaimed"},
    {0x48, "server_remove", kNoParameter, detail::kServer, "a server is gone"},
    {0x58, "server_active", detail::kContext, detail::kServer, "an idle server has work, for this task"},
    {0x68, "server_using_rec", {"amount", Unit::microseconds}, detail::kServer, "a server used reclaimed budget"},
    {0x78, "server_budget", detail::kServer, {"budget", Unit::ticks}, "what is left of a server's budget"},
    {0x88,
     "server_deadline",
     detail::kServer,
     {"deadline", Unit::ticks_low},
     "a server's deadline, or its next replenishment"},
    {0x98, "server_attach", detail::kServer, detail::kContext, "a server serves this task"},
    {0xA8, "server_kind", {"kind", Unit::server_kind}, detail::kServer, "by which rules a server works"},
    {0xB8, "server_capacity", detail::kServer, {"budget", Unit::nanoseconds}, "a server's budget in each period"},
    {0xC8, "server_period", detail::kServer, {"period", Unit::nanoseconds}, "a server's period"},
    {0xD8, "server_bandwidth", kNoParameter, {"active", Unit::bandwidth}, "the bandwidth of all active servers"},
    // 9: user events
    {0x09, "user_event_0", detail::kFree1, detail::kFree2, "free for the application"},
    {0x19, "user_event_1", detail::kFree1, detail::kFree2, "free for the application"},
    {0x29, "user_event_2", detail::kFree1, detail::kFree2, "free for the application"},
    {0x39, "user_event_3", detail::kFree1, detail::kFree2, "free for the application"},
    {0x49, "user_event_4", detail::kFree1, detail::kFree2, "free for the application"},
    {0x59, "user_event_5", detail::kFree1, detail::kFree2, "free for the application"},
    {0x69, "user_event_6", detail::kFree1, detail::kFree2, "free for the application"},
    {0x79, "user_event_7", detail::kFree1, detail::kFree2, "free for the application"},
    {0x89, "user_event_8", detail::kFree1, detail::kFree2, "free for the application"},
    {0x99, "user_event_9", detail::kFree1, detail::kFree2, "free for the application"},
    {0xA9, "user_event_10", detail::kFree1, detail::kFree2, "free for the application"},
    {0xB9, "user_event_11", detail::kFree1, detail::kFree2, "free for the application"},
    {0xC9, "user_event_12", detail::kFree1, detail::kFree2, "free for the application"},
    {0xD9, "user_event_13", detail::kFree1, detail::kFree2, "free for the application"},
    {0xE9, "user_event_14", detail::kFree1, detail::kFree2, "free for the application"},
    // A: data
    {0x1A, "data_pointer", {"kind", Unit::number}, {"address", Unit::pointer}, "data of the record before"},
    // B: timers
    {0x0B, "timer_post", kNoParameter, detail::kTimer, "a timer event is armed"},
    {0x1B, "timer_delete", kNoParameter, detail::kTimer, "a timer event is cancelled (also when it fails)"},
    {0x2B, "timer_wakeup_start", kNoParameter, kNoParameter, "the timer interrupt begins its work"},
    {0x3B, "timer_wakeup_end", detail::kContext, kNoParameter, "the timer interrupt has done its work"},
    // C: metadata, written by the exporter in front of each chunk (tracer/names/metadata.hpp)
    {0x0C, "chunk_begin", kNoParameter, kNoParameter, "describes the chunk that follows", Space::normal,
     Shape::combined},
    {0x1C, "task_name", kNoParameter, kNoParameter, "name of a task", Space::normal, Shape::combined},
    {0x2C, "task_parameters", kNoParameter, kNoParameter, "level, C, T, D, Q of a task", Space::normal,
     Shape::combined},
    {0x3C, "interrupt_name", kNoParameter, kNoParameter, "name of a vector", Space::normal, Shape::combined},
    {0x4C, "mutex_name", kNoParameter, kNoParameter, "name of a mutex", Space::normal, Shape::combined},
    {0x5C, "semaphore_name", kNoParameter, kNoParameter, "name of a semaphore", Space::normal, Shape::combined},
    {0x6C, "server_name", kNoParameter, kNoParameter, "name of a server", Space::normal, Shape::combined},
    {0x7C, "level_name", kNoParameter, kNoParameter, "name of a scheduling level", Space::normal, Shape::combined},
    {0x8C, "build", kNoParameter, kNoParameter, "what was built: kernel, compiler, application", Space::normal,
     Shape::combined},
    {0x9C, "export_end", kNoParameter, kNoParameter, "the export is over: totals", Space::normal, Shape::combined},
    {0xAC, "trace_cost", kNoParameter, kNoParameter, "what a record costs, as the tracer measured at boot",
     Space::normal, Shape::combined},
    {0xBC, "event_declaration", kNoParameter, kNoParameter, "name, fields, types and units of a typed event",
     Space::normal, Shape::combined},
    {0xCC, "condition_name", kNoParameter, kNoParameter, "name of a condition variable", Space::normal,
     Shape::combined},
    {0xDC, "port_name", kNoParameter, kNoParameter, "name of a message port", Space::normal, Shape::combined},
    {0xEC, "format_text", kNoParameter, kNoParameter, "a format of trace_printf (FORMATS=inband)", Space::normal,
     Shape::combined},
    // D: jobs, and what tasks wait for beside mutexes and semaphores
    {0x0D, "job_release", detail::kContext, {"release", Unit::ticks_low}, "a job is the one in progress, and ready"},
    {0x1D, "job_deadline", detail::kContext, {"deadline", Unit::ticks_low}, "the deadline by which a job competes"},
    {0x2D, "job_abort", detail::kContext, detail::kExceptionWord, "the job in progress was aborted"},
    {0x3D, "activation_violation", detail::kContext, detail::kLevel, "a sporadic task was activated too early"},
    {0x4D, "job_skipped", detail::kContext, detail::kLevel, "an activation found the task busy and was dropped"},
    {0x5D,
     "job_queued",
     detail::kContext,
     {"pending", Unit::count},
     "an activation found the task busy and is pending"},
    {0x6D, "task_exception", detail::kContext, detail::kExceptionWord, "an exception, and the reaction to it"},
    {0x7D, "slice_end", detail::kContext, detail::kLevel, "a slice is used up: the task moves to the end of its queue"},
    {0x8D, "condition_signal", detail::kContext, detail::kCondition, "the most urgent waiter is woken, if any waits"},
    {0x9D, "condition_broadcast", detail::kContext, detail::kCondition, "all waiters are woken"},
    {0xAD, "port_send", detail::kContext, detail::kPort, "the port takes the task's message"},
    {0xBD, "port_receive", detail::kContext, detail::kPort, "the task gets a message from the port"},
    {0xCD, "wait_timeout", detail::kContext, detail::kWait, "a timed wait on a condition or port gave up"},
    {0xDD,
     "deadline_change",
     detail::kContext,
     {"relative_deadline", Unit::microseconds},
     "a task gets this relative deadline; a shorter one holds from the next release on"},
    // E: the tracer's and the kernel's own
    {0x0E, "panic", detail::kContext, {"reason", Unit::hexadecimal}, "the kernel gave up", Space::emergency},
    {0x1E, "typed_event", kNoParameter, kNoParameter, "an event that the application declared", Space::normal,
     Shape::combined},
    {0x2E, "formatted_event", kNoParameter, kNoParameter, "trace_printf: the number of the format, and its arguments",
     Space::normal, Shape::combined},
    {0x3E, "task_fault", detail::kContext, detail::kVector, "a processor exception in a task", Space::emergency},
    {0x4E, "fault_instruction", detail::kHighAddress, detail::kLowAddress, "where: the instruction", Space::emergency},
    {0x5E, "fault_address", detail::kHighAddress, detail::kLowAddress, "where: the address used", Space::emergency},
    {0x6E, "instruction", {"flow", Unit::flow}, detail::kCode, "a stepped task executes this instruction next"},
    {0x7E,
     "block",
     {"flow_instructions", Unit::block},
     detail::kCode,
     "a stepped task branched after so many instructions, and continues here"},
    {0xBE,
     "clock_compensated",
     {"removed_47_32", Unit::number},
     {"removed_31_0", Unit::number},
     "the kernel's clock was set back: from here on it is so many ticks less than the stamps"},
    {0xAE, "compensation_count", {"outcome", Unit::outcome}, {"steps", Unit::count}, "so many steps had this outcome"},
    {0x8E, "instruction_trace_begin", detail::kContext, {"grain", Unit::grain}, "a task runs in steps from here on"},
    {0x9E,
     "instruction_trace_end",
     detail::kContext,
     {"steps", Unit::count},
     "a task no longer runs in steps; steps of all tasks so far"},
    // F: records of set_filter, and the request for the next chunk
    {0xF0, "filter_general", detail::kStatus, kNoParameter, "filter of the general family"},
    {0xF1, "filter_ipoint", detail::kStatus, kNoParameter, "filter of the ipoint family"},
    {0xF2, "filter_task", detail::kStatus, kNoParameter, "filter of the task family"},
    {0xF3, "filter_interrupt", detail::kStatus, kNoParameter, "filter of the interrupt family"},
    {0xF4, "filter_CPU", detail::kStatus, kNoParameter, "filter of the processor family"},
    {0xF5, "filter_priority", detail::kStatus, kNoParameter, "filter of the attribute family"},
    {0xF6, "filter_mutex", detail::kStatus, kNoParameter, "filter of the mutex family"},
    {0xF7, "filter_signal", detail::kStatus, kNoParameter, "filter of the signal family"},
    {0xF8, "filter_server", detail::kStatus, kNoParameter, "filter of the server family"},
    {0xF9, "filter_user", detail::kStatus, kNoParameter, "filter of the user family"},
    {0xFA, "filter_data", detail::kStatus, kNoParameter, "filter of the data family"},
    {0xFB, "filter_timer", detail::kStatus, kNoParameter, "filter of the timer family"},
    {0xFD, "filter_job", detail::kStatus, kNoParameter, "filter of the job family"},
    {0xFE, "filter_typed", detail::kStatus, kNoParameter, "filter of the typed family"},
    {0xFF, "next_chunk", kNoParameter, kNoParameter, "continue in the next chunk; consumed", Space::normal,
     Shape::consumed},
});

// The row of a code, or null if the table has none. The caller must mask off the flags above bit 7.
[[nodiscard]] constexpr const EventRow* find_event(std::uint8_t code) {
    const auto* const row = std::ranges::find(kEvents, code, &EventRow::code);
    return row != kEvents.end() ? row : nullptr;
}

[[nodiscard]] constexpr const EventRow* find_event(std::string_view name) {
    const auto* const row = std::ranges::find(kEvents, name, &EventRow::name);
    return row != kEvents.end() ? row : nullptr;
}

// One code in existing files has no row: the manual misprints set_mutex_unlock as 0x43, which by the family rule would
// be an interrupt event. Real files contain 0x36; a reader maps the misprint to it.
inline constexpr std::uint8_t kMisprintedMutexUnlock = 0x43;

[[nodiscard]] constexpr std::uint8_t canonical_code(std::uint8_t code) {
    return code == kMisprintedMutexUnlock ? 0x36 : code;
}

// Returns the index into kEvents by name, or its size if no event has this name; at compile time only.
consteval std::size_t event_index(std::string_view name) {
    std::size_t index = 0;
    while (index < kEvents.size() && kEvents[index].name != name) {
        ++index;
    }
    return index;
}

// Returns the code of an event by name. A name that is not in the table indexes past its end, which does not compile.
consteval std::uint8_t event_code(std::string_view name) {
    return kEvents[event_index(name)].code;
}

} // namespace tracer
