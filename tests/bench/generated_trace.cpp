// SPDX-License-Identifier: MIT
#include "tests/bench/generated_trace.hpp"

#include "convert/records/record_chunks.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/text/format.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/event.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <random>
#include <span>
#include <system_error>
#include <vector>

namespace bench {

namespace {

using namespace host;

constexpr std::uint16_t kFirstTask = 12;
constexpr std::uint16_t kTasks = 6;

class Generator {
  public:
    [[nodiscard]] lib::Ticks stamp() const { return {m_stamp}; }

    [[nodiscard]] tracer::Record next() {
        struct Step {
            std::uint8_t code;
            bool of_vector;
        };

        static constexpr auto kJob = std::to_array<Step>({{trace::kCodeOf<"interrupt_start">, true},
                                                          {trace::kCodeOf<"task_timer">, false},
                                                          {trace::kCodeOf<"interrupt_end">, true},
                                                          {trace::kCodeOf<"task_dispatch">, false},
                                                          {trace::kCodeOf<"context_switch">, false},
                                                          {trace::kCodeOf<"task_begin_cycle">, false},
                                                          {trace::kCodeOf<"set_mutex_lock">, false},
                                                          {trace::kCodeOf<"set_mutex_unlock">, false},
                                                          {trace::kCodeOf<"task_end_cycle">, false}});
        const Step& step = kJob.at(m_events % kJob.size());
        if (m_events++ % kJob.size() == 0) {
            m_task = static_cast<std::uint16_t>(kFirstTask + m_random() % kTasks); // the next task is not predictable
        }
        m_stamp += 1 + static_cast<std::uint64_t>(m_distance(m_random));
        return tracer::make_record(step.code, step.of_vector ? 32 : m_task, step.of_vector ? 0 : m_task % 3U,
                                   {m_stamp});
    }

  private:
    std::mt19937_64 m_random{1};
    std::lognormal_distribution<double> m_distance{std::log(2000.0), 1.0};
    std::uint64_t m_stamp = 1'000'000;
    std::uint64_t m_events = 0;
    std::uint16_t m_task = kFirstTask;
};

bool write_file(const std::string& path, std::span<const std::byte> first, std::span<const std::byte> second) {
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) {
        return false;
    }
    const bool written = std::fwrite(first.data(), 1, first.size(), file) == first.size() &&
                         std::fwrite(second.data(), 1, second.size(), file) == second.size();
    return std::fclose(file) == 0 && written;
}

// The chunk's file, and its row of the manifest. Nothing if it cannot be written.
std::optional<formats::dat::ManifestChunk> write_chunk(const std::string& directory, tracer::ChunkBegin begin,
                                                       const trace::TraceFacts& facts, lib::Ticks sent,
                                                       std::span<const tracer::Record> records) {
    const std::span<const std::byte> after = std::as_bytes(records);
    auto preamble = convert::records::make_preamble(begin, facts, facts.names, sent);
    begin.crc32c = trace::checksum(after, trace::checksum(preamble));
    preamble = convert::records::make_preamble(begin, facts, facts.names, sent);
    formats::dat::ManifestChunk chunk{
        .file = fmt::format("{}trace.dat", begin.generation),
        .described = true,
        .description = begin,
        .bytes = preamble.size() + after.size(),
        .preamble = begin.preamble_slots,
        .records = records.size(),
        .first_tsc = records.front().stamp().value,
        .last_tsc = records.back().stamp().value,
        .crc32c = trace::checksum(after, trace::checksum(preamble)),
        .gaps = {},
    };
    const bool written = write_file(directory + '/' + chunk.file, preamble, after);
    return written ? std::optional(std::move(chunk)) : std::nullopt;
}

} // namespace

bool generate_file(const std::string& path, std::uint64_t events) {
    Generator generator;
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) {
        return false;
    }
    const auto put = [&](const tracer::Record& record) { std::fwrite(&record, sizeof record, 1, file); };
    put(tracer::make_record(trace::kCodeOf<"cycles_per_msec">, 0, kGeneratedKhz, generator.stamp()));
    for (std::uint64_t i = 0; i < events; ++i) {
        put(generator.next());
    }
    return std::fclose(file) == 0;
}

bool generate_session(const std::string& directory, std::uint64_t events, std::uint64_t chunks) {
    if (std::error_code code; !std::filesystem::create_directories(directory, code) && code) {
        return false;
    }
    trace::TraceFacts facts;
    for (std::uint16_t task = 0; task < kTasks; ++task) {
        facts.names.set(tracer::Unit::context, kFirstTask + task, fmt::format("task{}", task));
    }
    formats::dat::Manifest manifest;
    manifest.origin = "udp";
    manifest.complete = true;
    manifest.tsc_khz = kGeneratedKhz;
    manifest.boot_id = 0xB007;
    manifest.transfer.emplace().records = events;
    Generator generator;
    std::vector<tracer::Record> records;
    for (std::uint64_t number = 0; number < chunks; ++number) {
        records.clear();
        for (std::uint64_t left = events * (number + 1) / chunks - events * number / chunks; left != 0; --left) {
            records.push_back(generator.next());
        }
        tracer::ChunkBegin begin;
        begin.checksum = tracer::ChunkChecksum::crc32c;
        begin.tsc_khz = kGeneratedKhz;
        begin.boot_id = manifest.boot_id;
        begin.generation = static_cast<std::uint32_t>(number);
        begin.records = static_cast<std::uint32_t>(records.size());
        begin.events = records.size();
        auto chunk = write_chunk(directory, begin, facts, generator.stamp(), records);
        if (!chunk) {
            return false;
        }
        manifest.chunks.push_back(std::move(*chunk));
    }
    return formats::dat::save_manifest(manifest, directory).ok();
}

} // namespace bench
