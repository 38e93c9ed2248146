// SPDX-License-Identifier: MIT
// Tests the mutex protocols in whole schedules computed by hand. Upper case letters are work outside a critical
// section, lower case letters and digits work inside. Sources of the examples: the inversion on Mars Pathfinder (1997);
// Sha, Rajkumar, Lehoczky (1990) and Buttazzo, "Hard Real-Time Computing Systems", chapter 7, for ceiling and stack.
#include "kernel/sched/level.hpp"
#include "kernel/sync/mutex.hpp"
#include "kernel/task/task.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace mutex_protocol_test {

using namespace hosted;
using kernel::Mutex;
using kernel::mutex_lock;
using kernel::mutex_unlock;
using kernel::MutexProtocol;

constinit Mutex s_a;
constinit Mutex s_b;
constinit Mutex s_c;
constinit kernel::Pid s_pid;
constinit kernel::Pid s_user;

template <MutexProtocol Protocol>
void init(std::initializer_list<Mutex*> mutexes) {
    for (Mutex* const mutex : mutexes) {
        must(kernel::mutex_init(*mutex, {.protocol = Protocol, .name = "m"}));
    }
}

// Released at the beginning of the scenario, as a user of those of the mutexes that have ceilings.
kernel::Pid start_user(const char* name, kernel::TaskBody body, const kernel::TaskModel& model,
                       std::initializer_list<Mutex*> mutexes) {
    const kernel::Pid pid = hosted::create(name, body, model);
    for (Mutex* const mutex : mutexes) {
        if (mutex->has_ceiling()) {
            must(kernel::mutex_declare_user(*mutex, pid));
        }
    }
    must(kernel::task_activate_at(pid, hosted::at(0)));
    return pid;
}

void lock(Mutex& mutex) {
    must(mutex_lock(mutex));
}

void unlock(Mutex& mutex) {
    must(mutex_unlock(mutex));
}

// --- the inversion -------------------------------------------------------------------------------------------------

// The bus thread needs what the weather thread owns, while the communication thread needs nothing and has time.
template <MutexProtocol Protocol>
std::string pathfinder() {
    return hosted::run([] {
        init<Protocol>({&s_a});
        start_user("weather", holding<s_a, 'w', 4>, hard(4, 100, 90), {&s_a});
        const kernel::Pid bus = start_user("bus",
                                           [](void*) {
                                               lock(s_a);
                                               work("b", 1);
                                               unlock(s_a);
                                               kernel::task_endcycle();
                                           },
                                           hard(1, 100, 10, 1), {&s_a});
        start(
            "communication", [](void*) { work("C", 20); }, hard(20, 100, 50, 2));
        pause_until(40);
        note(must(kernel::task_info(bus)).jobs.deadline_misses == 0 ? "in time" : "late");
    });
}

TEST(MutexProtocol, NoneLetsTheMiddleTaskDelayTheHighOne) {
    EXPECT_EQ(pathfinder<MutexProtocol::none>(), "w 0-2 | C 2-22 | w 22-24 | b 24-25 | late");
}

TEST(MutexProtocol, InheritanceCuresTheInversion) {
    EXPECT_EQ(pathfinder<MutexProtocol::inheritance>(), "w 0-4 | b 4-5 | C 5-25 | in time");
}

TEST(MutexProtocol, CeilingCuresTheInversion) {
    EXPECT_EQ(pathfinder<MutexProtocol::ceiling>(), "w 0-4 | b 4-5 | C 5-25 | in time");
}

TEST(MutexProtocol, StackCuresTheInversion) {
    EXPECT_EQ(pathfinder<MutexProtocol::stack>(), "w 0-4 | b 4-5 | C 5-25 | in time");
}

