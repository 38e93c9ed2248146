// SPDX-License-Identifier: MIT
// Tests packets and files: numbering, sizes, pace, and every failure.
#include "tests/support/tracer/sinks.hpp"

#include "tracer/names/metadata_writer.hpp"
#include "tracer/record/event_table.hpp"

namespace sinks_test {

using tests::Bytes;
using tests::FakeNetwork;
using tests::FakeVolume;
using tracer::ChunkImage;
using tracer::DiskSink;
using tracer::SinkState;
using tracer::UdpSink;

// An image of so many records whose par2 counts from `first`; its spans point into `memory`.
ChunkImage image_of(std::size_t records, std::uint32_t first, Bytes& memory) {
    memory.resize(records * tracer::kRecordBytes);
    for (std::size_t i = 0; i < records; ++i) {
        const auto serial = first + static_cast<std::uint32_t>(i);
        tracer::encode_record(tracer::make_record(0x01, 1, serial, {serial}),
                              std::span(memory).subspan(i * tracer::kRecordBytes));
    }
    ChunkImage image;
    const std::size_t cut = memory.size() / 32 * 16; // two parts, so that packets cross their border
    image.parts[0] = std::span(memory).first(cut);
    image.parts[2] = std::span(memory).subspan(cut);
    return image;
}

SinkState run(tracer::ChunkSink& sink, int steps = 100'000) {
    while (sink.state() == SinkState::busy && steps-- > 0) {
        static_cast<void>(sink.step());
    }
    return sink.state();
}

TEST(UdpSink, NumbersPacketsThroughAllChunks) {
    FakeNetwork network;
    UdpSink sink(network, {.probe_time = lib::microseconds(5)});
    Bytes memory;
    Bytes sent;
    std::uint32_t first = 0;
    for (const std::size_t records : {1U, 60U, 61U, 200U}) {
        ASSERT_TRUE(sink.submit(image_of(records, first, memory)).ok());
        ASSERT_EQ(run(sink), SinkState::idle);
        first += static_cast<std::uint32_t>(records);
    }
    ASSERT_TRUE(sink.finish({.chunks = 4, .records = first}).ok());
    ASSERT_EQ(run(sink), SinkState::idle);
    ASSERT_EQ(network.packets.size(), 1U + 1U + 2U + 4U + 1U);
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < network.packets.size(); ++i) {
        const auto header = tracer::decode_packet_header(network.packets[i]);
        ASSERT_TRUE(header.ok());
        EXPECT_EQ(header.value().number, i + 1);
        EXPECT_LE(header.value().records, 60U);
        EXPECT_LE(network.packets[i].size(), 984U);
        for (std::size_t r = 0; r < header.value().records && i + 1 < network.packets.size(); ++r) {
            const auto record =
                tracer::decode_record(std::span<const std::byte>(network.packets[i]).subspan(24 + r * 16));
            EXPECT_EQ(record.par2, next++);
        }
    }
    EXPECT_EQ(next, first);
    EXPECT_EQ(sink.packets(), network.packets.size());
}

TEST(UdpSink, SaysTheTotalsInItsLastPacket) {
    FakeNetwork network;
    UdpSink sink(network, {.probe_time = {}});
    Bytes memory;
    ASSERT_TRUE(sink.submit(image_of(2, 40, memory)).ok());
    ASSERT_EQ(run(sink), SinkState::idle);
    ASSERT_TRUE(sink.finish({.chunks = 1, .result = tracer::RunResult::completed, .records = 2, .dropped = 9}).ok());
    ASSERT_EQ(run(sink), SinkState::idle);
    Bytes payload;
    const std::span<const std::byte> packet = network.packets.back();
    for (std::size_t at = 24; at < packet.size(); at += 16) {
        const auto record = tracer::decode_record(packet.subspan(at));
        EXPECT_EQ(record.event_code(), tracer::event_code("export_end"));
        EXPECT_EQ(record.stamp().value, 41U); // after everything sent
        const auto piece = tracer::slot_payload(record);
        payload.insert(payload.end(), piece.begin(), piece.end());
    }
    const auto end = tracer::decode_payload<tracer::ExportEnd>(payload);
    ASSERT_TRUE(end.ok());
    EXPECT_EQ(end.value().chunks, 1U);
    EXPECT_EQ(end.value().dropped, 9U);
    EXPECT_EQ(end.value().result, tracer::RunResult::completed);
}

