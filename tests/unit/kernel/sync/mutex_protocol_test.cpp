// SPDX-License-Identifier: MIT
// Tests the mutex protocols in whole schedules computed by hand. Upper case letters are work outside a critical
// section, lower case letters and digits work inside. Sources of the examples: the inversion on Mars Pathfinder (1997);
// Sha, Rajkumar, Lehoczky (1990) and Buttazzo, "Hard Real-Time Computing Systems", chapter 7, for ceiling and stack.
#include "kernel/sched/level.hpp"
#include "kernel/sync/mutex.hpp"
#include "kernel/task/task.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

#include <string>

namespace mutex_protocol_test {

using namespace hosted;
using kernel::Mutex;

kernel::Mutex& s_a = mutex("a");
kernel::Mutex& s_b = mutex("b");

// The scenario with this protocol of its mutexes.
std::string run_with(const std::string& protocol, std::string text) {
    constexpr std::string_view kPlace = "PROTOCOL";
    for (std::size_t at = 0; (at = text.find(kPlace)) != std::string::npos;) {
        text.replace(at, kPlace.size(), protocol);
    }
    return run(text);
}

// --- the inversion -------------------------------------------------------------------------------------------------

// The bus thread needs what the weather thread owns, while the communication thread needs nothing and has time.
std::string pathfinder(const std::string& protocol) {
    return run_with(protocol, R"(mutex a PROTOCOL
                                 start weather hard 4/100/90: lock a; w 4; unlock a
                                 start bus hard 1/100/10+1: lock a; b 1; unlock a; end
                                 user a weather; user a bus
                                 start communication hard 20/100/50+2: C 20
                                 until 40; counts bus missed)");
}

TEST(MutexProtocol, NoneLetsTheMiddleTaskDelayTheHighOne) {
    EXPECT_EQ(pathfinder("none"), "w 0-2 | C 2-22 | w 22-24 | b 24-25 | missed 1");
}

TEST(MutexProtocol, InheritanceCeilingAndStackCureTheInversion) {
    for (const char* const protocol : {"inheritance", "ceiling", "stack"}) {
        EXPECT_EQ(pathfinder(protocol), "w 0-4 | b 4-5 | C 5-25 | missed 0") << protocol;
    }
}

TEST(MutexProtocol, NoneWakesTheMostUrgentWaiterAndHandsOver) {
    EXPECT_EQ(run(R"(mutex a none
                     start L hard 2/100/90: lock a; l 2; unlock a
                     start M hard 2/100/50+1: lock a; m 2; unlock a
                     start H hard 2/100/20+1: lock a; h 2; unlock a
                     until 20; owner a)"),
              "l 0-2 | h 2-4 | m 4-6 | free");
}

// --- transitivity --------------------------------------------------------------------------------------------------

TEST(MutexProtocol, InheritanceFollowsAChainOfEight) {
    // Task i owns mutex i and waits for mutex i - 1. M comes after the last has blocked; its deadline is before all but
    // that one's.
    EXPECT_EQ(run(R"(mutex 0; mutex 1; mutex 2; mutex 3; mutex 4; mutex 5; mutex 6; mutex 7
                     start t0 hard 12/200/190: lock 0; t0 12; unlock 0
                     start t1 hard 2/200/170+2: lock 1; t1 1; lock 0; t1 1; unlock 0; unlock 1
                     start t2 hard 2/200/150+4: lock 2; t2 1; lock 1; t2 1; unlock 1; unlock 2
                     start t3 hard 2/200/130+6: lock 3; t3 1; lock 2; t3 1; unlock 2; unlock 3
                     start t4 hard 2/200/110+8: lock 4; t4 1; lock 3; t4 1; unlock 3; unlock 4
                     start t5 hard 2/200/90+10: lock 5; t5 1; lock 4; t5 1; unlock 4; unlock 5
                     start t6 hard 2/200/70+12: lock 6; t6 1; lock 5; t6 1; unlock 5; unlock 6
                     start t7 hard 2/200/50+14: lock 7; t7 1; lock 6; t7 1; unlock 6; unlock 7
                     start M hard 2/200/56+16: M 2
                     until 60)"),
              "t0 0-2 | t1 2-3 | t0 3-4 | t2 4-5 | t0 5-6 | t3 6-7 | t0 7-8 | t4 8-9 | t0 9-10 | t5 10-11 | t0 11-12 | "
              "t6 12-13 | t0 13-14 | t7 14-15 | t0 15-19 | t1 19-20 | t2 20-21 | t3 21-22 | t4 22-23 | t5 23-24 | "
              "t6 24-25 | t7 25-26 | M 26-28");
}

TEST(MutexProtocol, NoneBreaksAChain) {
    // H waits for W's mutex, W outside its ready queue for L's: L gets no other's position, so M delays all three.
    EXPECT_EQ(run(R"(mutex a none; mutex b inheritance
                     start L hard 4/100/90: lock a; l 4; unlock a
                     start W hard 1/100/60+1: lock b; lock a; w 1; unlock a; unlock b
                     start H hard 1/100/20+2: lock b; h 1; unlock b
                     start M hard 3/100/40+3: M 3
                     until 20)"),
              "l 0-3 | M 3-6 | l 6-7 | w 7-8 | h 8-9");
}

// --- ceiling and stack ---------------------------------------------------------------------------------------------

// J0 uses a and b, J1 uses c, J2 uses c and b within it: ceilings a, b: 20 ms, c: 60 ms.
std::string three_jobs(const std::string& protocol, unsigned offset_of_first_ms) {
    return run_with(protocol, R"(mutex a PROTOCOL; mutex b PROTOCOL; mutex c PROTOCOL
                                 start J2 hard 7/100/90: J2 1; lock c; c 2; lock b; b 2; unlock b; c 1; unlock c; J2 1
                                 start J1 hard 3/100/60+2: J1 1; lock c; 1 1; unlock c; J1 1
                                 start J0 hard 4/100/20+)" +
                                  std::to_string(offset_of_first_ms) +
                                  R"(: J0 1; lock a; 0a 1; lock b; 0b 1; unlock b; unlock a; J0 1
                                 user a J0; user b J0; user c J1; user b J2; user c J2
                                 until 30; contentions a b c)");
}

