// SPDX-License-Identifier: MIT
// Faults of configuration, each in a phase of its own and once more without the fault: a task misses its deadline for
// one reason, which is known. The task of a fault is called by it, that of the repaired phase has a plus: "storm",
// "storm+". tests/integration/why.py compares what `remora why` names. Times in milliseconds after the beginning of a
// phase; all tasks declare what they execute, unless that is the fault.
#include "apps/phase.hpp"
#include "kernel/sched/server.hpp"
#include "kernel/sync/mutex.hpp"
#include "tests/kernel/case.hpp"

#include <array>

namespace {

using namespace guest;
using lib::microseconds;
using lib::milliseconds;

constexpr lib::Nanoseconds kPhase = milliseconds(28);
constexpr std::size_t kPhasesMax = 32;

constinit apps::Verdict g_verdict{"why"};
constinit apps::Phase g_phase{g_verdict};
constinit std::array<kernel::Mutex, kPhasesMax> g_mutexes{};
constinit std::size_t g_number = 0; // of the phase
constinit kernel::Semaphore g_event;
constinit bool g_repaired = false;

kernel::Mutex& mutex() {
    return g_mutexes[g_number];
}

// Work that takes the same number of instructions, whatever interrupts it.
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

// One job that does more, then ordinary ones.
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

// The name of the task in question.
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

int faults(const kernel::AppArguments&) {
    g_phase.prepare();
    must(kernel::sem_init(g_event, "samples", 0));
    for (void (*const fault)() :
         {&inheritance, &sleeps_with_lock, &long_section, &own_overrun, &others_overrun, &interrupt_storm,
          &interrupts_off, &priority_order, &late_event, &backlog, &small_budget}) {
        for (const bool repaired : {false, true}) {
            g_repaired = repaired;
            fault();
            ++g_number;
        }
    }
    return g_verdict.result();
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"s_why_faults", "faults of configuration, one after the other, each once more repaired", &faults, false},
};

} // namespace
