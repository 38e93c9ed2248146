// SPDX-License-Identifier: MIT
// Tests what is judged of any kernel: that a task which waits does not run, that no processor idles while a task is
// ready, and the order that the user names; and that what the kernel has no hooks for is not judged.
#include "host/analyse/oracle/oracle.hpp"
#include "host/text/format.hpp"
#include "tests/support/scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace host::analyse::oracle {

namespace {

constexpr std::initializer_list<std::string_view> kWaits = {"context_switch",  "task_create",   "task_end",
                                                            "task_block",      "task_unblock",  "task_epilogue",
                                                            "interrupt_start", "interrupt_end", "task_dispatch"};

class AnyKernelTest : public testing::Test {
  protected:
    AnyKernelTest() {
        m_names.set(tracer::Unit::context, 1, "idle");
        describe(12, {.level = 1, .period_ns = 10'000'000, .deadline_ns = 9'000'000});
        describe(13, {.level = 2, .period_ns = 20'000'000, .deadline_ns = 1'000'000});
        hooks(kWaits);
    }

    void describe(std::uint16_t context, tracer::TaskParameters parameters) {
        parameters.context = context;
        m_names.set(tracer::Unit::context, context, fmt::format("task{}", context));
        m_names.set_parameters(parameters);
    }

    void hooks(std::initializer_list<std::string_view> events) {
        m_hooks = {};
        for (const std::string_view event : events) {
            m_hooks.add(std::ranges::find(tracer::kEvents, event, &tracer::EventRow::name)->code);
        }
    }

    // Returns how often the rule was violated; m_text is what was found last.
    std::uint64_t violations(Rule rule, std::string_view scene, std::optional<Order> order = std::nullopt) {
        trace::TraceFacts facts;
        facts.clock.mode = m_mode;
        facts.clock.khz = 1'000'000;
        facts.build.emplace().hooks = m_hooks;
        facts.chunks.resize(1);
        facts.chunks.front().described = true;
        m_text.clear();
        Oracle oracle([this](const Finding& finding) { m_text = finding.text; }, std::nullopt, order);
        support::SceneReader reader;
        for (trace::Event event : reader.read("1 create 40; 2 switch 0; 3 irq 32, iret 32; " + std::string(scene))) {
            event.names = &m_names;
            oracle.add(event, facts);
        }
        oracle.finish(facts);
        m_tally = oracle.verdicts().of(rule);
        m_unhooked = oracle.verdicts().unhooked(rule);
        return m_tally.violations;
    }

