// SPDX-License-Identifier: MIT
// Gives a session's writer records that the test cuts into packets, and shows what it has made of them, in words.
#pragma once

#include "host/collector/session_writer.hpp"
#include "host/text/format.hpp"
#include "tests/support/host_trace_builder.hpp"

#include <gtest/gtest.h>

namespace host::collector {

using support::Bytes;
using support::ChunkBuilder;
using support::TemporaryDirectory;
using Lines = std::vector<std::string>;

inline std::string number(const std::optional<std::uint64_t>& value) {
    return value ? std::to_string(*value) : std::string("-");
}

// Returns all that a manifest states about a chunk besides its own description.
inline std::string in_words(const formats::dat::ManifestChunk& chunk) {
    std::string words =
        fmt::format("{}{} {}+{} missing {} stamps {}..{}", chunk.file, chunk.described ? "" : " (plain)",
                    chunk.preamble, chunk.records, chunk.missing, number(chunk.first_tsc), number(chunk.last_tsc));
    for (const formats::dat::ManifestGap& gap : chunk.gaps) {
        words += fmt::format(" | {} slots at {}, packets {} +{}, stamps {}..{}", gap.slots, gap.offset / 16,
                             gap.first_packet, gap.packets, number(gap.tsc_before), number(gap.tsc_after));
    }
    return words;
}

class SessionWriting : public testing::Test {
  protected:
    SessionWriting() { restart({}); }

    void restart(const Limits& limits) {
        m_writer.reset();
        m_limits = limits;
        m_path = m_directory / std::to_string(m_runs++);
        m_session = SessionDirectory::open(m_path, OldSession::keep).value();
        m_writer = std::make_unique<SessionWriter>(
            m_session, m_syncer, m_limits, m_usage,
            [this] {
                ++m_manifests;
                return formats::dat::Manifest();
            },
            [this](const formats::dat::ManifestChunk& chunk) { m_sealed.push_back(chunk.file); });
    }

    // Returns events at the ticks 1000, 1001 and so on after its preamble of `preamble()` slots.
    static ChunkBuilder chunk(std::uint16_t number, std::uint32_t records) {
        ChunkBuilder builder(number);
        for (std::uint32_t i = 0; i < records; ++i) {
            builder.event(1'000 + i, "ipoint", 1, i);
        }
        return builder;
    }

    static std::uint32_t preamble() { return chunk(0, 1).description().preamble_slots; }

    // Adds the slots [begin, end) as one packet.
    void add(const Bytes& image, std::size_t begin, std::size_t end, std::uint64_t lost_before = 0) {
        m_writer->add(std::span(image).subspan(16 * begin, 16 * (end - begin)), lost_before);
    }

    void add(const Bytes& image, std::uint64_t lost_before = 0) { m_writer->add(image, lost_before); }

    [[nodiscard]] Lines chunks() const {
        Lines lines;
        for (const formats::dat::ManifestChunk& chunk : m_writer->chunks()) {
            lines.push_back(in_words(chunk));
            const auto checksum = formats::dat::checksum_file(m_path + '/' + chunk.file);
            EXPECT_EQ(checksum.value().bytes, chunk.bytes);
            EXPECT_EQ(checksum.value().crc32c, chunk.crc32c);
        }
        return lines;
    }

    [[nodiscard]] std::string file(int number) const {
        return support::read_text(m_path + '/' + std::to_string(number) + "trace.dat");
    }

    static std::string text(const Bytes& bytes, std::size_t begin = 0, std::size_t end = 1'000'000) {
        const std::string all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        return all.substr(16 * begin, 16 * (end - begin));
    }

    static std::string empty_slots(std::size_t count) { return std::string(16 * count, '\0'); }

    TemporaryDirectory m_directory;
    Limits m_limits;
    Usage m_usage;
    Syncer m_syncer;
    int m_runs = 0;
    std::string m_path;
    std::shared_ptr<SessionDirectory> m_session;
    int m_manifests = 0;
    Lines m_sealed;
    std::unique_ptr<SessionWriter> m_writer;
};

} // namespace host::collector
