// SPDX-License-Identifier: MIT
// Writes a stream of records, in order and with known gaps, into the files of a session. Each chunk_begin starts a file
// `Ntrace.dat`, which contains exactly preamble + records, byte for byte as the machine sent them. A stream without
// metadata (a plain S.Ha.R.K. sender) becomes 0trace.dat. The names are made here; nothing from the wire becomes part
// of a path. A complete file is sealed: the syncer flushes it and writes a manifest that lists it. durability() states
// how much of what add() took is on the disk; sync() flushes what is not sealed yet.
//
// After a gap the chunk continues unless the gap may contain the rest of it: a sender fills its packets, so L lost
// packets are taken to contain L times the greatest number of records of any packet so far. The file gets as many empty
// slots (zeros), so that what follows keeps its position, and the manifest states where. If the gap was longer, what
// comes before the next chunk_begin belongs to a chunk whose begin is lost, and gets a file of its own, marked as not
// described.
#pragma once

#include "host/collector/session_directory.hpp"
#include "host/collector/syncer.hpp"
#include "host/formats/dat/chunk_begin.hpp"
#include "host/formats/dat/chunk_slots.hpp"
#include "host/formats/dat/manifest.hpp"
#include "lib/result.hpp"
#include "tracer/names/metadata.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace host::collector {

// The limits of a collector, whoever sends: all are here, none comes from the wire. What exceeds a limit ends the
// session that it belongs to, and nothing else, except that a full table may replace one (reliable/admission.hpp).
struct Limits {
    std::size_t sessions = 64;      // open at the same time; for `record --out`: restarts of the machine
    std::size_t directories = 4096; // in a served directory, including those of earlier sessions
    std::size_t files = 4096;       // of one session
    std::uint64_t session_bytes = std::uint64_t{1} << 30;
    std::uint64_t total_bytes = std::uint64_t{16} << 30; // in a served directory, including earlier sessions
};

// Counts what all sessions of a collector have written together; Limits::total_bytes limits it.
// A thread that flushes counts there, too.
struct Usage {
    std::atomic<std::uint64_t> bytes = 0;
};

class SessionWriter {
  public:
    // Returns the present manifest.
    using Describe = std::function<formats::dat::Manifest()>;
    // Called when a chunk has been sealed.
    using Sealed = std::function<void(const formats::dat::ManifestChunk& chunk)>;

    // syncer, limits and usage must outlive the writer; usage is shared with the other sessions of the collector.
    SessionWriter(std::shared_ptr<SessionDirectory> directory, Syncer& syncer, const Limits& limits, Usage& usage,
                  Describe describe, Sealed sealed = {});
    SessionWriter(const SessionWriter&) = delete;
    SessionWriter& operator=(const SessionWriter&) = delete;

    // Adds the whole records of one packet. lost_before: the number of packets that are missing before it. After an
    // error nothing more is written.
    void add(std::span<const std::byte> records, std::uint64_t lost_before);

    // Seals the last file; add() must not be called afterwards.
    void finish();

    // Lists what was sealed while an earlier manifest was pending. Must be called regularly.
    void list_sealed();

    // Asks the syncer to make durable what was added so far, including an open file.
    void sync();

    // Bytes that add() took, and the state that shows how many of them are durable.
    [[nodiscard]] std::uint64_t taken_bytes() const { return m_taken_bytes; }

    [[nodiscard]] const std::shared_ptr<Durability>& durability() const { return m_durability; }

    // Returns the first error of a write or a flush: no_space (the disk, or a limit), exists, io.
    [[nodiscard]] std::optional<lib::Error> error() const { return m_error ? m_error : m_durability->error(); }

    // Returns the limit that was exceeded, in words; empty if none was.
    [[nodiscard]] const std::string& exceeded() const { return m_exceeded; }

    [[nodiscard]] const std::vector<formats::dat::ManifestChunk>& chunks() const { return m_chunks; }

    // Returns the chunks without the one whose file still grows.
    [[nodiscard]] std::span<const formats::dat::ManifestChunk> sealed_chunks() const {
        return std::span(m_chunks).first(m_chunks.size() - (m_file != nullptr ? 1 : 0));
    }

    [[nodiscard]] const std::optional<tracer::ExportEnd>& export_end() const { return m_export_end; }

    [[nodiscard]] const std::optional<tracer::Build>& build() const { return m_build; }

    // Returns the number of stored records, without the preambles.
    [[nodiscard]] std::uint64_t records() const { return m_records; }

    // Returns the number of chunks that came whole but have a wrong checksum.
    [[nodiscard]] std::uint64_t wrong_checksums() const { return m_wrong_sums; }

    [[nodiscard]] std::uint64_t stray_records() const { return m_stray; }

  private:
    struct CloseFile {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };

    void add_record(std::span<const std::byte> bytes);
    void begin_file();
    void end_file();
    void write(std::span<const std::byte> bytes, const tracer::Record& record);
    void take_metadata(const tracer::Record& record);
    void account_gap(std::uint64_t lost_before);
    void fill_gap(const tracer::Record& next);
    void store(std::span<const std::byte> bytes);
    void check_sum();
    void fail(lib::Error error);
    void exceed(std::string limit);
    [[nodiscard]] bool has_room(std::size_t bytes);
    // Returns whether the next slot belongs to a compact stream.
    [[nodiscard]] bool in_stream() const;
    [[nodiscard]] static bool begins_anew(std::span<const std::byte> records);

    // Returns how many slots the open chunk still expects; none if it announced no number.
    [[nodiscard]] std::optional<std::uint64_t> remaining() const;

    std::shared_ptr<SessionDirectory> m_directory;
    Syncer& m_syncer;
    const Limits& m_limits;
    Usage& m_usage;
    Describe m_describe;
    Sealed m_sealed;
    std::shared_ptr<Durability> m_durability = std::make_shared<Durability>();
    std::unique_ptr<std::FILE, CloseFile> m_file;
    formats::dat::CombinedAssembler m_assembler;
    std::vector<formats::dat::ManifestChunk> m_chunks;
    std::optional<tracer::ExportEnd> m_export_end;
    std::optional<tracer::Build> m_build;
    std::optional<lib::Error> m_error;
    std::string m_exceeded;
    bool m_listed = true; // a manifest has been made since the last chunk was sealed
    std::uint64_t m_taken_bytes = 0;
    std::uint64_t m_bytes = 0;                   // in all files
    std::uint64_t m_slots = 0;                   // in the open file
    std::uint64_t m_slots_lost = 0;              // estimate for the open chunk
    std::uint64_t m_packet_records = 0;          // the greatest number in any packet so far
    std::uint64_t m_packets = 0;                 // including lost ones
    formats::dat::ManifestGap m_gap;             // filled when a record of the same chunk follows; without slots: none
    std::optional<formats::dat::ChunkSum> m_sum; // that of the open chunk, if it states a checksum
    std::uint64_t m_wrong_sums = 0;
    std::uint64_t m_records = 0;
    std::uint64_t m_stray = 0;
    bool m_in_export_end = false;
};

} // namespace host::collector
