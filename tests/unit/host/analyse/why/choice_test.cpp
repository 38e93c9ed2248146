// SPDX-License-Identifier: MIT
// Tests which of the causes of a late job come first, and how many are named, at each limit. The windows are made by
// hand: the job is released at 0, its response time is 1000, and all of it is the task's own path.
#include "tests/support/why_scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace host::analyse::why::choice_test {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t kResponse = 1000;

struct Part {
    Cause cause;
    std::uint64_t ticks;
    std::uint64_t excess = 0;
};

// The rest of the response time is of the kernel.
JobCase job_of(const std::vector<Part>& parts, std::optional<std::uint64_t> deadline) {
    std::vector<Item> items;
    std::uint64_t now = 0;
    const auto add = [&](Cause cause, std::uint64_t ticks, std::uint64_t excess) {
        Item item;
        item.role = cause == Cause::execution ? Item::Role::own : Item::Role::path;
        item.role = cause == Cause::load ? Item::Role::preceding : item.role;
        item.cause = cause;
        item.who = 7;
        item.executor = {schedule::By::task, static_cast<std::uint32_t>(cause == Cause::execution ? kHigh : kLow)};
        item.begin = {now};
        item.arrival = {cause == Cause::late_event ? 0 : now}; // who ends the wait was there
        item.end = {now += ticks};
        item.excess = {excess};
        item.total = {ticks};
        item.job = 1;
        items.push_back(item);
    };
    for (const Part& part : parts) {
        add(part.cause, part.ticks, part.excess);
    }
    if (now < kResponse) {
        add(Cause::kernel, kResponse - now, 0);
    }
    JobCase job;
    job.account.job.context = kHigh;
    job.account.job.number = 1;
    job.account.job.release.emplace();
    job.account.job.end.emplace().ticks = {kResponse};
    if (deadline) {
        job.account.job.deadline.emplace().ticks = {*deadline};
    }
    job.window = std::make_shared<const std::vector<Item>>(std::move(items));
    return job;
}

std::vector<std::string> needed_of(const Diagnosis& diagnosis) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < diagnosis.needed; ++i) {
        const Finding& finding = diagnosis.findings.at(i);
        texts.push_back(fmt::format("{} {}", cause_name(finding.cause), finding.gain.value));
    }
    return texts;
}

// Of a job that is so late.
std::vector<std::string> needed(const std::vector<Part>& parts, std::uint64_t late) {
    return needed_of(diagnose(job_of(parts, kResponse - late), 0));
}

std::vector<std::string> all(const Diagnosis& diagnosis) {
    std::vector<std::string> texts;
    for (const Finding& finding : diagnosis.findings) {
        texts.emplace_back(cause_name(finding.cause));
    }
    return texts;
}

TEST(Choice, NamesOneThatSufficesAlone) {
    EXPECT_THAT(needed({{Cause::interrupts_off, 100}}, 100), ElementsAre("interrupts_off 100"));
    EXPECT_THAT(needed({{Cause::interrupts_off, 100}}, 101), IsEmpty());
    EXPECT_THAT(needed({{Cause::critical_section, 100}}, 100), ElementsAre("critical_section 100"));
    EXPECT_THAT(needed({{Cause::critical_section, 100}}, 101), IsEmpty());
    EXPECT_THAT(needed({{Cause::load, 100}}, 100), ElementsAre("load 100"));
    EXPECT_THAT(needed({{Cause::load, 100}}, 101), IsEmpty());
    EXPECT_THAT(needed({{Cause::execution, 100}}, 100), ElementsAre("execution 100"));
    EXPECT_THAT(needed({{Cause::execution, 100}}, 101), IsEmpty());
    EXPECT_THAT(needed({{Cause::unknown, 900}}, 10), IsEmpty());
    EXPECT_THAT(needed({}, 10), IsEmpty()) << "the kernel alone";
}

TEST(Choice, SaysHowMuchEarlierItIsWithoutThem) {
    const Diagnosis one = diagnose(job_of({{Cause::critical_section, 100}, {Cause::execution, 300}}, 950), 0);
    EXPECT_EQ(one.lateness, 50);
    EXPECT_TRUE(one.is_late());
    EXPECT_EQ(one.together, lib::Ticks{100});
    EXPECT_THAT(all(one), ElementsAre("critical_section", "kernel", "execution"));
    const Diagnosis two = diagnose(job_of({{Cause::critical_section, 100}, {Cause::late_event, 60}}, 850), 0);
    EXPECT_EQ(two.needed, 2U);
    EXPECT_EQ(two.together, lib::Ticks{160});
    EXPECT_THAT(all(two), ElementsAre("critical_section", "late_event", "kernel"));
}

