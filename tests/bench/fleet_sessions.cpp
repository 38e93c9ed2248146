// SPDX-License-Identifier: MIT
// Simulated nodes: sessions that were recorded, again under other boot ids, so that a fleet of any size has traces of
// real runs. What changes is what makes a run another one: the boot id, the checksums, and when it began.
//
//   fleet_sessions OUT NODES RUNS SPAN_S SESSION...    OUT/lab/node-001/<boot id>-1 and so on; prints the
//   numbers of records and chunks
#include "fleet/message.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/trace/byte_source.hpp"
#include "lib/crc32c.hpp"
#include "tracer/record/record.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <span>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using host::formats::dat::Manifest;
using host::formats::dat::ManifestChunk;

constexpr std::size_t kChunkBytesMax = std::size_t{1} << 30;
constexpr std::uint64_t kFirstStartS = 1'790'000'000;

// In the payload of chunk_begin, its length word included (docs/trace-format.md).
constexpr std::size_t kBootId = 56;
constexpr std::size_t kSum = 82;

[[noreturn]] void fail(const std::string& text) {
    fmt::print(stderr, "fleet_sessions: {}\n", text);
    std::exit(1);
}

// Byte `at` of the payload of the long event with which the image begins: each slot holds six.
char& payload_byte(std::string& image, std::size_t at) {
    const std::size_t in_slot = at % 6;
    return image[at / 6 * tracer::kRecordBytes + (in_slot < 2 ? 2 + in_slot : 10 + in_slot)];
}

template <typename Number>
void put(std::string& image, std::size_t at, Number number) {
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
        payload_byte(image, at + i) = static_cast<char>(number >> (8 * i));
    }
}

std::uint32_t sum_of(const std::string& image) {
    return lib::crc32c(std::as_bytes(std::span(image)));
}

struct Recorded {
    Manifest manifest;
    std::vector<std::string> images;
    std::uint64_t events = 0;
};

Recorded read(const std::string& path) {
    auto manifest = host::formats::dat::load_manifest(path);
    if (!manifest || !manifest.value().complete) {
        fail(path + " is no complete session");
    }
    Recorded recorded;
    recorded.manifest = std::move(manifest.value());
    for (const ManifestChunk& chunk : recorded.manifest.chunks) {
        auto image = host::trace::read_file(path + '/' + chunk.file, kChunkBytesMax);
        if (!image) {
            fail(chunk.file + ": " + image.error().text);
        }
        recorded.images.push_back(std::move(image.value()));
        recorded.events += chunk.records;
    }
    return recorded;
}

void write(const Recorded& recorded, std::uint64_t boot_id, std::uint64_t started_s, const std::string& path) {
    fs::create_directories(path);
    Manifest manifest = recorded.manifest;
    manifest.boot_id = boot_id;
    manifest.started_s = started_s;
    for (std::size_t i = 0; i < manifest.chunks.size(); ++i) {
        std::string image = recorded.images[i];
        put(image, kBootId, boot_id);
        put(image, kSum, std::uint32_t{0});
        put(image, kSum, sum_of(image));
        manifest.chunks[i].crc32c = sum_of(image);
        manifest.chunks[i].description.boot_id = boot_id;
        std::ofstream(path + '/' + manifest.chunks[i].file, std::ios::binary) << image;
    }
    if (!save_manifest(manifest, path)) {
        fail(path + " cannot be written");
    }
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 6) {
        fail("OUT NODES RUNS SPAN_S SESSION...");
    }
    const std::string out = argv[1];
    const std::uint64_t nodes = std::strtoull(argv[2], nullptr, 10);
    const std::uint64_t runs = std::strtoull(argv[3], nullptr, 10);
    const std::uint64_t span_s = std::strtoull(argv[4], nullptr, 10);
    std::vector<Recorded> recorded;
    for (int i = 5; i < argc; ++i) {
        recorded.push_back(read(argv[i]));
    }
    std::uint64_t events = 0;
    std::uint64_t chunks = 0;
    std::uint64_t number = 0;
    for (std::uint64_t node = 1; node <= nodes; ++node) {
        for (std::uint64_t run = 0; run < runs; ++run) {
            const Recorded& one = recorded[(node + run) % recorded.size()];
            const std::uint64_t boot_id = ++number * 0x9E37'79B9'7F4A'7C15U; // no two are the same: the factor is odd
            const std::uint64_t started_s = kFirstStartS + span_s * run / runs;
            write(one, boot_id, started_s,
                  fmt::format("{}/lab/node-{:03}/{}-1", out, node, host::fleet::boot_text(boot_id)));
            events += one.events;
            chunks += one.images.size();
        }
    }
    fmt::print("{} {}\n", events, chunks);
    return 0;
}
