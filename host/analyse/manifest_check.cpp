// SPDX-License-Identifier: MIT
// Figure by figure: first each file, then the totals, then what `complete` promises.
#include "host/analyse/manifest_check.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace host::analyse {

namespace {

using formats::dat::Manifest;
using formats::dat::ManifestChunk;

class ManifestCheck {
  public:
    ManifestCheck(const formats::Trace& trace, const Manifest& manifest)
        : m_trace(trace)
        , m_manifest(manifest)
        , m_read(trace.facts())
        , m_file(trace.directory() + '/' + std::string(formats::dat::kManifestName)) {}

    [[nodiscard]] std::vector<ManifestFault> run() {
        for (const ManifestChunk& chunk : m_manifest.chunks) {
            const std::string path = m_trace.directory() + '/' + chunk.file;
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
        const auto found = formats::dat::checksum_file(path);
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
        const std::string path = m_trace.directory() + '/' + std::string(trace::kFormatsName);
        const auto found = formats::dat::checksum_file(path);
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
            return; // it could not be read: the rule about checksums has said so
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
            fault(Rule::counts, m_trace.directory(), "incomplete: " + text::escaped(m_manifest.reason));
            return;
        }
        const auto none = [this](const std::string& file, std::string_view key, std::uint64_t stated) {
            if (stated != 0) {
                fault(Rule::counts, file,
                      fmt::format("{}: the manifest says {}, but complete promises 0", key, stated));
            }
        };
        for (const ManifestChunk& chunk : m_manifest.chunks) {
            none(m_trace.directory() + '/' + chunk.file, "missing", chunk.missing);
        }
        if (m_manifest.transfer) {
            none(m_file, "transfer.lost", m_manifest.transfer->lost);
            none(m_file, "transfer.conflicts", m_manifest.transfer->conflicts);
            none(m_file, "transfer.stray_records", m_manifest.transfer->stray_records);
        }
    }

    const formats::Trace& m_trace;
    const Manifest& m_manifest;
    formats::dat::ReadChunks m_read;
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