TEST(MutexProtocol, NoneWakesTheMostUrgentWaiterAndHandsOver) {
    EXPECT_EQ(hosted::run([] {
                  init<MutexProtocol::none>({&s_a});
                  const auto body = []<char Name>(std::integral_constant<char, Name>) {
                      return [](void*) {
                          static constexpr char kName[] = {Name, '\0'};
                          lock(s_a);
                          work(kName, 2);
                          unlock(s_a);
                      };
                  };
                  start("L", body(std::integral_constant<char, 'l'>{}), hard(2, 100, 90));
                  start("M", body(std::integral_constant<char, 'm'>{}), hard(2, 100, 50, 1));
                  start("H", body(std::integral_constant<char, 'h'>{}), hard(2, 100, 20, 1));
                  pause_until(20);
                  note(s_a.owner() == nullptr ? "free" : "taken");
              }),
              "l 0-2 | h 2-4 | m 4-6 | free");
}

// --- transitivity --------------------------------------------------------------------------------------------------

constexpr std::size_t kLinks = 8;
constinit Mutex s_links[kLinks];
constexpr const char* kLinkNames[kLinks] = {"t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7"};

// Task i owns mutex i and waits for mutex i - 1.
void link_body(void* argument) {
    const auto i = reinterpret_cast<std::uintptr_t>(argument);
    lock(s_links[i]);
    work(kLinkNames[i], i == 0 ? 12 : 1);
    if (i > 0) {
        lock(s_links[i - 1]);
        work(kLinkNames[i], 1);
        unlock(s_links[i - 1]);
    }
    unlock(s_links[i]);
}

TEST(MutexProtocol, InheritanceFollowsAChainOfEight) {
    EXPECT_EQ(hosted::run([] {
                  for (std::size_t i = 0; i < kLinks; ++i) {
                      must(kernel::mutex_init(s_links[i], kLinkNames[i]));
                      start(kLinkNames[i], &link_body, hard(i == 0 ? 12 : 2, 200, 190 - 20 * i, 2 * i),
                            reinterpret_cast<void*>(i));
                  }
                  start( // after the last has blocked; its deadline is before all but that one's
                      "M", [](void*) { work("M", 2); }, hard(2, 200, 56, 16));
                  pause_until(60);
              }),
              "t0 0-2 | t1 2-3 | t0 3-4 | t2 4-5 | t0 5-6 | t3 6-7 | t0 7-8 | t4 8-9 | t0 9-10 | t5 10-11 | t0 11-12 | "
              "t6 12-13 | t0 13-14 | t7 14-15 | t0 15-19 | t1 19-20 | t2 20-21 | t3 21-22 | t4 22-23 | t5 23-24 | "
              "t6 24-25 | t7 25-26 | M 26-28");
}

TEST(MutexProtocol, NoneBreaksAChain) {
    // H waits for W's mutex, W outside its ready queue for L's: L gets no other's position, so M delays all three.
    EXPECT_EQ(hosted::run([] {
                  init<MutexProtocol::none>({&s_a});
                  init<MutexProtocol::inheritance>({&s_b});
                  start("L", holding<s_a, 'l', 4>, hard(4, 100, 90));
                  start(
                      "W",
                      [](void*) {
                          lock(s_b);
                          lock(s_a);
                          work("w", 1);
                          unlock(s_a);
                          unlock(s_b);
                      },
                      hard(1, 100, 60, 1));
                  start("H", holding<s_b, 'h', 1>, hard(1, 100, 20, 2));
                  start(
                      "M", [](void*) { work("M", 3); }, hard(3, 100, 40, 3));
                  pause_until(20);
              }),
              "l 0-3 | M 3-6 | l 6-7 | w 7-8 | h 8-9");
}

// --- ceiling and stack ---------------------------------------------------------------------------------------------

