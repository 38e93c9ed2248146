// SPDX-License-Identifier: MIT
// Tests condition variables: who is woken, what becomes of the mutex, limits, ends.
#include "kernel/sync/condition.hpp"
#include "kernel/task/task.hpp"
#include "kernel/time/timer.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace condition_test {

using namespace hosted;
using kernel::cond_broadcast;
using kernel::cond_init;
using kernel::cond_signal;
using kernel::cond_timedwait;
using kernel::cond_wait;
using kernel::mutex_lock;
using kernel::mutex_unlock;

constinit kernel::Mutex s_mutex;
constinit kernel::Condition s_change;
constinit kernel::Pid s_pid;

void init(kernel::MutexProtocol protocol = kernel::MutexProtocol::inheritance) {
    must(kernel::mutex_init(s_mutex, {.protocol = protocol, .name = "mutex"}));
    must(cond_init(s_change, "change"));
}

// Waits once and works for a millisecond under the mutex.
void waiter(void* name) {
    must(mutex_lock(s_mutex));
    must(cond_wait(s_change, s_mutex));
    work(static_cast<const char*>(name), 1);
    must(mutex_unlock(s_mutex));
}

void start_waiter(const char* name, const kernel::TaskModel& model) {
    start(name, &waiter, model, const_cast<char*>(name));
}

TEST(Condition, RefusesWrongUse) {
    EXPECT_EQ(hosted::run([] {
                  note_result("signal before init", cond_signal(s_change));
                  note_result("broadcast before init", cond_broadcast(s_change));
                  must(kernel::mutex_init(s_mutex, "mutex"));
                  must(mutex_lock(s_mutex));
                  note_result("wait before init", cond_wait(s_change, s_mutex));
                  note_result("wait at once before init", cond_timedwait(s_change, s_mutex, {}));
                  must(cond_init(s_change, "change"));
                  note_result("init again", cond_init(s_change, "change"));
                  note_result("no time", cond_timedwait(s_change, s_mutex, {}));
                  note(s_mutex.owner() != nullptr ? "kept" : "lost");
                  must(mutex_unlock(s_mutex));
                  note_result("without the mutex", cond_wait(s_change, s_mutex));
                  note_result("without the mutex, no time", cond_timedwait(s_change, s_mutex, {}));
              }),
              "signal before init: invalid argument | broadcast before init: invalid argument | "
              "wait before init: invalid argument | wait at once before init: invalid argument | "
              "init again: already exists | no time: timeout | kept | without the mutex: refused | "
              "without the mutex, no time: refused");
}

TEST(Condition, SignalsTheMostUrgentWaiterWhateverTheOrderOfArrival) {
    EXPECT_EQ(hosted::run([] {
                  init();
                  start_waiter("far", hard(1, 100, 50));
                  start_waiter("near", hard(1, 100, 20, 1));
                  start_waiter("middle", hard(1, 100, 30, 2));
                  pause_until(3);
                  for (int i = 0; i < 4; ++i) { // the last finds no task, and is not kept
                      must(cond_signal(s_change));
                      note("signalled");
                  }
              }),
              "near 3-4 | signalled | middle 4-5 | signalled | far 5-6 | signalled | signalled");
}

TEST(Condition, PrefersLevelsThenKeysThenArrivals) {
    EXPECT_EQ(hosted::run([] {
                  init();
                  start_waiter("r1", kernel::NrtModel{});
                  start_waiter("r2", kernel::NrtModel{});
                  pause_until(1);
                  start_waiter("h1", hard(1, 100, 50));
                  start_waiter("h2", hard(1, 100, 50)); // the same deadline
                  must(mutex_lock(s_mutex));
                  must(cond_broadcast(s_change));
                  note("all woken");
                  must(mutex_unlock(s_mutex));
                  pause_until(20);
              }),
              "all woken | h1 1-2 | h2 2-3 | r1 3-4 | r2 4-5");
}

TEST(Condition, LetsTheMostUrgentOfAllWaitersRunAtOnce) {
    EXPECT_EQ(hosted::run([] {
                  init();
                  start_waiter("far", hard(1, 100, 50));
                  start_waiter("near", hard(1, 100, 20, 1));
                  pause_until(2);
                  must(cond_broadcast(s_change));
                  note("said");
                  must(cond_broadcast(s_change)); // finds no task
                  note("again");
              }),
              "near 2-3 | far 3-4 | said | again");
}

TEST(Condition, FreesTheMutexWhileItWaitsAndHasItAgainAfterwards) {
    EXPECT_EQ(hosted::run([] {
                  init();
                  static constinit bool ready = false;
                  start(
                      "consumer",
                      [](void*) {
                          must(mutex_lock(s_mutex));
                          while (!ready) {
                              must(cond_wait(s_change, s_mutex));
                              note(ready ? "ready" : "not yet");
                          }
                          note_result("again", kernel::mutex_trylock(s_mutex));
                          must(mutex_unlock(s_mutex));
                      },
                      hard(1, 100, 20));
                  pause_until(1);
                  must(mutex_lock(s_mutex));
                  must(cond_signal(s_change)); // the consumer finds the mutex taken and lends its place
                  work("producer", 1);
                  must(mutex_unlock(s_mutex));
                  must(mutex_lock(s_mutex));
                  ready = true;
                  must(cond_signal(s_change));
                  must(mutex_unlock(s_mutex));
              }),
              "producer 1-2 | not yet | ready | again: refused");
}

