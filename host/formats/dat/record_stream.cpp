// SPDX-License-Identifier: MIT
#include "host/formats/dat/record_stream.hpp"

#include "host/formats/dat/chunk_ledger.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "tracer/chunk/chunk_seal.hpp"

#include <algorithm>
#include <utility>

namespace host::formats::dat {

namespace {

bool has_checksum(const std::string& path, std::uint32_t crc32c) {
    const auto found = checksum_file(path);
    return !found || found.value().crc32c == crc32c; // what cannot be read is reported by who reads it
}

// A collector that was killed has not listed its last files.
void add_unlisted(const std::string& directory, const Manifest& manifest, ChunkMerge& merge,
                  trace::Diagnostics& diagnostics) {
    for (const std::string& file : unlisted_files(directory, manifest)) {
        const std::string name = fmt::format("{}/{}", directory, file);
        const auto source = trace::ByteSource::open_file(name);
        if (!source) {
            diagnostics.report("E-IO", {.file = name}, trace::file_error(source.error()));
            continue;
        }
        diagnostics.report("W-EXTRA", {.file = name},
                           fmt::format("the manifest does not list this file; it is read. The collector was ended "
                                       "before it could: `remora adopt --force {}` lists what there is",
                                       text::escaped(directory)));
        SlotWindow window(*source.value(), source.value()->size_bytes());
        merge.add_file(window, name);
    }
}

} // namespace

RecordStream::RecordStream(const trace::OpenOptions& options, trace::Diagnostics& diagnostics)
    : m_diagnostics(diagnostics)
    , m_merge(m_facts, diagnostics, options.salvage ? DamagedChunks::salvage : DamagedChunks::skip)
    , m_time(m_facts, diagnostics, options.machine_clock)
    , m_images(diagnostics)
    , m_strict(options.strict)
    , m_damages(diagnostics.damages()) {
    m_facts.clock.khz = options.tsc_khz;
    m_facts.clock.overridden = options.tsc_khz != 0;
}

lib::Result<std::unique_ptr<RecordStream>> RecordStream::of_session(const std::string& path,
                                                                    const trace::OpenOptions& options,
                                                                    trace::Diagnostics& diagnostics,
                                                                    std::shared_ptr<const SessionIndex> known) {
    auto stream = std::unique_ptr<RecordStream>(new RecordStream(options, diagnostics));
    stream->m_directory = path;
    const std::uint64_t reports = diagnostics.reports();
    const auto found = std::make_shared<SessionIndex>();
    stream->m_session = known != nullptr ? std::move(known) : found;
    const bool is_new = stream->m_session == found;
    if (is_new) {
        if (const auto added = stream->add_session(*found); !added) {
            return added.error();
        }
    }
    if (!stream->m_images.load(options, path, &stream->m_session->manifest)) {
        return lib::Error::not_found;
    }
    if (is_new) {
        stream->m_merge.start();
        found->absent = stream->m_facts.absent;
        found->segments = stream->m_merge.take_segments();
        stream->m_is_sound = diagnostics.reports() == reports;
    } else {
        stream->note_absent(stream->m_session->absent);
        stream->m_merge.start(stream->m_session->segments);
        stream->m_is_sound = true;
    }
    stream->m_time.start_at(stream->m_merge.first_stamp());
    return stream;
}

lib::Result<std::unique_ptr<RecordStream>> RecordStream::of_sources(std::span<const trace::NamedSource> sources,
                                                                    const trace::OpenOptions& options,
                                                                    trace::Diagnostics& diagnostics) {
    auto stream = std::unique_ptr<RecordStream>(new RecordStream(options, diagnostics));
    for (const trace::NamedSource& source : sources) {
        stream->m_merge.add(source);
        stream->m_followed = stream->m_followed || source.followed;
    }
    if (!stream->m_images.load(options, {}, nullptr)) {
        return lib::Error::not_found;
    }
    stream->m_merge.start();
    stream->m_time.start_at(stream->m_merge.first_stamp());
    return stream;
}

// Everything that the directory holds.
lib::Result<void> RecordStream::add_session(SessionIndex& index) {
    const std::string& path = m_directory;
    auto manifest = load_manifest(path);
    if (!manifest) {
        const bool missing = manifest.error().cause == lib::Error::not_found;
        m_diagnostics.report(missing ? trace::Code("E-DIR") : trace::Code("E-MANIFEST"),
                             {.file = missing ? path : path + "/manifest.json"}, manifest.error().text);
        m_diagnostics.unusable_input();
        return missing ? lib::Error::not_found : lib::Error::corrupt;
    }
    index.manifest = std::move(manifest.value());
    if (index.manifest.transfer) {
        note_absent({.parts = index.manifest.transfer->lost});
    }
    m_merge.expect(index.manifest.chunks.size());
    SlotWindow window;
    for (const ManifestChunk& chunk : index.manifest.chunks) {
        // A file that is missing or unreadable costs its own records, not the session.
        const std::string name = path + '/' + chunk.file;
        const auto source = trace::ByteSource::open_file(name);
        if (!source) {
            m_diagnostics.report("E-IO", {.file = name}, trace::file_error(source.error()));
            m_facts.absent.records += std::min(chunk.records, ~std::uint64_t{0} - m_facts.absent.records);
            continue;
        }
        const bool has_size = source.value()->size_bytes() == chunk.bytes;
        if (!has_size) {
            m_diagnostics.report(
                "E-SIZE", {.file = name},
                fmt::format("the file has {} bytes, the manifest says {}", source.value()->size_bytes(), chunk.bytes));
        }
        // A chunk with a checksum of its own and without holes is compared when it is opened.
        window.begin(*source.value(), source.value()->size_bytes());
        const auto header = header_of(window);
        const bool needs_manifest = chunk.missing != 0 || !header || !tracer::is_sealed(*header);
        const bool is_damaged = has_size && needs_manifest && !has_checksum(name, chunk.crc32c);
        if (is_damaged) {
            m_diagnostics.report("W-CRC", {.file = name},
                                 "the checksum of the file is not that of the manifest: its records are read, and "
                                 "nothing is concluded from them");
        }
        m_merge.add_file(window, header, name,
                         {.is_damaged = is_damaged, .holes_listed = has_size && !is_damaged && chunk.missing != 0});
    }
    add_unlisted(path, index.manifest, m_merge, m_diagnostics);
    return {};
}

std::span<const trace::Event> RecordStream::next_batch() {
    if (m_time.has_started()) {
        if (const std::span<trace::Event> plain = m_merge.next_plain(); !plain.empty()) {
            m_time.set_plain(plain, m_merge.cursor());
            return plain;
        }
    }
    if (must_stop() || m_exhausted) {
        return {};
    }
    if (!m_merge.next(m_single)) {
        finish();
        return {};
    }
    ChunkCursor& cursor = m_merge.cursor();
    m_time.set(m_single, cursor);
    m_single.image = m_images.find(m_single, m_facts);
    cursor.set_image(m_single.image); // for the plain records that follow
    return must_stop() ? std::span<const trace::Event>() : std::span<const trace::Event>(&m_single, 1);
}

// What is known of the whole trace alone.
void RecordStream::finish() {
    m_exhausted = true;
    check_counters(m_facts, m_diagnostics);
    check_clock(m_facts, m_diagnostics);
    if (m_followed) {
        report_missing(m_facts, m_diagnostics);
    }
}

} // namespace host::formats::dat