// J0 uses a and b, J1 uses c, J2 uses c and b within it: ceilings a, b: 20 ms, c: 60 ms.
template <MutexProtocol Protocol>
void three_jobs(std::uint64_t offset_of_first_ms) {
    init<Protocol>({&s_a, &s_b, &s_c});
    start_user("J2",
               [](void*) {
                   work("J2", 1);
                   lock(s_c);
                   work("c", 2);
                   lock(s_b);
                   work("b", 2);
                   unlock(s_b);
                   work("c", 1);
                   unlock(s_c);
                   work("J2", 1);
               },
               hard(7, 100, 90), {&s_b, &s_c});
    start_user("J1",
               [](void*) {
                   work("J1", 1);
                   lock(s_c);
                   work("1", 1);
                   unlock(s_c);
                   work("J1", 1);
               },
               hard(3, 100, 60, 2), {&s_c});
    start_user("J0",
               [](void*) {
                   work("J0", 1);
                   lock(s_a);
                   work("0a", 1);
                   lock(s_b);
                   work("0b", 1);
                   unlock(s_b);
                   unlock(s_a);
                   work("J0", 1);
               },
               hard(4, 100, 20, offset_of_first_ms), {&s_a, &s_b});
    pause_until(30);
    note(std::to_string(s_a.contentions()) + std::to_string(s_b.contentions()) + std::to_string(s_c.contentions()));
}

TEST(MutexProtocol, InheritanceMayBlockAJobInsideItsCriticalSection) {
    EXPECT_EQ(hosted::run([] { three_jobs<MutexProtocol::inheritance>(5); }),
              "J2 0-1 | c 1-2 | J1 2-3 | c 3-4 | b 4-5 | J0 5-6 | 0a 6-7 | b 7-8 | 0b 8-9 | J0 9-10 | c 10-11 | "
              "1 11-12 | J1 12-13 | J2 13-14 | 011");
}

TEST(MutexProtocol, CeilingRefusesAFreeMutexWhoseLockCouldBlockLater) {
    // At 6 a is free, but b, which J2 has, has the ceiling of J0: J0 waits for b, and only this once.
    EXPECT_EQ(hosted::run([] { three_jobs<MutexProtocol::ceiling>(5); }),
              "J2 0-1 | c 1-2 | J1 2-3 | c 3-4 | b 4-5 | J0 5-6 | b 6-7 | 0a 7-8 | 0b 8-9 | J0 9-10 | c 10-11 | "
              "1 11-12 | J1 12-13 | J2 13-14 | 011");
}

TEST(MutexProtocol, StackDelaysTheBeginningAndNothingElse) {
    // J1 is stopped from 2 on (c), J0 from 4 to 5 (b); then J0 may begin, for its level is above c's ceiling.
    EXPECT_EQ(hosted::run([] { three_jobs<MutexProtocol::stack>(4); }),
              "J2 0-1 | c 1-3 | b 3-5 | J0 5-6 | 0a 6-7 | 0b 7-8 | J0 8-9 | c 9-10 | J1 10-11 | 1 11-12 | J1 12-13 | "
              "J2 13-14 | 000");
}

// L: a then b. H: b then a.
template <MutexProtocol Protocol>
std::string crosswise() {
    return hosted::run([] {
        init<Protocol>({&s_a, &s_b});
        start_user("L",
                   [](void*) {
                       lock(s_a);
                       work("l", 2);
                       const auto second = mutex_lock(s_b);
                       note_result("second", second);
                       if (second.ok()) {
                           unlock(s_b);
                       }
                       unlock(s_a);
                   },
                   hard(2, 100, 90), {&s_a, &s_b});
        start_user("H",
                   [](void*) {
                       lock(s_b);
                       work("h", 1);
                       lock(s_a);
                       note("H has both");
                       unlock(s_a);
                       unlock(s_b);
                   },
                   hard(1, 100, 20, 1), {&s_a, &s_b});
        pause_until(20);
    });
}

TEST(MutexProtocol, InheritanceAndNoneRefuseADeadlock) {
    EXPECT_EQ(crosswise<MutexProtocol::inheritance>(), "l 0-1 | h 1-2 | l 2-3 | second: refused | H has both");
    EXPECT_EQ(crosswise<MutexProtocol::none>(), "l 0-1 | h 1-2 | l 2-3 | second: refused | H has both");
}

TEST(MutexProtocol, CeilingAndStackAvoidADeadlock) {
    EXPECT_EQ(crosswise<MutexProtocol::ceiling>(), "l 0-2 | second: ok | h 2-3 | H has both");
    EXPECT_EQ(crosswise<MutexProtocol::stack>(), "l 0-2 | second: ok | h 2-3 | H has both");
}

