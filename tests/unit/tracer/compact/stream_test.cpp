// SPDX-License-Identifier: MIT
// Tests records through the encoder and back, in every layout; and every kind of damage to a stream: no crash, and
// detectable damage is detected.
#include "tests/support/compact_streams.hpp"
#include "tracer/compact/stream_header.hpp"

#include <algorithm>

namespace stream_test {

using namespace tracer::compact;
using tests::Bytes;
using tests::Decoded;
using tracer::Record;

TEST(CompactStream, GivesBackEveryRecordOfRandomChunksInEveryLayout) {
    for (const LayoutRow& row : kLayoutRows) {
        SCOPED_TRACE(row.name);
        for (std::uint64_t seed = 1; seed <= 30; ++seed) {
            SCOPED_TRACE(seed);
            const auto records = tests::random_records(seed, 1 + seed * seed % 3000);
            const Decoded decoded = tests::decode(tests::encoded(row.layout, records));
            ASSERT_EQ(decoded.fault, Fault::none) << fault_text(decoded.fault) << " at " << decoded.offset;
            tests::expect_same(decoded.records, records, row.lsb);
        }
    }
}

TEST(CompactStream, NeedsToSeeNoMoreThanItSays) {
    const auto records = tests::random_records(2, 2000);
    const auto decoder = std::make_unique<Decoder>();
    for (const LayoutRow& row : kLayoutRows) {
        const Bytes stream = tests::encoded(row.layout, records);
        Decoded decoded;
        tests::decode(stream, decoded, *decoder, stream.size(), Decoder::kLookaheadBytes);
        ASSERT_EQ(decoded.fault, Fault::none) << row.name;
        tests::expect_same(decoded.records, records, row.lsb);
    }
}

TEST(CompactStream, KeepsLongEventsOfEveryLength) {
    for (const LayoutRow& row : kLayoutRows) {
        std::vector<Record> records;
        for (unsigned slots = 2; slots <= 64; ++slots) {
            for (unsigned slot = 0; slot < slots; ++slot) {
                const auto flag = slot == 0           ? tracer::Combine::first
                                  : slot + 1 == slots ? tracer::Combine::last
                                                      : tracer::Combine::middle;
                records.push_back(tracer::make_record(static_cast<std::uint16_t>(0x1E | static_cast<unsigned>(flag)),
                                                      static_cast<std::uint16_t>(slot), slots, {1000 * slots}));
            }
        }
        const Decoded decoded = tests::decode(tests::encoded(row.layout, records));
        ASSERT_EQ(decoded.fault, Fault::none) << row.name;
        tests::expect_same(decoded.records, records, row.lsb);
    }
}

TEST(CompactStream, JoinsOnlyWhatIsOneEvent) {
    using tracer::Combine;
    const auto slot = [](Combine flag, std::uint64_t tsc, unsigned code = 0x1E) {
        return tracer::make_record(static_cast<std::uint16_t>(code | static_cast<unsigned>(flag)), 1, 70'000, {tsc});
    };
    std::vector<Record> records = {
        slot(Combine::first, 10),         slot(Combine::last, 11),       // another stamp
        slot(Combine::first, 20),         slot(Combine::last, 20, 0x2E), // another code
        slot(Combine::first, 30),         slot(Combine::middle, 30),     // no end: a new one follows
        slot(Combine::first, 30),         slot(Combine::last, 30),       slot(Combine::last, 40), // no beginning
        slot(Combine::first, 50, 0x801E), slot(Combine::last, 50), // the fast path, and not
    };
    records.push_back(slot(Combine::first, 60));
    records.insert(records.end(), 70, slot(Combine::middle, 60)); // longer than any
    records.push_back(slot(Combine::last, 60));
    records.push_back(slot(Combine::first, 70)); // cut off by the end
    for (const LayoutRow& row : kLayoutRows) {
        const Decoded decoded = tests::decode(tests::encoded(row.layout, records));
        ASSERT_EQ(decoded.fault, Fault::none) << row.name;
        tests::expect_same(decoded.records, records, row.lsb);
    }
}

TEST(CompactStream, TakesIdleTurnsAndTheLastTick) {
    for (const LayoutRow& row : kLayoutRows) {
        std::vector<Record> records;
        std::uint64_t tsc = 5;
        for (int i = 0; i < 20; ++i) {
            records.push_back(tracer::make_record(0x82, 1, 2, {tsc}));
            tsc += 10 * (std::uint64_t{1} << std::min(row.turn_bits(), 40U)) + 3;
        }
        records.push_back(tracer::make_record(0x82, 1, 2, {~std::uint64_t{0}}));
        const Decoded decoded = tests::decode(tests::encoded(row.layout, records));
        ASSERT_EQ(decoded.fault, Fault::none) << row.name;
        tests::expect_same(decoded.records, records, row.lsb);
    }
}

TEST(CompactStream, RefusesRecordsWhoseTimeFalls) {
    const auto encoder = std::make_unique<Encoder>();
    encoder->begin(Layout::a);
    const Bytes plain = tests::bytes_of({tracer::make_record(1, 0, 0, {10}), tracer::make_record(1, 0, 0, {9})});
    EXPECT_EQ(encoder->count(plain).error(), lib::Error::corrupt);
}

TEST(CompactStream, SaysWhenTheRoomIsLessThanPlanned) {
    std::vector<Record> longest; // one event alone, the longest that there is
    for (std::size_t slot = 0; slot < tracer::kCombineSlotsMax; ++slot) {
        const auto flag = static_cast<std::uint16_t>(tracer::combine_of(slot, tracer::kCombineSlotsMax));
        longest.push_back(tracer::make_record(static_cast<std::uint16_t>(0x1E | flag), 1, 2, {1000}));
    }
    const auto encoder = std::make_unique<Encoder>();
    for (const auto& records : {tests::random_records(3, 500), longest}) {
        const Bytes plain = tests::bytes_of(records);
        for (const LayoutRow& row : kLayoutRows) {
            encoder->begin(row.layout);
            ASSERT_TRUE(encoder->count(plain).ok());
            const std::size_t planned = encoder->plan();
            for (const std::size_t size :
                 {std::size_t{0}, kHeaderBytes, planned / 2, planned - 16, planned - 12, planned - 8, planned - 4}) {
                Bytes room(size + 512, std::byte{0x5A});
                const auto started = encoder->start(std::span(room).first(size));
                EXPECT_TRUE(!started || !encoder->write(plain)) << row.name << ' ' << size;
                EXPECT_TRUE(std::all_of(room.begin() + static_cast<std::ptrdiff_t>(size), room.end(),
                                        [](std::byte byte) { return byte == std::byte{0x5A}; }))
                    << "a byte written past the space";
            }
        }
    }
}

TEST(CompactStream, NoticesEveryTruncation) {
    const auto records = tests::random_records(11, 80);
    const auto decoder = std::make_unique<Decoder>();
    for (const LayoutRow& row : kLayoutRows) {
        SCOPED_TRACE(row.name);
        const Bytes stream = tests::encoded(row.layout, records);
        const Decoded whole = tests::decode(stream);
        for (std::size_t size = 0; size < stream.size(); ++size) {
            const Bytes part(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(size));
            Decoded decoded;
            tests::decode(part, decoded, *decoder, size);
            ASSERT_EQ(decoded.fault, Fault::cut) << size;
            // A chunk that states its true length: everything up to the cut is decoded, and nothing else.
            tests::decode(part, decoded, *decoder, stream.size());
            ASSERT_EQ(decoded.fault, Fault::cut) << size;
            ASSERT_LE(decoded.offset, size);
            ASSERT_LE(decoded.records.size(), whole.records.size());
            ASSERT_TRUE(std::equal(decoded.records.begin(), decoded.records.end(), whole.records.begin())) << size;
        }
    }
}

TEST(CompactStream, NoticesEverySingleBitThatFlips) {
    const auto records = tests::random_records(12, 40);
    const auto decoder = std::make_unique<Decoder>();
    for (const LayoutRow& row : kLayoutRows) {
        SCOPED_TRACE(row.name);
        Bytes stream = tests::encoded(row.layout, records);
        for (std::size_t bit = 0; bit < stream.size() * 8; ++bit) {
            std::byte& byte = stream[bit / 8];
            byte ^= std::byte{1} << (bit % 8);
            Decoded decoded;
            tests::decode(stream, decoded, *decoder, stream.size());
            ASSERT_NE(decoded.fault, Fault::none) << "byte " << bit / 8 << " bit " << bit % 8;
            ASSERT_LE(decoded.offset, stream.size());
            byte ^= std::byte{1} << (bit % 8);
        }
        EXPECT_EQ(tests::decode(stream).fault, Fault::none);
    }
}

TEST(CompactStream, SurvivesAnyBytes) {
    const auto decoder = std::make_unique<Decoder>();
    std::mt19937_64 random(5);
    const Bytes good = tests::encoded(Layout::a, tests::random_records(5, 100));
    for (int round = 0; round < 3000; ++round) {
        Bytes bytes(random() % 400);
        for (std::byte& byte : bytes) {
            byte = static_cast<std::byte>(random() >> (random() % 8 == 0 ? 56 : 63));
        }
        if (round % 2 == 0) { // with a header that is accepted, of any layout, not sealed
            bytes.resize(std::max<std::size_t>(bytes.size(), kHeaderBytes));
            encode_stream_header({.layout = static_cast<Layout>(random() % kLayouts),
                                  .flags = static_cast<std::uint8_t>(random() % 2 == 0 ? 0 : kFlagPeriodic),
                                  .entries = static_cast<std::uint32_t>(random() % 4)},
                                 bytes);
        }
        Decoded decoded;
        tests::decode(bytes, decoded, *decoder, bytes.size());
        ASSERT_LE(decoded.offset, bytes.size());
        ASSERT_LE(decoded.records.size(), bytes.size() * 16) << "more records than bytes can hold";
    }
}

// A stream as written live: fixed map, heartbeats on demand, no totals.
class LiveStream {
  public:
    explicit LiveStream(Layout layout, std::uint64_t now)
        : m_row(row_of(layout))
        , m_headers(live_headers(layout))
        , m_turn(now >> std::min(m_row.turn_bits(), 63U)) {
        const auto map = live_map(layout);
        bytes.resize(kHeaderBytes + map.bytes() + heartbeat_bytes(m_row));
        encode_stream_header({.layout = layout, .entries = map.size()}, bytes);
        lib::ByteWriter writer{std::span<std::byte>(bytes).subspan(kHeaderBytes)};
        for (const MapEntry& entry : map.entries()) {
            encode_entry(entry, writer);
        }
        const std::size_t used = kHeaderBytes + writer.offset();
        EXPECT_EQ(used + write_heartbeat(m_row, std::span<std::byte>(bytes).subspan(used), lib::Ticks{now}),
                  bytes.size());
    }

    void word(std::uint32_t value) {
        bytes.resize(bytes.size() + 4);
        lib::store_le(std::span(bytes).last(4), value);
    }

    void event(std::uint8_t code, std::uint16_t par1, std::uint16_t par2, std::uint64_t tsc) {
        if (m_row.turn_bits() < 64 && tsc >> m_row.turn_bits() != m_turn) {
            m_turn = tsc >> m_row.turn_bits();
            large(kHeartbeatWord, tsc);
            word(static_cast<std::uint32_t>(tsc >> 32));
        }
        const std::uint32_t header = m_headers[code];
        const auto form = static_cast<Form>(header & 3);
        if (form == Form::word || (form == Form::none && par1 == 0 && par2 == 0)) {
            word((header & ~3U) | (static_cast<std::uint32_t>(tsc >> m_row.lsb) & m_row.tsc_mask()));
            if (form == Form::word) {
                word(par1 | std::uint32_t{par2} << 16);
            }
            return;
        }
        large(pack_large({.id = code, .size_bytes = 4}), tsc);
        word(par1 | std::uint32_t{par2} << 16);
    }

    Bytes bytes;

  private:
    void large(std::uint32_t header, std::uint64_t tsc) {
        if (m_row.kind == Kind::bare) {
            word(escape_word(m_row));
        }
        word(header);
        if (m_row.kind == Kind::large96 && bytes.size() % 8 != 0) {
            word(0);
        }
        word(static_cast<std::uint32_t>(tsc));
        if (m_row.kind == Kind::large96) {
            word(static_cast<std::uint32_t>(tsc >> 32));
        }
    }

    const LayoutRow& m_row;
    LiveHeaders m_headers;
    std::uint64_t m_turn;
};

TEST(CompactStream, ReadsWhatIsWrittenLive) {
    for (const LayoutRow& row : kLayoutRows) {
        SCOPED_TRACE(row.name);
        std::mt19937_64 random(4);
        std::uint64_t tsc = 0x12'3456'7890;
        LiveStream live(row.layout, tsc);
        if (row.kind != Kind::large96) {
            EXPECT_EQ(first_stamp(live.bytes).value().value, tsc);
        }
        std::vector<Record> expected;
        for (int i = 0; i < 3000; ++i) {
            tsc += random() >> (24 + random() % 40);
            const auto& event = tracer::kEvents[1 + random() % (tracer::kEvents.size() - 1)];
            const auto par1 = static_cast<std::uint16_t>(random() % 3 == 0 ? random() : 0);
            const auto par2 = static_cast<std::uint16_t>(random() % 3 == 0 ? random() : 0);
            live.event(event.code, par1, par2, tsc);
            expected.push_back(tracer::make_record(event.code, par1, par2, {tsc}));
        }
        live.word(0); // the rest of the last 16 bytes
        const Decoded decoded = tests::decode(live.bytes);
        ASSERT_EQ(decoded.fault, Fault::none) << fault_text(decoded.fault) << " at " << decoded.offset;
        tests::expect_same(decoded.records, expected, row.lsb);
    }
}

TEST(CompactStream, NoticesAHeartbeatThatIsMissing) {
    for (const Layout layout : {Layout::a, Layout::d, Layout::a2, Layout::plan12}) {
        const LayoutRow& row = row_of(layout);
        SCOPED_TRACE(row.name);
        const std::uint64_t turn = std::uint64_t{1} << row.turn_bits();
        LiveStream live(layout, turn - 1000);
        live.event(0x82, 1, 1, turn - 500);
        const std::size_t heartbeat = live.bytes.size();
        live.event(0x82, 1, 1, turn + 500);
        ASSERT_EQ(tests::decode(live.bytes).fault, Fault::none);
        live.bytes.erase(live.bytes.begin() + static_cast<std::ptrdiff_t>(heartbeat),
                         live.bytes.begin() + static_cast<std::ptrdiff_t>(heartbeat + heartbeat_bytes(row)));
        const Decoded decoded = tests::decode(live.bytes);
        EXPECT_EQ(decoded.fault, Fault::time);
        EXPECT_EQ(decoded.offset, heartbeat);
        EXPECT_EQ(decoded.records.size(), 1U);
    }
}

TEST(CompactStream, TakesLessRoomThanRecordsInEveryLayoutWithCompactHeaders) {
    std::vector<Record> records; // three tasks taking turns
    for (unsigned i = 0; i < 3000; ++i) {
        records.push_back(tracer::make_record(static_cast<std::uint16_t>(0x02 + 0x10 * (i % 4)),
                                              static_cast<std::uint16_t>(i / 4 % 3), i % 2, {1'000 + 137 * i}));
    }
    for (const LayoutRow& row : kLayoutRows) {
        const std::size_t bytes = tests::encoded(row.layout, records).size();
        RecordProperty(std::string(row.name), static_cast<int>(bytes * 100 / records.size()));
        EXPECT_LE(bytes, records.size() * (row.has_compact_headers()   ? 5
                                           : row.kind == Kind::large64 ? 13
                                                                       : 20))
            << row.name;
    }
}

} // namespace stream_test
