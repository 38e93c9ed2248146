// SPDX-License-Identifier: MIT
// The counters of a chunk are those of the moment at which it was handed over, often long after its last record. So a
// rise means lost records only if it exceeds what the blackouts of all later chunks report.
#include "host/formats/dat/chunk_counters.hpp"

#include "host/text/format.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace host::formats::dat {

namespace {

using Chunks = std::vector<const trace::ChunkReport*>; // of one processor, as they were handed over

trace::Place place_of(const trace::ChunkReport& chunk) {
    return {.file = chunk.file,
            .offset_bytes = chunk.begin_bytes,
            .chunk = chunk.description.chunk,
            .cpu = chunk.description.cpu};
}

void check_falls(const Chunks& chunks, const std::optional<tracer::ExportEnd>& end, trace::Diagnostics& diagnostics) {
    struct Counter {
        std::string_view name;
        std::uint64_t tracer::ChunkBegin::*value;
        std::uint64_t tracer::ExportEnd::*total;
    };

    for (const Counter& counter : {Counter{"dropped", &tracer::ChunkBegin::dropped, &tracer::ExportEnd::dropped},
                                   Counter{"refused", &tracer::ChunkBegin::refused, &tracer::ExportEnd::refused}}) {
        std::uint64_t before = 0;
        for (const trace::ChunkReport* const chunk : chunks) {
            const std::uint64_t now = chunk->description.*counter.value;
            if (now < before) {
                diagnostics.report("W-COUNTER", place_of(*chunk),
                                   fmt::format("the number of {} records falls from {} to {}: the greater one counts",
                                               counter.name, before, now));
            } else if (end && now > (*end).*counter.total) {
                diagnostics.report("W-COUNTER", place_of(*chunk),
                                   fmt::format("{} {} records are more than the {} of the whole export", now,
                                               counter.name, (*end).*counter.total));
            }
            before = std::max(before, now);
        }
    }
}

void check_gaps(const Chunks& chunks, trace::Diagnostics& diagnostics) {
    // Dropped, and not reported by any blackout up to each chunk. Signed: a chunk may have been handed over before its
    // counter rose.
    std::optional<std::int64_t> first;
    std::int64_t unreported = 0;
    std::uint64_t reported = 0;
    const trace::ChunkReport* rose = nullptr; // the first from which on all have more than the first
    const trace::ChunkReport* before_rise = nullptr;
    const trace::ChunkReport* previous = nullptr;
    for (const trace::ChunkReport* const chunk : chunks) {
        reported += chunk->blackout;
        unreported = static_cast<std::int64_t>(chunk->description.dropped - reported);
        first = first.value_or(std::max<std::int64_t>(unreported, 0));
        if (unreported <= *first) {
            rose = nullptr;
        } else if (rose == nullptr) {
            rose = chunk;
            before_rise = previous;
        }
        previous = chunk;
    }
    // How many an open blackout cost, a later chunk would say.
    if (rose != nullptr && before_rise != nullptr && !previous->in_blackout) {
        diagnostics.report(
            "W-GAP", place_of(*rose),
            fmt::format(
                "{} records were dropped after chunk {} and no blackout reports them: some blackouts are missing",
                unreported - *first, before_rise->description.chunk));
    }
}

} // namespace

void check_counters(const trace::TraceFacts& facts, trace::Diagnostics& diagnostics) {
    std::map<std::uint16_t, Chunks> processors;
    for (const trace::ChunkReport& chunk : facts.chunks) {
        if (chunk.described) {
            processors[chunk.description.cpu].push_back(&chunk);
        }
    }
    for (auto& [cpu, chunks] : processors) {
        std::ranges::stable_sort(chunks, {}, &trace::ChunkReport::order);
        check_falls(chunks, facts.export_end, diagnostics);
        check_gaps(chunks, diagnostics);
    }
}

void report_missing(const trace::TraceFacts& facts, trace::Diagnostics& diagnostics) {
    std::uint64_t missing = 0;
    for (const trace::ChunkReport& chunk : facts.chunks) {
        missing += chunk.missing;
    }
    if (missing != 0) {
        diagnostics.report("W-GAP", {.file = facts.chunks.front().file},
                           fmt::format("{} records in all are missing: whoever follows a machine must not be slower "
                                       "than it; write the output to a file, not to a pager or a slow pipe",
                                       missing));
    }
}

void check_clock(const trace::TraceFacts& facts, trace::Diagnostics& diagnostics) {
    std::optional<lib::Ticks> stamp;
    const trace::ChunkReport* first = nullptr;
    for (const trace::ChunkReport& chunk : facts.chunks) {
        if (!chunk.first_stamp) {
            continue;
        }
        if (*chunk.first_stamp != *chunk.last_stamp || (stamp && *stamp != *chunk.first_stamp)) {
            return;
        }
        stamp = chunk.first_stamp;
        first = first != nullptr ? first : &chunk;
    }
    if (first != nullptr && facts.usable_events > 1 && diagnostics.count("W-TIME") == 0) {
        diagnostics.report(
            "W-CLOCK", {.file = first->file, .offset_bytes = first->begin_bytes},
            fmt::format("all {} events have the stamp {}: the clock did not advance, their order is that of the "
                        "input",
                        facts.usable_events, stamp->value));
    }
}

} // namespace host::formats::dat
