// SPDX-License-Identifier: MIT
// Tests steps of the exporter that never end, because their task is ended in the middle of one or the kernel panics
// there: the polling at the end of the run must neither lose a chunk nor count one twice. An exception simulates the
// end of the task.
#include "tracer/export/exporter.hpp"

#include "tests/support/tracer/fixture.hpp"
#include "tests/support/tracer/sinks.hpp"

namespace exporter_cut_short_test {

using namespace tests;
using namespace tracer;

struct TaskEnded {};

class FragileSink final : public ChunkSink {
  public:
    [[nodiscard]] std::string_view name() const override { return "fragile"; }

    [[nodiscard]] lib::Result<void> submit(const ChunkImage& image) override {
        end_once(ends_in_submit);
        EXPECT_EQ(m_state, SinkState::idle);
        m_image = &image;
        m_state = SinkState::busy;
        return {};
    }

    SinkState step() override {
        end_once(ends_in_step);
        chunks.push_back(bytes_of(*m_image));
        return m_state = SinkState::idle;
    }

    [[nodiscard]] lib::Result<void> finish(const ExportEnd&) override { return {}; }

    [[nodiscard]] SinkState state() const override { return m_state; }

    [[nodiscard]] lib::Error last_error() const override { return lib::Error::io; }

    bool ends_in_submit = false;
    bool ends_in_step = false;
    std::vector<Bytes> chunks;

  private:
    static void end_once(bool& flag) {
        if (flag) {
            flag = false;
            throw TaskEnded{};
        }
    }

    SinkState m_state = SinkState::idle;
    const ChunkImage* m_image = nullptr;
};

Chunk& filled(TracerFixture& fixture) {
    Chunk& chunk = fixture.chunk(8, 0, kFlagStop);
    fixture.select_and_enable(chunk);
    for (int i = 0; i < 5; ++i) {
        log<"ipoint">(1, 1);
    }
    fixture.tracer().control.disable();
    return chunk;
}

void step_until_idle(Exporter& exporter) {
    for (int i = 0; i < 1'000 && exporter.step() == StepResult::more; ++i) {
    }
}

void expect_carried_once_after(bool FragileSink::*where) {
    TracerFixture fixture;
    Exporter& exporter = fixture.tracer().exporter;
    FragileSink sink;
    sink.*where = true;
    ASSERT_TRUE(exporter.attach(sink, SinkTime::at_once).ok());
    ASSERT_TRUE(exporter.request(filled(fixture), kFlagStop).ok());
    EXPECT_THROW(static_cast<void>(exporter.step()), TaskEnded);
    exporter.begin_exit();
    exporter.export_unsent();
    step_until_idle(exporter);
    EXPECT_EQ(sink.chunks.size(), 1U);
    EXPECT_EQ(exporter.report(0).chunks, 1U);
    EXPECT_EQ(exporter.report(0).records, 5U);
}

TEST(ExporterCutShort, KeepsAChunkThatWasNotHandedOverYet) {
    expect_carried_once_after(&FragileSink::ends_in_submit);
}

TEST(ExporterCutShort, KeepsAChunkThatWasHalfWay) {
    expect_carried_once_after(&FragileSink::ends_in_step);
}

TEST(ExporterCutShort, ReportsThatAStepIsUnderWay) {
    TracerFixture fixture;
    Exporter& exporter = fixture.tracer().exporter;
    FragileSink sink;
    sink.ends_in_step = true;
    ASSERT_TRUE(exporter.attach(sink, SinkTime::at_once).ok());
    ASSERT_TRUE(exporter.request(filled(fixture), kFlagStop).ok());
    EXPECT_FALSE(exporter.stepping());
    EXPECT_THROW(static_cast<void>(exporter.step()), TaskEnded);
    EXPECT_TRUE(exporter.stepping());
    exporter.begin_exit();
    EXPECT_FALSE(exporter.stepping());
}

TEST(ExporterCutShort, GivesAQueuedChunkToASinkThatWasOpenedLater) {
    TracerFixture fixture;
    Exporter& exporter = fixture.tracer().exporter;
    FakeSink disk;
    FakeSink udp;
    ASSERT_TRUE(exporter.attach(disk, SinkTime::after_exit).ok());
    ASSERT_TRUE(exporter.request(filled(fixture), kFlagStop).ok());
    exporter.begin_exit();
    ASSERT_TRUE(exporter.attach(udp, SinkTime::at_once).ok());
    exporter.export_unsent();
    step_until_idle(exporter);
    exporter.finish(RunResult::completed);
    step_until_idle(exporter);
    EXPECT_EQ(disk.chunks.size(), 1U);
    EXPECT_EQ(udp.chunks, disk.chunks);
}

int g_entered = 0;
std::uint64_t g_left_with = 0;

TEST(ControlLock, KeepsItsHolderOnTheProcessor) {
    ControlLock lock;
    lock.set_exclusion({.enter = [] { return std::uint64_t{40} + static_cast<std::uint64_t>(++g_entered); },
                        .leave = [](std::uint64_t state) { g_left_with = state; }});
    ASSERT_TRUE(lock.try_take());
    EXPECT_EQ(g_left_with, 0U);
    EXPECT_FALSE(lock.try_take()); // taken once, free again
    EXPECT_EQ(g_left_with, 42U);
    lock.release();
    EXPECT_EQ(g_left_with, 41U);
}

} // namespace exporter_cut_short_test