    trace::Names m_names;
    tracer::Hooks m_hooks;
    tracer::ClockMode m_mode = tracer::ClockMode::icount;
    std::string m_text;
    Tally m_tally;
    bool m_unhooked = false;
};

constexpr std::string_view kIdles = "10 switch 12; 20 wait 12 semaphore 7, leave 12, switch 1; ";

TEST_F(AnyKernelTest, NoProcessorIdlesWhileATaskIsReady) {
    const auto idles = [this](std::string_view rest) {
        return violations(Rule::work_conservation, std::string(kIdles) + std::string(rest));
    };
    EXPECT_EQ(idles("1'000 irq 32, wake 12 semaphore 7, iret 32; 900'000 irq 32, iret 32, switch 12"), 1U);
    EXPECT_EQ(m_text, "task12 (12) is ready, and the processor idles for 899000 ticks");
    EXPECT_EQ(idles("1'000 irq 32, wake 12 semaphore 7; 900'000 iret 32, switch 12"), 0U) << "a handler may take long";
    EXPECT_EQ(m_tally.checked, 1U);
    EXPECT_EQ(idles("1'000 irq 32, wake 12 semaphore 7, iret 32, switch 12; 900'000 irq 32"), 0U);
    EXPECT_EQ(idles("1'000 wake 12 semaphore 7, wait 12 semaphore 7; 900'000 irq 32"), 0U);
    EXPECT_EQ(idles("1'000 wake 12 semaphore 7; 2'000 blackout; 3'000 lost 4; 900'000 irq 32, iret 32, switch 12"), 0U);
}

TEST_F(AnyKernelTest, AnotherProcessorThatIdlesProvesNothing) {
    EXPECT_EQ(violations(Rule::work_conservation,
                         "10 switch 1 @1; 20 switch 12, wake 13 semaphore 7, wait 12 semaphore 7; "
                         "900'000 irq 32 @1, iret 32 @1; 900'010 switch 13"),
              0U);
    EXPECT_EQ(
        violations(Rule::work_conservation, "10 switch 1 @1; 20 switch 1; 30 wake 13 semaphore 7; 900'000 irq 32 @1"),
        1U)
        << "both idle";
}

TEST_F(AnyKernelTest, ATaskThatWaitsDoesNotRun) {
    EXPECT_EQ(violations(Rule::block_state, std::string(kIdles) + "30 switch 12"), 1U);
    EXPECT_EQ(m_text, "task12 (12) runs, but it waits");
    EXPECT_EQ(violations(Rule::block_state, std::string(kIdles) + "25 wake 12 semaphore 7; 30 switch 12"), 0U);
    EXPECT_EQ(violations(Rule::block_state, "10 create 13; 20 switch 13"), 1U);
    EXPECT_EQ(violations(Rule::block_state, "10 switch 13"), 0U) << "nothing is known of it";
    EXPECT_EQ(m_tally.checked, 0U);
    EXPECT_EQ(violations(Rule::block_state, std::string(kIdles) + "25 filter_task 1 0; 30 switch 12"), 0U);
}

TEST_F(AnyKernelTest, IsJudgedByTheHooksThatTheKernelStates) {
    hooks({"context_switch", "interrupt_start", "interrupt_end"});
    EXPECT_EQ(violations(Rule::block_state, "10 create 13; 20 switch 13"), 0U);
    EXPECT_TRUE(m_unhooked);
    EXPECT_EQ(violations(Rule::work_conservation, std::string(kIdles) + "30 wake 12 semaphore 7; 900'000 switch 12"),
              0U);
    hooks({});
    EXPECT_EQ(violations(Rule::work_conservation, std::string(kIdles) + "30 wake 12 semaphore 7; 900'000 switch 12"),
              0U)
        << "our own kernel is judged by its levels";
    EXPECT_FALSE(m_unhooked);
    EXPECT_EQ(m_tally.checked + m_tally.undecided, 0U);
}

TEST_F(AnyKernelTest, StampsOfAnotherClockMeasureNothing) {
    m_mode = tracer::ClockMode::hardware;
    EXPECT_EQ(violations(Rule::work_conservation, std::string(kIdles) + "30 wake 12 semaphore 7; 900'000 switch 12"),
              0U);
    EXPECT_EQ(m_tally.undecided, 1U);
}

struct Choice {
    Order order;
    std::string_view scene;
    std::uint64_t violations;
};

// 12 has the lower level and the shorter period, 13 the shorter deadline.
TEST_F(AnyKernelTest, ChoosesByTheOrderThatTheUserNames) {
    constexpr std::string_view kBoth = "10 switch 1; 20 wake 12 semaphore 7; 30 wake 13 semaphore 7; 40 leave 1; ";
    for (const Choice& choice : {
             Choice{Order::fixed, "50 switch 12", 0}, Choice{Order::fixed, "50 switch 13", 1},
             Choice{Order::fixed_high, "50 switch 12", 1}, Choice{Order::fixed_high, "50 switch 13", 0},
             Choice{Order::rm, "50 switch 12", 0}, Choice{Order::rm, "50 switch 13", 1},
             Choice{Order::edf, "50 switch 12", 1}, Choice{Order::edf, "50 switch 13", 0},
             Choice{Order::fifo, "50 switch 12", 0}, Choice{Order::fifo, "50 switch 13", 1},
             Choice{Order::fifo, "50 switch 12; 60 leave 12, switch 13", 1},
             Choice{Order::rr, "50 switch 12; 60 leave 12, switch 13; 70 leave 13, switch 12", 0},
             Choice{Order::rr, "50 switch 12; 60 leave 12, switch 1; 70 leave 1, switch 12", 1},
             Choice{Order::rm, "50 acquire 13 3, switch 13", 0}, // it may have inherited
         }) {
        EXPECT_EQ(violations(Rule::policy_order, std::string(kBoth) + std::string(choice.scene), choice.order),
                  choice.violations)
            << word(choice.order) << ": " << choice.scene << ": " << m_text;
    }
    EXPECT_EQ(violations(Rule::policy_order,
                         "10 switch 1; 20 wake 13 semaphore 7; 30 leave 1; 40 wake 12 semaphore 7; 50 switch 13",
                         Order::rm),
              0U)
        << "12 became ready after the decision";
}

TEST_F(AnyKernelTest, ATaskThatComesFirstDoesNotWaitLong) {
    constexpr std::string_view kScene =
        "10 wake 13 semaphore 7, switch 13; 1'000 irq 32, wake 12 semaphore 7, iret 32; 900'000 irq 32";
    EXPECT_EQ(violations(Rule::policy_order, kScene, Order::rm), 1U);
    EXPECT_EQ(m_text, "task12 (12) comes first by rm, but task13 (13) continues for 899000 ticks");
    EXPECT_EQ(violations(Rule::policy_order, kScene, Order::fifo), 0U);
    EXPECT_EQ(violations(Rule::policy_order, kScene, Order::edf), 0U);
}

} // namespace

} // namespace host::analyse::oracle
