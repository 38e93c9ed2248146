// SPDX-License-Identifier: MIT
// Adds up the counters. Those of a CPU are cumulative, so the greatest of its chunks is used; those of a chunk are
// summed.
#include "host/analyse/verdict.hpp"

#include "host/analyse/account.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace host::analyse {

namespace {

// Returns the sum, saturated so that a wrong counter cannot make it small.
std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
    return a > ~b ? ~std::uint64_t{0} : a + b;
}

// Returns how many numbers between the lowest and the greatest of the chunks of one generation none of them has.
std::uint64_t numbers_left_out(std::span<const trace::ChunkReport> chunks) {
    std::map<std::uint32_t, std::set<std::uint16_t>> numbers; // by generation
    for (const trace::ChunkReport& chunk : chunks) {
        if (chunk.described) {
            numbers[chunk.description.generation].insert(chunk.description.chunk);
        }
    }
    std::uint64_t left_out = 0;
    for (const auto& [generation, of] : numbers) {
        left_out += *of.rbegin() - *of.begin() + 1U - of.size();
    }
    return left_out;
}

} // namespace

Accounts accounts_of(const formats::Trace& trace) {
    Accounts accounts;
    std::map<std::uint16_t, std::uint64_t> dropped;
    std::map<std::uint16_t, std::uint64_t> refused;
    for (const trace::ChunkReport& chunk : trace.facts().chunks) {
        accounts.committed += chunk.events - std::min(chunk.events, chunk.unused);
        accounts.received += chunk.records;
        accounts.missing += chunk.missing;
        accounts.skipped += chunk.skipped;
        accounts.damaged_chunks += chunk.damaged && chunk.missing == 0 && chunk.extra == 0 ? 1 : 0;
        if (chunk.described) {
            const tracer::ChunkBegin& description = chunk.description;
            dropped[description.cpu] = std::max(dropped[description.cpu], description.dropped);
            refused[description.cpu] = std::max(refused[description.cpu], description.refused);
            accounts.overwritten = saturating_add(accounts.overwritten, description.overwritten);
        }
    }
    for (const auto& [cpu, count] : dropped) {
        accounts.dropped = saturating_add(accounts.dropped, count);
    }
    for (const auto& [cpu, count] : refused) {
        accounts.refused = saturating_add(accounts.refused, count);
    }
    const auto& manifest = trace.manifest();
    const auto& end = manifest && manifest->announced ? manifest->announced : trace.facts().export_end;
    if (!end && !trace.facts().has_all_chunks) {
        accounts.lost_chunks = numbers_left_out(trace.facts().chunks);
    }
    if (end) {
        accounts.dropped = std::max(accounts.dropped, end->dropped);
        accounts.refused = std::max(accounts.refused, end->refused);
        accounts.overwritten = std::max(accounts.overwritten, end->overwritten);
        if (!trace.facts().chunks.empty() && trace.facts().chunks.front().described) {
            accounts.elsewhere = records_elsewhere(*end, accounts.committed);
        }
        accounts.lost_chunks = end->chunks - std::min<std::uint64_t>(end->chunks, trace.facts().chunks.size());
    }
    if (manifest && manifest->transfer) {
        accounts.lost_packets = manifest->transfer->lost;
    }
    return accounts;
}

std::string loss_of(const formats::Trace& trace, const Accounts& accounts) {
    const auto& manifest = trace.manifest();
    const auto incomplete = [](const std::string& text) { return "incomplete: " + text; };
    if (manifest && !manifest->complete) {
        return incomplete(text::escaped(manifest->reason));
    }
    if (trace.facts().restarted) {
        return incomplete("the machine was reset or started anew while it was followed");
    }
    if (accounts.missing != 0) {
        return incomplete(fmt::format("{} records are missing", accounts.missing));
    }
    if (accounts.lost_chunks != 0) {
        return incomplete(fmt::format("{} chunks are missing", accounts.lost_chunks));
    }
    if (accounts.damaged_chunks != 0) {
        return fmt::format("damaged: the checksum of {} chunk{} is wrong", accounts.damaged_chunks,
                           accounts.damaged_chunks == 1 ? "" : "s");
    }
    if (accounts.skipped != 0) {
        return incomplete(fmt::format("{} records could not be decoded", accounts.skipped));
    }
    if (accounts.elsewhere != 0) {
        return incomplete(fmt::format("{} records that the machine kept are not in this trace", accounts.elsewhere));
    }
    return {};
}

std::string unrecorded(const Accounts& accounts, trace::Families filtered) {
    return accounts.dropped != 0 ? fmt::format("the tracer dropped {} records", accounts.dropped)
                                 : trace::filters_text(filtered & trace::Filters::kStates);
}

Verdict verdict_of(const formats::Trace& trace, const Accounts& accounts) {
    if (std::string loss = loss_of(trace, accounts); !loss.empty()) {
        return {false, Rating::bad, std::move(loss)};
    }
    const auto& manifest = trace.manifest();
    if (const auto faults = manifest_faults(trace); !faults.empty()) {
        return {false, Rating::bad,
                fmt::format("damaged: the manifest and the files differ ({}: {}); `remora verify` reports all",
                            text::escaped(faults.front().file), faults.front().text)};
    }
    if (const std::string damage = trace.damage(); !damage.empty()) {
        return {false, Rating::bad, "incomplete: a part of the input is damaged or was not used: " + damage};
    }
    if (accounts.dropped != 0) {
        return {true, Rating::warning,
                fmt::format("all that was recorded is here, but the tracer dropped {} records for want of space",
                            accounts.dropped)};
    }
    const auto& chunks = trace.facts().chunks;
    if (std::ranges::any_of(chunks, [](const trace::ChunkReport& chunk) { return !chunk.described; })) {
        return {true, Rating::warning, "no metadata: whether anything was lost is unknown"};
    }
    const auto& end = manifest && manifest->announced ? manifest->announced : trace.facts().export_end;
    const bool is_end_known = !end || end->result != tracer::RunResult::unknown;
    const auto whole = [&](const std::string& text) {
        return is_end_known ? Verdict{true, Rating::good, text, true}
                            : Verdict{true, Rating::warning, text + "; how the run ended is not known", true};
    };
    if (accounts.overwritten != 0) {
        return whole(fmt::format("complete: nothing lost ({} older records were overwritten, as cyclic recording does)",
                                 accounts.overwritten));
    }
    if (!manifest && !trace.facts().export_end && !trace.facts().has_all_chunks) {
        return {true, Rating::warning, "each chunk is whole; whether chunks are missing is not known"};
    }
    return whole(manifest ? "complete: nothing lost" : "whole: every announced record is here");
}

} // namespace host::analyse
