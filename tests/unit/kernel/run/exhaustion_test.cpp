// SPDX-License-Identifier: MIT
// Tests running out of every pool at every place: a scenario that allocates from all of them is run with room for 0, 1,
// 2, ... objects of one pool, until it goes through. A call that finds no room says no_space; whatever happened,
// afterwards the pool has as much room as before, and what the scenario made works or does not exist.
#include "kernel/config.hpp"
#include "kernel/run/runlevel.hpp"
#include "kernel/sync/mutex.hpp"
#include "kernel/sync/semaphore.hpp"
#include "kernel/task/task.hpp"
#include "kernel/time/timer.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

namespace {

using namespace hosted;

void nothing(void*) {}

// What one attempt holds. An attempt stops at the first refusal and gives everything back in any case.
struct Held {
    std::vector<kernel::Pid> tasks;
    std::vector<kernel::TimerId> timers;
};

template <typename T>
bool keep(const lib::Result<T>& result, std::vector<T>& into) {
    if (!result.ok()) {
        if (result.error() != lib::Error::no_space) {
            hosted::fail(result.error());
        }
        return false;
    }
    into.push_back(result.value());
    return true;
}

// Six allocations: tasks of every level that reserves something, one-shot and periodic events.
bool attempt(Held& held) {
    const auto task = [&held](const kernel::TaskModel& model) {
        return keep(kernel::task_create({.name = "t", .body = &nothing, .model = model}), held.tasks);
    };
    return task(hard(1, 10)) && keep(kernel::kern_event_post(hosted::at(9'000), &nothing, nullptr), held.timers) &&
           task(kernel::SoftModel{.budget = ms(1), .period = ms(10)}) &&
           keep(kernel::kern_event_post_periodic(hosted::at(9'000), ms(1), &nothing, nullptr), held.timers) &&
           task(kernel::NrtModel{}) && task(kernel::BackgroundModel{});
}

void give_back(const Held& held) {
    for (const kernel::Pid pid : held.tasks) {
        must(kernel::task_kill(pid));
    }
    for (const kernel::TimerId id : held.timers) {
        must(kernel::kern_event_delete(id));
    }
}

std::size_t fill_tasks(std::vector<kernel::Pid>& filling) {
    for (;;) {
        const auto pid = kernel::task_create({.name = "f", .body = &nothing, .model = kernel::BackgroundModel{}});
        if (!pid.ok()) {
            return filling.size();
        }
        filling.push_back(pid.value());
    }
}

std::size_t fill_timers(std::vector<kernel::TimerId>& filling) {
    for (;;) {
        const auto id = kernel::kern_event_post(hosted::at(9'999), &nothing, nullptr);
        if (!id.ok()) {
            return filling.size();
        }
        filling.push_back(id.value());
    }
}

template <typename T>
void leave_room(std::vector<T>& filling, std::size_t room, lib::Result<void> (*release)(T)) {
    for (std::size_t i = 0; i < room; ++i) {
        must(release(filling.back()));
        filling.pop_back();
    }
}

// Notes how many objects there was room for when the attempt went through, and whether anything leaked on the way.
template <typename T>
void with_every_room(std::size_t (*fill)(std::vector<T>&), lib::Result<void> (*release)(T)) {
    std::size_t capacity = 0;
    for (std::size_t room = 0;; ++room) {
        std::vector<T> filling;
        const std::size_t all = fill(filling);
        capacity = capacity == 0 ? all : capacity;
        if (all != capacity) {
            note("leaked after room for " + std::to_string(room - 1));
            return;
        }
        leave_room(filling, room, release);
        Held held;
        const bool through = attempt(held);
        give_back(held);
        leave_room(filling, filling.size(), release);
        if (through) {
            note("through with room for " + std::to_string(room));
            return;
        }
    }
}

TEST(Exhaustion, OfTheTaskPoolLeaksNothing) {
    EXPECT_EQ(hosted::run([] { with_every_room<kernel::Pid>(&fill_tasks, &kernel::task_kill); }),
              "through with room for 4");
}

TEST(Exhaustion, OfTimerEventsLeaksNothing) {
    EXPECT_EQ(hosted::run([] { with_every_room<kernel::TimerId>(&fill_timers, &kernel::kern_event_delete); }),
              "through with room for 2");
}

TEST(Exhaustion, OfContextNumbersDoesNotHappen) {
    // Once round all numbers, beside a few tasks that live all the time: numbers in use are passed over.
    EXPECT_EQ(hosted::run([] {
                  std::array<std::uint16_t, 3> kept{};
                  for (std::uint16_t& context : kept) {
                      context = must(kernel::task_info(hosted::create("kept", &nothing, kernel::NrtModel{}))).context;
                  }
                  std::uint64_t doubles = 0;
                  std::uint64_t wraps = 0;
                  std::uint16_t last = kept.back();
                  for (int i = 0; i < 66'000; ++i) {
                      const kernel::Pid pid = hosted::create("t", &nothing, kernel::NrtModel{});
                      const std::uint16_t context = must(kernel::task_info(pid)).context;
                      doubles +=
                          context == 0 || context == kept[0] || context == kept[1] || context == kept[2] ? 1U : 0U;
                      wraps += context < last ? 1U : 0U;
                      last = context;
                      must(kernel::task_kill(pid));
                  }
                  note(std::to_string(wraps) + " rounds, " + std::to_string(doubles) + " doubles");
              }),
              "1 rounds, 0 doubles");
}

// Ids are never given back; a refused object stays uninitialised.
template <typename Object, lib::Result<void> (*Init)(Object&)>
void use_all_ids() {
    static std::vector<std::unique_ptr<Object>> objects;
    lib::Error error = lib::Error::io;
    for (;;) {
        objects.push_back(std::make_unique<Object>());
        if (const auto done = Init(*objects.back()); !done.ok()) {
            error = done.error();
            break;
        }
    }
    note(std::to_string(objects.size() - 1) + " " + std::string(lib::error_name(error)) + " id " +
         std::to_string(objects.back()->id()));
}

lib::Result<void> init_mutex(kernel::Mutex& mutex) {
    return kernel::mutex_init(mutex, "m");
}

lib::Result<void> init_semaphore(kernel::Semaphore& semaphore) {
    return kernel::sem_init(semaphore, "s", 0);
}

TEST(Exhaustion, OfMutexAndSemaphoreNumbersIsAnError) {
    EXPECT_EQ(hosted::run(&use_all_ids<kernel::Mutex, &init_mutex>), "65535 no space id 0");
    EXPECT_EQ(hosted::run(&use_all_ids<kernel::Semaphore, &init_semaphore>), "65535 no space id 0");
}

TEST(Exhaustion, OfRunLevelFunctionsKeepsThoseThatWereTaken) {
    EXPECT_EQ(hosted::run_to_the_end([] {
                  static int called = 0;
                  int taken = 0;
                  must(kernel::sys_atrunlevel([](void*) { note(std::to_string(called)); }, nullptr,
                                              kernel::RunLevel::after_exit)); // the last to be called
                  while (kernel::sys_atrunlevel([](void*) { ++called; }, nullptr, kernel::RunLevel::after_exit).ok()) {
                      ++taken;
                  }
                  note(std::to_string(taken));
              }),
              "39 | 39 | end | 0");
}

} // namespace
