// SPDX-License-Identifier: MIT
#include "tests/kernel/checked.hpp"

#include "arch/arch.hpp"
#include "kernel/panic/console.hpp"
#include "kernel/run/runlevel.hpp"
#include "tests/support/attempts/attempts.hpp"
#include "tracer/instance.hpp"
#include "tracer/record/event_table.hpp"

namespace guest {

namespace {

struct Found {
    std::uint64_t records = 0;
    std::uint64_t recorded = 0; // by blackout_end
    std::uint64_t empty = 0;
    std::uint64_t falling = 0;
    bool opaque = false; // a compact stream was among it
};

void look_through(std::span<const std::byte> area, lib::Ticks& last, Found& found) {
    for (std::size_t at = 0; at < area.size(); at += tracer::kRecordBytes) {
        const tracer::Record record = tracer::decode_record(area.subspan(at, tracer::kRecordBytes));
        ++found.records;
        found.empty += record.empty() ? 1U : 0U;
        found.falling += record.stamp() < last ? 1U : 0U;
        found.recorded += record.event_code() == tracer::event_code("blackout_end") ? record.par2 : 0U;
        last = record.stamp();
    }
}

Found look_through_all() {
    Found found;
    for (const tracer::Chunk& chunk : tracer::instance().store.slots()) {
        if (!chunk.exists) {
            continue;
        }
        const tracer::ChunkContents contents = tracer::ChunkStore::contents(chunk);
        lib::Ticks main{};
        lib::Ticks emergency{};
        if (contents.compact) {
            found.records += contents.stream_records; // the decoder's own tests look into it
            found.opaque = true;
        } else {
            look_through(contents.older, main, found);
            look_through(contents.newer, main, found);
        }
        look_through(contents.emergency, emergency, found);
    }
    return found;
}

// Counts attempts before the case that are in no total: what the tracer logged at boot to measure itself.
constinit std::uint64_t g_unaccounted = 0;

void check_account(void*) {
    const tracer::Totals totals = tracer::totals(0);
    const std::uint64_t attempts = tests::attempted_records() - g_unaccounted;
    const Found found = look_through_all();
    const std::uint64_t unrecorded =
        totals.dropped - tracer::instance().cpu.reported_bytes / tracer::kRecordBytes; // of a blackout still open
    const bool balanced = attempts == totals.committed + totals.dropped + totals.refused;
    const bool there = found.records + totals.overwritten == totals.committed + totals.tracer_made &&
                       found.empty == 0 && found.falling == 0;
    const bool recorded = totals.overwritten == 0 && !found.opaque ? found.recorded + unrecorded == totals.dropped
                                                                   : found.recorded <= totals.dropped;
    if (!balanced || !there || !recorded) {
        kernel::console().line("account: ", attempts, " attempts, ", totals.committed, " committed, ", totals.dropped,
                               " dropped, ", totals.refused, " refused, ", totals.tracer_made, " by the tracer, ",
                               totals.overwritten, " overwritten");
        kernel::console().line("found: ", found.records, " records, ", found.empty, " empty, ", found.falling,
                               " falling stamps, ", found.recorded, " losses recorded, ", unrecorded,
                               " still to record");
    }
    ASSERT(balanced);
    ASSERT(there);
    ASSERT(recorded);
}

} // namespace

void check_account_at_exit() {
    const arch::IrqGuard guard;
    const tracer::Totals totals = tracer::totals(0);
    g_unaccounted = tests::attempted_records() - (totals.committed + totals.dropped + totals.refused);
    const auto registered = kernel::sys_atrunlevel(&check_account, nullptr, kernel::RunLevel::after_exit);
    ASSERT(registered.ok());
}

} // namespace guest
