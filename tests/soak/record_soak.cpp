// SPDX-License-Identifier: MIT
// The soak: the record path's object code, as the kernel links it, under a storm of nested interrupts (storm.hpp),
// until the given number of records has been read back and found whole, in order and accounted for. Rounds alternate: a
// cyclic chunk, a chain of chunks, a chunk that fills up, and a loss that ends when a next chunk is linked.
//
//   record_soak RECORDS [no-rewind|short-region]     the second word damages the storm: then the soak must fail
//
// Exit code 0: no fault, and the region was interrupted; 1 with the first fault otherwise.
#include "tests/soak/checker.hpp"
#include "tests/soak/storm.hpp"
#include "tests/support/tracer/fixture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

tracer::Instance& tracer::instance() {
    return *tests::TracerFixture::current();
}

namespace soak {

namespace {

enum class Kind : std::uint8_t { cyclic, chain, stop, resume };
constexpr std::uint64_t kKinds = 4;

constexpr std::uint32_t kEmergencySlots = 4;
constexpr std::uint64_t kEventsOfLowerInterrupt = 12;
constexpr std::uint64_t kEventsOfUpperInterrupt = 3;

std::array<Source, kSources> g_sources = {Source(0), Source(1), Source(2)};
bool g_interrupts_close = false; // occasionally the lower interrupt calls next_chunk
std::uint64_t g_closes_refused = 0;

void on_interrupt(std::size_t level) {
    Source& source = g_sources[level + 1];
    const std::uint64_t events = level == 0 ? kEventsOfLowerInterrupt : kEventsOfUpperInterrupt;
    for (std::uint64_t i = 0; i < events; ++i) {
        source.log();
    }
    if (level == 0 && g_interrupts_close && source.next_serial() % 97 < kEventsOfLowerInterrupt) {
        g_closes_refused += tracer::instance().control.close_active().ok() ? 0U : 1U;
    }
}

std::uint64_t attempted_slots() {
    return g_sources[0].slots() + g_sources[1].slots() + g_sources[2].slots();
}

class Soak {
  public:
    // Runs one round; false, with a fault, on failure.
    bool round(Kind kind) {
        prepare(kind);
        const tracer::Totals before = control().totals();
        const std::uint64_t reported_before = m_fixture.tracer().cpu.reported_bytes;
        const std::uint64_t attempted_before = attempted_slots();
        g_closes_refused = 0;
        g_interrupts_close = kind == Kind::chain;
        release_storm();
        ASSERT(control().enable().ok());
        fill(kind);
        control().disable();
        hold_storm();
        const std::uint64_t attempts = attempted_slots() - attempted_before + g_closes_refused;
        check(kind, before, attempts, (m_fixture.tracer().cpu.reported_bytes - reported_before) / tracer::kRecordBytes);
        ++m_rounds[static_cast<std::size_t>(kind)];
        return m_fault.empty();
    }

    [[nodiscard]] std::uint64_t checked() const { return m_checked; }

    [[nodiscard]] const std::string& fault() const { return m_fault; }

    [[nodiscard]] const std::array<std::uint64_t, kKinds>& rounds() const { return m_rounds; }

  private:
    tracer::Control& control() { return m_fixture.tracer().control; }

    // Sizes differ from round to round, so that chunks end everywhere.
    std::uint32_t some(std::uint32_t about) {
        m_random = m_random * 6'364'136'223'846'793'005U + 1'442'695'040'888'963'407U;
        return about + static_cast<std::uint32_t>(m_random >> 40) % (about / 8);
    }

    void add_chunk(std::uint32_t slots, tracer::ChunkFlags mode) {
        m_chunks.push_back(&m_fixture.chunk(slots, kEmergencySlots, mode));
        m_slots += slots;
    }

