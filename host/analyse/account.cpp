// SPDX-License-Identifier: MIT
// Adding up, processor by processor, then line by line.
#include "host/analyse/account.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "tracer/chunk/chunk_seal.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace host::analyse {

namespace {

using trace::ChunkReport;

bool is_sealed(const ChunkReport& chunk) {
    return chunk.described && tracer::is_sealed(chunk.description) && !chunk.damaged && chunk.missing == 0;
}

std::vector<ProcessorAccount> by_processor(const trace::TraceFacts& facts) {
    std::map<std::uint16_t, ProcessorAccount> processors;
    for (const ChunkReport& chunk : facts.chunks) {
        ProcessorAccount& of = processors[chunk.description.cpu];
        of.cpu = chunk.description.cpu;
        ++of.chunks;
        of.sealed += is_sealed(chunk) ? 1U : 0U;
        of.events += chunk.events - std::min(chunk.events, chunk.unused);
        of.dropped = std::max(of.dropped, chunk.description.dropped);
        of.refused = std::max(of.refused, chunk.description.refused);
        of.overwritten += chunk.description.overwritten;
    }
    std::vector<ProcessorAccount> accounts;
    accounts.reserve(processors.size());
    for (const auto& [cpu, account] : processors) {
        accounts.push_back(account);
    }
    return accounts;
}

void check_chunks(Account& account, const trace::TraceFacts& facts) {
    for (const ChunkReport& chunk : facts.chunks) {
        if (chunk.missing != 0) {
            account.faults.push_back(
                fmt::format("{} records are missing in {}", chunk.missing, text::escaped(chunk.file)));
        } else if (chunk.damaged) {
            account.faults.push_back(fmt::format("the checksum of {} is wrong", text::escaped(chunk.file)));
        } else if (!is_sealed(chunk)) {
            account.unknown =
                fmt::format("a chunk of processor {} has no checksum of the machine", chunk.description.cpu);
        }
    }
}

// What the machine counted against what is here.
void check_totals(Account& account, const trace::TraceFacts& facts) {
    const auto same = [&account](std::string_view what, std::uint64_t stated, std::uint64_t found) {
        if (stated != found) {
            account.faults.push_back(fmt::format("{}: the machine counts {}, here are {}", what, stated, found));
        }
    };
    if (!account.totals) {
        account.unknown = "the machine's totals did not come with the trace";
        return;
    }
    const tracer::ExportEnd& totals = *account.totals;
    same("chunks sent", totals.chunks, facts.chunks.size());
    same("records sent", totals.records, account.stored);
    if (facts.chunks.empty() || !facts.chunks.front().described) {
        account.unknown = "the trace is not one of chunks: its records are counted otherwise";
        return;
    }
    if (totals.committed == 0 && account.events != 0) {
        account.unknown = "the machine did not say how many records it committed";
        return;
    }
    same("records committed, and not overwritten", totals.committed + totals.tracer_made,
         account.events + totals.overwritten);
}

} // namespace

std::optional<std::uint64_t> records_kept(const tracer::ExportEnd& totals) {
    const std::uint64_t made = totals.committed + totals.tracer_made;
    return totals.committed == 0 ? std::nullopt : std::optional(made - std::min(made, totals.overwritten));
}

std::uint64_t records_elsewhere(const tracer::ExportEnd& totals, std::uint64_t events) {
    const std::uint64_t kept = records_kept(totals).value_or(events);
    return kept - std::min(kept, events);
}

Account account_of(const formats::Trace& trace) {
    Account account;
    const trace::TraceFacts& facts = trace.facts();
    const auto& manifest = trace.manifest();
    account.processors = by_processor(facts);
    account.totals = manifest && manifest->announced ? manifest->announced : facts.export_end;
    for (const ChunkReport& chunk : facts.chunks) {
        account.stored += chunk.records;
        account.events += chunk.events - std::min(chunk.events, chunk.unused);
    }
    check_chunks(account, facts);
    check_totals(account, facts);
    if (manifest && manifest->transfer) {
        account.received = manifest->transfer->records;
        if (*account.received != account.stored) {
            account.faults.push_back(
                fmt::format("records: {} were received, {} are stored", *account.received, account.stored));
        }
        if (manifest->transfer->lost != 0) {
            account.faults.push_back(fmt::format("{} packets were lost", manifest->transfer->lost));
        }
    }
    return account;
}

void compare_capture(Account& account, const trace::TraceFacts& facts, const trace::TraceFacts& capture,
                     std::uint64_t damages) {
    using Key = std::tuple<std::uint64_t, std::uint16_t, std::uint16_t, std::uint32_t>;
    const auto key_of = [](const trace::TraceFacts& of, const ChunkReport& chunk) {
        return Key{of.boot_id.value_or(0), chunk.description.cpu, chunk.description.chunk,
                   chunk.description.generation};
    };
    std::map<Key, std::uint32_t> here;
    for (const ChunkReport& chunk : facts.chunks) {
        if (is_sealed(chunk)) {
            here.emplace(key_of(facts, chunk), chunk.description.crc32c);
        }
    }
    if (damages != 0) {
        account.faults.push_back(fmt::format("the capture is damaged in {} place{}", damages, damages == 1 ? "" : "s"));
    }
    account.captured_chunks = 0;
    for (const ChunkReport& chunk : capture.chunks) {
        const auto found = here.find(key_of(capture, chunk));
        const std::string name = fmt::format("chunk {} of processor {}, generation {}", chunk.description.chunk,
                                             chunk.description.cpu, chunk.description.generation);
        if (!is_sealed(chunk)) {
            account.faults.push_back(fmt::format("the capture does not hold {} whole", name));
        } else if (found == here.end()) {
            account.faults.push_back(fmt::format("the capture holds {}, and the trace does not", name));
        } else if (found->second != chunk.description.crc32c) {
            account.faults.push_back(fmt::format("{} is another in the capture", name));
        } else {
            ++*account.captured_chunks;
            here.erase(found);
        }
    }
    if (!here.empty()) {
        account.faults.push_back(fmt::format("{} chunks of the trace are not in the capture", here.size()));
    }
}

} // namespace host::analyse