TEST(MutexProtocol, CeilingRefusesARelockAtOnceWhateverOthersHaveLocked) {
    // H sleeps with b, whose ceiling is above L: L would have to wait for it, were a not its own.
    EXPECT_EQ(hosted::run([] {
                  init<MutexProtocol::ceiling>({&s_a, &s_b});
                  start_user("L",
                             [](void*) {
                                 lock(s_a);
                                 work("l", 2);
                                 note_result("again", mutex_lock(s_a));
                                 unlock(s_a);
                             },
                             hard(2, 100, 90), {&s_a});
                  start_user("H",
                             [](void*) {
                                 lock(s_b);
                                 kernel::task_delay(ms(5));
                                 work("h", 1);
                                 unlock(s_b);
                             },
                             hard(1, 100, 20, 1), {&s_b});
                  pause_until(20);
              }),
              "l 0-2 | again: refused | h 6-7");
}

TEST(MutexProtocol, RefusesADeadlockAcrossProtocols) {
    // main owns a (none); W owns b (inheritance) and waits for a outside its ready queue.
    EXPECT_EQ(hosted::run([] {
                  init<MutexProtocol::none>({&s_a});
                  init<MutexProtocol::inheritance>({&s_b});
                  lock(s_a);
                  start(
                      "W",
                      [](void*) {
                          lock(s_b);
                          lock(s_a);
                          note("W has both");
                          unlock(s_a);
                          unlock(s_b);
                      },
                      hard(1, 100));
                  pause_until(1);
                  note_result("main", mutex_lock(s_b));
                  unlock(s_a);
                  note_result("main", mutex_lock(s_b));
              }),
              "main: refused | W has both | main: ok");
}

// --- users and ceilings --------------------------------------------------------------------------------------------

TEST(MutexProtocol, RefusesWhoIsNoDeclaredUser) {
    EXPECT_EQ(
        hosted::run([] {
            init<MutexProtocol::inheritance>({&s_a});
            init<MutexProtocol::ceiling>({&s_b});
            init<MutexProtocol::stack>({&s_c});
            const kernel::Pid self = kernel::task_self();
            note_result("ceiling", mutex_lock(s_b));
            note_result("stack", mutex_lock(s_c));
            note_result("try", kernel::mutex_trylock(s_b));
            note_result("timed", kernel::mutex_timedlock(s_c, ms(1)));
            note_result("declare without ceiling", kernel::mutex_declare_user(s_a, self));
            note_result("declare no task", kernel::mutex_declare_user(s_b, kernel::Pid{40}));
            static Mutex* const wrong[] = {&s_b, &s_a};
            const auto created = kernel::task_create({.name = "T",
                                                      .body = [](void*) {},
                                                      .argument = nullptr,
                                                      .model = hard(1, 100),
                                                      .group = 0,
                                                      .reactions = {},
                                                      .mutexes = wrong});
            note(created.ok() ? "created" : "not created");
            note(s_b.ceiling() == kernel::kPreemptionLevelNone ? "nothing changed" : "changed");
            must(kernel::mutex_declare_user(s_b, self));
            must(kernel::mutex_declare_user(s_b, self));
            note_result("declared", mutex_lock(s_b));
        }),
        "ceiling: invalid argument | stack: invalid argument | try: invalid argument | timed: invalid argument | "
        "declare without ceiling: invalid argument | declare no task: not found | not created | nothing changed | "
        "declared: ok");
}

void note_ceiling(const Mutex& mutex) {
    note(mutex.ceiling() == kernel::kPreemptionLevelNone ? "none" : std::to_string(mutex.ceiling() / 1'000'000));
}

