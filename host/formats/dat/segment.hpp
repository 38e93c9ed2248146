// SPDX-License-Identifier: MIT
// Where the chunks are in a file. One file usually holds one chunk; a concatenation holds several; a plain S.Ha.R.K.
// file has no chunk_begin and is one segment. A S.Ha.R.K. cyclic chunk is stored in memory order: its time falls at
// exactly one slot, and the segment says where the oldest record is.
#pragma once

#include "host/formats/dat/shifted.hpp"
#include "host/formats/dat/slot_reader.hpp"
#include "host/formats/dat/slot_window.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/units.hpp"
#include "tracer/names/metadata.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace host::formats::dat {

// What no two chunks have in common.
struct ChunkKey {
    std::uint64_t boot_id = 0;
    std::uint16_t cpu = 0;
    std::uint16_t chunk = 0;
    std::uint32_t generation = 0;

    friend auto operator<=>(const ChunkKey&, const ChunkKey&) = default;
};

struct Segment {
    std::string path;
    std::uint64_t begin_bytes = 0;
    std::uint64_t end_bytes = SlotReader::kToTheEnd;
    std::uint64_t oldest_bytes = 0;              // where to start reading, if not at begin_bytes; 0: there
    std::vector<Stretch> stretches{};            // between the places that lost or gained bytes; none: all is one
    std::uint64_t preamble_slots = 0;            // left of a preamble whose header was lost; records follow it
    std::shared_ptr<trace::ByteSource> source{}; // null: opened by its path when its turn comes
    std::size_t buffer_bytes = trace::ByteSource::kBufferBytes; // of the reader of its slots, at most
    std::optional<ChunkKey> key{};                              // as its header says
    std::size_t order = 0;                                      // in the input
    bool damaged = false;                                       // the manifest's checksum of the file is another
    bool followed = false;                                      // a pipe of parts of chunks
    bool holes_listed = false; // the manifest lists lost slots of it, and its checksum is right
    lib::Ticks first_stamp{};  // of the first record that is no metadata, as far as the file can be believed
};

// With which the file begins; nothing if that is no chunk that describes itself.
[[nodiscard]] std::optional<tracer::ChunkBegin> header_of(SlotWindow& window);

// Appends the segments of a seekable file, which the window has looked at up to its header at most. header: header_of()
// it. Reports E-EMPTY, E-TRUNC, E-IO; damage inside chunks is for the reader of the chunk to report.
void index_file(SlotWindow& window, const std::optional<tracer::ChunkBegin>& header, const std::string& path,
                std::vector<Segment>& segments, trace::Diagnostics& diagnostics);

// Null if its file cannot be opened (any more).
[[nodiscard]] std::shared_ptr<trace::ByteSource> source_of(const Segment& segment);

// Keeps the first of several chunks of one number: W-DUP if another is the same byte by byte, E-CONFLICT if it is not.
// Each is compared with the first.
void drop_duplicates(std::vector<Segment>& segments, trace::Diagnostics& diagnostics);

} // namespace host::formats::dat
