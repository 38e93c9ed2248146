// SPDX-License-Identifier: MIT
// Tests the kernel's command line: every key, every refusal.
#include "kernel/run/command_line.hpp"

#include "tracer/compact/layout.hpp"

#include <gtest/gtest.h>

namespace kernel {

TEST(CommandLine, EmptyGivesTheDefaults) {
    const auto parsed = parse_command_line("");
    EXPECT_EQ(parsed.bad_word, "");
    EXPECT_EQ(parsed.options.app, "control");
    EXPECT_EQ(parsed.options.sink, SinkChoice::none);
    EXPECT_EQ(parsed.options.port, 20000);
    EXPECT_EQ(parsed.options.width_bits, 32);
    EXPECT_EQ(parsed.options.watchdog_ms, 30'000U);
}

TEST(CommandLine, UnderstandsEveryKey) {
    const auto parsed =
        parse_command_line("app=manual_example sink=both exit=debug clock=icount nic=isa irq=pic local=10.0.0.2 "
                           "target=10.0.0.1 port=65535 seed=18446744073709551615 duration_ms=250 limit_ms=400 width=8 "
                           "interrupts=light cli_sti=on watchdog_ms=4294967295 protocol=v2 itrace=blocks clock_step=9 "
                           "clock_trigger=4294967295 clock_max_delta=1 clock_near_zero=2 clock_records=on "
                           "stream=on shift=sensor:120,control:7 event_shift=40");
    EXPECT_EQ(parsed.bad_word, "");
    EXPECT_EQ(parsed.options.app, "manual_example");
    EXPECT_TRUE(kernel::wants_udp(parsed.options.sink));
    EXPECT_TRUE(kernel::wants_disk(parsed.options.sink));
    EXPECT_EQ(parsed.options.exit, ExitChoice::debug);
    EXPECT_EQ(parsed.options.clock, ClockChoice::icount);
    EXPECT_EQ(parsed.options.nic, NicChoice::isa);
    EXPECT_EQ(parsed.options.interrupts, InterruptChoice::pic);
    EXPECT_EQ(parsed.options.local_address, "10.0.0.2");
    EXPECT_EQ(parsed.options.target_address, "10.0.0.1");
    EXPECT_EQ(parsed.options.port, 65535);
    EXPECT_EQ(parsed.options.seed, ~std::uint64_t{0});
    EXPECT_EQ(parsed.options.duration_ms, 250U);
    EXPECT_EQ(parsed.options.limit_ms, 400U);
    EXPECT_EQ(parsed.options.limit_ms, 400U);
    EXPECT_EQ(parsed.options.width_bits, 8);
    EXPECT_EQ(parsed.options.steps, StepChoice::blocks);
    EXPECT_EQ(parsed.options.compensation.step, 9U);
    EXPECT_EQ(parsed.options.compensation.trigger, 4294967295U);
    EXPECT_EQ(parsed.options.compensation.max_delta, 1U);
    EXPECT_EQ(parsed.options.compensation.near_zero, 2U);
    EXPECT_TRUE(parsed.options.clock_records);
    EXPECT_EQ(parsed.options.interrupt_detail, InterruptDetail::hit);
    EXPECT_TRUE(parsed.options.cli_sti);
    EXPECT_EQ(parsed.options.watchdog_ms, 4294967295U);
    EXPECT_EQ(parsed.options.protocol, ProtocolChoice::v2);
    EXPECT_TRUE(parsed.options.stream);
    EXPECT_EQ(parsed.options.shifts, "sensor:120,control:7");
    EXPECT_EQ(parsed.options.event_shift, 40U);
}

TEST(CommandLine, EachSinkHasItsWordAndUsesWhatItIsMadeOf) {
    struct Row {
        std::string_view word;
        bool udp;
        bool disk;
    };

    for (const Row& row : {Row{"none", false, false}, Row{"udp", true, false}, Row{"disk", false, true},
                           Row{"both", true, true}, Row{"auto", true, false}}) {
        const std::string line = "sink=" + std::string(row.word);
        const SinkChoice sink = parse_command_line(line).options.sink;
        EXPECT_EQ(wants_udp(sink), row.udp) << row.word;
        EXPECT_EQ(wants_disk(sink), row.disk) << row.word;
        EXPECT_EQ(sink_name(sink), row.word);
    }
}

TEST(CommandLine, TakesTheLeastNumbersAndTheNextValue) {
    const auto parsed = parse_command_line("port=1 seed=0 duration_ms=0 clock_step=0 clock_trigger=0 watchdog_ms=0 "
                                           "event_shift=0 limit_ms=0 width=16 width=32");
    EXPECT_EQ(parsed.bad_word, "");
    EXPECT_EQ(parsed.options.port, 1);
    EXPECT_EQ(parsed.options.seed, 0U);
    EXPECT_EQ(parsed.options.watchdog_ms, 0U);
    EXPECT_EQ(parsed.options.width_bits, 32) << "the last word counts";
}

TEST(CommandLine, AnAutomaticSinkIsTheNetworkAtFirst) {
    const auto parsed = parse_command_line("sink=auto");
    EXPECT_EQ(parsed.options.sink, SinkChoice::automatic);
    EXPECT_TRUE(wants_udp(parsed.options.sink));
    EXPECT_FALSE(wants_disk(parsed.options.sink));
    EXPECT_EQ(sink_name(parsed.options.sink), "auto");
}

TEST(CommandLine, IgnoresBlanksOfAllKinds) {
    const auto parsed = parse_command_line(" \t app=a\r\n  seed=7 \n");
    EXPECT_EQ(parsed.bad_word, "");
    EXPECT_EQ(parsed.options.app, "a");
    EXPECT_EQ(parsed.options.seed, 7U);
}

TEST(CommandLine, KnowsEachLayoutOfTheTracerByItsName) {
    EXPECT_EQ(parse_command_line("").options.compact, CompactChoice::off);
    EXPECT_EQ(parse_command_line("compact=A compact=OFF").options.compact, CompactChoice::off);
    EXPECT_EQ(parse_command_line("compact=AUTO").options.compact, CompactChoice::automatic);
    for (const tracer::compact::LayoutRow& row : tracer::compact::kLayoutRows) {
        const std::string word = "compact=" + std::string(row.name);
        const auto parsed = parse_command_line(word);
        EXPECT_EQ(parsed.bad_word, "") << word;
        EXPECT_EQ(static_cast<int>(parsed.options.compact),
                  static_cast<int>(CompactChoice::a) + static_cast<int>(row.layout))
            << word;
    }
}

class BadWord : public testing::TestWithParam<const char*> {};

TEST_P(BadWord, IsRefusedByName) {
    const std::string line = std::string("app=control ") + GetParam() + " seed=3";
    const auto parsed = parse_command_line(line);
    EXPECT_EQ(parsed.bad_word, GetParam());
    EXPECT_FALSE(parsed.expected.empty());
}

INSTANTIATE_TEST_SUITE_P(CommandLine, BadWord,
                         testing::Values("quiet", "colour=red", "sink=tape", "exit=", "port=0", "port=65536",
                                         "port=12x", "seed=-1", "seed=", "seed=18446744073709551616", "width=24",
                                         "app=", "=x", "duration_ms=4294967296", "nic=usb", "irq=msi", "clock=sundial",
                                         "interrupts=LIGHT", "cli_sti=1", "compact=", "compact=E", "compact=a2",
                                         "watchdog_ms=4294967296", "watchdog_ms=off", "protocol=2", "protocol=V1",
                                         "clock_max_delta=0", "clock_near_zero=0", "width=0", "itrace=on", "limit_ms=x",
                                         "stream=ON", "shift=", "shift=a", "shift=a:1,", "event_shift=x"));

TEST(CommandLine, StopsAtTheFirstBadWord) {
    EXPECT_EQ(parse_command_line("one two").bad_word, "one");
}

} // namespace kernel
