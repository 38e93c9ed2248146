// SPDX-License-Identifier: MIT
// Runs random task sets, one after the other: up to five tasks of any policy, which compute, lock, wait, delay, post
// and activate each other, beside timer events that interrupt, wake, suspend and resume them; at the end of its time a
// set is killed wherever it is. The word seed= is the whole of a run: the same seed makes the same sets. Nothing is
// judged here: the trace is, by `remora verify` and `remora check`, and what the tools make of its response times is
// compared with a calculation of its own (tests/accounting).
#include "kernel/sched/server.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/sync/condition.hpp"
#include "kernel/sync/mutex.hpp"
#include "kernel/time/timer.hpp"
#include "tests/kernel/case.hpp"
#include "tests/kernel/mixing.hpp"

#include <array>

namespace {

namespace random_set_cases {

using namespace guest;
using kernel::MutexProtocol;
using lib::microseconds;

// The names of this many sets have space in the trace.
constexpr int kSets = 80;
constexpr std::uint64_t kSetUs = 1'000;
constexpr std::size_t kWorkersMax = 5;
constexpr std::uint64_t kInstructionsPerUs = 1'000;
constexpr std::uint64_t kInstructionsPerRound = 7;
constexpr arch::Vector kVector = 0x91;

constexpr std::array kProtocols = {MutexProtocol::inheritance, MutexProtocol::none,  MutexProtocol::ceiling,
                                   MutexProtocol::inheritance, MutexProtocol::stack, MutexProtocol::ceiling,
                                   MutexProtocol::none,        MutexProtocol::stack};

class Random {
  public:
    constexpr explicit Random(std::uint64_t seed)
        : m_state(seed * 2'654'435'761 + 88'172'645'463'325'252) {}

    // Returns a number from low to high.
    std::uint64_t between(std::uint64_t low, std::uint64_t high) {
        m_state ^= m_state << 13;
        m_state ^= m_state >> 7;
        m_state ^= m_state << 17;
        return low + (m_state >> 16) % (high - low + 1);
    }

    bool once_in(std::uint64_t times) { return between(1, times) == 1; }