TEST(MutexProtocol, MovesTheCeilingWithItsUsers) {
    EXPECT_EQ(hosted::run([] {
                  init<MutexProtocol::ceiling>({&s_a});
                  must(kernel::mutex_declare_user(s_a, kernel::Pid{0})); // the idle task, as every unused slot
                  note_ceiling(s_a);
                  static Mutex* const uses[] = {&s_a};
                  const kernel::Pid slow = must(kernel::task_create({.name = "slow",
                                                                     .body = [](void*) {},
                                                                     .argument = nullptr,
                                                                     .model = hard(1, 100, 50),
                                                                     .group = 0,
                                                                     .reactions = {},
                                                                     .mutexes = uses}));
                  note_ceiling(s_a);
                  const kernel::Pid fast = hosted::create(
                      "fast", [](void*) {}, hard(1, 100, 20));
                  must(kernel::mutex_declare_user(s_a, fast));
                  note_ceiling(s_a);
                  must(kernel::task_set_deadline(fast, ms(80)));
                  note_ceiling(s_a);
                  must(kernel::mutex_declare_user(s_a, kernel::task_self())); // round robin: no level of its own
                  must(kernel::task_kill(slow));
                  note_ceiling(s_a);
                  must(kernel::task_kill(fast));
                  note_ceiling(s_a);
              }),
              "none | 50 | 20 | 50 | 80 | none");
}

TEST(MutexProtocol, ReordersLockedMutexesWhenACeilingMoves) {
    // main has locked a and b. H, level 55, may lock c only if both ceilings are lower than that.
    static constinit kernel::Pid user_of_a;
    static constinit kernel::Pid user_of_b;
    EXPECT_EQ(hosted::run([] {
                  init<MutexProtocol::ceiling>({&s_a, &s_b, &s_c});
                  const auto user = [](Mutex& mutex, std::uint64_t deadline_ms) {
                      const kernel::Pid pid = hosted::create(
                          "u", [](void*) {}, hard(1, 100, deadline_ms));
                      must(kernel::mutex_declare_user(mutex, pid));
                      must(kernel::mutex_declare_user(mutex, kernel::task_self()));
                      return pid;
                  };
                  const auto try_as_h = [] {
                      start_user("H",
                                 [](void*) {
                                     note_result("try", kernel::mutex_trylock(s_c));
                                     if (s_c.owner() != nullptr) {
                                         unlock(s_c);
                                     }
                                 },
                                 hard(1, 100, 55), {&s_c});
                      kernel::task_delay(ms(1));
                  };
                  user_of_a = user(s_a, 50);
                  user_of_b = user(s_b, 52);
                  lock(s_b);
                  lock(s_a);
                  try_as_h();
                  must(kernel::task_set_deadline(user_of_a, ms(70)));
                  try_as_h(); // b is in the way
                  must(kernel::task_set_deadline(user_of_b, ms(80)));
                  try_as_h();
                  must(kernel::task_set_deadline(user_of_b, ms(30)));
                  try_as_h();
              }),
              "try: busy | try: busy | try: ok | try: busy");
}

// --- stopped jobs whose chain ends in a task that sleeps -------------------------------------------------------------

// L owns a stack mutex of ceiling 50 and sleeps until 10. N and X are released at 2 and stopped.
void sleeping_owner(kernel::TaskBody intruder, std::uint64_t intrusion_ms) {
    init<MutexProtocol::stack>({&s_a});
    s_user = hosted::create(
        "U", [](void*) {}, hard(1, 100, 50));
    must(kernel::mutex_declare_user(s_a, s_user));
    s_pid = start_user("L",
                       [](void*) {
                           lock(s_a);
                           work("l", 1);
                           kernel::task_delay(ms(9));
                           work("l", 1);
                           unlock(s_a);
                           work("L", 1);
                       },
                       hard(3, 100, 90), {&s_a});
    static constinit kernel::Pid stopped;
    stopped = start(
        "N", [](void*) { work("N", 2); }, hard(2, 100, 60, 2));
    start(
        "X", [](void*) { work("X", 2); }, hard(2, 100, 70, 2));
    start("K", intruder, hard(1, 100, 10, intrusion_ms), &stopped);
    pause_until(30);
}

TEST(MutexProtocol, StackKeepsJobsStoppedWhileTheOwnerSleeps) {
    EXPECT_EQ(hosted::run([] { sleeping_owner([](void*) { work("K", 1); }, 4); }),
              "l 0-1 | K 4-5 | l 10-11 | N 11-13 | X 13-15 | L 15-16");
}

