// SPDX-License-Identifier: MIT
// Tests what times that do not add up are reported as. That those of real traces do is what `remora verify` tests.
#include "host/analyse/time_check.hpp"

#include "host/formats/trace.hpp"
#include "host/schedule/pass.hpp"
#include "tests/support/host_trace_builder.hpp"
#include "tests/support/random_events.hpp"

#include <gmock/gmock.h>

namespace host::analyse::time_check_test {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct Faults {
    std::vector<std::string> texts;
    TimeCheck check{[this](const TimeFault& fault) { texts.push_back(fault.text); }};
};

schedule::JobAccount account_with_parts(std::uint64_t execution, std::uint64_t blocking) {
    schedule::JobAccount account;
    account.job = {.context = 12, .number = 3, .release = schedule::Moment{{100}}, .end = schedule::Moment{{200}}};
    account.parts[static_cast<std::size_t>(schedule::Part::execution)] = {execution};
    account.parts[static_cast<std::size_t>(schedule::Part::blocking)] = {blocking};
    account.unaccounted = schedule::Unaccounted::no;
    account.residue = 100 - static_cast<std::int64_t>(execution + blocking);
    return account;
}

TEST(TimeCheck, ReportsAResidueWithTheTaskTheJobAndTheParts) {
    Faults faults;
    faults.check.add(account_with_parts(60, 40), {});
    EXPECT_THAT(faults.texts, IsEmpty());
    faults.check.add(account_with_parts(60, 45), {});
    EXPECT_THAT(faults.texts,
                ElementsAre("job 3 of context 12 has a residue of -5 ticks: response time 100 = jitter 0 + execution "
                            "60 + interference 0 + blocking 45 + suspension 0"));
}

TEST(TimeCheck, ClaimsNothingOfAJobWhosePartsAreNotKnown) {
    Faults faults;
    schedule::JobAccount account = account_with_parts(60, 45);
    account.unaccounted = schedule::Unaccounted::stamps_fell;
    faults.check.add(account, {});
    EXPECT_THAT(faults.texts, IsEmpty());
}

// Nested handlers, an end without a begin, a gap.
TEST(TimeCheck, FindsNothingInWhatAProcessorDid) {
    support::ChunkBuilder chunk;
    chunk.event(0, "interrupt_end", 33).event(10, "context_switch", 1).event(20, "interrupt_start", 32);
    chunk.event(30, "timer_wakeup_start").event(35, "interrupt_start", 33).event(38, "interrupt_end", 33);
    chunk.event(40, "timer_wakeup_end", 12).event(41, "job_release", 12, 25).event(50, "interrupt_end", 32);
    chunk.event(60, "context_switch", 12).event(70, "task_end_cycle", 12).event(80, "blackout_start");
    chunk.event(90, "blackout_end", 0, 7).event(95, "context_switch", 1).event(99, "ipoint", 1);
    const support::TemporaryDirectory directory;
    trace::Diagnostics diagnostics([](std::string_view) {});
    const auto opened = formats::Trace::open(directory.write("0trace.dat", chunk.bytes()), {}, diagnostics);
    Faults faults;
    const trace::Event* current = nullptr;
    schedule::Pass pass([&](const schedule::JobAccount& account) { faults.check.add(account, *current); });
    opened.value()->for_each([&](const trace::Event& event) {
        current = &event;
        faults.check.add(event);
        pass.take(event, 1'000'000);
    });
    faults.check.finish();
    EXPECT_THAT(faults.texts, IsEmpty());
}

TEST(TimeCheck, AddsUpWhateverTheCodesAndStamps) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        support::RandomEvents events(seed);
        Faults faults;
        for (int i = 0; i < 1000; ++i) {
            faults.check.add(events.event(2));
        }
        faults.check.finish();
        EXPECT_THAT(faults.texts, IsEmpty()) << "seed " << seed;
    }
}

} // namespace

} // namespace host::analyse::time_check_test