    // New chunks, the first of them selected; those of the previous round are deleted.
    void prepare(Kind kind) {
        const std::vector<tracer::Chunk*> old = std::exchange(m_chunks, {});
        m_slots = 0;
        switch (kind) {
        case Kind::cyclic:
            add_chunk(some(24'000), tracer::kFlagCyclic);
            break;
        case Kind::chain:
            for (int i = 0; i < 3; ++i) {
                add_chunk(some(9'000), tracer::kFlagJumpToNext);
            }
            m_fixture.link(*m_chunks[0], *m_chunks[1]);
            m_fixture.link(*m_chunks[1], *m_chunks[2]);
            break;
        case Kind::stop:
            add_chunk(some(24'000), tracer::kFlagStop);
            break;
        case Kind::resume:
            add_chunk(some(12'000), tracer::kFlagJumpToNext);
            add_chunk(some(24'000), tracer::kFlagStop);
            break;
        }
        ASSERT(control().select(*m_chunks[0]).ok());
        for (tracer::Chunk* chunk : old) {
            ASSERT(m_fixture.tracer().store.remove(*chunk).ok());
        }
    }

    static void log_until(std::uint64_t attempted) {
        while (attempted_slots() < attempted) {
            g_sources[0].log();
        }
    }

    void fill(Kind kind) {
        const std::uint64_t start = attempted_slots();
        switch (kind) {
        case Kind::cyclic:
            log_until(start + m_slots + m_slots / 3);
            break;
        case Kind::chain:
        case Kind::stop:
            log_until(start + m_slots + 500);
            break;
        case Kind::resume:
            log_until(start + m_chunks[0]->size_bytes / tracer::kRecordBytes + 500);
            m_fixture.link(*m_chunks[0], *m_chunks[1]);
            log_until(start + m_slots - 8'000);
            break;
        }
    }

    void check(Kind kind, const tracer::Totals& before, std::uint64_t attempts, std::uint64_t reported) {
        Checker checker;
        for (const tracer::Chunk* chunk : m_chunks) {
            const tracer::ChunkContents contents = tracer::ChunkStore::contents(*chunk);
            checker.read(contents.older);
            checker.read(contents.newer);
            checker.read_emergency(contents.emergency);
        }
        const tracer::Totals after = control().totals();
        const std::uint64_t committed = after.committed - before.committed;
        const std::uint64_t made = after.tracer_made - before.tracer_made;
        const std::uint64_t overwritten = after.overwritten - before.overwritten;
        const std::uint64_t lost = after.dropped - before.dropped + after.refused - before.refused;
        m_checked += checker.slots();
        if (!checker.fault().empty()) {
            const tracer::Record& record = checker.faulty_record();
            m_fault = fmt::format("{}: record {} is code {:#06x} par1 {:#06x} par2 {} stamp {}", checker.fault(),
                                  checker.faulty_number(), record.code, record.par1, record.par2, record.stamp().value);
        } else if (committed + lost != attempts) {
            m_fault = fmt::format("{} attempts, but {} committed and {} lost", attempts, committed, lost);
        } else if (checker.slots() + checker.tracer_made() + overwritten != committed + made) {
            m_fault = fmt::format("{} records read and {} overwritten, but {} committed",
                                  checker.slots() + checker.tracer_made(), overwritten, committed + made);
        } else if (checker.gaps() > (kind == Kind::resume ? kSources : 0)) {
            m_fault = fmt::format("there are {} gaps in the middle", checker.gaps());
        } else if (kind != Kind::cyclic && checker.reported_losses() != reported) {
            m_fault = fmt::format("{} losses are reported, {} were expected", checker.reported_losses(), reported);
        }
    }

    tests::TracerFixture m_fixture{4U << 20, tests::TracerFixture::Attempts::uncounted};
    std::vector<tracer::Chunk*> m_chunks;
    std::uint64_t m_slots = 0; // of all chunks
    std::uint64_t m_random = 1;
    std::uint64_t m_checked = 0;
    std::array<std::uint64_t, kKinds> m_rounds{};
    std::string m_fault;
};

Fault fault_named(std::string_view name) {
    if (name == "no-rewind") {
        return Fault::no_rewind;
    }
    if (name == "short-region") {
        return Fault::short_region;
    }
    fmt::print(stderr, "error: {} is not a fault\nremedy: no-rewind or short-region\n", name);
    std::exit(2);
}

// The minimum activity of the storm for a meaningful result.
std::string storm_too_weak(const StormCounts& counts) {
    if (counts.rewinds[0] == 0 || counts.rewinds[1] == 0) {
        return "the record path was never interrupted: nothing is tested";
    }
    if (counts.nested_rewinds == 0) {
        return "no interrupt's record was interrupted: nesting is not tested";
    }
    return {};
}

int run(std::uint64_t records, Fault fault) {
    Soak soak;
    start_storm({.fault = fault, .handler = &on_interrupt});
    const auto begin = std::chrono::steady_clock::now();
    std::uint64_t round = 0;
    while (soak.checked() < records && soak.round(static_cast<Kind>(round % kKinds))) {
        ++round;
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    const StormCounts& counts = storm_counts();
    stop_storm();
    fmt::print("soak: {} records checked in {:.1f} s; rounds: {} cyclic, {} chain, {} stop, {} resume\n",
               soak.checked(), seconds.count(), soak.rounds()[0], soak.rounds()[1], soak.rounds()[2], soak.rounds()[3]);
    fmt::print("soak: {} + {} interrupts, {} of them nested; {} + {} rewinds at {} instructions, {} of them nested\n",
               counts.signals[0], counts.signals[1], counts.nested, counts.rewinds[0], counts.rewinds[1],
               counts.instructions(), counts.nested_rewinds);
    const std::string reason = soak.fault().empty() ? storm_too_weak(counts) : soak.fault();
    if (!reason.empty()) {
        fmt::print("FAIL soak: {}\n", reason);
    }
    return reason.empty() ? 0 : 1;
}

} // namespace

} // namespace soak

int main(int argc, char** argv) {
    const std::uint64_t records = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
    if (records == 0 || argc > 3) {
        fmt::print(stderr, "usage: record_soak RECORDS [no-rewind|short-region]\n");
        return 2;
    }
    return soak::run(records, argc == 3 ? soak::fault_named(argv[2]) : soak::Fault::none);
}
