// SPDX-License-Identifier: MIT
// Records that come in runs are cut into the same chunks as the same records event by event.
#include "convert/convert.hpp"
#include "tests/support/host_trace_builder.hpp"
#include "tests/support/reading_text.hpp"

#include <gtest/gtest.h>

namespace host::convert::records {

namespace {

using support::Bytes;
using support::ChunkBuilder;

// So many chunks, of two processors in turn.
Bytes chunks(std::uint16_t count, std::uint32_t events) {
    Bytes bytes;
    std::uint64_t ticks = 1'000'000;
    for (std::uint16_t number = 0; number < count; ++number) {
        ChunkBuilder chunk(number);
        chunk.begin.cpu = number % 2;
        chunk.name("task", 5, fmt::format("task{}", number));
        for (std::uint32_t i = 0; i < events; ++i) {
            chunk.event(++ticks, i % 9 == 0 ? "context_switch" : "task_timer", 5, i);
        }
        const Bytes more = chunk.bytes();
        bytes.insert(bytes.end(), more.begin(), more.end());
    }
    return bytes;
}

class RecordChunks : public testing::Test {
  protected:
    // A conversion that asks for each event cannot take runs.
    void expect_as_of_events(const Bytes& bytes) {
        const std::string input = m_directory.write("in.dat", bytes);
        for (const std::string format : {"dat", "compact"}) {
            const std::string of_runs = converted(input, format, {});
            const std::string of_events = converted(input, format, [](const trace::Event&) { return true; });
            EXPECT_GT(of_runs.size(), 1000U);
            EXPECT_TRUE(of_runs == of_events) << format;
        }
    }

  private:
    std::string converted(const std::string& input, const std::string& format,
                          std::function<bool(const trace::Event&)> wanted) {
        trace::Diagnostics diagnostics([](std::string_view) {});
        const std::string output = m_directory / "out.dat";
        const Outcome outcome = convert::convert(
            {.input = input, .output = output, .format = find_format(format), .wanted = std::move(wanted)}, diagnostics,
            [](std::uint64_t, std::uint64_t) {});
        EXPECT_EQ(outcome.error, "");
        return support::read_text(output);
    }

    support::TemporaryDirectory m_directory;
};

TEST_F(RecordChunks, OfRunsAreThoseOfEvents) {
    expect_as_of_events(chunks(6, 20'000));
}

TEST_F(RecordChunks, EndWhereThereAreEnoughRecords) {
    expect_as_of_events(chunks(1, 100'000));
}

// More records than a chunk should have, because those that follow were written late.
TEST_F(RecordChunks, AreNotEndedWhereTimeFalls) {
    ChunkBuilder chunk(0);
    for (std::uint32_t i = 0; i < 100'000; ++i) {
        const bool late = i > 60'000 && i < 70'000;
        chunk.unordered(late ? 1'000'000 : 2'000'000 + i, "task_timer", 5, i);
    }
    expect_as_of_events(chunk.bytes());
}

} // namespace

} // namespace host::convert::records
