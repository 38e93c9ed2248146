// SPDX-License-Identifier: MIT
// Summary, structure and times of batches are those of their events one by one, whatever their codes; and a stream has
// only plain events in a batch of several, as host/trace/event_stream.hpp promises.
#include "host/analyse/structure_check.hpp"
#include "host/analyse/summary.hpp"
#include "host/analyse/time_check.hpp"
#include "host/formats/trace.hpp"
#include "host/text/format.hpp"
#include "tests/support/host_trace_builder.hpp"
#include "tests/support/random_events.hpp"

#include <gtest/gtest.h>

namespace host::analyse::batches_test {

namespace {

using support::RandomEvents;

constexpr std::uint64_t kSeeds = 8;
constexpr int kBatches = 60;
constexpr std::uint16_t kProcessors = 2;

std::string text_of(Summary summary) {
    summary.finish();
    std::string text = fmt::format("{} {} {} {} {}", summary.events(), summary.unknown(), summary.duration().value,
                                   summary.interrupt_time().value, summary.panics());
    for (const auto& [context, task] : summary.tasks()) {
        text +=
            fmt::format("; task {}: {} {} {} {} {} {} {} {}", context, task.activations, task.releases, task.dispatches,
                        task.jobs, task.deadline_misses, task.wcet_violations, task.inheritances, task.cpu_time.value);
    }
    const auto vector_text = [](const VectorFigures& figures) {
        return fmt::format("{} {} {} {}", figures.count, figures.handler.sum().value, figures.handler.least().value,
                           figures.handler.greatest().value);
    };
    for (const auto& [vector, figures] : summary.vectors()) {
        text += fmt::format("; vector {}: {}", vector, vector_text(figures));
    }
    for (const std::uint64_t count : summary.families()) {
        text += fmt::format(" {}", count);
    }
    for (const auto& [cpu, uses] : summary.uses()) {
        text += fmt::format("; cpu{} {} {} {}", cpu, uses.sum().value, uses.interrupts.value, uses.unknown.value);
    }
    return text + "; " + vector_text(summary.timer());
}

TEST(Summary, OfBatchesIsThatOfTheirEvents) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        RandomEvents events(seed);
        Summary one_by_one;
        Summary of_batches;
        for (int i = 0; i < kBatches; ++i) {
            const std::vector<trace::Event> batch = events.batch(64, kProcessors);
            std::ranges::for_each(batch, [&](const trace::Event& event) { one_by_one.add(event); });
            of_batches.add(batch);
            ASSERT_EQ(text_of(of_batches), text_of(one_by_one)) << "seed " << seed;
        }
        EXPECT_GT(one_by_one.interrupt_time(), lib::Ticks{});
    }
}

TEST(StructureCheck, JudgesABatchAsItsEventsOneByOne) {
    std::size_t violations = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        RandomEvents events(seed);
        trace::TraceFacts facts;
        facts.chunks.resize(kProcessors);
        for (trace::ChunkReport& chunk : facts.chunks) {
            chunk.described = true;
        }
        std::vector<std::string> expected;
        std::vector<std::string> found;
        const auto note = [](std::vector<std::string>& lines) {
            return [&lines](const Violation& violation) {
                lines.push_back(fmt::format("#{} {} {}: {}", violation.event != nullptr ? violation.event->record : 0,
                                            rule_name(violation.rule), violation.task.value_or(0), violation.text));
            };
        };
        StructureCheck one_by_one(note(expected));
        StructureCheck in_batches(note(found));
        schedule::Pass pass_one([](const schedule::JobAccount&) {});
        schedule::Pass pass_batches([](const schedule::JobAccount&) {});
        for (int i = 0; i < kBatches; ++i) {
            facts.chunks[0].missing += seed % 4 == 0 && i % 10 == 0 ? 1U : 0U;
            facts.chunks[1].damaged = seed % 4 == 1 && i > kBatches / 2;
            std::vector<trace::Event> batch = events.batch(64, kProcessors);
            std::erase_if(batch, [&](const trace::Event& event) {
                return trace::kSetsFilter[event.code] && (seed % 3 != 0 || i < kBatches / 2);
            });
            if (batch.empty()) {
                continue;
            }
            for (const trace::Event& event : batch) {
                one_by_one.add(event, facts, pass_one);
                static_cast<void>(pass_one.take(event, 0));
            }
            in_batches.add(batch, facts, pass_batches);
        }
        one_by_one.finish(facts);
        in_batches.finish(facts);
        ASSERT_EQ(found, expected) << "seed " << seed;
        EXPECT_EQ(in_batches.relaxations(), one_by_one.relaxations());
        EXPECT_EQ(in_batches.events(), one_by_one.events());
        violations += expected.size();
    }
    EXPECT_GT(violations, kSeeds * 10);
}

TEST(TimeCheck, OfBatchesAddsUpWhateverTheStamps) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        RandomEvents events(seed);
        TimeCheck check([&](const TimeFault& fault) { ADD_FAILURE() << "seed " << seed << ": " << fault.text; });
        for (int i = 0; i < kBatches; ++i) {
            check.add(events.batch(64, kProcessors));
        }
        check.finish();
    }
}

TEST(EventStream, HasOnlyPlainEventsOfOneChunkInABatchOfSeveral) {
    support::TemporaryDirectory directory;
    std::mt19937_64 random(1);
    support::Bytes bytes;
    for (std::uint16_t chunk = 0; chunk < 4; ++chunk) { // two processors, interleaved
        support::ChunkBuilder builder;
        builder.begin.cpu = chunk % 2;
        builder.begin.chunk = chunk;
        for (std::uint64_t i = 0; i < 500; ++i) {
            const tracer::EventRow& row = tracer::kEvents[random() % tracer::kEvents.size()];
            if (row.shape == tracer::Shape::simple && row.family() != tracer::Family::metadata) {
                builder.event(1000 * (chunk / 2) + 2 * i + random() % 2, row.name, random() % 3, random() % 3);
            }
        }
        const support::Bytes more = builder.bytes();
        bytes.insert(bytes.end(), more.begin(), more.end());
    }
    for (int round = 0; round < 20; ++round) {
        trace::Diagnostics diagnostics([](std::string_view) {});
        const auto opened = formats::Trace::open(directory.write("0trace.dat", bytes), {}, diagnostics);
        ASSERT_TRUE(opened.ok());
        std::size_t several = 0;
        for (auto batch = opened.value()->next_batch(); !batch.empty(); batch = opened.value()->next_batch()) {
            const trace::Event* before = &batch.front();
            for (const trace::Event& event : batch.subspan(1)) {
                EXPECT_NE(formats::dat::plain_row(event.raw_code), nullptr);
                EXPECT_EQ(event.row, formats::dat::plain_row(event.raw_code));
                EXPECT_TRUE(event.state == trace::EventState::ok && !event.metadata && !trace::is_foreign(event));
                EXPECT_TRUE(event.source == before->source && event.generation == before->generation);
                EXPECT_TRUE(event.cpu == before->cpu && event.names == before->names);
                EXPECT_GE(event.ticks, before->ticks);
                before = &event;
            }
            several += batch.size() > 1 ? 1U : 0U;
        }
        EXPECT_GT(several, 10U);
        bytes[random() % bytes.size()] ^= std::byte{0x41}; // from round to round more damaged
    }
}

} // namespace

} // namespace host::analyse::batches_test
