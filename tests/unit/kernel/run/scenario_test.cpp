// SPDX-License-Identifier: MIT
// Tests that a text that is no scenario is refused before its first step: a word that is misspelt would otherwise be
// work, and a test that expects nothing of it would pass.
#include "tests/support/fake_machine/scenario.hpp"

#include <gmock/gmock.h>

namespace scenario_test {

using namespace hosted;

// Returns what the scenario writes to the console, which names the word that is wrong. Sanitizers may write there, too.
std::string refusal_of(const std::string& text) {
    testing::internal::CaptureStderr();
    static_cast<void>(run(text));
    return testing::internal::GetCapturedStderr();
}

TEST(Scenario, IsTakenIfAllItsWordsAreKnown) {
    EXPECT_EQ(run(R"(mutex one; mutex two stack
                        start A hard 2/10/5+1 miss=abort wcet=kill: A 1; A 500000 ns; end
                        create B nrt 3: each B 1
                        user two B; B? lock one; owner one; unlock one
                        no? create C fixed 20/10: C 1; C 2
                        until 5)"),
              "B: ok | taken | no: invalid argument | A 1-2");
}

TEST(Scenario, IsRefusedForAnyWrongWord) {
    EXPECT_THAT(refusal_of("until 1"), testing::Not(testing::HasSubstr(" is wrong in the step ")));
    for (const char* const text : {"start A hard 4//90: A 1",
                                   "start A hard 4: A 1",
                                   "start A hard 4/5/6/7: A 1",
                                   "start A soft 1/2/3: A 1",
                                   "start A job 1/2+3: A 1",
                                   "start A background 3: A 1",
                                   "start A served 3: A 1",
                                   "start A soft-save 1/2: A 1",
                                   "start A hard 1/5 mis=abort: A 1",
                                   "start A hard 1/5 miss=abrot: A 1",
                                   "start A hard 1/5 abort: A 1",
                                   "start A",
                                   "start A hard 1/5: A 1; unlok one",
                                   "create A nrt: until 1; start B nrt: B 1",
                                   "until 1; start A nrt: A 1",
                                   "? start A nrt: A 1",
                                   "A 1 s",
                                   "A",
                                   "timedlock one 5 us",
                                   "unlock one two",
                                   "kill self self",
                                   "end 3",
                                   "lock",
                                   "mutex one ceilling",
                                   "mutex one; owner on",
                                   "mutex one; contentions one tow",
                                   "user one self",
                                   "counts self missd",
                                   "A? until 3",
                                   "at 3 activate self",
                                   "at x: activate self",
                                   "at 3: actvate self"}) {
        EXPECT_THAT(refusal_of(std::string(text) + "\nuntil 20"), testing::HasSubstr(" is wrong in the step ")) << text;
    }
}

} // namespace scenario_test
