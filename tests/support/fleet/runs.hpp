// SPDX-License-Identifier: MIT
// Makes a run of several chunks as messages: two tasks of which one preempts the other now and then, so that jobs cross
// the borders of chunks.
#pragma once

#include "fleet/message.hpp"
#include "host/formats/dat/manifest.hpp"
#include "lib/crc32c.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace support::fleet {

inline const host::fleet::NodeName kNode{"lab", "pi-1"};

inline const std::string kFormats = R"json({"format": "remora-formats", "version": 1, "image": "9",
                                            "formats": [{"id": 104, "text": "speed %s"}]})json";

struct RunOfChunks {
    std::vector<host::fleet::Message> chunks;
    host::formats::dat::Manifest manifest;

    [[nodiscard]] host::fleet::Message session() const {
        return {.from = kNode,
                .kind = host::fleet::MessageKind::session,
                .id = host::fleet::session_message_id(manifest.boot_id),
                .started_s = 1'700'000'000,
                .body = to_json_text(manifest)};
    }

    // Names the texts in the manifest, and returns their message.
    host::fleet::Message formats(const std::string& text) {
        manifest.formats = {.image_id = 9, .crc32c = lib::crc32c(std::as_bytes(std::span(text)))};
        return {.from = kNode,
                .kind = host::fleet::MessageKind::formats,
                .id = host::fleet::formats_message_id(manifest.boot_id),
                .started_s = 1'700'000'000,
                .body = text};
    }
};

inline RunOfChunks run_of(std::uint64_t boot_id, std::uint16_t chunks, bool panics = false) {
    constexpr std::uint64_t kTicksPerChunk = 1'000'000;
    RunOfChunks run;
    run.manifest.origin = "udp";
    run.manifest.complete = true;
    run.manifest.boot_id = boot_id;
    run.manifest.tsc_khz = 1'000'000;
    for (std::uint16_t number = 0; number < chunks; ++number) {
        ChunkBuilder builder(number);
        builder.begin.boot_id = boot_id;
        builder.name("task", 1, "control").name("task", 2, "logger");
        const std::uint64_t begin = (number + std::uint64_t{1}) * kTicksPerChunk;
        builder.event(begin, "task_activate", 1).event(begin + 100, "task_dispatch", 1, 1);
        builder.event(begin + 5'000, "task_end_cycle", 1).event(begin + 5'100, "task_dispatch", 2, 1);
        if (panics && number + 1 == chunks) {
            builder.event(begin + 5'200, "panic", 2, 13);
        }
        const Bytes bytes = sealed(builder.bytes());
        const std::string body(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        host::formats::dat::ManifestChunk listed;
        listed.file = std::to_string(number) + "trace.dat";
        listed.described = true;
        listed.description = builder.description();
        listed.bytes = body.size();
        listed.preamble = listed.description.preamble_slots;
        listed.records = listed.description.records;
        listed.crc32c = lib::crc32c(bytes);
        run.manifest.chunks.push_back(listed);
        run.chunks.push_back(
            {.from = kNode,
             .kind = host::fleet::MessageKind::chunk,
             .id = host::fleet::chunk_message_id({.boot_id = boot_id, .cpu = 0, .chunk = number, .generation = 0}),
             .started_s = 1'700'000'000,
             .body = body});
    }
    return run;
}

} // namespace support::fleet
