// SPDX-License-Identifier: MIT
// Adds up the account of each processor, checks the lines of the account, and compares a session with its manifest.
#include "host/analyse/account.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "tracer/chunk/chunk_seal.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

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
        } else if (chunk.extra != 0) {
            account.faults.push_back(
                fmt::format("{} records too many are in {}", chunk.extra, text::escaped(chunk.file)));
        } else if (chunk.damaged) {
            account.faults.push_back(fmt::format("the checksum of {} is wrong", text::escaped(chunk.file)));
        } else if (!is_sealed(chunk)) {
            account.unknown =
                fmt::format("a chunk of processor {} has no checksum of the machine", chunk.description.cpu);
        }
    }
}

// Compares what the machine counted with what the trace holds.
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
    if (const std::string damage = trace.damage(); !damage.empty() && !account.unknown) {
        account.unknown = "a part of the input is damaged or was not used: " + damage;
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

// Compares each file with the manifest, then the totals, then what `complete` promises.

namespace {

using formats::dat::Manifest;
using formats::dat::ManifestChunk;

class ManifestCheck {
  public:
    ManifestCheck(const formats::Trace& trace, const Manifest& manifest)
        : m_manifest(manifest)
        , m_read(trace.facts())
        , m_files(trace.files())
        , m_file(m_files.name_of(formats::dat::kManifestName)) {}

    [[nodiscard]] std::vector<ManifestFault> run() {
        for (const ManifestChunk& chunk : m_manifest.chunks) {
            const std::string path = m_files.name_of(chunk.file);
            check_checksum(chunk, path);
            check_chunk(chunk, path);
        }
        check_formats();
        check_totals();
        check_promise();
        return std::move(m_faults);
    }

  private:
    void fault(Rule rule, const std::string& file, std::string text) {
        m_faults.push_back({.rule = rule, .file = file, .text = std::move(text)});
    }

    void same(const std::string& file, std::string_view key, std::uint64_t stated, std::uint64_t found) {
        if (stated != found) {
            fault(Rule::counts, file, fmt::format("{}: the manifest says {}, found {}", key, stated, found));
        }
    }

    void check_checksum(const ManifestChunk& chunk, const std::string& path) {
        const auto found = m_files.checksum(chunk.file);
        if (!found) {
            fault(Rule::checksums, path, std::string(trace::file_error(found.error())));
        } else if (found.value().bytes != chunk.bytes || found.value().crc32c != chunk.crc32c) {
            fault(Rule::checksums, path,
                  fmt::format("{} bytes, crc32c {:08x}; the manifest says {} bytes, {:08x}", found.value().bytes,
                              found.value().crc32c, chunk.bytes, chunk.crc32c));
        }
    }

    void check_formats() {
        if (!m_manifest.formats) {
            return;
        }
        const std::string path = m_files.name_of(trace::kFormatsName);
        const auto found = m_files.checksum(trace::kFormatsName);
        if (!found) {
            fault(Rule::checksums, path, std::string(trace::file_error(found.error())));
        } else if (found.value().crc32c != m_manifest.formats->crc32c) {
            fault(Rule::checksums, path,
                  fmt::format("crc32c {:08x}; the manifest says {:08x}", found.value().crc32c,
                              m_manifest.formats->crc32c));
        }
    }

    void check_chunk(const ManifestChunk& chunk, const std::string& path) {
        const std::optional<ManifestChunk> read = m_read.of(path);
        if (!read) {
            return; // the file could not be read, which check_checksum() has reported
        }
        const ManifestChunk& found = *read;
        same(path, "described", chunk.described ? 1 : 0, found.described ? 1 : 0);
        if (!chunk.described || !found.described) {
            same(path, "records", chunk.records, found.records);
            m_records_found += found.records;
            return;
        }
        const tracer::ChunkBegin& stated = chunk.description;
        const tracer::ChunkBegin& begin = found.description;
        same(path, "chunk", stated.chunk, begin.chunk);
        same(path, "cpu", stated.cpu, begin.cpu);
        same(path, "generation", stated.generation, begin.generation);
        same(path, "flags", stated.mode, begin.mode);
        same(path, "dropped", stated.dropped, begin.dropped);
        same(path, "refused", stated.refused, begin.refused);
        same(path, "overwritten", stated.overwritten, begin.overwritten);
        same(path, "announced_records", stated.records, begin.records);
        same(path, "events", stated.events, begin.events);
        if (formats::dat::encoding_name(stated) != formats::dat::encoding_name(begin)) {
            fault(Rule::counts, path,
                  fmt::format("encoding: the manifest says {}, found {}", formats::dat::encoding_name(stated),
                              formats::dat::encoding_name(begin)));
        }
        same(path, "missing", chunk.missing, found.missing);
        if (found.missing != 0) {
            same(path, "preamble + records", chunk.preamble + chunk.records, found.preamble + found.records);
            m_records_found += chunk.records;
            return;
        }
        same(path, "preamble", chunk.preamble, found.preamble);
        same(path, "records", chunk.records, found.records);
        if (chunk.first_tsc && found.first_tsc) {
            same(path, "first_tsc", *chunk.first_tsc, *found.first_tsc);
        }
        if (chunk.last_tsc && found.last_tsc) {
            same(path, "last_tsc", *chunk.last_tsc, *found.last_tsc);
        }
        m_records_found += found.records;
    }

    void check_totals() {
        if (m_manifest.transfer) {
            same(m_file, "transfer.records", m_manifest.transfer->records, m_records_found);
        }
        if (m_manifest.announced && m_manifest.complete) {
            same(m_file, "announced.chunks", m_manifest.announced->chunks, m_manifest.chunks.size());
            same(m_file, "announced.records", m_manifest.announced->records, m_records_found);
        }
    }

    void check_promise() {
        if (!m_manifest.complete) {
            fault(Rule::counts, m_files.place(), "incomplete: " + text::escaped(m_manifest.reason));
            return;
        }
        const auto none = [this](const std::string& file, std::string_view key, std::uint64_t stated) {
            if (stated != 0) {
                fault(Rule::counts, file,
                      fmt::format("{}: the manifest says {}, but complete promises 0", key, stated));
            }
        };
        for (const ManifestChunk& chunk : m_manifest.chunks) {
            none(m_files.name_of(chunk.file), "missing", chunk.missing);
        }
        if (m_manifest.transfer) {
            none(m_file, "transfer.lost", m_manifest.transfer->lost);
            none(m_file, "transfer.conflicts", m_manifest.transfer->conflicts);
            none(m_file, "transfer.stray_records", m_manifest.transfer->stray_records);
        }
    }

    const Manifest& m_manifest;
    formats::dat::ReadChunks m_read;
    const formats::dat::SessionFiles& m_files;
    std::string m_file;
    std::uint64_t m_records_found = 0;
    std::vector<ManifestFault> m_faults;
};

} // namespace

std::vector<ManifestFault> manifest_faults(const formats::Trace& trace) {
    if (!trace.manifest()) {
        return {};
    }
    return ManifestCheck(trace, *trace.manifest()).run();
}

} // namespace host::analyse
