// SPDX-License-Identifier: MIT
// Row D8, and rows D40 to D45: what a checksum guards, and what is compressed.
#include "tests/support/malformed_row.hpp"
#include "tests/support/packed_archives.hpp"

#include "host/formats/packed/archive_reader.hpp"

namespace support {

namespace {

using enum host::trace::ExitStatus;
namespace packed = host::formats::packed;

// Of the archive of two chunks: a table, a block for each chunk, the end.
std::size_t block(std::size_t n) {
    return block_at(pack(two_chunks()), n);
}

std::function<Bytes()> header(std::size_t at, std::uint32_t value, std::size_t size) {
    return [=] { return archive_with(1, at, value, size); };
}

std::function<Bytes()> flipped(std::size_t n, std::size_t at) {
    return [=] {
        Bytes archive = pack(two_chunks());
        archive[block_at(archive, n) + at] ^= std::byte{1};
        return archive;
    };
}

// Another body for a block, and checksums that fit.
std::function<Bytes()> with_body(const std::function<void(Bytes&)>& change) {
    return [change] {
        const Bytes archive = pack(two_chunks());
        const auto at = [&](std::size_t n) {
            return archive.begin() + static_cast<std::ptrdiff_t>(block_at(archive, n));
        };
        Bytes one(at(1), at(2));
        Bytes body(one.begin() + static_cast<std::ptrdiff_t>(packed::kHeaderBytes), one.end());
        change(body);
        one.resize(packed::kHeaderBytes);
        set32(one, 36, static_cast<std::uint32_t>(body.size()));
        set32(one, 52, lib::crc32c(body));
        renew_header_checksum(one, 0);
        return Bytes(archive.begin(), at(1)) + one + body + Bytes(at(2), archive.end());
    };
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
    Bytes bytes = compact_chunk().compact(tracer::compact::Layout::a, 1);
    bytes[main_area(compact_chunk()) + 40] ^= std::byte{1};
    return bytes;
}

} // namespace

std::vector<MalformedRow> malformed_packed() {
    const std::size_t compact_main = main_area(compact_chunk());
    return {
        {.row = "D8",
         .name = "wrong_checksum_of_a_header",
         .input = "a bit of a block's header is wrong: the next block is found",
         .code = "E-HCRC",
         .status = damaged,
         .offset_bytes = block(1),
         .events = kSecond,
         .bytes = flipped(1, 30)},
        {.row = "D8",
         .name = "wrong_checksum_of_a_body",
         .input = "a bit of a block's body is wrong",
         .code = "W-BCRC",
         .status = damaged,
         .offset_bytes = block(1),
         .text = "skipped",
         .events = kSecond,
         .bytes = flipped(1, kBody + 30)},
        {.row = "D8",
         .name = "wrong_checksum_salvaged",
         .input = "only the checksum of a body is wrong, with --salvage",
         .code = "W-BCRC",
         .status = damaged,
         .offset_bytes = block(1),
         .text = "used all the same",
         .events = 21,
         .options = {.salvage = true},
         .bytes = header(52, 1, 4)},
        {.row = "D8",
         .name = "wrong_checksum_of_a_stream",
         .input = "a bit of a compact stream is wrong; a record follows it",
         .code = "W-BCRC",
         .status = damaged,
         .offset_bytes = compact_main,
         .text = "skipped",
         .events = 1,
         .bytes = damaged_stream},
        {.row = "D8",
         .name = "wrong_checksum_of_a_stream_salvaged",
         .input = "the same, with --salvage",
         .code = "W-BCRC",
         .status = damaged,
         .offset_bytes = compact_main,
         .text = "decoded all the same",
         .options = {.salvage = true},
         .bytes = damaged_stream},
        {.row = "D3",
         .name = "block_without_its_mark",
         .input = "a packed block whose first byte is wrong",
         .code = "E-MAGIC",
         .status = damaged,
         .offset_bytes = block(1),
         .events = kSecond,
         .bytes = flipped(1, 0)},
        {.row = "D4",
         .name = "newer_major_version_of_a_block",
         .input = "a packed block of a later major version",
         .code = "E-VERSION",
         .status = damaged,
         .offset_bytes = block(1),
         .events = kSecond,
         .bytes = header(8, 2, 2)},
        {.row = "D4",
         .name = "newer_minor_version_of_a_block",
         .input = "a packed block of a later minor version",
         .code = "W-MINOR",
         .offset_bytes = block(1),
         .events = 21,
         .bytes = header(10, 1, 2)},
        {.row = "D16",
         .name = "absurd_processor_of_a_block",
         .input = "a packed block of processor 65534",
         .code = "E-CPU",
         .status = damaged,
         .offset_bytes = block(1),
         .events = kSecond,
         .bytes = header(16, 0xFFFE, 2)},
        {.row = "D40",
         .name = "raw_size_of_zero",
         .input = "a block that unpacks to nothing",
         .code = "E-RAWSIZE",
         .status = damaged,
         .offset_bytes = block(1),
         .events = kSecond,
         .bytes = header(32, 0, 4)},
        {.row = "D40",
         .name = "raw_size_beyond_the_limit",
         .input = "a block that unpacks to one record more than the limit",
         .code = "E-RAWSIZE",
         .status = damaged,
         .offset_bytes = block(1),
         .events = kSecond,
         .bytes = header(32, packed::kRawBytesMax + 16, 4)},
        {.row = "D40",
         .name = "raw_size_of_4_gigabytes",
         .input = "a block that unpacks to 4 GiB",
         .code = "E-RAWSIZE",
         .status = damaged,
         .offset_bytes = block(1),
         .events = kSecond,
         .bytes = header(32, 0xFFFF'FFF0, 4)},
        {.row = "D41",
         .name = "more_than_stated",
         .input = "a block that unpacks to more than it states",
         .code = "E-BOMB",
         .status = damaged,
         .offset_bytes = block(1),
         .events = kSecond,
         .bytes = header(32, 16, 4)},
        {.row = "D42",
         .name = "less_than_stated",
         .input = "a block whose columns end too early",
         .code = "E-COMP",
         .status = damaged,
         .offset_bytes = block(1),
         .text = "of its body",
         .events = kSecond,
         .bytes = header(32, 64 * 1024, 4)},
        {.row = "D43",
         .name = "body_cut",
         .input = "a block whose body ends in the middle of a column",
         .code = "E-TRUNC",
         .status = damaged,
         .offset_bytes = block(1),
         .events = kSecond,
         .bytes = with_body([](Bytes& body) { body.resize(body.size() / 2); })},
        {.row = "D43",
         .name = "bytes_after_the_body",
         .input = "a block with bytes after its last column",
         .code = "W-TRAIL",
         .offset_bytes = block(1),
         .events = 21,
         .bytes = with_body([](Bytes& body) { body.resize(body.size() + 3); })},
        {.row = "D43",
         .name = "archive_cut",
         .input = "an archive without its last block",
         .code = "E-TRUNC",
         .status = damaged,
         .offset_bytes = block(3),
         .text = "the last block",
         .events = 21,
         .bytes =
             [] {
                 Bytes archive = pack(two_chunks());
                 archive.resize(block_at(archive, 3));
                 return archive;
             }},
        {.row = "D44",
         .name = "wrong_checksum_of_what_is_unpacked",
         .input = "a block that unpacks to something else",
         .code = "W-BCRC",
         .status = damaged,
         .offset_bytes = block(1),
         .text = "unpacks to",
         .events = kSecond,
         .bytes = header(48, 1, 4)},
        {.row = "D45",
         .name = "unknown_contents",
         .input = "a block of unknown contents",
         .code = "E-METHOD",
         .status = damaged,
         .offset_bytes = block(1),
         .events = kSecond,
         .bytes = header(12, 9, 1)},
        {.row = "D45",
         .name = "unknown_method",
         .input = "a block packed by an unknown method",
         .code = "E-METHOD",
         .status = damaged,
         .offset_bytes = block(1),
         .events = kSecond,
         .bytes = header(13, 3, 1)},
    };
}

} // namespace support
