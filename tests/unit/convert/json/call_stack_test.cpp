// SPDX-License-Identifier: MIT
// Tests functions that a task in steps is in: calls, returns, and what a reader makes of records that are missing.
#include "convert/json/call_stack.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace host::convert::json {

namespace {

using tracer::Flow;

constexpr CallStack::Frame kMain = 0x1000;
constexpr CallStack::Frame kWork = 0x2000;
constexpr CallStack::Frame kLeaf = 0x3000;

std::string letter(CallStack::Frame frame) {
    return frame == kMain ? "main" : frame == kWork ? "work" : frame == kLeaf ? "leaf" : std::to_string(frame);
}

// "+work" opens, "-work" closes.
std::string text(std::span<const CallStack::Change> changes) {
    std::string out;
    for (const CallStack::Change& change : changes) {
        out += (out.empty() ? "" : " ") + std::string(change.opens ? "+" : "-") + letter(change.frame);
    }
    return out;
}

TEST(CallStack, FollowsCallsAndReturns) {
    CallStack stack;
    EXPECT_FALSE(stack.is_open());
    EXPECT_EQ(text(stack.step(Flow::resumed, kMain)), "+main");
    EXPECT_EQ(text(stack.step(Flow::next, kMain)), "");
    EXPECT_EQ(text(stack.step(Flow::call, kWork)), "+work");
    EXPECT_EQ(text(stack.step(Flow::call, kLeaf)), "+leaf");
    EXPECT_EQ(text(stack.step(Flow::ret, kWork)), "-leaf");
    EXPECT_EQ(text(stack.step(Flow::ret, kMain)), "-work");
    EXPECT_EQ(text(stack.suspend(true)), "-main");
}

TEST(CallStack, KnowsRecursionFromAnInstructionOfTheSameFunction) {
    CallStack stack;
    static_cast<void>(stack.step(Flow::resumed, kMain));
    EXPECT_EQ(text(stack.step(Flow::call, kMain)), "+main");
    EXPECT_EQ(text(stack.step(Flow::jump, kMain)), "");
    EXPECT_EQ(text(stack.step(Flow::ret, kMain)), "-main");
    EXPECT_EQ(text(stack.suspend(false)), "-main");
}

TEST(CallStack, ATailCallTakesTheTopsPlace) {
    CallStack stack;
    static_cast<void>(stack.step(Flow::resumed, kMain));
    static_cast<void>(stack.step(Flow::call, kWork));
    EXPECT_EQ(text(stack.step(Flow::jump, kLeaf)), "-work +leaf");
    EXPECT_EQ(text(stack.step(Flow::ret, kMain)), "-leaf");
}

TEST(CallStack, ReturnsOfWhichTheCallWasNotSeen) {
    CallStack stack;
    static_cast<void>(stack.step(Flow::resumed, kLeaf));
    EXPECT_EQ(text(stack.step(Flow::ret, kWork)), "-leaf +work");
    EXPECT_EQ(text(stack.step(Flow::ret, kMain)), "-work +main");
    static_cast<void>(stack.step(Flow::call, kWork));
    static_cast<void>(stack.step(Flow::call, kLeaf));
    EXPECT_EQ(text(stack.step(Flow::next, kMain)), "-leaf -work"); // both returns fell out of the range
    static_cast<void>(stack.step(Flow::call, kWork));
    EXPECT_EQ(text(stack.step(Flow::resumed, kLeaf)), "+leaf") << "called while it ran freely";
    EXPECT_EQ(text(stack.step(Flow::ret, kWork)), "-leaf");
}

TEST(CallStack, SuspendedFramesComeBack) {
    CallStack stack;
    EXPECT_EQ(text(stack.suspend(false)), "");
    static_cast<void>(stack.step(Flow::resumed, kMain));
    static_cast<void>(stack.step(Flow::call, kWork));
    EXPECT_EQ(text(stack.suspend(false)), "-work -main");
    EXPECT_EQ(text(stack.suspend(false)), "");
    EXPECT_EQ(text(stack.step(Flow::resumed, kWork)), "+main +work");
    EXPECT_EQ(text(stack.suspend(true)), "-work -main");
    EXPECT_EQ(text(stack.step(Flow::resumed, kWork)), "+work");
}

TEST(CallStack, HandlersAreOnTopUntilTheTaskContinues) {
    CallStack stack;
    static_cast<void>(stack.step(Flow::resumed, kMain));
    EXPECT_EQ(text(stack.begin_interlude(7)), "+7");
    EXPECT_EQ(text(stack.begin_interlude(8)), "+8");
    EXPECT_EQ(text(stack.end_interlude()), "-8");
    EXPECT_EQ(text(stack.step(Flow::call, kWork)), "-7 +work"); // its end is missing
    EXPECT_EQ(text(stack.end_interlude()), "");
    static_cast<void>(stack.begin_interlude(7));
    EXPECT_EQ(text(stack.suspend(false)), "-7 -work -main");
}

TEST(CallStack, WithoutFunctionsCallsAndReturnsAloneCount) {
    CallStack stack;
    EXPECT_EQ(text(stack.step_unknown(Flow::resumed, 1)), "+1");
    EXPECT_EQ(text(stack.step_unknown(Flow::jump, 2)), "");
    EXPECT_EQ(text(stack.step_unknown(Flow::call, 3)), "+3");
    EXPECT_EQ(text(stack.step_unknown(Flow::resumed, 4)), "");
    EXPECT_EQ(text(stack.step_unknown(Flow::ret, 5)), "-3");
    EXPECT_EQ(text(stack.step_unknown(Flow::ret, 6)), "-1 +6");
}

TEST(CallStack, CallsBeyondTheGreatestDepthReturnToIt) {
    CallStack stack;
    for (std::size_t i = 0; i < CallStack::kDepthMax; ++i) {
        EXPECT_EQ(text(stack.step(Flow::call, kMain)), "+main");
    }
    EXPECT_EQ(text(stack.step(Flow::call, kWork)), "");
    EXPECT_EQ(text(stack.step(Flow::call, kLeaf)), "");
    EXPECT_EQ(text(stack.step(Flow::next, kLeaf)), "");
    EXPECT_EQ(text(stack.step(Flow::ret, kWork)), "");
    EXPECT_EQ(text(stack.step(Flow::ret, kMain)), "");
    EXPECT_EQ(text(stack.step(Flow::ret, kMain)), "-main");
    EXPECT_EQ(stack.suspend(true).size(), CallStack::kDepthMax - 1);
}

// Whatever the records say, frames nest, and all of them are closed in the end.
TEST(CallStack, NestsWhateverComes) {
    std::mt19937 random(1);
    CallStack stack;
    std::vector<CallStack::Frame> open;
    const auto take = [&open](std::span<const CallStack::Change> changes) {
        for (const CallStack::Change& change : changes) {
            if (change.opens) {
                open.push_back(change.frame);
            } else {
                ASSERT_FALSE(open.empty());
                ASSERT_EQ(open.back(), change.frame);
                open.pop_back();
            }
        }
    };
    for (int i = 0; i < 200'000; ++i) {
        const auto flow = static_cast<Flow>(random() % 5);
        const CallStack::Frame frame = 0x1000 + random() % 6;
        switch (random() % 12) {
        case 0:
            take(stack.suspend(false));
            ASSERT_TRUE(open.empty());
            break;
        case 1:
            take(stack.suspend(random() % 8 == 0));
            ASSERT_TRUE(open.empty());
            break;
        case 2:
            if (stack.is_open()) {
                take(stack.begin_interlude(frame + 100));
            }
            break;
        case 3:
            take(stack.end_interlude());
            break;
        case 4:
            take(stack.step_unknown(flow, frame));
            break;
        default:
            take(stack.step(flow, frame));
            if (open.size() < CallStack::kDepthMax) {
                ASSERT_EQ(open.back(), frame);
            }
            break;
        }
    }
    take(stack.suspend(true));
    EXPECT_TRUE(open.empty());
}

} // namespace

} // namespace host::convert::json