TEST(MutexProtocol, StackLetsAJobBeginWhenItsDeadlineShortens) {
    EXPECT_EQ(
        hosted::run([] {
            sleeping_owner(
                [](void* stopped) { must(kernel::task_set_deadline(*static_cast<kernel::Pid*>(stopped), ms(40))); }, 4);
        }),
        "l 0-1 | N 4-6 | l 10-11 | X 11-13 | L 13-14");
}

TEST(MutexProtocol, StackLetsJobsBeginWhenTheCeilingFalls) {
    EXPECT_EQ(hosted::run([] { sleeping_owner([](void*) { must(kernel::task_set_deadline(s_user, ms(65))); }, 4); }),
              "l 0-1 | N 4-6 | l 10-11 | X 11-13 | L 13-14");
}

TEST(MutexProtocol, StackLetsJobsBeginWhenTheOwnerIsKilled) {
    EXPECT_EQ(hosted::run([] { sleeping_owner([](void*) { must(kernel::task_kill(s_pid)); }, 4); }),
              "l 0-1 | N 4-6 | X 6-8");
}

TEST(MutexProtocol, StackLendsPlacesToTheOwnerOfAHigherMutexThatComesLater) {
    // N (due at 62) is stopped by a, whose owner sleeps. K (due at 65) locks b with ceiling 10: from then on N pushes
    // K, past M, which may begin (level 8) and is due at 64.
    EXPECT_EQ(hosted::run([] {
                  init<MutexProtocol::stack>({&s_a, &s_b});
                  must(kernel::mutex_declare_user(s_a, hosted::create(
                                                           "U", [](void*) {}, hard(1, 100, 50))));
                  start_user("L",
                             [](void*) {
                                 lock(s_a);
                                 work("l", 1);
                                 kernel::task_delay(ms(69));
                                 work("l", 1);
                                 unlock(s_a);
                             },
                             hard(2, 100, 90), {&s_a});
                  start(
                      "N", [](void*) { work("N", 2); }, hard(2, 100, 60, 2));
                  start_user("K", holding<s_b, 'k', 3>, hard(3, 100, 10, 55), {&s_b});
                  start(
                      "M", [](void*) { work("M", 1); }, hard(1, 100, 8, 56));
                  pause_until(90);
              }),
              "l 0-1 | k 55-58 | M 58-59 | l 70-71 | N 71-73");
}

TEST(MutexProtocol, StackStopsNoTaskThatOwnsAMutex) {
    // M keeps b from one job to the next: its second job begins although a's ceiling is above its level, and unlocks.
    EXPECT_EQ(hosted::run([] {
                  init<MutexProtocol::stack>({&s_a});
                  init<MutexProtocol::inheritance>({&s_b});
                  must(kernel::mutex_declare_user(s_a, hosted::create(
                                                           "U", [](void*) {}, hard(1, 100, 5))));
                  start(
                      "M",
                      [](void*) {
                          lock(s_b);
                          work("m", 1);
                          kernel::task_endcycle();
                          work("m", 1);
                          unlock(s_b);
                      },
                      hard(2, 10));
                  start_user("L",
                             [](void*) {
                                 lock(s_a);
                                 lock(s_b);
                                 work("l", 1);
                                 unlock(s_b);
                                 unlock(s_a);
                             },
                             hard(1, 100, 90, 5), {&s_a});
                  start(
                      "N", [](void*) { work("N", 1); }, hard(1, 100, 50, 6));
                  pause_until(30);
              }),
              "m 0-1 | m 10-11 | l 11-12 | N 12-13");
}

TEST(MutexProtocol, StackNeverStopsTheIdleTask) {
    EXPECT_EQ(hosted::run([] {
                  init<MutexProtocol::stack>({&s_a});
                  must(kernel::mutex_declare_user(s_a, kernel::task_self()));
                  lock(s_a);
                  pause_until(1); // no other task has ever run
                  unlock(s_a);
                  hosted::stamp("back");
              }),
              "back@1");
}

} // namespace mutex_protocol_test
