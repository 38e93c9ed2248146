// SPDX-License-Identifier: MIT
// manifest.json states what a session directory holds, how it was received and whether anything is missing. It is
// written by the collector and by `remora adopt`, and read by everything else. The file names in it are made by this
// project and checked when they are read: digits followed by trace.dat, never a path.
#pragma once

#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/facts.hpp"
#include "lib/result.hpp"
#include "tracer/compact/layout.hpp"
#include "tracer/names/metadata.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace host::formats::dat {

inline constexpr std::uint32_t kManifestVersion = 1;
inline constexpr std::string_view kManifestName = "manifest.json";

// Return the names under which clock sources, clock modes and results of a run are printed and stored.
[[nodiscard]] std::string_view clock_mode_name(tracer::ClockMode mode);
[[nodiscard]] std::string_view tsc_source_name(tracer::TscSource source);
[[nodiscard]] std::string_view run_result_name(tracer::RunResult result);
// Returns how a chunk was recorded, from its published flags: cyclic, jump or stop.
[[nodiscard]] std::string_view chunk_mode_name(std::uint8_t flags);
// Returns the name of a compact::Layout, such as "A", or "?" for a number without a name.
[[nodiscard]] std::string_view layout_name(std::uint8_t layout);

// Returns "records", or "compact" with the name of the layout: "compact A".
[[nodiscard]] std::string encoding_name(const tracer::ChunkBegin& description);

// Packets that are missing in the middle of a chunk; the file has empty slots in their place.
struct ManifestGap {
    std::uint64_t offset = 0;       // offset in the file, bytes
    std::uint64_t slots = 0;        // number of empty slots
    std::uint64_t first_packet = 0; // number of the first missing packet
    std::uint64_t packets = 0;
    std::optional<std::uint64_t> tsc_before; // stamp of the record before the gap; nothing: none, or not known
    std::optional<std::uint64_t> tsc_after;  // stamp of the record after the gap; nothing: none, or not known

    friend bool operator==(const ManifestGap&, const ManifestGap&) = default;
};

struct ManifestChunk {
    std::string file;
    bool described = false;         // it has its own chunk_begin
    tracer::ChunkBegin description; // as the chunk states it; meaningless if not described
    std::uint64_t bytes = 0;        // of the file
    std::uint64_t preamble = 0;     // metadata slots in the file
    std::uint64_t records = 0;      // in the file, preamble not counted
    std::uint64_t missing = 0;      // slots that the chunk announced and the file does not hold, empty ones included
    std::optional<std::uint64_t> first_tsc;
    std::optional<std::uint64_t> last_tsc;
    std::uint32_t crc32c = 0;      // of the whole file
    std::vector<ManifestGap> gaps; // in the order of their offsets
};

// Returns what was read of each file of a session in the form of the manifest, except size and checksum.
class ReadChunks {
  public:
    // facts must outlive this object and must not change.
    explicit ReadChunks(const trace::TraceFacts& facts);

    // Returns the figures of the whole file, which normally has one chunk, even if several were joined. Returns nothing
    // if no chunk is from this file.
    [[nodiscard]] std::optional<ManifestChunk> of(const std::string& path) const;

  private:
    std::vector<const trace::ChunkReport*> m_reports; // by file; those of one file in the order of the facts
};

struct ManifestFormats {
    std::uint64_t image_id = 0; // of the kernel image that they come from
    std::uint32_t crc32c = 0;   // of formats.json
};

struct ManifestTransfer {
    std::uint64_t packets = 0; // valid packets without duplicates
    std::uint64_t lost = 0;    // packet numbers that did not arrive in time
    std::uint64_t late = 0;    // arrived after they had been given up; also counted as lost
    std::uint64_t duplicate = 0;
    std::uint64_t conflicts = 0; // equal number, different contents: two machines, or one that was reset
    std::uint64_t reordered = 0;
    std::uint64_t malformed = 0;
    std::uint64_t other_senders = 0;
    std::uint64_t socket_overflow = 0; // datagrams that the operating system dropped before they were read
    std::uint64_t stray_records = 0;   // beyond what their chunk announced: counted, not stored
    std::uint64_t records = 0;         // received and stored, preambles not counted
};

struct Manifest {
    std::uint32_t version = kManifestVersion;
    std::string origin; // "udp" or "files"
    bool complete = false;
    std::string reason; // why not complete; empty if it is
    tracer::ClockMode clock_mode = tracer::ClockMode::unknown;
    tracer::TscSource tsc_source = tracer::TscSource::unknown;
    std::uint32_t tsc_khz = 0;
    std::uint32_t tsc_error_ppm = 0;
    std::uint64_t boot_id = 0;
    std::uint64_t started_s = 0; // since 1970 (UTC), of the first packet, by the collector's clock; 0: not known
    std::optional<tracer::Build> build;
    std::optional<tracer::ExportEnd> announced; // the sender's totals
    std::vector<ManifestChunk> chunks;
    std::optional<ManifestTransfer> transfer; // absent if nothing was transferred
    std::optional<ManifestFormats> formats;   // absent if no kernel image was named
};

