// SPDX-License-Identifier: MIT
// Has rows D46 to D53: captures, from the file down to our own packets.
#include "tests/support/capture_files.hpp"
#include "tests/support/malformed_row.hpp"

#include <gmock/gmock.h>

namespace support {

namespace {

using enum host::trace::ExitStatus;
using testing::HasSubstr;

constexpr std::size_t kEvents = 200;
constexpr std::size_t kFirstFrame = 24; // after the head of the file

// 200 events in packets.
const std::vector<Bytes>& datagrams() {
    static const std::vector<Bytes> kDatagrams = [] {
        ChunkBuilder chunk;
        for (unsigned i = 0; i < kEvents; ++i) {
            chunk.event(1000 + i, "user_event_0", static_cast<std::uint16_t>(i), i);
        }
        std::uint32_t number = 1;
        return packets(chunk.bytes(), number);
    }();
    return kDatagrams;
}

Bytes frame(std::size_t datagram, std::uint8_t host = 15) {
    return ethernet(ip_packet(datagrams()[datagram], host));
}

// The datagrams from this one on.
Pcap rest(std::size_t first, Pcap pcap) {
    for (std::size_t i = first; i < datagrams().size(); ++i) {
        pcap.add(frame(i));
    }
    return pcap;
}

Pcap whole(Pcap pcap = Pcap()) {
    return rest(0, std::move(pcap));
}

Pcapng whole_ng(Pcapng ng = Pcapng()) {
    ng.interface(1);
    for (std::size_t i = 0; i < datagrams().size(); ++i) {
        ng.add(frame(i));
    }
    return ng;
}

std::size_t file_size() {
    return whole().bytes().size();
}

// The first packet, spoilt, in front of all.
Bytes spoilt(const std::function<void(Bytes&)>& change) {
    Bytes bytes = frame(0);
    change(bytes);
    return whole(Pcap().add(bytes)).bytes();
}

// Its UDP payload, spoilt, in a sound packet.
Bytes spoilt_packet(const std::function<void(Bytes&)>& change) {
    Bytes packet = datagrams()[0];
    change(packet);
    return whole(Pcap().add(ethernet(ip_packet(packet)))).bytes();
}

std::function<void(Bytes&)> set(std::size_t at, unsigned value) {
    return [=](Bytes& bytes) { bytes[at] = static_cast<std::byte>(value); };
}

Bytes bad_record(std::uint64_t captured, std::uint64_t original) {
    return whole().raw({}, captured, original).bytes();
}

Bytes bad_block(std::uint32_t length) {
    return whole_ng().raw(6, 4).raw(length, 4).raw(0, 8).bytes();
}

Bytes deep_stack() {
    Bytes stack(1000 * 4 + 12);
    for (std::size_t i = 12; i < stack.size(); i += 4) {
        stack[i] = std::byte{0x81};
    }
    return whole(Pcap().add(stack)).bytes();
}

Bytes changed(std::size_t datagram) {
    Bytes bytes = datagrams()[datagram];
    bytes.back() ^= std::byte{1};
    return ethernet(ip_packet(bytes));
}

Outcome read_both_orders(MalformedInput& at) {
    Outcome outcome;
    for (const bool big : {false, true}) {
        for (const std::uint32_t magic : {0xA1B2C3D4U, 0xA1B23C4DU}) {
            outcome = at.read(whole(Pcap(big, magic)).bytes());
            EXPECT_EQ(outcome.events, kEvents);
            EXPECT_EQ(outcome.lines, "");
        }
        outcome = at.read(whole_ng(Pcapng(big)).bytes());
        EXPECT_EQ(outcome.events, kEvents);
        EXPECT_EQ(outcome.lines, "");
    }
    return outcome;
}

} // namespace

std::vector<MalformedRow> malformed_packets() {
    const std::size_t whole_size = whole_ng().bytes().size();
    return {
        row("D46", "captured_2_gigabytes", "a record of 2^31 bytes at the end", says("E-PCAP", file_size()), damaged,
            kEvents, bad_record(1U << 31, 1U << 31)),
        row("D46", "captured_minus_one", "a record of 2^32-1 bytes", says("E-PCAP", file_size()), damaged, kEvents,
            bad_record(0xFFFF'FFFF, 0xFFFF'FFFF)),
        row("D46", "captured_beyond_the_limit", "a record of 65,536 bytes", says("E-PCAP", file_size()), damaged,
            kEvents, bad_record(65'536, 65'536)),
        row("D46", "captured_more_than_there_was", "a record with more bytes than its packet: skipped",
            says("E-PCAP", kFirstFrame, "skipped"), damaged, kEvents,
            whole(Pcap().raw(frame(0), frame(0).size(), frame(0).size() - 1)).bytes()),
        row("D46", "snapshot_length_of_zero", "a file with a snapshot length of 0",
            says("E-PCAP", 0, "snapshot length"), damaged, kEvents, zeroed(whole().bytes(), 16, 4)),
        row("D47", "both_byte_orders", "pcap and pcapng of both byte orders, in micro- and nanoseconds", says(), clean,
            kEvents, read_both_orders),
        row("D47", "unknown_link_type", "frames of an unknown link type",
            says("E-LINKTYPE", kFirstFrame, "link type 147"), nothing, 0,
            Pcap(false, 0xA1B2C3D4, 147).add(frame(0)).bytes()),
        row("D48", "block_of_zero_bytes", "a block of 0 bytes", says("E-BLOCK", whole_size, "0 bytes"), damaged,
            kEvents, bad_block(0)),
        row("D48", "block_of_three_bytes", "a block shorter than its head", says("E-BLOCK", whole_size, "3 bytes"),
            damaged, kEvents, bad_block(3)),
        row("D48", "block_of_odd_length", "a block of 13 bytes", says("E-BLOCK", whole_size, "13 bytes"), damaged,
            kEvents, bad_block(13)),
        row("D48", "block_of_4_gigabytes", "a block of 2^32-4 bytes",
            says("E-BLOCK", whole_size, "longer than any frame"), damaged, kEvents, bad_block(0xFFFF'FFFC)),
        row("D48", "block_with_two_lengths", "the last block ends with a different length than it begins with",
            says("E-BLOCK", whole_size - (frame(datagrams().size() - 1).size() + 3) / 4 * 4 - 32,
                 "ends with a length of"),
            damaged, {}, flipped(whole_ng().bytes(), whole_size - 4, 2)),
        row("D48", "frame_of_no_interface", "a frame of an interface that no block describes",
            says("E-BLOCK", whole_size, "interface 1"), damaged, kEvents, whole_ng().add(frame(0), 1).bytes()),
        row("D49", "ip_header_too_short", "an IPv4 header of 16 bytes",
            says("W-PACKET", kFirstFrame, "lengths that contradict"), damaged, kEvents, spoilt(set(14, 0x44))),
        row("D49", "ip_packet_longer_than_captured", "an IPv4 packet longer than its frame",
            says("W-PACKET", kFirstFrame, "captured shorter"), damaged, kEvents, spoilt(set(16, 0xFF))),
        row("D49", "ip_fragment", "a fragment of an IPv4 packet", says("W-PACKET", kFirstFrame, "fragments"), damaged,
            kEvents, spoilt(set(20, 0x20))),
        row("D49", "vlan_stack", "a frame of 1000 VLAN tags", says("W-PACKET", kFirstFrame, "more than two VLAN tags"),
            damaged, kEvents, deep_stack()),
        row("D50", "udp_length_below_its_header", "a datagram of 7 bytes",
            says("W-PACKET", kFirstFrame, "lengths that contradict"), damaged, kEvents, spoilt([](Bytes& bytes) {
                bytes[38] = std::byte{0};
                bytes[39] = std::byte{7};
            })),
        row("D50", "udp_longer_than_ip", "a datagram longer than its packet",
            says("W-PACKET", kFirstFrame, "lengths that contradict"), damaged, kEvents, spoilt(set(38, 0xFF))),
        row("D50", "wrong_udp_checksum", "a datagram with a wrong checksum",
            says("W-PACKET", kFirstFrame, "skipped: a wrong UDP checksum"), damaged, kEvents,
            spoilt([](Bytes& bytes) { bytes.back() ^= std::byte{1}; })),
        row("D50", "wrong_udp_checksum_salvaged",
            "all datagrams of a capture, the last with a wrong checksum, with --salvage",
            says("W-PACKET", {}, "used all the same"), damaged, kEvents, flipped(whole().bytes(), file_size() - 1, 0),
            {.salvage = true}),
        row("D51", "wrong_count", "a packet with a different number of records than it states",
            says("W-PACKET", {}, "contradicts itself"), damaged, kEvents,
            spoilt_packet([](Bytes& bytes) { bytes[16] ^= std::byte{1}; })),
        row("D51", "short_by_one_byte", "a packet without its last byte", says("W-PACKET", {}, "contradicts itself"),
            damaged, kEvents, spoilt_packet([](Bytes& bytes) { bytes.pop_back(); })),
        row("D51", "shorter_than_its_header", "a packet of 23 bytes", says("W-PACKET", {}, "contradicts itself"),
            damaged, kEvents, spoilt_packet([](Bytes& bytes) { bytes.resize(23); })),
        row("D52", "repeated_packet", "packets out of order, one of them twice", says("W-DUP", {}, "1 packet"), clean,
            kEvents, rest(2, Pcap().add(frame(1)).add(frame(0)).add(frame(0))).bytes()),
        row("D52", "missing_packet", "the second packet is missing", says("W-GAP", {}, "1 packet is missing"), damaged,
            {}, rest(2, Pcap().add(frame(0))).bytes()),
        row("D52", "packet_that_contradicts", "a packet is repeated with other contents: the first is kept",
            says("E-CONFLICT", file_size(), "packet 2 has other contents"), damaged, kEvents,
            whole().add(changed(1)).bytes()),
        row("D52", "number_that_leaps", "a packet whose number leaps by 2^31",
            says("W-PACKET", {}, "a packet number that jumps too far"), damaged, kEvents,
            whole().add(ethernet(ip_packet(with_byte(datagrams()[1], 15, 0x7F)))).bytes()),
        row("D52", "other_sender", "a packet of another machine after the others: left out",
            says("E-BOOT", file_size(), "another sender"), damaged, kEvents, whole().add(frame(0, 16)).bytes()),
        row("D52", "sender_begins_again", "the sender starts from packet 1 with other contents: left out",
            says("E-BOOT", file_size(), "begins again"), damaged, kEvents, whole().add(changed(0)).bytes()),
        row("D53", "false_version_2", "a packet that claims to be of version 2, and is not: left out",
            says("W-PACKET", {}, "contradicts itself or the datagram"), damaged, kEvents, spoilt_packet(set(8, '2'))),
        row("D53", "only_false_version_2", "a capture with nothing else: refused", says("E-EMPTY", {}, "no"), nothing,
            0, Pcap().add(ethernet(ip_packet(with_byte(datagrams()[0], 8, '2')))).bytes()),
    };
}

} // namespace support
