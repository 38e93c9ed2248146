// SPDX-License-Identifier: MIT
// Tests what tracing took of a run, against figures computed by hand, and where the commands show it.
#include "host/analyse/summary.hpp"

#include "host/trace/json.hpp"
#include "tests/support/host_command_line.hpp"
#include "tracer/compact/layout.hpp"

#include <gmock/gmock.h>

namespace host::tracing_share_test {

namespace {

using testing::HasSubstr;
using testing::Not;
using trace::Json;

constexpr tracer::TraceCost kCost{
    .enabled_ticks_x256 = 18 * 256 + 128, .filtered_ticks_x256 = 512, .disabled_ticks_x256 = 256, .rounds = 16};

TEST(TracingShare, IsRecordsTimesCostOverTheTimeOfAllProcessors) {
    const auto one = analyse::tracing_share(kCost, 1000, {100'000}, 1);
    ASSERT_TRUE(one);
    EXPECT_EQ(one->records, 1000U);
    EXPECT_DOUBLE_EQ(one->ticks_per_record, 18.5);
    EXPECT_EQ(one->time.value, 18'500U);
    EXPECT_DOUBLE_EQ(*one->share, 0.185);
    EXPECT_DOUBLE_EQ(*analyse::tracing_share(kCost, 1000, {100'000}, 2)->share, 0.0925);
    EXPECT_DOUBLE_EQ(*analyse::tracing_share(kCost, 1000, {10'000}, 1, {90'000})->share, 0.185) << "a clock set back";
}

TEST(TracingShare, IsNotKnownWithoutACostAndHasNoShareWithoutTime) {
    EXPECT_FALSE(analyse::tracing_share(std::nullopt, 1000, {100'000}, 1));
    EXPECT_FALSE(analyse::tracing_share(tracer::TraceCost{}, 1000, {100'000}, 1));
    const auto timeless = analyse::tracing_share(kCost, 1, {0}, 1);
    ASSERT_TRUE(timeless);
    EXPECT_FALSE(timeless->share);
    EXPECT_EQ(timeless->time.value, 18U);
}

TEST(TracingShare, SurvivesAnyFigures) {
    const tracer::TraceCost most{.enabled_ticks_x256 = ~0U, .rounds = 1};
    EXPECT_GT(analyse::tracing_share(most, ~std::uint64_t{0}, {1}, 1)->time.value, 0U);
}

class TracingShareCommands : public support::CommandLine {};

// The sample holds 9 records in 1100 ns; a tick is a nanosecond.
TEST_F(TracingShareCommands, SummarySaysWhichPartAndOfWhichClock) {
    support::ChunkBuilder chunk = sample();
    chunk.cost(kCost);
    const std::string path = write(chunk.bytes());
    ASSERT_EQ(remora({"summary", path}), 0) << m_err;
    EXPECT_THAT(m_out, HasSubstr("tracing    about 15.136 % of the run: 9 records x 18.50 ticks = 166 ns\n"
                                 "             (estimate; clock: icount)\n"));
    ASSERT_EQ(remora({"summary", path, "--json"}), 0);
    const Json tracing = Json::parse(m_out)["tracing"];
    EXPECT_EQ(tracing["estimate"], true);
    EXPECT_EQ(tracing["records"], 9);
    EXPECT_DOUBLE_EQ(tracing["enabled_ticks"], 18.5);
    EXPECT_DOUBLE_EQ(tracing["filtered_ticks"], 2);
    EXPECT_DOUBLE_EQ(tracing["disabled_ticks"], 1);
    EXPECT_EQ(tracing["rounds"], 16);
    EXPECT_EQ(tracing["clock_mode"], "icount");
    EXPECT_EQ(tracing["time_ticks"], 166);
    EXPECT_EQ(tracing["time_ns"], 166);
    EXPECT_NEAR(tracing["share"], 166.5 / 1100, 1e-12);
}

// As in a virtual machine that the host stopped while it measured.
TEST_F(TracingShareCommands, SummaryDoubtsACostOfManyTicks) {
    for (const std::uint32_t ticks : {1'000U, 53'499U}) {
        support::ChunkBuilder chunk = sample();
        chunk.cost({.enabled_ticks_x256 = ticks * 256, .rounds = 16});
        ASSERT_EQ(remora({"summary", write(chunk.bytes())}), 0) << m_err;
        EXPECT_EQ(m_out.find("not credible") != std::string::npos, ticks > 1'000) << m_out;
    }
}

TEST_F(TracingShareCommands, SummarySaysThatACostIsNotKnown) {
    const std::string path = write(sample().bytes());
    ASSERT_EQ(remora({"summary", path}), 0) << m_err;
    EXPECT_THAT(m_out, HasSubstr("tracing    share not known: the trace does not state what a record costs\n"));
    ASSERT_EQ(remora({"summary", path, "--json"}), 0);
    EXPECT_TRUE(Json::parse(m_out).at("tracing").is_null());
}

TEST_F(TracingShareCommands, TheLayoutOfCompactChunksIsNamedWithItsReason) {
    tracer::TraceCost cost = kCost;
    cost.layout = static_cast<std::uint8_t>(tracer::compact::Layout::a2);
    cost.plain_ticks_x256 = 19 * 256 + 64;
    cost.timer_ticks = 212;
    const auto output = [this, &cost](std::vector<std::string> command) {
        support::ChunkBuilder chunk = sample();
        chunk.cost(cost);
        command.push_back(write(chunk.bytes()));
        EXPECT_EQ(remora(command), 0) << m_err;
        return m_out;
    };
    EXPECT_THAT(output({"summary"}), Not(HasSubstr("compact")));
    EXPECT_TRUE(Json::parse(output({"summary", "--json"})).at("compact").is_null());
    cost.choice = tracer::LayoutChoice::given;
    EXPECT_THAT(output({"summary"}), HasSubstr("  compact    layout A2 as asked\n"));
    EXPECT_EQ(Json::parse(output({"summary", "--json"}))["compact"]["by_auto"], false);
    cost.choice = tracer::LayoutChoice::measured;
    EXPECT_THAT(output({"summary"}),
                HasSubstr("  compact    layout A2 by AUTO: a plain record 19.25 ticks, setting the timer\n"
                          "             212\n"));
    EXPECT_EQ(Json::parse(output({"summary", "--json"}))["compact"],
              (Json{{"layout", "A2"}, {"by_auto", true}, {"plain_ticks", 19.25}, {"timer_ticks", 212}}));
    // An instruction takes as long, however the records are written.
    cost.enabled_ticks_x256 *= 3;
    EXPECT_EQ(Json::parse(output({"check", "--json"}))["tolerance_ticks"], 20'000);
    cost.layout = 11;
    EXPECT_THAT(output({"summary"}), HasSubstr("  compact    layout ? by AUTO"));
}

TEST_F(TracingShareCommands, ACostOfNoRoundsIsNoCost) {
    support::ChunkBuilder chunk = sample();
    chunk.cost({.enabled_ticks_x256 = 4608});
    ASSERT_EQ(remora({"summary", write(chunk.bytes())}), 0) << m_err;
    EXPECT_THAT(m_out, HasSubstr("share not known"));
}

TEST_F(TracingShareCommands, PrintShowsTheCost) {
    support::ChunkBuilder chunk = sample();
    chunk.cost(kCost);
    ASSERT_EQ(remora({"print", write(chunk.bytes()), "--all"}), 0) << m_err;
    EXPECT_THAT(m_out, HasSubstr("trace_cost"));
    EXPECT_THAT(m_out, HasSubstr("enabled=18.50 filtered=2.00 disabled=1.00 ticks, best of 16 rounds\n"));
    tracer::TraceCost compact = kCost;
    compact.choice = tracer::LayoutChoice::measured;
    compact.layout = 5;
    compact.plain_ticks_x256 = 2560;
    compact.timer_ticks = 7;
    support::ChunkBuilder other = sample();
    other.cost(compact);
    ASSERT_EQ(remora({"print", write(other.bytes()), "--all"}), 0) << m_err;
    EXPECT_THAT(m_out, HasSubstr("best of 16 rounds layout=A2 by AUTO plain=10.00 timer=7\n"));
}

} // namespace

} // namespace host::tracing_share_test
