// SPDX-License-Identifier: MIT
// Builds chunks byte for byte as the exporter does, with the same encoders. It checks the invariants of a correct
// machine: stamps never decrease, the preamble's length and the record count in chunk_begin are correct, every event
// exists in the table. Tests that need a violation request it (unordered, announce, raw).
#pragma once

#include "lib/crc32c.hpp"
#include "tracer/compact/encoder.hpp"
#include "tracer/export/wire.hpp"
#include "tracer/names/metadata.hpp"
#include "tracer/names/user_fields.hpp"
#include "tracer/record/event_table.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace support {

using Bytes = std::vector<std::byte>;

inline void append_record(Bytes& bytes, const tracer::Record& record) {
    const std::size_t offset = bytes.size();
    bytes.resize(offset + tracer::kRecordBytes);
    tracer::encode_record(record, std::span(bytes).subspan(offset));
}

inline std::vector<tracer::Record> combined(std::uint8_t code, std::span<const std::byte> payload, lib::Ticks stamp) {
    std::array<tracer::Record, tracer::kCombineSlotsMax> slots;
    const auto count = tracer::encode_combined(code, stamp, payload, slots);
    EXPECT_TRUE(count.ok());
    return {slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(count.value())};
}

template <typename Payload>
std::vector<tracer::Record> metadata(std::string_view event, const Payload& payload, lib::Ticks stamp) {
    std::array<std::byte, tracer::kCombinePayloadMax + 2> bytes{};
    const auto size = tracer::encode_payload(payload, bytes);
    EXPECT_TRUE(size.ok());
    return combined(tracer::find_event(event)->code, std::span(bytes).first(size.value()), stamp);
}

inline Bytes to_bytes(const std::vector<tracer::Record>& records) {
    Bytes bytes;
    for (const tracer::Record& record : records) {
        append_record(bytes, record);
    }
    return bytes;
}

// Returns the chunk with a checksum in its header, found by hand: the kind is byte 27 of the payload of chunk_begin,
// the checksum bytes 82 to 85.
[[nodiscard]] inline Bytes sealed(Bytes image) {
    const auto payload_byte = [&image](std::size_t at) -> std::byte& {
        const std::size_t in_slot = at % 6;
        return image[at / 6 * 16 + (in_slot < 2 ? 2 + in_slot : 10 + in_slot)];
    };
    payload_byte(27) = std::byte{1};
    for (std::size_t i = 0; i < 4; ++i) {
        payload_byte(82 + i) = std::byte{0};
    }
    const std::uint32_t sum = lib::crc32c(image);
    for (std::size_t i = 0; i < 4; ++i) {
        payload_byte(82 + i) = static_cast<std::byte>(sum >> (8 * i));
    }
    return image;
}

inline tracer::Name name_of(std::string_view text) {
    return {text};
}

class ChunkBuilder {
  public:
    // One tick is one nanosecond unless a test sets another rate.
    explicit ChunkBuilder(std::uint16_t chunk = 0) {
        begin.chunk = chunk;
        begin.tsc_khz = 1'000'000;
        begin.tsc_source = tracer::TscSource::hpet;
        begin.clock_mode = tracer::ClockMode::icount;
        begin.boot_id = 0xB007;
    }

    tracer::ChunkBegin begin;

    ChunkBuilder& build(std::string_view application, std::uint64_t seed, std::uint64_t image_id = 0) {
        return add_metadata("build",
                            tracer::Build{name_of("remora 1"), name_of("g++ 12"), application, seed, image_id, {}, 0});
    }

    ChunkBuilder& format(std::uint32_t id, std::string_view text) {
        return add_metadata("format_text", tracer::FormatText{id, text});
    }

    ChunkBuilder& cost(const tracer::TraceCost& cost) { return add_metadata("trace_cost", cost); }

    // Adds a name; kind is task, interrupt, mutex, semaphore, server or level.
    ChunkBuilder& name(const std::string& kind, std::uint16_t id, std::string_view text) {
        return add_metadata(kind + "_name", tracer::NameOf{id, text});
    }

    ChunkBuilder& parameters(const tracer::TaskParameters& parameters) {
        return add_metadata("task_parameters", parameters);
    }

    ChunkBuilder& declare(const tracer::EventDeclaration& declaration) {
        return add_metadata("event_declaration", declaration);
    }

    ChunkBuilder& event(std::uint64_t ticks, std::string_view name, std::uint16_t par1 = 0, std::uint32_t par2 = 0) {
        EXPECT_GE(ticks, m_last_ticks) << "a correct machine's stamps never decrease";
        m_last_ticks = ticks;
        return unordered(ticks, name, par1, par2);
    }

    ChunkBuilder& unordered(std::uint64_t ticks, std::string_view name, std::uint16_t par1 = 0,
                            std::uint32_t par2 = 0) {
        const tracer::EventRow* const row = tracer::find_event(name);
        if (row == nullptr) {
            ADD_FAILURE() << "no event " << name;
            return *this;
        }
        return raw(tracer::make_record(row->code, par1, par2, {ticks}));
    }

    ChunkBuilder& raw(const tracer::Record& record) {
        m_records.push_back(record);
        return *this;
    }

    // Returns the exported bytes.
    [[nodiscard]] Bytes bytes() const {
        tracer::ChunkBegin description = begin;
        description.records = static_cast<std::uint32_t>(m_records.size());
        const auto own = metadata("chunk_begin", description, kExportStamp);
        description.preamble_slots = static_cast<std::uint32_t>(own.size() + m_preamble.size() + 2);
        return with(description);
    }