TEST(MutexProtocol, InheritanceMayBlockAJobInsideItsCriticalSection) {
    EXPECT_EQ(three_jobs("inheritance", 5),
              "J2 0-1 | c 1-2 | J1 2-3 | c 3-4 | b 4-5 | J0 5-6 | 0a 6-7 | b 7-8 | 0b 8-9 | J0 9-10 | c 10-11 | "
              "1 11-12 | J1 12-13 | J2 13-14 | 011");
}

TEST(MutexProtocol, CeilingRefusesAWokenTaskThatWouldCloseACycle) {
    // W, which has b, waits for x until 3. By then y, whose ceiling keeps a from W, belongs to U, which waits for b.
    EXPECT_EQ(run(R"(mutex a ceiling; mutex x ceiling; mutex y ceiling; mutex b
                     start O hard 3/100/90: lock x; o 3; unlock x
                     start W hard 2/100/60+1: lock b; W? lock a; w 1; unlock b
                     start U hard 2/100/20+2: lock y; lock b; u 1; unlock b; unlock y
                     user a W; user x O; user x W; user y U
                     until 20; owner a)"),
              "o 0-3 | W: refused | w 3-4 | u 4-5 | free");
}

TEST(MutexProtocol, CeilingRefusesAFreeMutexWhoseLockCouldBlockLater) {
    // At 6 a is free, but b, which J2 has, has the ceiling of J0: J0 waits for b, and only this once.
    EXPECT_EQ(three_jobs("ceiling", 5),
              "J2 0-1 | c 1-2 | J1 2-3 | c 3-4 | b 4-5 | J0 5-6 | b 6-7 | 0a 7-8 | 0b 8-9 | J0 9-10 | c 10-11 | "
              "1 11-12 | J1 12-13 | J2 13-14 | 011");
}

TEST(MutexProtocol, StackDelaysTheBeginningAndNothingElse) {
    // J1 is stopped from 2 on (c), J0 from 4 to 5 (b); then J0 may begin, for its level is above c's ceiling.
    EXPECT_EQ(three_jobs("stack", 4),
              "J2 0-1 | c 1-3 | b 3-5 | J0 5-6 | 0a 6-7 | 0b 7-8 | J0 8-9 | c 9-10 | J1 10-11 | 1 11-12 | J1 12-13 | "
              "J2 13-14 | 000");
}