TEST(Choice, TakesLoadBeforeTheExecutionOfTheTask) {
    EXPECT_THAT(needed({{Cause::load, 50}, {Cause::execution, 600}}, 50), ElementsAre("load 50"));
    EXPECT_THAT(needed({{Cause::load, 50}, {Cause::execution, 600}}, 51), ElementsAre("execution 600"));
}

// A fault is at least a fiftieth of the response time, or it counts as what a better design would avoid.
TEST(Choice, TakesAFaultBeforeADesign) {
    for (const Cause cause : {Cause::missing_inheritance, Cause::lock_across_wait, Cause::interrupts_off}) {
        const std::string name(cause_name(cause));
        EXPECT_THAT(needed({{Cause::critical_section, 100}, {cause, 20}}, 20), ElementsAre(name + " 20"));
        EXPECT_THAT(needed({{Cause::critical_section, 100}, {cause, 19}}, 19), ElementsAre("critical_section 100"));
        EXPECT_THAT(needed({{Cause::critical_section, 100}, {cause, 20}}, 21), ElementsAre("critical_section 100"));
    }
    EXPECT_THAT(needed({{Cause::critical_section, 100}, {Cause::execution, 100, 20}}, 20),
                ElementsAre("own_overrun 20"));
    EXPECT_THAT(needed({{Cause::critical_section, 100}, {Cause::execution, 100, 19}}, 19),
                ElementsAre("critical_section 100"));
    EXPECT_THAT(needed({{Cause::critical_section, 100}, {Cause::load, 100, 20}}, 20), ElementsAre("others_overrun 20"));
    EXPECT_THAT(needed({{Cause::critical_section, 100}, {Cause::server_budget, 20}}, 20),
                ElementsAre("server_budget 20"));
}

// Interrupts are a fault from a tenth on.
TEST(Choice, TakesAStormOfInterruptsForAFault) {
    EXPECT_THAT(needed({{Cause::critical_section, 200}, {Cause::interrupt_load, 100}}, 50),
                ElementsAre("interrupt_load 100"));
    EXPECT_THAT(needed({{Cause::critical_section, 200}, {Cause::interrupt_load, 99}}, 50),
                ElementsAre("critical_section 200"));
}

TEST(Choice, TakesTheGreaterOfTwoOfATier) {
    EXPECT_THAT(needed({{Cause::interrupts_off, 100}, {Cause::missing_inheritance, 101}}, 50),
                ElementsAre("missing_inheritance 101"));
    EXPECT_THAT(needed({{Cause::interrupts_off, 100}, {Cause::missing_inheritance, 100}}, 50),
                ElementsAre("interrupts_off 100"));
    EXPECT_THAT(needed({{Cause::critical_section, 100}, {Cause::late_event, 101}}, 50), ElementsAre("late_event 101"));
}

TEST(Choice, TakesNoMoreThanAreNeeded) {
    // The fault comes first, and is not needed beside the other two.
    EXPECT_THAT(needed({{Cause::interrupts_off, 30}, {Cause::critical_section, 100}, {Cause::late_event, 90}}, 190),
                ElementsAre("critical_section 100", "late_event 90"));
    EXPECT_THAT(needed({{Cause::interrupts_off, 30}, {Cause::critical_section, 100}, {Cause::late_event, 90}}, 191),
                ElementsAre("interrupts_off 30", "critical_section 100", "late_event 90"));
    EXPECT_THAT(needed({{Cause::interrupts_off, 30}, {Cause::critical_section, 100}, {Cause::late_event, 90}}, 120),
                ElementsAre("interrupts_off 30", "critical_section 100"));
    const Diagnosis rest = diagnose(
        job_of({{Cause::interrupts_off, 30}, {Cause::critical_section, 100}, {Cause::late_event, 90}}, 810), 0);
    EXPECT_THAT(all(rest), ElementsAre("critical_section", "late_event", "interrupts_off", "kernel"));
}

