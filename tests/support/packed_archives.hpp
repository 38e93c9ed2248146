// SPDX-License-Identifier: MIT
// Makes packed files to be damaged: contents, and single headers that are changed while their checksum is correct.
#pragma once

#include "host/formats/packed/archive.hpp"
#include "host/formats/packed/block.hpp"
#include "lib/crc32c.hpp"
#include "tests/support/host_trace_builder.hpp"
#include "tests/support/memory_source.hpp"

#include <cstddef>
#include <cstdint>

namespace support {

inline Bytes pack(std::span<const std::byte> raw, bool records = true) {
    Bytes out;
    host::formats::packed::ArchiveWriter writer(
        [&](std::span<const std::byte> bytes) { out.insert(out.end(), bytes.begin(), bytes.end()); },
        [](std::uint64_t) {});
    const host::formats::packed::FileToPack file{.name = "0trace.dat", .bytes = source_of(raw), .records = records};
    EXPECT_TRUE(writer.write(std::span(&file, 1)).ok());
    return out;
}

// Returns the records of the run of the application `control` under an instruction clock.
inline Bytes control_run() {
    host::trace::Diagnostics diagnostics([](std::string_view) {});
    Bytes records;
    const auto source = host::trace::ByteSource::open("tests/viewers/data/control.rpk");
    if (!source) {
        ADD_FAILURE() << "the packed session is not there";
        return records;
    }
    const auto reader =
        host::formats::packed::ArchiveReader::open({.name = "control.rpk", .bytes = source.value()}, {}, diagnostics);
    if (!reader) {
        ADD_FAILURE() << "the packed session cannot be read";
        return records;
    }
    EXPECT_TRUE(reader.value()
                    ->extract([&](std::size_t file, std::span<const std::byte> bytes) -> lib::Result<void> {
                        if (reader.value()->files()[file].name == "0trace.dat") {
                            records.insert(records.end(), bytes.begin(), bytes.end());
                        }
                        return {};
                    })
                    .ok());
    EXPECT_FALSE(records.empty());
    EXPECT_FALSE(diagnostics.damaged());
    return records;
}

inline Bytes busy_chunk(std::size_t events, std::uint16_t number = 0, std::uint16_t cpu = 0) {
    ChunkBuilder builder(number);
    builder.begin.cpu = cpu;
    builder.name("task", 12, "sensor");
    for (std::size_t i = 0; i < events; ++i) {
        builder.event(1000 + 700 * i + i * i % 97, i % 3 == 0 ? "task_dispatch" : "task_timer",
                      static_cast<std::uint16_t>(12 + i % 4), static_cast<std::uint32_t>(i % 2));
    }
    return builder.bytes();
}

// Returns two chunks in one file: two segments, four blocks.
inline Bytes two_chunks() {
    Bytes raw = busy_chunk(12);
    const Bytes more = busy_chunk(9, 1, 1);
    raw.insert(raw.end(), more.begin(), more.end());
    return raw;
}

inline void set32(Bytes& bytes, std::size_t at, std::uint32_t value) {
    lib::store_le(std::span(bytes).subspan(at), value);
}

// Returns where the n-th block starts.
inline std::size_t block_at(const Bytes& archive, std::size_t n) {
    std::size_t at = 0;
    for (; n != 0; --n) {
        at += host::formats::packed::kHeaderBytes + lib::load_le<std::uint32_t>(std::span(archive).subspan(at + 36));
    }
    return at;
}

inline void renew_header_checksum(Bytes& archive, std::size_t at) {
    set32(archive, at + 60, lib::crc32c(std::span(archive).subspan(at, 60)));
}

// Returns the archive with one changed header, whose checksum is correct.
inline Bytes archive_with(std::size_t block, std::size_t at, std::uint32_t value, std::size_t size) {
    Bytes archive = pack(two_chunks());
    const std::size_t begin = block_at(archive, block);
    for (std::size_t i = 0; i < size; ++i) {
        archive[begin + at + i] = static_cast<std::byte>(value >> (8 * i));
    }
    renew_header_checksum(archive, begin);
    return archive;
}

} // namespace support