// L: a then b, which it may get and then unlocks. H: b then a.
std::string crosswise(const std::string& protocol, const std::string& unlock_second = "") {
    return run_with(protocol, R"(mutex a PROTOCOL; mutex b PROTOCOL
                                 start L hard 2/100/90: lock a; l 2; second? lock b;)" +
                                  unlock_second + R"(unlock a
                                 start H hard 1/100/20+1: lock b; h 1; lock a; note H has both; unlock a; unlock b
                                 user a L; user b L; user a H; user b H; until 20)");
}

TEST(MutexProtocol, InheritanceAndNoneRefuseADeadlock) {
    for (const char* const protocol : {"inheritance", "none"}) {
        EXPECT_EQ(crosswise(protocol), "l 0-1 | h 1-2 | l 2-3 | second: refused | H has both") << protocol;
    }
}

TEST(MutexProtocol, CeilingAndStackAvoidADeadlock) {
    for (const char* const protocol : {"ceiling", "stack"}) {
        EXPECT_EQ(crosswise(protocol, "unlock b;"), "l 0-2 | second: ok | h 2-3 | H has both") << protocol;
    }
}

TEST(MutexProtocol, CeilingRefusesARelockAtOnceWhateverOthersHaveLocked) {
    // H sleeps with b, whose ceiling is above L: L would have to wait for it, were a not its own.
    EXPECT_EQ(run(R"(mutex a ceiling; mutex b ceiling
                     start L hard 2/100/90: lock a; l 2; again? lock a; unlock a
                     start H hard 1/100/20+1: lock b; delay 5; h 1; unlock b
                     user a L; user b H; until 20)"),
              "l 0-2 | again: refused | h 6-7");
}

TEST(MutexProtocol, RefusesADeadlockAcrossProtocols) {
    // main owns a (none); W owns b (inheritance) and waits for a outside its ready queue.
    EXPECT_EQ(run(R"(mutex a none; mutex b inheritance; lock a
                     start W hard 1/100: lock b; lock a; note W has both; unlock a; unlock b
                     until 1; main? lock b; unlock a; main? lock b)"),
              "main: refused | W has both | main: ok");
}

// --- users and ceilings --------------------------------------------------------------------------------------------

TEST(MutexProtocol, RefusesWhoIsNoDeclaredUser) {
    EXPECT_EQ(
        hosted::run([] {
            play("mutex a; mutex b ceiling; mutex c stack");
            const kernel::Pid self = kernel::task_self();
            play("ceiling? lock b; stack? lock c; try? trylock b; timed? timedlock c 1");
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
            play("user b self; user b self; declared? lock b");
        }),
        "ceiling: invalid argument | stack: invalid argument | try: invalid argument | timed: invalid argument | "
        "declare without ceiling: invalid argument | declare no task: not found | not created | nothing changed | "
        "declared: ok");
}

TEST(MutexProtocol, MovesTheCeilingWithItsUsers) {
    EXPECT_EQ(hosted::run([] {
                  play("mutex a ceiling");
                  must(kernel::mutex_declare_user(s_a, kernel::Pid{0})); // the idle task, as every unused slot
                  play("ceiling a");
                  static Mutex* const uses[] = {&s_a};
                  hosted::remember("slow", must(kernel::task_create({.name = "slow",
                                                                     .body = [](void*) {},
                                                                     .argument = nullptr,
                                                                     .model = hard(1, 100, 50),
                                                                     .group = 0,
                                                                     .reactions = {},
                                                                     .mutexes = uses})));
                  play(R"(ceiling a
                          create fast hard 1/100/20
                          user a fast; ceiling a; deadline fast 80; ceiling a
                          user a self  // round robin: no level of its own
                          kill slow; ceiling a; kill fast; ceiling a)");
              }),
              "none | 50 | 20 | 50 | 80 | none");
}