// Returns true for 0trace.dat .. 999999999trace.dat, in lower or (as FAT has it) upper case.
[[nodiscard]] bool is_chunk_file_name(std::string_view name);

[[nodiscard]] std::string to_json_text(const Manifest& manifest);

[[nodiscard]] lib::Result<Manifest, trace::Refusal> parse_manifest(std::string text_untrusted);

// The cause is not_found if the directory has no manifest; else it cannot be read, or is not a manifest of this project
// (corrupt).
[[nodiscard]] lib::Result<Manifest, trace::Failure<lib::Error>> load_manifest(const std::string& directory);

// Writes the manifest to a temporary file, flushes it to the disk and renames it, so that a reader sees the old or the
// new manifest. Errors: no_space, io.
[[nodiscard]] lib::Result<void> save_manifest(const Manifest& manifest, const std::string& directory);

// Saves any text under any name in the directory, in the same way.
[[nodiscard]] lib::Result<void> save_text(std::string_view text, const std::string& directory, std::string_view name);

struct FileChecksum {
    std::uint64_t bytes = 0;
    std::uint32_t crc32c = 0;
};

// Returns the checksum of a file. Errors: not_found, refused, io.
[[nodiscard]] lib::Result<FileChecksum> checksum_file(const std::string& path);

// Returns the Ntrace.dat files that are in a directory, whatever its manifest lists, by number. Errors: not_found,
// refused, io.
[[nodiscard]] lib::Result<std::vector<std::string>> list_chunk_files(const std::string& path);

// endtrace.dat, in lower or (as FAT has it) upper case, has the totals of the run; a ramdisk has it beside its chunks.
inline constexpr std::string_view kTotalsName = "endtrace.dat";
[[nodiscard]] bool is_totals_file_name(std::string_view name);

// Errors: not_found (the directory has no such file), corrupt (it does not begin with whole totals), refused, io.
[[nodiscard]] lib::Result<tracer::ExportEnd> read_totals(const std::string& directory);

// Returns the chunk files that the manifest does not list. A collector that was killed leaves such files: the chunk
// that it was writing, and chunks that ended just before. Returns none if the manifest is complete, because it then
// lists all that the machine sent.
[[nodiscard]] std::vector<std::string> unlisted_files(const std::string& path, const Manifest& manifest);

// The files of a session: those in a directory, or those in a packed file, which have been unpacked.
class SessionFiles {
  public:
    using Unpacked = std::map<std::string, std::shared_ptr<trace::ByteSource>, std::less<>>; // by name

    SessionFiles() = default;

    explicit SessionFiles(std::string directory)
        : m_place(std::move(directory)) {}

    SessionFiles(std::string packed, Unpacked files)
        : m_place(std::move(packed))
        , m_unpacked(std::move(files)) {}

    // Returns the path of the directory or of the packed file.
    [[nodiscard]] const std::string& place() const { return m_place; }

    [[nodiscard]] bool is_directory() const { return !m_unpacked; }

    // Returns the name of a file in reports: its path, if it is in a directory.
    [[nodiscard]] std::string name_of(std::string_view file) const;

    // Errors: those of ByteSource::open_file().
    [[nodiscard]] lib::Result<std::shared_ptr<trace::ByteSource>> open(std::string_view file) const;

    // Return what load_manifest(), checksum_file() and unlisted_files() return for a directory.
    [[nodiscard]] lib::Result<Manifest, trace::Failure<lib::Error>> manifest() const;
    [[nodiscard]] lib::Result<FileChecksum> checksum(std::string_view file) const;
    [[nodiscard]] std::vector<std::string> unlisted(const Manifest& manifest) const;

    // Returns a whole file of at most so many bytes.
    [[nodiscard]] lib::Result<std::string, trace::Failure<lib::Error>> text(std::string_view file,
                                                                            std::size_t bytes_max) const;

  private:
    std::string m_place;
    std::optional<Unpacked> m_unpacked; // nothing: a directory
};

// now: the text and its name survive a loss of power. later: they survive the process that writes them, and the call
// does not wait for the disk.
enum class Flush : std::uint8_t { now, later };

// Saves the text as the other save_text() does, but into an open directory, so that nothing that is renamed or linked
// meanwhile redirects it. Errors: no_space, io.
[[nodiscard]] lib::Result<void> save_text(std::string_view text, int directory, std::string_view name,
                                          Flush flush = Flush::now);

// The two steps of save_text(): NAME.new is written, and takes the place of NAME. With Flush::later the caller must
// flush in between, or a loss of power may leave an empty file in the place of an earlier one.
[[nodiscard]] lib::Result<void> write_beside(std::string_view text, int directory, std::string_view name, Flush flush);
[[nodiscard]] lib::Result<void> put_in_place(int directory, std::string_view name, Flush flush);

} // namespace host::formats::dat
