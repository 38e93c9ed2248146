// SPDX-License-Identifier: MIT
// Has row D8, and rows D40 to D45: what a checksum guards, and what is compressed.
#include "tests/support/malformed_row.hpp"
#include "tests/support/packed_archives.hpp"

#include "host/formats/packed/archive.hpp"

namespace support {

namespace {

using enum host::trace::ExitStatus;
namespace packed = host::formats::packed;

// Of the archive of two chunks: a table, a block for each chunk, the end.
std::size_t block(std::size_t n) {
    return block_at(pack(two_chunks()), n);
}

Bytes header(std::size_t at, std::uint32_t value, std::size_t size) {
    return archive_with(1, at, value, size);
}

Bytes flipped_in_block(std::size_t n, std::size_t at) {
    return flipped(pack(two_chunks()), block(n) + at, 0);
}

// Another body for a block, and checksums that fit.
Bytes with_body(const std::function<void(Bytes&)>& change) {
    const Bytes archive = pack(two_chunks());
    const auto at = [&](std::size_t n) { return archive.begin() + static_cast<std::ptrdiff_t>(block_at(archive, n)); };
    Bytes one(at(1), at(2));
    Bytes body(one.begin() + static_cast<std::ptrdiff_t>(packed::kHeaderBytes), one.end());
    change(body);
    one.resize(packed::kHeaderBytes);
    set32(one, 36, static_cast<std::uint32_t>(body.size()));
    set32(one, 52, lib::crc32c(body));
    renew_header_checksum(one, 0);
    return Bytes(archive.begin(), at(1)) + one + body + Bytes(at(2), archive.end());
}

constexpr std::size_t kBody = packed::kHeaderBytes;
constexpr std::size_t kSecond = 9; // events of the second chunk

ChunkBuilder compact_chunk() {
    ChunkBuilder chunk = three_events();
    for (unsigned i = 0; i < 50; ++i) {
        chunk.event(3000 + i, "ipoint", 1);
    }
    return chunk.event(9000, "ipoint", 2);
}

Bytes damaged_stream() {
    return flipped(compact_chunk().compact(tracer::compact::Layout::a, 1), main_area(compact_chunk()) + 40, 0);
}

} // namespace

std::vector<MalformedRow> malformed_packed() {
    const std::size_t compact_main = main_area(compact_chunk());
    return {
        row("D8", "wrong_checksum_of_a_header", "a bit of a block's header is wrong: the next block is found",
            says("E-HCRC", block(1)), damaged, kSecond, flipped_in_block(1, 30)),
        row("D8", "wrong_checksum_of_a_body", "a bit of a block's body is wrong", says("W-BCRC", block(1), "skipped"),
            damaged, kSecond, flipped_in_block(1, kBody + 30)),
        row("D8", "wrong_checksum_salvaged", "only the checksum of a body is wrong, with --salvage",
            says("W-BCRC", block(1), "used all the same"), damaged, 21, header(52, 1, 4), {.salvage = true}),
        row("D8", "wrong_checksum_of_a_stream", "a bit of a compact stream is wrong; a record follows it",
            says("W-BCRC", compact_main, "skipped"), damaged, 1, damaged_stream()),
        row("D8", "wrong_checksum_of_a_stream_salvaged", "the same, with --salvage",
            says("W-BCRC", compact_main, "decoded all the same"), damaged, {}, damaged_stream(), {.salvage = true}),
        row("D3", "block_without_its_mark", "a packed block whose first byte is wrong", says("E-MAGIC", block(1)),
            damaged, kSecond, flipped_in_block(1, 0)),
        row("D4", "newer_major_version_of_a_block", "a packed block of a later major version",
            says("E-VERSION", block(1)), damaged, kSecond, header(8, 2, 2)),
        row("D4", "newer_minor_version_of_a_block", "a packed block of a later minor version",
            says("W-MINOR", block(1)), clean, 21, header(10, 1, 2)),
        row("D16", "absurd_processor_of_a_block", "a packed block of processor 65534", says("E-CPU", block(1)), damaged,
            kSecond, header(16, 0xFFFE, 2)),
        row("D40", "raw_size_of_zero", "a block that unpacks to nothing", says("E-RAWSIZE", block(1)), damaged, kSecond,
            header(32, 0, 4)),
        row("D40", "raw_size_beyond_the_limit", "a block that unpacks to one record more than the limit",
            says("E-RAWSIZE", block(1)), damaged, kSecond, header(32, packed::kRawBytesMax + 16, 4)),
        row("D40", "raw_size_of_4_gigabytes", "a block that unpacks to 4 GiB", says("E-RAWSIZE", block(1)), damaged,
            kSecond, header(32, 0xFFFF'FFF0, 4)),
        row("D41", "more_than_stated", "a block that unpacks to more than it states", says("E-BOMB", block(1)), damaged,
            kSecond, header(32, 16, 4)),
        row("D42", "less_than_stated", "a block whose columns end too early", says("E-COMP", block(1), "of its body"),
            damaged, kSecond, header(32, 64 * 1024, 4)),
        row("D43", "body_cut", "a block whose body ends in the middle of a column", says("E-TRUNC", block(1)), damaged,
            kSecond, with_body([](Bytes& body) { body.resize(body.size() / 2); })),
        row("D43", "bytes_after_the_body", "a block with bytes after its last column", says("W-TRAIL", block(1)), clean,
            21, with_body([](Bytes& body) { body.resize(body.size() + 3); })),
        row("D43", "archive_cut", "an archive without its last block", says("E-TRUNC", block(3), "the last block"),
            damaged, 21, without_end(pack(two_chunks()), pack(two_chunks()).size() - block(3))),
        row("D44", "wrong_checksum_of_what_is_unpacked", "a block that unpacks to something else",
            says("W-BCRC", block(1), "unpacks to"), damaged, kSecond, header(48, 1, 4)),
        row("D45", "unknown_contents", "a block of unknown contents", says("E-METHOD", block(1)), damaged, kSecond,
            header(12, 9, 1)),
        row("D45", "unknown_method", "a block packed by an unknown method", says("E-METHOD", block(1)), damaged,
            kSecond, header(13, 3, 1)),
    };
}

} // namespace support