TEST(MutexProtocol, ReordersLockedMutexesWhenACeilingMoves) {
    // main has locked a and b. H, level 55, may lock c only if both ceilings are lower than that.
    EXPECT_EQ(run(R"(mutex a ceiling; mutex b ceiling; mutex c ceiling
                     create A hard 1/100/50
                     create B hard 1/100/52
                     user a A; user a self; user b B; user b self; lock b; lock a
                     create H hard 1/100/55: try? trylock c
                     user c H; activate H; delay 1; deadline A 70
                     create H hard 1/100/55: try? trylock c  // b is in the way
                     user c H; activate H; delay 1; deadline B 80
                     create H hard 1/100/55: try? trylock c; unlock c
                     user c H; activate H; delay 1; deadline B 30
                     create H hard 1/100/55: try? trylock c
                     user c H; activate H; delay 1)"),
              "try: busy | try: busy | try: ok | try: busy");
}

// --- stopped jobs whose chain ends in a task that sleeps -------------------------------------------------------------

// L owns a stack mutex of ceiling 50 and sleeps until 10. N and X are released at 2 and stopped. At 4 K does this.
std::string sleeping_owner(const std::string& intrusion) {
    return run(R"(mutex a stack
                  create U hard 1/100/50
                  start L hard 3/100/90: lock a; l 1; delay 9; l 1; unlock a; L 1
                  user a U; user a L
                  start N hard 2/100/60+2: N 2
                  start X hard 2/100/70+2: X 2
                  start K hard 1/100/10+4: )" +
               intrusion + "\nuntil 30");
}

TEST(MutexProtocol, StackKeepsJobsStoppedWhileTheOwnerSleeps) {
    EXPECT_EQ(sleeping_owner("K 1"), "l 0-1 | K 4-5 | l 10-11 | N 11-13 | X 13-15 | L 15-16");
}

TEST(MutexProtocol, StackLetsAJobBeginWhenItsDeadlineShortens) {
    EXPECT_EQ(sleeping_owner("deadline N 40"), "l 0-1 | N 4-6 | l 10-11 | X 11-13 | L 13-14");
}

TEST(MutexProtocol, StackLetsJobsBeginWhenTheCeilingFalls) {
    EXPECT_EQ(sleeping_owner("deadline U 65"), "l 0-1 | N 4-6 | l 10-11 | X 11-13 | L 13-14");
}

TEST(MutexProtocol, StackLetsJobsBeginWhenTheOwnerIsKilled) {
    EXPECT_EQ(sleeping_owner("kill L"), "l 0-1 | N 4-6 | X 6-8");
}

TEST(MutexProtocol, StackLendsPlacesToTheOwnerOfAHigherMutexThatComesLater) {
    // N (due at 62) is stopped by a, whose owner sleeps. K (due at 65) locks b with ceiling 10: from then on N pushes
    // K, past M, which may begin (level 8) and is due at 64.
    EXPECT_EQ(run(R"(mutex a stack; mutex b stack
                     create U hard 1/100/50
                     start L hard 2/100/90: lock a; l 1; delay 69; l 1; unlock a
                     start N hard 2/100/60+2: N 2
                     start K hard 3/100/10+55: lock b; k 3; unlock b
                     start M hard 1/100/8+56: M 1
                     user a U; user a L; user b K; until 90)"),
              "l 0-1 | k 55-58 | M 58-59 | l 70-71 | N 71-73");
}

TEST(MutexProtocol, StackStopsNoTaskThatOwnsAMutex) {
    // M keeps b from one job to the next: its second job begins although a's ceiling is above its level, and unlocks.
    EXPECT_EQ(run(R"(mutex a stack; mutex b
                     create U hard 1/100/5
                     start M hard 2/10: lock b; m 1; end; m 1; unlock b
                     start L hard 1/100/90+5: lock a; lock b; l 1; unlock b; unlock a
                     start N hard 1/100/50+6: N 1
                     user a U; user a L; until 30)"),
              "m 0-1 | m 10-11 | l 11-12 | N 12-13");
}

TEST(MutexProtocol, StackNeverStopsTheIdleTask) {
    EXPECT_EQ(run(R"(mutex a stack; user a self; lock a
                     until 1  // no other task has ever run
                     unlock a; stamp back)"),
              "back@1");
}

} // namespace mutex_protocol_test