  private:
    std::uint64_t m_state;
};

struct Worker {
    kernel::Pid pid{};
    bool exists = false;
    Random random{0};
};

struct Sets {
    std::array<kernel::Mutex, kProtocols.size()> mutexes;
    std::array<kernel::Semaphore, 2> semaphores;
    kernel::Condition condition;
    kernel::Semaphore over;
    std::array<Worker, kWorkersMax> workers;
    Random random{0};
    Random interrupts{0};
    std::size_t first_mutex = 0;
    kernel::TimerId ticking;
    std::uint64_t jobs = 0;
};

constinit Sets s_sets{};

void compute(Random& random) {
    static_cast<void>(mixed(random.between(3, 30) * kInstructionsPerUs / kInstructionsPerRound));
}

Worker& any_worker(Random& random) {
    return s_sets.workers[random.between(0, kWorkersMax - 1)];
}

// A mutex whose users do not include the caller refuses, and so does one that would close a cycle. A set uses few of
// the mutexes, so that tasks meet.
void critical_section(Random& random, int depth) {
    kernel::Mutex& mutex = s_sets.mutexes[(s_sets.first_mutex + random.between(0, 2)) % kProtocols.size()];
    const bool limited = random.once_in(4);
    const auto locked =
        limited ? kernel::mutex_timedlock(mutex, microseconds(random.between(10, 80))) : kernel::mutex_lock(mutex);
    compute(random);
    if (!locked.ok()) {
        return;
    }
    if (random.once_in(2)) {
        static_cast<void>(kernel::task_activate(any_worker(random).pid)); // who may want it, too
    }
    if (depth < 3 && random.once_in(3)) {
        critical_section(random, depth + 1);
    }
    compute(random);
    if (random.once_in(6)) {
        kernel::task_delay(microseconds(random.between(5, 40)));
    }
    if (random.once_in(8)) {
        static_cast<void>(kernel::cond_timedwait(s_sets.condition, mutex, microseconds(random.between(20, 100))));
    }
    static_cast<void>(kernel::mutex_unlock(mutex));
}

void step(Random& random) {
    kernel::Semaphore& semaphore = s_sets.semaphores[random.between(0, s_sets.semaphores.size() - 1)];
    switch (random.between(0, 12)) {
    case 0:
        static_cast<void>(kernel::sem_timedwait(semaphore, microseconds(random.between(20, 100))));
        break;
    case 1:
    case 2:
        static_cast<void>(kernel::sem_post(semaphore));
        break;
    case 3:
        kernel::task_delay(microseconds(random.between(10, 80)));
        break;
    case 4:
        static_cast<void>(kernel::task_activate(any_worker(random).pid));
        break;
    case 5:
        asm volatile("int %0" : : "i"(kVector) : "memory");
        break;
    case 6:
        static_cast<void>(kernel::cond_broadcast(s_sets.condition));
        break;
    case 7:
        compute(random);
        break;
    default:
        critical_section(random, 1);
    }
}

void work(void* argument) {
    Random& random = static_cast<Worker*>(argument)->random;
    for (;;) {
        for (std::uint64_t steps = random.between(1, 5); steps != 0; --steps) {
            step(random);
        }
        ++s_sets.jobs;
        if (random.once_in(20)) {
            kernel::task_sleep();
        } else {
            kernel::task_endcycle();
        }
    }
}

kernel::TaskModel hard_model(Random& random) {
    const std::uint64_t period = random.between(100, 600);
    const std::uint64_t deadline = random.once_in(2) ? period : random.between(period / 2, period);
    return kernel::HardModel{.wcet = microseconds(random.between(20, 20 + period / 5)),
                             .period = microseconds(period),
                             .relative_deadline = microseconds(deadline),
                             .offset = {},
                             .priority =
                                 random.once_in(2) ? kernel::HardPriority::fixed : kernel::HardPriority::dynamic,
                             .arrival = random.once_in(4) ? kernel::Arrival::sporadic : kernel::Arrival::periodic};
}

kernel::TaskModel idle_time_model(Random& random) {
    if (random.once_in(4)) {
        return kernel::BackgroundModel{};
    }
    return kernel::NrtModel{.slice = microseconds(random.between(20, 100)),
                            .overlap = kernel::Overlap::save,
                            .policy = random.once_in(3) ? kernel::NrtPolicy::fifo : kernel::NrtPolicy::round_robin};
}

kernel::TaskModel model(Random& random, kernel::ServerId server) {
    switch (random.between(0, 9)) {
    case 0:
    case 1:
    case 2:
    case 3:
        return hard_model(random);
    case 4:
    case 5: {
        const std::uint64_t period = random.between(100, 600);
        return kernel::SoftModel{.budget = microseconds(random.between(20, 20 + period / 4)),
                                 .period = microseconds(period),
                                 .overlap = kernel::Overlap::save,
                                 .reclaiming = random.once_in(2) ? kernel::Reclaiming::grub : kernel::Reclaiming::none,
                                 .periodic = random.once_in(2)};
    }
    case 6:
    case 7:
        return kernel::ServedModel{.server = server};
    case 8:
        return kernel::JobModel{.wcet = microseconds(random.between(20, 80)), .deadline = microseconds(300)};
    default:
        return idle_time_model(random);
    }
}

kernel::Reaction reaction(Random& random) {
    return random.once_in(8)   ? kernel::Reaction::kill
           : random.once_in(3) ? kernel::Reaction::abort
                               : kernel::Reaction::count;
}

// Where admission refuses the model, a task without a promise takes its place.
void start(Worker& worker, kernel::ServerId server) {
    Random& random = s_sets.random;
    worker.random = Random{random.between(1, 1'000'000'000)};
    std::array<kernel::Mutex*, kProtocols.size()> used{};
    std::size_t count = 0;
    for (kernel::Mutex& mutex : s_sets.mutexes) {
        if (mutex.has_ceiling() && !random.once_in(3)) {
            used[count++] = &mutex;
        }
    }
    kernel::TaskOptions options{.name = "worker",
                                .body = &work,
                                .argument = &worker,
                                .model = model(random, server),
                                .group = 0,
                                .reactions = {.deadline_miss = reaction(random), .wcet = reaction(random)},
                                .mutexes = std::span(used).first(count)};
    auto pid = kernel::task_create(options);
    if (!pid.ok()) {
        options.model = idle_time_model(random);
        pid = kernel::task_create(options);
    }
    worker.pid = must(pid);
    worker.exists = true;
    must(kernel::task_activate_at(worker.pid, kernel::after(microseconds(random.between(0, 200)))));
}

// Is a timer event of the set: what comes from outside.
void disturb(void*) {
    Random& random = s_sets.interrupts;
    Worker& worker = any_worker(random);
    static_cast<void>(mixed(random.between(1, 5) * kInstructionsPerUs / kInstructionsPerRound));
    switch (random.between(0, 9)) {
    case 0:
        static_cast<void>(kernel::sem_post(s_sets.semaphores[0]));
        break;
    case 1:
        static_cast<void>(kernel::task_suspend(worker.pid));
        break;
    case 2:
    case 3:
    case 4:
        for (const Worker& each : s_sets.workers) {
            static_cast<void>(kernel::task_resume(each.pid));
        }
        break;
    default:
        static_cast<void>(kernel::task_activate(worker.pid));
    }
}

void end_set(void*) {
    static_cast<void>(kernel::kern_event_delete(s_sets.ticking));
    for (Worker& worker : s_sets.workers) {
        if (worker.exists) {
            static_cast<void>(kernel::task_kill(worker.pid)); // it may have ended by itself
            worker = {};
        }
    }
    must(kernel::sem_post(s_sets.over));
}

void run_set(std::uint64_t seed) {
    s_sets.random = Random{seed};
    s_sets.interrupts = Random{~seed};
    Random& random = s_sets.random;
    s_sets.first_mutex = random.between(0, kProtocols.size() - 1);
    const std::uint64_t period = random.between(100, 500);
    const auto server =
        kernel::server_create({.name = "requests",
                               .kind = random.once_in(2) ? kernel::ServerKind::polling : kernel::ServerKind::deferrable,
                               .budget = microseconds(random.between(20, 20 + period / 5)),
                               .period = microseconds(period)});
    const lib::Ticks begin = kernel::now();
    must(kernel::kern_event_post(begin + kernel::to_ticks(microseconds(kSetUs)), &end_set, nullptr));
    s_sets.ticking = must(kernel::kern_event_post_periodic(begin + kernel::to_ticks(microseconds(50)),
                                                           microseconds(random.between(40, 150)), &disturb, nullptr));
    {
        const kernel::IrqGuard guard; // the end is not in the middle of a start
        const std::uint64_t tasks = random.between(2, kWorkersMax);
        for (std::size_t i = 0; i < tasks; ++i) {
            start(s_sets.workers[i], server.ok() ? server.value() : kernel::ServerId{});
        }
    }
    must(kernel::sem_wait(s_sets.over));
    if (server.ok()) {
        must(kernel::server_remove(server.value()));
    }
    kernel::task_delay(microseconds(100)); // what was reserved is given back
}

int random_sets(const kernel::AppArguments& arguments) {
    for (std::size_t i = 0; i < kProtocols.size(); ++i) {
        must(kernel::mutex_init(s_sets.mutexes[i], {.protocol = kProtocols[i], .name = "mutex"}));
    }
    must(kernel::sem_init(s_sets.semaphores[0], "outside", 0));
    must(kernel::sem_init(s_sets.semaphores[1], "inside", 1));
    must(kernel::sem_init(s_sets.over, "over", 0));
    must(kernel::cond_init(s_sets.condition, "condition"));
    must(kernel::interrupt_attach(
        kVector, "device", [](void*) { static_cast<void>(kernel::sem_post(s_sets.semaphores[1])); }, nullptr));
    for (int set = 0; set < kSets; ++set) {
        run_set(arguments.seed * kSets + static_cast<std::uint64_t>(set));
    }
    kernel::console().mark("random sets: ", static_cast<std::uint64_t>(kSets), ", jobs ", s_sets.jobs);
    check(s_sets.jobs != 0, "jobs have been completed");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kRandomSets{
    "s_random_sets", "random task sets: seed=", &random_sets, false};

} // namespace random_set_cases

} // namespace
