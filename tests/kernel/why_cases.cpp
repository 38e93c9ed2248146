// SPDX-License-Identifier: MIT
// Makes faults of configuration, each in a phase of its own and once more without the fault: a task misses its deadline
// for one reason, which is known. The task of a fault is called by it, that of the repaired phase has a plus: "storm",
// "storm+". tests/integration/why.py compares what `remora why` names. Times are in milliseconds after the beginning of
// a phase; all tasks declare what they execute, unless that is the fault.
#include "apps/phase.hpp"
#include "kernel/sched/server.hpp"
#include "kernel/sync/mutex.hpp"
#include "tests/kernel/case.hpp"

#include <array>

namespace {

namespace why_cases {

using namespace guest;
using lib::microseconds;
using lib::milliseconds;

constexpr lib::Nanoseconds kPhase = milliseconds(28);
constexpr std::size_t kPhasesMax = 64;

constinit apps::Verdict g_verdict{"why"};
constinit apps::Phase g_phase{g_verdict};
constinit std::array<kernel::Mutex, kPhasesMax> g_mutexes{};
constinit std::array<kernel::Mutex, kPhasesMax> g_inner_mutexes{};
constinit std::size_t g_number = 0; // of the phase
constinit kernel::Semaphore g_event;
constinit bool g_repaired = false;

kernel::Mutex& mutex() {
    return g_mutexes[g_number];
}

kernel::Mutex& inner_mutex() {
    return g_inner_mutexes[g_number];
}

// Does work that takes the same number of instructions, whatever interrupts it.
void work(std::uint64_t us) {
    const std::uint64_t rounds = kernel::to_ticks(microseconds(us)).value / 3; // three instructions each
    for (std::uint64_t i = 0; i < rounds; ++i) {
        asm volatile("");
    }
}

template <auto Job>
void every(void*) {
    for (;;) {
        Job();
        kernel::task_endcycle();
    }
}

template <std::uint64_t Us>
void busy(void*) {
    for (;;) {
        work(Us);
        kernel::task_endcycle();
    }
}

// Executes one job that does more, then ordinary ones.
template <std::uint64_t FirstUs, std::uint64_t Us>
void busy_at_first(void*) {
    work(g_repaired ? Us : FirstUs);
    for (;;) {
        kernel::task_endcycle();
        work(Us);
    }
}

void locks(void*) {
    for (;;) {
        work(500);
        must(kernel::mutex_lock(mutex()));
        work(200);
        must(kernel::mutex_unlock(mutex()));
        kernel::task_endcycle();
    }
}

struct Times {
    std::uint64_t wcet;
    std::uint64_t period;
    std::uint64_t deadline;
    std::uint64_t offset = 0;
};

kernel::HardModel fixed(const Times& times, kernel::HardPriority priority = kernel::HardPriority::fixed) {
    return {.wcet = milliseconds(times.wcet),
            .period = milliseconds(times.period),
            .relative_deadline = milliseconds(times.deadline),
            .offset = milliseconds(times.offset),
            .priority = priority};
}

kernel::HardModel fixed_us(const Times& times) {
    return {.wcet = microseconds(times.wcet),
            .period = microseconds(times.period),
            .relative_deadline = microseconds(times.deadline),
            .offset = microseconds(times.offset),
            .priority = kernel::HardPriority::fixed};
}

struct Member {
    std::string_view name;
    kernel::TaskBody body;
    kernel::TaskModel model;
};

void run(std::initializer_list<Member> members) {
    const lib::Ticks begin = kernel::after(milliseconds(1));
    g_phase.open(begin + kernel::to_ticks(kPhase));
    for (const Member& member : members) {
        g_phase.start(member.name, member.body, member.model, begin);
    }
    static_cast<void>(g_phase.wait());
    kernel::task_delay(milliseconds(30)); // their reservations have ended
}

// Holds the mutex for this time, of which the repaired phase may have another.
template <std::uint64_t Us, std::uint64_t RepairedUs = Us>
void holds(void*) {
    for (;;) {
        must(kernel::mutex_lock(mutex()));
        work(g_repaired ? RepairedUs : Us);
        must(kernel::mutex_unlock(mutex()));
        kernel::task_endcycle();
    }
}

// Returns the name of the task in question.
std::string_view named(std::string_view fault, std::string_view repaired) {
    return g_repaired ? repaired : fault;
}

void make_mutex(kernel::MutexProtocol protocol) {
    must(kernel::mutex_init(mutex(), {.protocol = protocol, .name = "bus"}));
}

// The holder is preempted by a task that is less urgent than the one that waits.
void inheritance() {
    make_mutex(g_repaired ? kernel::MutexProtocol::inheritance : kernel::MutexProtocol::none);
    run({{named("inherit", "inherit+"), &locks, fixed({.wcet = 1, .period = 40, .deadline = 5, .offset = 2})},
         {"middle", &busy<5'800>, fixed({.wcet = 6, .period = 40, .deadline = 20, .offset = 2})},
         {"holder", &every<[] {
              must(kernel::mutex_lock(mutex()));
              work(3'000);
              must(kernel::mutex_unlock(mutex()));
          }>,
          fixed({.wcet = 4, .period = 40, .deadline = 40})}});
}

void sleeps_with_lock() {
    make_mutex(kernel::MutexProtocol::inheritance);
    run({{named("sleeplock", "sleeplock+"), &locks, fixed({.wcet = 1, .period = 40, .deadline = 4, .offset = 2})},
         {"sleeper", &every<[] {
              must(kernel::mutex_lock(mutex()));
              work(500);
              if (!g_repaired) {
                  kernel::task_delay(milliseconds(8));
              }
              must(kernel::mutex_unlock(mutex()));
              kernel::task_delay(milliseconds(8));
          }>,
          fixed({.wcet = 4, .period = 40, .deadline = 40})}});
}

void long_section() {
    make_mutex(kernel::MutexProtocol::inheritance);
    run({{named("section", "section+"), &locks, fixed({.wcet = 1, .period = 40, .deadline = 5, .offset = 1})},
         {"holder", &every<[] {
              must(kernel::mutex_lock(mutex()));
              work(g_repaired ? 1'500 : 8'000);
              must(kernel::mutex_unlock(mutex()));
              work(500);
          }>,
          fixed({.wcet = 9, .period = 40, .deadline = 40})}});
}

void own_overrun() {
    run({{named("overrun", "overrun+"), &busy_at_first<6'000, 1'800>,
          fixed({.wcet = 2, .period = 40, .deadline = 4})}});
}

void others_overrun() {
    run({{named("victim", "victim+"), &busy<1'500>, fixed({.wcet = 2, .period = 40, .deadline = 5})},
         {"greedy", &busy_at_first<6'000, 800>, fixed({.wcet = 1, .period = 40, .deadline = 3})}});
}

void interrupt_storm() {
    const auto handler = [](void*) { work(30); };
    const auto timer = must(kernel::kern_event_post_periodic(
        kernel::after(milliseconds(1)), g_repaired ? milliseconds(2) : microseconds(50), handler, nullptr));
    run({{named("storm", "storm+"), &busy<1'800>, fixed({.wcet = 2, .period = 40, .deadline = 3})}});
    must(kernel::kern_event_delete(timer));
}

void interrupts_off() {
    run({{named("irqoff", "irqoff+"), &busy<800>, fixed({.wcet = 1, .period = 40, .deadline = 4, .offset = 1})},
         {"careless", &every<[] {
              if (g_repaired) {
                  work(7'000);
              } else {
                  const kernel::IrqGuard guard;
                  work(7'000);
              }
          }>,
          fixed({.wcet = 8, .period = 40, .deadline = 40})}});
}

// A task with later deadlines has a fixed priority, the other one none. Its first job is late in its period, so that
// the second one follows at once.
void priority_order() {
    const auto of_other = g_repaired ? kernel::HardPriority::dynamic : kernel::HardPriority::fixed;
    run({{named("order", "order+"), &busy<3'800>,
          fixed({.wcet = 4, .period = 40, .deadline = 10, .offset = 11}, kernel::HardPriority::dynamic)},
         {"other",
          [](void*) {
              kernel::task_delay(milliseconds(10));
              for (;;) {
                  work(4'700);
                  kernel::task_endcycle();
              }
          },
          fixed({.wcet = 5, .period = 16, .deadline = 16}, of_other)}});
}

void late_event() {
    run({{named("event", "event+"), &every<[] {
              work(400);
              must(kernel::sem_wait(g_event));
              work(400);
          }>,
          fixed({.wcet = 1, .period = 40, .deadline = 5})},
         {"producer", &every<[] {
              work(g_repaired ? 1'000 : 8'000);
              must(kernel::sem_post(g_event));
          }>,
          fixed({.wcet = 9, .period = 40, .deadline = 40})}});
}

// The first job is complete after the next two were released.
void backlog() {
    run({{named("backlog", "backlog+"), &busy_at_first<13'000, 1'800>,
          fixed({.wcet = 2, .period = 5, .deadline = 5})}});
}

void small_budget() {
    const kernel::ServerId server =
        must(kernel::server_create({.name = g_repaired ? "ample" : "scarce",
                                    .kind = kernel::ServerKind::deferrable,
                                    .budget = g_repaired ? milliseconds(3) : milliseconds(1),
                                    .period = milliseconds(6)}));
    run({{named("budget", "budget+"), &every<[] { work(2'500); }>, kernel::ServedModel{.server = server}}});
    must(kernel::server_remove(server));
}

// Phases in which something that strikes the eye is not the cause, or not by itself.

// While it waits for the mutex, a storm keeps the holder from running.
void storm_in_section() {
    make_mutex(kernel::MutexProtocol::inheritance);
    const auto handler = [](void*) { work(40); };
    const auto timer = must(kernel::kern_event_post_periodic(
        kernel::after(milliseconds(1)), g_repaired ? milliseconds(2) : microseconds(50), handler, nullptr));
    run({{named("stormlock", "stormlock+"), &locks,
          fixed_us({.wcet = 1'000, .period = 40'000, .deadline = 5'000, .offset = 900})},
         {"holder", &holds<1'000>, fixed({.wcet = 3, .period = 40, .deadline = 40})}});
    must(kernel::kern_event_delete(timer));
}

// What keeps interrupts off precedes it anyway: that it executes too much is what counts.
void overrun_with_interrupts_off() {
    run({{named("offhigh", "offhigh+"), &busy<800>, fixed({.wcet = 1, .period = 40, .deadline = 5, .offset = 1})},
         {"careless", &every<[] {
              const kernel::IrqGuard guard;
              work(g_repaired ? 1'800 : 9'000);
          }>,
          fixed({.wcet = 2, .period = 40, .deadline = 3})}});
}

// The mutex that it waits for inherits; the one that its holder waits for does not.
void nested_locks() {
    must(kernel::mutex_init(mutex(), {.protocol = kernel::MutexProtocol::inheritance, .name = "outer"}));
    must(kernel::mutex_init(
        inner_mutex(),
        {.protocol = g_repaired ? kernel::MutexProtocol::inheritance : kernel::MutexProtocol::none, .name = "inner"}));
    run({{named("nested", "nested+"), &locks, fixed({.wcet = 1, .period = 60, .deadline = 6, .offset = 2})},
         {"between", &every<[] {
              must(kernel::mutex_lock(mutex()));
              work(200);
              must(kernel::mutex_lock(inner_mutex()));
              work(200);
              must(kernel::mutex_unlock(inner_mutex()));
              must(kernel::mutex_unlock(mutex()));
          }>,
          fixed({.wcet = 1, .period = 60, .deadline = 20, .offset = 1})},
         {"occupant", &busy<8'000>, fixed_us({.wcet = 9'000, .period = 60'000, .deadline = 30'000, .offset = 1'500})},
         {"lowest", &every<[] {
              must(kernel::mutex_lock(inner_mutex()));
              work(3'000);
              must(kernel::mutex_unlock(inner_mutex()));
          }>,
          fixed({.wcet = 4, .period = 60, .deadline = 60})}});
}

// A section that is too long, and then a task that precedes it by its shorter relative deadline, as it should.
void section_before_load() {
    make_mutex(kernel::MutexProtocol::inheritance);
    run({{named("dmsection", "dmsection+"), &every<[] {
              work(300);
              must(kernel::mutex_lock(mutex()));
              work(1'700);
              must(kernel::mutex_unlock(mutex()));
              work(300);
          }>,
          fixed_us({.wcet = 2'500, .period = 60'000, .deadline = 14'000, .offset = 1'000})},
         {"shorter", &busy<7'800>, fixed_us({.wcet = 8'000, .period = 60'000, .deadline = 9'500, .offset = 6'500})},
         {"holder", &holds<5'000, 2'000>, fixed({.wcet = 6, .period = 60, .deadline = 50})}});
}

// It waits for a short section, in which another task executes far too much.
void overrun_in_section() {
    make_mutex(kernel::MutexProtocol::inheritance);
    run({{named("blocked", "blocked+"), &locks,
          fixed_us({.wcet = 1'000, .period = 40'000, .deadline = 8'000, .offset = 500})},
         {"hoverer", &busy_at_first<8'000, 800>,
          fixed_us({.wcet = 1'000, .period = 40'000, .deadline = 4'000, .offset = 1'200})},
         {"holder", &holds<1'500>, fixed({.wcet = 3, .period = 40, .deadline = 40})}});
}

// Its first job is late by a little, the second one by far more, because of another task.
void late_for_two_reasons() {
    run({{named("row", "row+"),
          [](void*) {
              work(g_repaired ? 1'800 : 6'300);
              for (;;) {
                  kernel::task_endcycle();
                  work(1'800);
              }
          },
          fixed({.wcet = 2, .period = 6, .deadline = 6})},
         {"rowhog", &busy_at_first<9'000, 800>,
          fixed_us({.wcet = 1'000, .period = 40'000, .deadline = 3'000, .offset = 6'500})}});
}

// Its own wait is too long; a less urgent task executes too much meanwhile, which does it no harm.
void harmless_overrun() {
    run({{named("waits", "waits+"), &every<[] {
              work(200);
              kernel::task_delay(milliseconds(g_repaired ? 1 : 9));
              work(200);
          }>,
          fixed({.wcet = 1, .period = 40, .deadline = 5, .offset = 10})},
         {"harmless", &busy<26'000>, fixed({.wcet = 1, .period = 60, .deadline = 60})}});
}

// A section is too long by a little; most of the wait is a task that precedes it, as declared.
void load_in_section() {
    make_mutex(kernel::MutexProtocol::inheritance);
    run({{named("shared", "shared+"), &every<[] {
              work(500);
              must(kernel::mutex_lock(mutex()));
              work(200);
              must(kernel::mutex_unlock(mutex()));
              work(800);
          }>,
          fixed_us({.wcet = 2'000, .period = 60'000, .deadline = 8'400, .offset = 500})},
         {"declared", &busy<5'900>, fixed_us({.wcet = 6'000, .period = 60'000, .deadline = 6'500, .offset = 1'200})},
         {"holder", &holds<1'500, 1'000>, fixed({.wcet = 3, .period = 60, .deadline = 40})}});
}

// Interrupts are off when its delay ends.
void delay_with_interrupts_off() {
    run({{named("offdelay", "offdelay+"), &every<[] {
              work(200);
              kernel::task_delay(milliseconds(1));
              work(200);
          }>,
          fixed({.wcet = 1, .period = 40, .deadline = 4, .offset = 1})},
         {"careless", &every<[] {
              work(1'800);
              if (g_repaired) {
                  work(7'000);
              } else {
                  const kernel::IrqGuard guard;
                  work(7'000);
              }
          }>,
          fixed_us({.wcet = 9'500, .period = 40'000, .deadline = 40'000})}});
}

// Neither its own overrun nor the other one makes it late: both together do.
void two_overruns() {
    run({{named("both", "both+"), &busy_at_first<4'000, 1'800>,
          fixed_us({.wcet = 2'000, .period = 40'000, .deadline = 3'800, .offset = 100})},
         {"second", &busy_at_first<4'000, 800>, fixed({.wcet = 1, .period = 40, .deadline = 3})}});
}

// A handler has begun before the release, and takes long.
void long_handler() {
    const std::uint64_t at = 1'900;
    const auto timer = must(kernel::kern_event_post(
        kernel::after(microseconds(at)), [](void*) { work(g_repaired ? 60 : 6'000); }, nullptr));
    run({{named("handler", "handler+"), &busy<800>, fixed({.wcet = 1, .period = 40, .deadline = 4, .offset = 1})}});
    static_cast<void>(kernel::kern_event_delete(timer));
}

int run_twice(std::initializer_list<void (*)()> phases) {
    g_phase.prepare();
    must(kernel::sem_init(g_event, "samples", 0));
    for (void (*const phase)() : phases) {
        for (const bool repaired : {false, true}) {
            g_repaired = repaired;
            phase();
            ++g_number;
        }
    }
    return g_verdict.result();
}

int faults(const kernel::AppArguments&) {
    return run_twice({&inheritance, &sleeps_with_lock, &long_section, &own_overrun, &others_overrun, &interrupt_storm,
                      &interrupts_off, &priority_order, &late_event, &backlog, &small_budget});
}

int mixed(const kernel::AppArguments&) {
    return run_twice({&storm_in_section, &overrun_with_interrupts_off, &nested_locks, &section_before_load,
                      &overrun_in_section, &late_for_two_reasons, &harmless_overrun, &load_in_section,
                      &delay_with_interrupts_off, &two_overruns, &long_handler});
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"s_why_faults", "faults of configuration, one after the other, each once more repaired", &faults, false},
    {"s_why_mixed", "faults beside what only looks like one, each once more repaired", &mixed, false},
};

} // namespace why_cases

} // namespace
