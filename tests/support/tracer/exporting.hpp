// SPDX-License-Identifier: MIT
// Makes chunks with records, steps an exporter until it is idle, and reads the images it made.
#pragma once

#include "tests/support/tracer/fixture.hpp"
#include "tests/support/tracer/sinks.hpp"
#include "tracer/export/exporter.hpp"

#include <vector>

namespace tests {

// Returns the payload of the combined event that starts at this slot.
[[nodiscard]] inline Bytes payload_bytes(const std::vector<tracer::Record>& records, std::size_t first) {
    Bytes bytes;
    for (std::size_t i = first; i < records.size(); ++i) {
        EXPECT_EQ(records[i].event_code(), records[first].event_code());
        const auto piece = tracer::slot_payload(records[i]);
        bytes.insert(bytes.end(), piece.begin(), piece.end());
        if (records[i].combine() == tracer::Combine::last || records[i].combine() == tracer::Combine::simple) {
            break;
        }
    }
    return bytes;
}

template <typename Payload>
[[nodiscard]] Payload payload_at(const std::vector<tracer::Record>& records, std::size_t first) {
    const auto payload = tracer::decode_payload<Payload>(payload_bytes(records, first));
    EXPECT_TRUE(payload.ok());
    return payload.value();
}

[[nodiscard]] inline std::vector<std::size_t> places_of(const std::vector<tracer::Record>& records, std::uint8_t code) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < records.size(); ++i) {
        const bool begins =
            records[i].combine() == tracer::Combine::simple || records[i].combine() == tracer::Combine::first;
        if (records[i].event_code() == code && begins) {
            places.push_back(i);
        }
    }
    return places;
}

class Exporting : public testing::Test {
  protected:
    tracer::Exporter& exporter() { return m_fixture.tracer().exporter; }

    // Returns a chunk with this many records, no longer current.
    tracer::Chunk& filled(std::uint32_t slots, std::uint32_t records, tracer::ChunkFlags mode = tracer::kFlagStop) {
        tracer::Chunk& chunk = m_fixture.chunk(slots, 4, mode);
        m_fixture.select_and_enable(chunk);
        for (std::uint32_t i = 0; i < records; ++i) {
            tracer::log<"ipoint">(1, m_serial++);
        }
        m_fixture.tracer().control.disable();
        return chunk;
    }

    void drain() {
        for (int i = 0; i < 100'000 && exporter().step() == tracer::StepResult::more; ++i) {
        }
        EXPECT_EQ(exporter().step(), tracer::StepResult::idle);
    }

    TracerFixture m_fixture;
    std::uint32_t m_serial = 0;
};

} // namespace tests