    // Returns the same records after a header that states something else.
    [[nodiscard]] Bytes with(const tracer::ChunkBegin& description) const {
        Bytes bytes = to_bytes(metadata("chunk_begin", description, kExportStamp));
        append_record(bytes, tracer::make_record(0x10, 0, description.tsc_khz, kExportStamp));
        for (const tracer::Record& record : m_preamble) {
            append_record(bytes, record);
        }
        append_record(bytes, tracer::make_record(0x70, 0, description.records, kExportStamp));
        for (const tracer::Record& record : m_records) {
            append_record(bytes, record);
        }
        return bytes;
    }

    [[nodiscard]] tracer::ChunkBegin description() const {
        tracer::ChunkBegin description = begin;
        description.records = static_cast<std::uint32_t>(m_records.size());
        description.preamble_slots =
            static_cast<std::uint32_t>(bytes().size() / tracer::kRecordBytes - m_records.size());
        return description;
    }

    // Returns a plain S.Ha.R.K. file: only the records.
    [[nodiscard]] Bytes plain() const { return to_bytes(m_records); }

    [[nodiscard]] std::size_t records() const { return m_records.size(); }

    // Returns the chunk as the tracer exports it when it is compressed, except for the last `emergency` records, which
    // remain records (the emergency area).
    [[nodiscard]] Bytes compact(tracer::compact::Layout layout, std::size_t emergency = 0) const {
        const auto main = static_cast<std::ptrdiff_t>(m_records.size() - emergency);
        const Bytes plain = to_bytes({m_records.begin(), m_records.begin() + main});
        const auto encoder = std::make_unique<tracer::compact::Encoder>();
        encoder->begin(layout);
        EXPECT_TRUE(encoder->count(plain).ok());
        Bytes stream(encoder->plan());
        EXPECT_TRUE(encoder->start(stream).ok() && encoder->write(plain).ok() && encoder->finish().ok());
        tracer::ChunkBegin header = description();
        header.encoding = tracer::Encoding::compact;
        header.layout = static_cast<std::uint8_t>(layout);
        header.events = m_records.size();
        header.compact_bytes = stream.size();
        stream.resize((stream.size() + 15) / 16 * 16);
        header.records = static_cast<std::uint32_t>(stream.size() / 16 + emergency);
        Bytes bytes = with(header);
        bytes.resize(header.preamble_slots * tracer::kRecordBytes);
        bytes.insert(bytes.end(), stream.begin(), stream.end());
        const Bytes tail = to_bytes({m_records.begin() + main, m_records.end()});
        bytes.insert(bytes.end(), tail.begin(), tail.end());
        return bytes;
    }

  private:
    static constexpr lib::Ticks kExportStamp{9'999'999};

    template <typename Payload>
    ChunkBuilder& add_metadata(std::string_view event, const Payload& payload) {
        for (const tracer::Record& record : metadata(event, payload, kExportStamp)) {
            m_preamble.push_back(record);
        }
        return *this;
    }

    std::vector<tracer::Record> m_preamble;
    std::vector<tracer::Record> m_records;
    std::uint64_t m_last_ticks = 0;
};

inline Bytes export_end(const tracer::ExportEnd& totals) {
    return to_bytes(metadata("export_end", totals, {1}));
}

// Cuts an image into datagrams as a V1.0 sender does; numbers continue from `next_number`.
inline std::vector<Bytes> packets(const Bytes& image, std::uint32_t& next_number,
                                  std::size_t records_max = tracer::kPacketRecordsMax) {
    std::vector<Bytes> datagrams;
    const std::size_t piece = records_max * tracer::kRecordBytes;
    for (std::size_t offset = 0; offset < image.size(); offset += piece) {
        const std::size_t size = std::min(piece, image.size() - offset);
        Bytes datagram(tracer::kPacketHeaderBytes);
        tracer::encode_packet_header({next_number++, static_cast<std::uint32_t>(size / tracer::kRecordBytes),
                                      static_cast<std::uint32_t>(size + tracer::kPacketHeaderBytes)},
                                     datagram);
        datagram.insert(datagram.end(), image.begin() + static_cast<std::ptrdiff_t>(offset),
                        image.begin() + static_cast<std::ptrdiff_t>(offset + size));
        datagrams.push_back(std::move(datagram));
    }
    return datagrams;
}

// Is a directory that is removed at the end of the test.
class TemporaryDirectory {
  public:
    explicit TemporaryDirectory(const std::filesystem::path& in = std::filesystem::temp_directory_path()) {
        std::string pattern = (in / "remora-test-XXXXXX").string();
        m_path = ::mkdtemp(pattern.data());
    }

    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(m_path, ignored);
    }

    [[nodiscard]] const std::string& path() const { return m_path; }

    [[nodiscard]] std::string operator/(std::string_view name) const { return m_path + '/' + std::string(name); }

    std::string write(std::string_view name, std::span<const std::byte> bytes) const {
        const std::string path = *this / name;
        std::FILE* const file = std::fopen(path.c_str(), "wb");
        EXPECT_NE(file, nullptr);
        if (file != nullptr) {
            EXPECT_TRUE(bytes.empty() || std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size());
            std::fclose(file);
        }
        return path;
    }

  private:
    std::string m_path;
};

inline std::string read_text(const std::string& path) {
    std::string text;
    if (std::FILE* const file = std::fopen(path.c_str(), "rb"); file != nullptr) {
        std::array<char, 4096> buffer;
        for (std::size_t count = 0; (count = std::fread(buffer.data(), 1, buffer.size(), file)) != 0;) {
            text.append(buffer.data(), count);
        }
        std::fclose(file);
    }
    return text;
}

} // namespace support
