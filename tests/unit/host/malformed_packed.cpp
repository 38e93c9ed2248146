// SPDX-License-Identifier: MIT
// Row D8, and rows D40 to D45: what a checksum guards, and what is compressed.
#include "tests/support/malformed_row.hpp"
#include "tests/support/packed_archives.hpp"

#include "host/trace/packed/archive_reader.hpp"

namespace support {

namespace {

using enum host::trace::ExitStatus;
namespace packed = host::trace::packed;

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
        {"D8",
         "wrong_checksum_of_a_header",
         "a bit of a block's header is wrong: the next block is found",
         "E-HCRC",
         damaged,
         block(1),
         "",
         kSecond,
         {},
         flipped(1, 30)},
        {"D8",
         "wrong_checksum_of_a_body",
         "a bit of a block's body is wrong",
         "W-BCRC",
         damaged,
         block(1),
         "skipped",
         kSecond,
         {},
         flipped(1, kBody + 30)},
        {"D8",
         "wrong_checksum_salvaged",
         "only the checksum of a body is wrong, with --salvage",
         "W-BCRC",
         damaged,
         block(1),
         "used all the same",
         21,
         {.salvage = true},
         header(52, 1, 4)},
        {"D8",
         "wrong_checksum_of_a_stream",
         "a bit of a compact stream is wrong; a record stands behind it",
         "W-BCRC",
         damaged,
         compact_main,
         "skipped",
         1,
         {},
         damaged_stream},
        {"D8",
         "wrong_checksum_of_a_stream_salvaged",
         "the same, with --salvage",
         "W-BCRC",
         damaged,
         compact_main,
         "decoded all the same",
         {},
         {.salvage = true},
         damaged_stream},
        {"D3",
         "block_without_its_mark",
         "a packed block whose first byte is wrong",
         "E-MAGIC",
         damaged,
         block(1),
         "",
         kSecond,
         {},
         flipped(1, 0)},
        {"D4",
         "newer_major_version_of_a_block",
         "a packed block of a later major version",
         "E-VERSION",
         damaged,
         block(1),
         "",
         kSecond,
         {},
         header(8, 2, 2)},
        {"D4",
         "newer_minor_version_of_a_block",
         "a packed block of a later minor version",
         "W-MINOR",
         clean,
         block(1),
         "",
         21,
         {},
         header(10, 1, 2)},
        {"D16",
         "absurd_processor_of_a_block",
         "a packed block of processor 65534",
         "E-CPU",
         damaged,
         block(1),
         "",
         kSecond,
         {},
         header(16, 0xFFFE, 2)},
        {"D40",
         "raw_size_of_zero",
         "a block that unpacks to nothing",
         "E-RAWSIZE",
         damaged,
         block(1),
         "",
         kSecond,
         {},
         header(32, 0, 4)},
        {"D40",
         "raw_size_beyond_the_limit",
         "a block that unpacks to a record more than a block may have",
         "E-RAWSIZE",
         damaged,
         block(1),
         "",
         kSecond,
         {},
         header(32, packed::kRawBytesMax + 16, 4)},
        {"D40",
         "raw_size_of_4_gigabytes",
         "a block that unpacks to 4 GiB",
         "E-RAWSIZE",
         damaged,
         block(1),
         "",
         kSecond,
         {},
         header(32, 0xFFFF'FFF0, 4)},
        {"D41",
         "more_than_announced",
         "a block that unpacks to more than it announces",
         "E-BOMB",
         damaged,
         block(1),
         "",
         kSecond,
         {},
         header(32, 16, 4)},
        {"D42",
         "less_than_announced",
         "a block whose columns end before it is unpacked",
         "E-COMP",
         damaged,
         block(1),
         "of its body",
         kSecond,
         {},
         header(32, 64 * 1024, 4)},
        {"D43",
         "body_cut",
         "a block whose body ends in the middle of a column",
         "E-TRUNC",
         damaged,
         block(1),
         "",
         kSecond,
         {},
         with_body([](Bytes& body) { body.resize(body.size() / 2); })},
        {"D43",
         "bytes_behind_the_body",
         "a block with bytes behind its last column",
         "W-TRAIL",
         clean,
         block(1),
         "",
         21,
         {},
         with_body([](Bytes& body) { body.resize(body.size() + 3); })},
        {"D43",
         "archive_cut",
         "an archive without its last block",
         "E-TRUNC",
         damaged,
         block(3),
         "the last block",
         21,
         {},
         [] {
             Bytes archive = pack(two_chunks());
             archive.resize(block_at(archive, 3));
             return archive;
         }},
        {"D44",
         "wrong_checksum_of_what_is_unpacked",
         "a block that unpacks to something else",
         "W-BCRC",
         damaged,
         block(1),
         "unpacks to",
         kSecond,
         {},
         header(48, 1, 4)},
        {"D45",
         "unknown_contents",
         "a block of contents that are not known",
         "E-METHOD",
         damaged,
         block(1),
         "",
         kSecond,
         {},
         header(12, 9, 1)},
        {"D45",
         "unknown_method",
         "a block packed by a method that is not known",
         "E-METHOD",
         damaged,
         block(1),
         "",
         kSecond,
         {},
         header(13, 3, 1)},
    };
}

} // namespace support