TEST(UdpSink, WaitsAfterTheFirstPacketForAnAnswer) {
    FakeNetwork network;
    network.unreachable_after_polls = 4;
    UdpSink sink(network, {.probe_time = lib::microseconds(10)});
    Bytes memory;
    ASSERT_TRUE(sink.submit(image_of(600, 0, memory)).ok());
    EXPECT_EQ(run(sink), SinkState::failed);
    EXPECT_EQ(sink.last_error(), lib::Error::unreachable);
    EXPECT_EQ(network.packets.size(), 1U);
    EXPECT_EQ(sink.submit(image_of(1, 0, memory)).error(), lib::Error::unreachable);
}

// A poll takes a microsecond under emulation and milliseconds in a nested virtual machine: the wait is the same.
TEST(UdpSink, WaitsForAnAnswerByTheClockHoweverLongAPollTakes) {
    for (const std::uint64_t poll_us : {1U, 100U, 2'000U, 50'000U}) {
        FakeNetwork network;
        network.time_per_poll = lib::microseconds(poll_us);
        UdpSink sink(network, {.probe_time = lib::milliseconds(20)});
        Bytes memory;
        ASSERT_TRUE(sink.submit(image_of(120, 0, memory)).ok());
        ASSERT_EQ(sink.step(), SinkState::busy);
        while (network.packets.size() == 1) {
            ASSERT_EQ(sink.step(), SinkState::busy);
        }
        const std::uint64_t polls = network.polls - 1; // the first one preceded the packet
        EXPECT_EQ(polls, (20'000 + poll_us - 1) / poll_us);
    }
}

TEST(UdpSink, RetriesABusySenderWithoutLosingAPacket) {
    FakeNetwork network;
    UdpSink sink(network, {.probe_time = {}, .busy_time_max = lib::microseconds(10)});
    Bytes memory;
    ASSERT_TRUE(sink.submit(image_of(600, 0, memory)).ok());
    for (int i = 0; i < 200 && sink.state() == SinkState::busy; ++i) {
        network.busy_sends = i % 10;
        static_cast<void>(sink.step());
    }
    network.busy_sends = 0;
    ASSERT_EQ(run(sink), SinkState::idle);
    EXPECT_EQ(network.packets.size(), 10U);
    EXPECT_GT(network.refusals, 0U);
}

TEST(UdpSink, GivesUpOnASenderThatStaysBusy) {
    FakeNetwork network;
    network.busy_sends = -1;
    UdpSink sink(network, {.busy_time_max = lib::microseconds(10)});
    Bytes memory;
    ASSERT_TRUE(sink.submit(image_of(1, 0, memory)).ok());
    EXPECT_EQ(run(sink, 10), SinkState::busy);
    EXPECT_EQ(run(sink, 1), SinkState::failed);
    EXPECT_EQ(sink.last_error(), lib::Error::timeout);
}

TEST(UdpSink, GivesUpByTheClockHoweverLongAPollTakes) {
    for (const std::uint64_t poll_us : {1U, 300U, 700'000U}) {
        FakeNetwork network;
        network.busy_sends = -1;
        network.time_per_poll = lib::microseconds(poll_us);
        UdpSink sink(network, {.busy_time_max = lib::milliseconds(2'000)});
        Bytes memory;
        ASSERT_TRUE(sink.submit(image_of(1, 0, memory)).ok());
        ASSERT_EQ(run(sink, 3'000'000), SinkState::failed);
        EXPECT_EQ(network.polls, 1 + (2'000'000 + poll_us - 1) / poll_us);
    }
}

// The machine is switched off when the sinks are idle: the last packet must have left the card by then.
TEST(UdpSink, HasFinishedWhenTheDeviceHasSentTheLastPacket) {
    FakeNetwork network;
    UdpSink sink(network, {});
    Bytes memory;
    ASSERT_TRUE(sink.submit(image_of(1, 0, memory)).ok());
    network.polls_until_sent = -1;
    ASSERT_EQ(run(sink), SinkState::idle); // there will be more
    ASSERT_TRUE(sink.finish({.chunks = 1, .records = 1}).ok());
    while (network.packets.size() == 1) {
        ASSERT_EQ(sink.step(), SinkState::busy);
    }
    network.polls_until_sent = 800;
    EXPECT_EQ(run(sink), SinkState::idle);
    EXPECT_EQ(network.polls_until_sent, 0);
}

TEST(UdpSink, FailsIfTheDeviceNeverSendsTheLastPacket) {
    FakeNetwork network;
    UdpSink sink(network, {.busy_time_max = lib::microseconds(100)});
    Bytes memory;
    ASSERT_TRUE(sink.submit(image_of(1, 0, memory)).ok());
    ASSERT_EQ(run(sink), SinkState::idle);
    network.polls_until_sent = -1;
    ASSERT_TRUE(sink.finish({.chunks = 1, .records = 1}).ok());
    EXPECT_EQ(run(sink), SinkState::failed);
    EXPECT_EQ(sink.last_error(), lib::Error::timeout);
    EXPECT_EQ(network.packets.size(), 2U);
}

TEST(UdpSink, SendsFasterWhileTheSenderKeepsUp) {
    FakeNetwork network;
    UdpSink sink(network, {.burst_packets_max = 4, .probe_time = {}});
    Bytes memory;
    ASSERT_TRUE(sink.submit(image_of(6'000, 0, memory)).ok());
    std::size_t before = 0;
    std::vector<std::size_t> burst;
    while (sink.step() == SinkState::busy) {
        burst.push_back(network.packets.size() - before);
        before = network.packets.size();
    }
    burst.resize(6);
    EXPECT_EQ(burst, (std::vector<std::size_t>{1, 1, 2, 3, 4, 4}));
}

// The announced rate halves with each refusal and grows by one with each burst.
TEST(UdpSink, SendsMoreSlowlyWhenTheSenderIsBusy) {
    FakeNetwork network;
    UdpSink sink(network, {.burst_packets_max = 9, .probe_time = {}});
    Bytes memory;
    ASSERT_TRUE(sink.submit(image_of(6'000, 0, memory)).ok());
    for (int i = 0; i < 9; ++i) {
        ASSERT_EQ(sink.step(), SinkState::busy);
    }
    const auto next = [&] {
        const std::size_t before = network.packets.size();
        EXPECT_EQ(sink.step(), SinkState::busy);
        return network.packets.size() - before;
    };
    EXPECT_EQ(next(), 9U);
    network.busy_sends = 1;
    EXPECT_EQ(next(), 0U);
    EXPECT_EQ(next(), 4U);
    network.busy_sends = 3;
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(next(), 0U);
    }
    EXPECT_EQ(next(), 1U);
    EXPECT_EQ(next(), 2U);
}

// The time without a pause begins anew with each packet that leaves.
TEST(UdpSink, GivesUpOnASenderThatIsBusyWithoutAPause) {
    FakeNetwork network;
    UdpSink sink(network, {.probe_time = {}, .busy_time_max = lib::microseconds(10)});
    Bytes memory;
    ASSERT_TRUE(sink.submit(image_of(600, 0, memory)).ok());
    for (int i = 0; i < 9; ++i) {
        network.busy_sends = 9;
        for (int polls = 0; polls < 9; ++polls) {
            ASSERT_EQ(sink.step(), SinkState::busy);
        }
        ASSERT_NE(sink.step(), SinkState::failed);
    }
}

TEST(UdpSink, FailsWithItsDevice) {
    Bytes memory;
    FakeNetwork silent;
    silent.polled = lib::Error::io;
    UdpSink first(silent, {});
    ASSERT_TRUE(first.submit(image_of(1, 0, memory)).ok());
    EXPECT_EQ(first.step(), SinkState::failed);
    EXPECT_EQ(first.last_error(), lib::Error::io);
    EXPECT_EQ(first.step(), SinkState::failed);
    EXPECT_EQ(silent.polls, 1U) << "nothing is left to do";
    FakeNetwork refusing;
    refusing.sends = lib::Error::no_space;
    refusing.polled = lib::Error::busy; // of this, a later poll takes care
    UdpSink second(refusing, {});
    ASSERT_TRUE(second.submit(image_of(1, 0, memory)).ok());
    EXPECT_EQ(second.step(), SinkState::failed);
    EXPECT_EQ(second.last_error(), lib::Error::no_space);
    EXPECT_EQ(second.packets(), 0U);
    EXPECT_EQ(second.finish({}).error(), lib::Error::no_space);
}

TEST(ChunkImage, IsReadInPiecesAcrossItsParts) {
    Bytes bytes(7);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(i);
    }
    ChunkImage image;
    image.parts[0] = std::span(bytes).first(3);
    image.parts[2] = std::span(bytes).subspan(3, 2);
    image.parts[3] = std::span(bytes).subspan(5);
    EXPECT_EQ(image.size_bytes(), 7U);
    for (std::size_t offset = 0; offset <= 7; ++offset) {
        const std::size_t end = offset < 3 ? 3 : offset < 5 ? 5 : 7;
        const auto piece = image.piece(offset);
        EXPECT_EQ(Bytes(piece.begin(), piece.end()), Bytes(bytes.begin() + static_cast<std::ptrdiff_t>(offset),
                                                           bytes.begin() + static_cast<std::ptrdiff_t>(end)));
        for (std::size_t size = 0; size <= 8; ++size) {
            Bytes out(size);
            const std::size_t copied = image.read(offset, out);
            EXPECT_EQ(copied, std::min(size, 7 - offset));
            EXPECT_TRUE(std::equal(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(copied),
                                   bytes.begin() + static_cast<std::ptrdiff_t>(offset)));
        }
    }
}

TEST(DiskSink, WritesEachChunkToAFileOfItsOwn) {
    FakeVolume volume;
    DiskSink sink(volume);
    ASSERT_TRUE(sink.set_base_name("trace.dat").ok());
    Bytes first;
    Bytes second;
    ASSERT_TRUE(sink.submit(image_of(5'000, 0, first)).ok()); // enough for several steps
    ASSERT_EQ(run(sink), SinkState::idle);
    ASSERT_TRUE(sink.submit(image_of(3, 0, second)).ok());
    ASSERT_EQ(run(sink), SinkState::idle);
    EXPECT_EQ(volume.files, (std::map<std::string, Bytes>{{"0trace.dat", first}, {"1trace.dat", second}}));
    EXPECT_EQ(sink.files(), 2U);
    EXPECT_EQ(sink.set_base_name("other.dat").error(), lib::Error::refused);
}

TEST(DiskSink, WritesTheTotalsAfterTheLastChunk) {
    const tracer::ExportEnd totals{.chunks = 1, .records = 3, .dropped = 7, .committed = 3};
    FakeVolume volume;
    DiskSink sink(volume);
    Bytes memory;
    ASSERT_TRUE(sink.submit(image_of(3, 0, memory)).ok());
    ASSERT_EQ(run(sink), SinkState::idle);
    ASSERT_TRUE(sink.finish(totals).ok());
    ASSERT_EQ(run(sink), SinkState::idle);
    std::array<std::byte, tracer::kCombineSlotsMax * tracer::kRecordBytes> expected{};
    tracer::MetadataWriter writer(expected, {});
    writer.combined(tracer::event_code("export_end"), totals);
    const Bytes end(writer.written().begin(), writer.written().end());
    EXPECT_EQ(volume.files, (std::map<std::string, Bytes>{{"0trace.dat", memory}, {"endtrace.dat", end}}));
    EXPECT_EQ(sink.files(), 1U);
}

// Chunks of this run beside them would look like theirs.
TEST(DiskSink, WritesNoChunkBesideTheTotalsOfAnotherRun) {
    FakeVolume volume;
    volume.files["endtrace.dat"] = {};
    DiskSink sink(volume);
    Bytes memory;
    ASSERT_TRUE(sink.submit(image_of(3, 0, memory)).ok());
    EXPECT_EQ(run(sink), SinkState::failed);
    EXPECT_EQ(sink.last_error(), lib::Error::exists);
    EXPECT_EQ(volume.files.size(), 1U);
}

TEST(DiskSink, WritesNoTotalsOfNothingOrOnAFullVolume) {
    FakeVolume volume;
    DiskSink sink(volume);
    ASSERT_TRUE(sink.finish({}).ok());
    EXPECT_EQ(sink.state(), SinkState::idle);
    EXPECT_TRUE(volume.files.empty());
    Bytes memory;
    ASSERT_TRUE(sink.submit(image_of(3, 0, memory)).ok());
    ASSERT_EQ(run(sink), SinkState::idle);
    volume.free_bytes = 0;
    ASSERT_TRUE(sink.finish({}).ok());
    EXPECT_EQ(run(sink), SinkState::failed);
    EXPECT_EQ(sink.last_error(), lib::Error::no_space);
}

// The volume is asked for the longest name that may follow, before any file exists.
TEST(DiskSink, TakesOnlyNamesThatHaveRoomForEveryNumber) {
    FakeVolume volume;
    DiskSink sink(volume);
    const std::string longest(FakeVolume::kNameMax - 3, 'x');
    EXPECT_EQ(sink.set_base_name(longest + "x").error(), lib::Error::invalid_argument);
    EXPECT_TRUE(sink.set_base_name(longest).ok());
    EXPECT_EQ(sink.set_base_name("").error(), lib::Error::invalid_argument);
    Bytes memory;
    ASSERT_TRUE(sink.submit(image_of(1, 0, memory)).ok());
    ASSERT_EQ(run(sink), SinkState::idle);
    EXPECT_TRUE(volume.files.contains("0" + longest)); // a refused name changed nothing
}

TEST(DiskSink, NeverOverwritesAFile) {
    FakeVolume volume;
    volume.files["0trace.dat"] = Bytes(3);
    DiskSink sink(volume, "trace.dat");
    Bytes memory;
    ASSERT_TRUE(sink.submit(image_of(1, 0, memory)).ok());
    EXPECT_EQ(run(sink), SinkState::failed);
    EXPECT_EQ(sink.last_error(), lib::Error::exists);
    EXPECT_EQ(volume.files.at("0trace.dat").size(), 3U);
}

TEST(DiskSink, ReportsAFullVolume) {
    FakeVolume volume;
    volume.free_bytes = 100;
    DiskSink sink(volume, "trace.dat");
    Bytes memory;
    ASSERT_TRUE(sink.submit(image_of(5, 0, memory)).ok());
    ASSERT_EQ(run(sink), SinkState::idle);
    ASSERT_TRUE(sink.submit(image_of(5, 0, memory)).ok());
    EXPECT_EQ(run(sink), SinkState::failed);
    EXPECT_EQ(sink.last_error(), lib::Error::no_space);
    EXPECT_EQ(sink.set_base_name("").error(), lib::Error::invalid_argument);
}

// A step writes 32 KiB at most, and never two parts at once.
TEST(DiskSink, WritesInBoundedSteps) {
    FakeVolume volume;
    DiskSink sink(volume);
    Bytes memory;
    ASSERT_TRUE(sink.submit(image_of(std::size_t{2} * 3 * 2'048, 0, memory)).ok());
    EXPECT_EQ(sink.step(), SinkState::busy);
    EXPECT_EQ(volume.appends, 0U) << "the file is created";
    for (std::size_t step = 1; step <= 6; ++step) {
        EXPECT_EQ(sink.step(), SinkState::busy);
        EXPECT_EQ(volume.files.at("0trace.dat").size(), step * DiskSink::kStepBytes);
    }
    EXPECT_EQ(sink.step(), SinkState::idle) << "and closed";
    EXPECT_EQ(volume.appends, 6U);
    EXPECT_EQ(sink.files(), 1U);
}

TEST(DiskSink, FailsWithItsVolume) {
    Bytes memory;
    FakeVolume worn;
    worn.appended = lib::Error::io;
    DiskSink first(worn);
    ASSERT_TRUE(first.submit(image_of(3, 0, memory)).ok());
    EXPECT_EQ(run(first), SinkState::failed);
    EXPECT_EQ(first.last_error(), lib::Error::io);
    EXPECT_EQ(worn.appends, 1U);
    EXPECT_EQ(first.submit(image_of(3, 0, memory)).error(), lib::Error::io);
    EXPECT_EQ(first.finish({}).error(), lib::Error::io);
    FakeVolume full;
    full.closed = lib::Error::corrupt;
    DiskSink second(full);
    ASSERT_TRUE(second.submit(image_of(3, 0, memory)).ok());
    EXPECT_EQ(run(second), SinkState::failed);
    EXPECT_EQ(second.last_error(), lib::Error::corrupt);
    EXPECT_EQ(second.files(), 0U) << "no complete one";
}

TEST(DiskSink, KeepsItsNameOnceItIsWriting) {
    FakeVolume volume;
    DiskSink sink(volume);
    Bytes memory;
    ASSERT_TRUE(sink.submit(image_of(3, 0, memory)).ok());
    EXPECT_EQ(sink.set_base_name("other.dat").error(), lib::Error::refused);
    ASSERT_EQ(run(sink), SinkState::idle);
    EXPECT_TRUE(volume.files.contains("0trace.dat"));
    EXPECT_EQ(sink.name(), "disk");
}

} // namespace sinks_test
