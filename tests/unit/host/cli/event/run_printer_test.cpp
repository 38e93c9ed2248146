// SPDX-License-Identifier: MIT
// Texts come in the order of the trace, whichever thread was first.
#include "host/cli/event/run_printer.hpp"

#include "tests/support/host_trace_builder.hpp"
#include "tests/support/memory_source.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <new>
#include <random>
#include <stdexcept>

namespace host::cli {

namespace run_printer_test {

using support::Bytes;
using support::ChunkBuilder;

class RunPrinting : public testing::Test {
  protected:
    // Chunks of two processors, one after the other, each with a name of its own for its task.
    static Bytes chunks() {
        Bytes bytes;
        std::uint64_t ticks = 1'000;
        for (std::uint16_t number = 0; number < 4; ++number) {
            ChunkBuilder chunk(number);
            chunk.begin.cpu = number % 2;
            chunk.name("task", 5, fmt::format("task{}", number));
            for (std::uint32_t i = 0; i < 9'000; ++i) {
                chunk.event(++ticks, i % 9 == 0 ? "context_switch" : "task_timer", 5, i);
            }
            const Bytes more = chunk.bytes();
            bytes.insert(bytes.end(), more.begin(), more.end());
        }
        return bytes;
    }

    static std::unique_ptr<formats::Trace> open(const Bytes& bytes, trace::Diagnostics& diagnostics) {
        auto opened = formats::Trace::open({.name = "f", .bytes = support::memory_source(bytes), .keep_open = true}, {},
                                           diagnostics);
        EXPECT_TRUE(opened.ok());
        return std::move(opened.value());
    }

    // room: for the text of a piece; what needs more has none.
    std::string printed(const Bytes& bytes, unsigned threads, std::size_t room = ~std::size_t{0}) {
        trace::Diagnostics diagnostics([](std::string_view) {});
        const auto trace = open(bytes, diagnostics);
        const std::string path = m_directory / "out.txt";
        std::FILE* const file = std::fopen(path.c_str(), "w");
        {
            Output out(file);
            RunPrinter printer(out, threads, TimeUnit::nanoseconds,
                               [room](fmt::memory_buffer& text, RunPrinter::Writers& writers,
                                      std::span<const trace::Event> events,
                                      std::span<const trace::OptionalTask> tasks) {
                                   if (text.size() > room) {
                                       throw std::bad_alloc();
                                   }
                                   for (std::size_t i = 0; i < events.size(); ++i) {
                                       writers.lines.append(text, events[i], tasks[i]);
                                   }
                               });
            printer.print(*trace);
            out.finish();
        }
        std::fclose(file);
        EXPECT_TRUE(trace->exhausted());
        return support::read_text(path);
    }

    // Event by event.
    static std::string expected(const Bytes& bytes) {
        trace::Diagnostics diagnostics([](std::string_view) {});
        const auto trace = open(bytes, diagnostics);
        EventLines lines(TimeUnit::nanoseconds);
        fmt::memory_buffer text;
        trace::RunningTasks running;
        trace->for_each([&](const trace::Event& event) { lines.append(text, event, running.take(event)); });
        return {text.data(), text.size()};
    }

    support::TemporaryDirectory m_directory;
};

TEST_F(RunPrinting, IsThatOfTheEvents) {
    const Bytes bytes = chunks();
    const std::string text = expected(bytes);
    for (const unsigned threads : {1U, 2U, 3U, 8U}) {
        EXPECT_TRUE(printed(bytes, threads) == text) << threads;
    }
}

TEST_F(RunPrinting, IsThatOfTheEventsOfADamagedTrace) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 2; ++round) {
        Bytes bytes = chunks();
        for (int flips = 0; flips < 20; ++flips) {
            bytes[random() % bytes.size()] ^= static_cast<std::byte>(1U << random() % 8);
        }
        const std::string text = expected(bytes);
        for (const unsigned threads : {2U, 8U}) {
            EXPECT_TRUE(printed(bytes, threads) == text) << round << ", " << threads;
        }
    }
}

TEST_F(RunPrinting, WritesInPartsWhatHasNoRoomAsAWhole) {
    const Bytes bytes = chunks();
    const std::string text = expected(bytes);
    for (const unsigned threads : {1U, 2U, 8U}) {
        EXPECT_TRUE(printed(bytes, threads, Output::kFlushBytes) == text) << threads;
    }
}

TEST_F(RunPrinting, FailsWithWhatAThreadThrows) {
    trace::Diagnostics diagnostics([](std::string_view) {});
    const auto trace = open(chunks(), diagnostics);
    std::FILE* const file = std::fopen((m_directory / "out.txt").c_str(), "w");
    {
        Output out(file);
        RunPrinter printer(out, 3, TimeUnit::ticks,
                           [](fmt::memory_buffer&, RunPrinter::Writers&, std::span<const trace::Event> events, auto) {
                               if (std::ranges::find(events, 7'777U, &trace::Event::par2) != events.end()) {
                                   throw std::runtime_error("no memory");
                               }
                           });
        EXPECT_THROW(printer.print(*trace), std::runtime_error);
    }
    std::fclose(file);
}

} // namespace run_printer_test

} // namespace host::cli