TEST(Choice, CountsNoCauseOfAGroupBelowAFiftieth) {
    EXPECT_THAT(needed({{Cause::critical_section, 100}, {Cause::late_event, 20}}, 120),
                ElementsAre("critical_section 100", "late_event 20"));
    EXPECT_THAT(needed({{Cause::critical_section, 100}, {Cause::late_event, 19}}, 119), IsEmpty());
    EXPECT_THAT(needed({{Cause::critical_section, 100}, {Cause::load, 100}}, 150), IsEmpty())
        << "what was to be expected is in no group";
}

TEST(Choice, NamesTheGreatestGainFirstIfNothingSuffices) {
    EXPECT_THAT(all(diagnose(job_of({{Cause::interrupts_off, 30}, {Cause::unknown, 600}}, 100), 0)),
                ElementsAre("unknown", "interrupts_off", "kernel"));
}

TEST(Choice, NamesWhatTookTheGreatestPartOfAJobThatWasOnTime) {
    const Diagnosis on_time = diagnose(job_of({{Cause::interrupts_off, 100}, {Cause::execution, 800}}, 1000), 0);
    EXPECT_EQ(on_time.lateness, 0);
    EXPECT_FALSE(on_time.is_late());
    EXPECT_EQ(on_time.needed, 0U);
    EXPECT_THAT(all(on_time), ElementsAre("execution", "interrupts_off", "kernel"));
}

TEST(Choice, NamesAFaultFirstOfAJobWithoutADeadline) {
    const auto without = [](std::uint64_t ticks) {
        return all(diagnose(job_of({{Cause::interrupts_off, ticks}, {Cause::execution, 800}}, std::nullopt), 0));
    };
    EXPECT_THAT(without(20), ElementsAre("interrupts_off", "execution", "kernel"));
    EXPECT_THAT(without(19), ElementsAre("execution", "interrupts_off", "kernel"));
}

TEST(Choice, CountsRecordsTimesTheirCost) {
    JobCase job = job_of({{Cause::execution, 800}}, 900);
    job.account.records = 40;
    EXPECT_THAT(needed_of(diagnose(job, 2.5)), ElementsAre("tracing 100"));
    EXPECT_THAT(needed_of(diagnose(job, 2.4)), ElementsAre("execution 800"));
    EXPECT_THAT(all(diagnose(job, 0)), ElementsAre("execution", "kernel"));
}

// The budget was used up within the job, which did not wait for anything else.
TEST(Choice, TakesAnEmptyServerForDecisiveUnlessTheJobSuspendedItself) {
    JobCase job = job_of({{Cause::server_budget, 100}, {Cause::execution, 100}}, 800);
    job.server = ServerFacts{.id = 7, .kind = {}, .capacity_ns = 0, .period_ns = 0, .exhausted = 1};
    EXPECT_THAT(needed_of(diagnose(job, 0)), ElementsAre("server_budget 100"));
    JobCase suspended = job;
    suspended.account.parts[static_cast<std::size_t>(schedule::Part::suspension)] = {1};
    EXPECT_THAT(needed_of(diagnose(suspended, 0)), IsEmpty());
    job.server->exhausted = 0;
    EXPECT_THAT(needed_of(diagnose(job, 0)), IsEmpty());
}

TEST(Choice, ExplainsALaterJobByTheCausesOfTheFirst) {
    const JobCase first = job_of({{Cause::execution, 500, 300}}, 900);
    const Diagnosis diagnosis = diagnose(first, 0);
    EXPECT_THAT(needed_of(diagnosis), ElementsAre("own_overrun 300"));
    // In the window of the later job the overrun is one of an earlier job.
    JobCase later = first;
    later.account.job.number = 2;
    later.account.job.deadline->ticks = {700};
    EXPECT_TRUE(explains(first, diagnosis, later));
    later.account.job.deadline->ticks = {699};
    EXPECT_FALSE(explains(first, diagnosis, later));
    later.account.job.deadline->ticks = {1000};
    EXPECT_TRUE(explains(first, diagnosis, later)) << "it is not late";
    later.account.job.deadline.reset();
    EXPECT_TRUE(explains(first, diagnosis, later));
    Diagnosis none = diagnosis;
    none.needed = 0;
    EXPECT_FALSE(explains(first, none, later));
    later.account.job.deadline.emplace().ticks = {700};
    EXPECT_FALSE(explains(first, none, later));
}

} // namespace

} // namespace host::analyse::why::choice_test
