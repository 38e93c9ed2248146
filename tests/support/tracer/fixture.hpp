// SPDX-License-Identifier: MIT
// Makes a whole tracer on the heap for one test, with GS pointing at its CpuTrace: the object code that the kernel
// links runs in user space (glibc does not use GS on x86-64). The arena is filled with a pattern first, so that a byte
// written outside an area, or a slot exported but never written, is detected.
#pragma once

#include "tests/support/attempts/attempts.hpp"
#include "tracer/black_box/memory.hpp"
#include "tracer/ftrace.hpp"
#include "tracer/instance.hpp"
#include "tracer/log.hpp"

#include <asm/prctl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace tests {

// Read as a code it is a single record, so it is not mistaken for the rest of a long event.
inline constexpr std::byte kPattern{0xC5};

class TracerFixture {
  public:
    // States whether the program counts attempts (attempts.hpp); then they are compared with the totals at the end.
    enum class Attempts : std::uint8_t { counted, uncounted };

    explicit TracerFixture(std::size_t arena_bytes = 1U << 20, Attempts attempts = Attempts::counted)
        : m_counts_hold(attempts == Attempts::counted)
        , m_storage(std::make_unique<Storage>(arena_bytes)) {
        enter();
        m_storage->tracer.exporter.configure({.tsc_khz = 1'000'000});
        m_attempts_before = attempted_records();
    }

    // Every attempt of the test, counted before the tracer, must be accounted for.
    ~TracerFixture() {
        if (m_counts_hold) {
            const tracer::Totals totals = tracer().control.totals();
            EXPECT_EQ(attempted_records() - m_attempts_before, totals.committed + totals.dropped + totals.refused)
                << "records vanished: " << totals.committed << " committed, " << totals.dropped << " dropped, "
                << totals.refused << " refused";
        }
        attempted_bytes = m_attempts_before * tracer::kRecordBytes; // a fixture within a fixture counts for itself
        set_gs(nullptr);
        current() = nullptr;
        on_access() = nullptr;
    }

    TracerFixture(const TracerFixture&) = delete;
    TracerFixture& operator=(const TracerFixture&) = delete;

    [[nodiscard]] tracer::Instance& tracer() { return m_storage->tracer; }

    [[nodiscard]] tracer::NameRegistry& names() { return m_storage->tracer.names; }

    [[nodiscard]] std::span<std::byte> arena() { return m_storage->arena(); }

    // Returns a chunk of this many records. Fails the test if there is no space.
    tracer::Chunk& chunk(std::uint32_t records, std::uint32_t emergency_records, tracer::ChunkFlags mode) {
        const auto made =
            tracer().store.create(records * 16, emergency_records * 16, static_cast<tracer::ChunkFlags>(mode | 0x01));
        EXPECT_TRUE(made.ok());
        return *made.value();
    }

    void link(tracer::Chunk& from, tracer::Chunk& to) { EXPECT_TRUE(tracer().store.link(from, to).ok()); }

    void select_and_enable(tracer::Chunk& chunk) {
        EXPECT_TRUE(tracer().control.select(chunk).ok());
        EXPECT_TRUE(tracer().control.enable().ok());
    }

    // Lets a test with several tracers, which cannot count attempts, run on this one's processor from here on.
    void enter() {
        current() = &m_storage->tracer;
        set_gs(&m_storage->tracer.cpu);
    }

    // Is for a test that breaks the record path on purpose.
    void expect_miscounts() { m_counts_hold = false; }

    // Leaves out attempts that must not be in any total.
    void leave_out(std::uint64_t attempts) { m_attempts_before += attempts; }

    // Is what tracer::instance() returns in the test programs.
    static tracer::Instance*& current() {
        static tracer::Instance* instance = nullptr;
        return instance;
    }

    // Is called whenever a published call asks for the instance: what another context could do there. The calls access
    // the lock in no other way.
    static std::function<void()>& on_access() {
        static std::function<void()> hook;
        return hook;
    }

  private:
    struct Storage {
        explicit Storage(std::size_t arena_bytes)
            : lines((kPlaces.arena + arena_bytes) / sizeof(Line) + 1)
            , memory({lines.front().bytes.data(), kPlaces.arena + arena_bytes}, {}, kPlaces)
            , tracer(memory.construct(memory.construct_names())) {
            std::ranges::fill(arena(), kPattern);
        }

        struct alignas(64) Line {
            std::array<std::byte, 64> bytes;
        };

        [[nodiscard]] std::span<std::byte> arena() {
            return std::span(lines.front().bytes.data(), lines.size() * sizeof(Line)).subspan(kPlaces.arena);
        }

        static constexpr tracer::black_box::Places kPlaces = tracer::black_box::places_of({});

        std::vector<Line> lines;
        tracer::black_box::Memory memory;
        tracer::Instance& tracer;
    };

    static void set_gs(const void* base) { syscall(SYS_arch_prctl, ARCH_SET_GS, base); }

    bool m_counts_hold = true;
    std::unique_ptr<Storage> m_storage;
    std::uint64_t m_attempts_before = 0;
};

[[nodiscard]] inline std::vector<tracer::Record> records_in(std::span<const std::byte> bytes) {
    std::vector<tracer::Record> records;
    for (; bytes.size() >= tracer::kRecordBytes; bytes = bytes.subspan(tracer::kRecordBytes)) {
        records.push_back(tracer::decode_record(bytes));
    }
    return records;
}

// Returns the main area in time order, without the emergency area.
[[nodiscard]] inline std::vector<tracer::Record> main_records(const tracer::Chunk& chunk) {
    const auto contents = tracer::ChunkStore::contents(chunk);
    auto records = records_in(contents.older);
    const auto newer = records_in(contents.newer);
    records.insert(records.end(), newer.begin(), newer.end());
    return records;
}

[[nodiscard]] inline std::vector<tracer::Record> emergency_records(const tracer::Chunk& chunk) {
    return records_in(tracer::ChunkStore::contents(chunk).emergency);
}

} // namespace tests