TEST(Condition, HandsAPlainMutexToWhoWaitsForItWhileItsOwnerWaits) {
    EXPECT_EQ(hosted::run([] {
                  init(kernel::MutexProtocol::none);
                  start(
                      "waiter",
                      [](void*) {
                          must(mutex_lock(s_mutex));
                          work("w", 2);
                          must(cond_wait(s_change, s_mutex));
                          work("W", 1);
                          must(mutex_unlock(s_mutex));
                      },
                      hard(3, 100, 50));
                  start(
                      "other",
                      [](void*) {
                          must(mutex_lock(s_mutex));
                          work("o", 1);
                          must(cond_signal(s_change));
                          work("o", 1);
                          must(mutex_unlock(s_mutex));
                      },
                      hard(2, 100, 20, 1));
                  pause_until(20);
              }),
              "w 0-2 | o 2-4 | W 4-5");
}

TEST(Condition, GivesUpAtTheLimitWithTheMutexLocked) {
    EXPECT_EQ(hosted::run([] {
                  init();
                  start(
                      "waiter",
                      [](void*) {
                          must(mutex_lock(s_mutex));
                          note_result("first", cond_timedwait(s_change, s_mutex, ms(2)));
                          note_result("owner", kernel::mutex_trylock(s_mutex)); // refused: it is mine
                          note_result("second", cond_timedwait(s_change, s_mutex, ms(2)));
                          hosted::stamp("end");
                          must(mutex_unlock(s_mutex));
                      },
                      hard(1, 100, 20));
                  pause_until(3);
                  must(cond_signal(s_change));
                  pause_until(10);
              }),
              "first: timeout | owner: refused | second: ok | end@3");
}

TEST(Condition, KeepsTheMutexFromOthersIfItHasNoTimeToWait) {
    EXPECT_EQ(hosted::run([] {
                  init();
                  must(mutex_lock(s_mutex));
                  start("H", holding<s_mutex, 'H', 1>, hard(1, 100, 20));
                  pause_until(0);
                  work("m", 2);
                  note_result("main", cond_timedwait(s_change, s_mutex, {}));
                  work("m", 1);
                  must(mutex_unlock(s_mutex));
              }),
              "m 0-2 | main: timeout | m 2-3 | H 3-4");
}

TEST(Condition, LocksAgainHoweverLongThatTakesAfterALimit) {
    EXPECT_EQ(hosted::run([] {
                  init();
                  start(
                      "waiter",
                      [](void*) {
                          must(mutex_lock(s_mutex));
                          note_result("waiter", cond_timedwait(s_change, s_mutex, ms(1)));
                          hosted::stamp("end");
                          must(mutex_unlock(s_mutex));
                      },
                      hard(1, 100, 20));
                  start("owner", holding<s_mutex, 'o', 4>, hard(4, 100, 50));
                  pause_until(20);
              }),
              "o 0-4 | waiter: timeout | end@4");
}

TEST(Condition, RefusesToLockAgainIfThatWouldBeADeadlock) {
    // W keeps two while it waits; main locks the mutex, then waits for two: no way back for W.
    static constinit kernel::Mutex two;
    EXPECT_EQ(hosted::run([] {
                  init();
                  must(kernel::mutex_init(two, "two"));
                  start(
                      "W",
                      [](void*) {
                          must(mutex_lock(two));
                          must(mutex_lock(s_mutex));
                          note_result("W", cond_timedwait(s_change, s_mutex, ms(2)));
                          note_result("unlock", mutex_unlock(s_mutex));
                          must(mutex_unlock(two));
                      },
                      hard(1, 100, 20));
                  pause_until(1);
                  must(mutex_lock(s_mutex));
                  note_result("main", mutex_lock(two));
              }),
              "W: refused | unlock: refused | main: ok");
}

TEST(Condition, ForgetsAWaiterThatIsKilled) {
    EXPECT_EQ(hosted::run([] {
                  init();
                  s_pid = start(
                      "dead",
                      [](void*) {
                          must(mutex_lock(s_mutex));
                          must(cond_timedwait(s_change, s_mutex, ms(5)));
                      },
                      hard(1, 100, 20));
                  start_waiter("alive", hard(1, 100, 50));
                  pause_until(1);
                  must(kernel::task_kill(s_pid));
                  note(kernel::mutex_abandoned(s_mutex) ? "abandoned" : "whole"); // it did not own it
                  must(cond_signal(s_change));
                  pause_until(10);
              }),
              "whole | alive 1-2");
}

TEST(Condition, MayBeSignalledByATimerHandler) {
    EXPECT_EQ(hosted::run([] {
                  init();
                  start_waiter("W", hard(1, 100, 20));
                  at_time(3, [](void*) { must(cond_signal(s_change)); });
                  pause_until(10);
              }),
              "W 3-4");
}

TEST(Condition, RunsOutOfNumbersAndSaysSo) {
    EXPECT_EQ(hosted::run([] {
                  static std::vector<kernel::Condition> many(0x10000);
                  for (std::size_t i = 0; i < 0xFFFF; ++i) {
                      must(cond_init(many[i], "c"));
                  }
                  note_result("last", cond_init(many[0xFFFF], "c"));
                  note_result("signal", cond_signal(many[0xFFFF]));
              }),
              "last: no space | signal: invalid argument");
}

} // namespace condition_test
