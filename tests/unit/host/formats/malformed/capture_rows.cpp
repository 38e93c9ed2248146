// SPDX-License-Identifier: MIT
// Rows D46 to D53: captures, from the file down to our own packets.
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

Pcap whole(Pcap pcap = Pcap()) {
    for (std::size_t i = 0; i < datagrams().size(); ++i) {
        pcap.add(frame(i));
    }
    return pcap;
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
std::function<Bytes()> spoilt(const std::function<void(Bytes&)>& change) {
    return [change] {
        Bytes bytes = frame(0);
        change(bytes);
        return whole(Pcap().add(bytes)).bytes();
    };
}

// Its UDP payload, spoilt, in a sound packet.
std::function<Bytes()> spoilt_packet(const std::function<void(Bytes&)>& change) {
    return [change] {
        Bytes packet = datagrams()[0];
        change(packet);
        return whole(Pcap().add(ethernet(ip_packet(packet)))).bytes();
    };
}

std::function<void(Bytes&)> set(std::size_t at, unsigned value) {
    return [=](Bytes& bytes) { bytes[at] = static_cast<std::byte>(value); };
}

std::function<Bytes()> bad_record(std::uint64_t captured, std::uint64_t original) {
    return [=] { return whole().raw({}, captured, original).bytes(); };
}

std::function<Bytes()> bad_block(std::uint32_t length) {
    return [=] { return whole_ng().raw(6, 4).raw(length, 4).raw(0, 8).bytes(); };
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
        {.row = "D46",
         .name = "captured_2_gigabytes",
         .input = "a record of 2^31 bytes at the end",
         .code = "E-PCAP",
         .status = damaged,
         .offset_bytes = file_size(),
         .events = kEvents,
         .bytes = bad_record(1U << 31, 1U << 31)},
        {.row = "D46",
         .name = "captured_minus_one",
         .input = "a record of 2^32-1 bytes",
         .code = "E-PCAP",
         .status = damaged,
         .offset_bytes = file_size(),
         .events = kEvents,
         .bytes = bad_record(0xFFFF'FFFF, 0xFFFF'FFFF)},
        {.row = "D46",
         .name = "captured_beyond_the_limit",
         .input = "a record of 65,536 bytes",
         .code = "E-PCAP",
         .status = damaged,
         .offset_bytes = file_size(),
         .events = kEvents,
         .bytes = bad_record(65'536, 65'536)},
        {.row = "D46",
         .name = "captured_more_than_there_was",
         .input = "a record with more bytes than its packet: skipped",
         .code = "E-PCAP",
         .status = damaged,
         .offset_bytes = kFirstFrame,
         .text = "skipped",
         .events = kEvents,
         .bytes = [] { return whole(Pcap().raw(frame(0), frame(0).size(), frame(0).size() - 1)).bytes(); }},
        {.row = "D46",
         .name = "snapshot_length_of_zero",
         .input = "a file with a snapshot length of 0",
         .code = "E-PCAP",
         .status = damaged,
         .offset_bytes = 0,
         .text = "snapshot length",
         .events = kEvents,
         .bytes =
             [] {
                 Bytes bytes = whole().bytes();
                 std::fill_n(bytes.begin() + 16, 4, std::byte{0});
                 return bytes;
             }},
        {.row = "D47",
         .name = "both_byte_orders",
         .input = "pcap and pcapng of both byte orders, in micro- and nanoseconds",
         .events = kEvents,
         .act = read_both_orders},
        {.row = "D47",
         .name = "unknown_link_type",
         .input = "frames of an unknown link type",
         .code = "E-LINKTYPE",
         .status = nothing,
         .offset_bytes = kFirstFrame,
         .text = "link type 147",
         .events = 0,
         .bytes = [] { return Pcap(false, 0xA1B2C3D4, 147).add(frame(0)).bytes(); }},
        {.row = "D48",
         .name = "block_of_zero_bytes",
         .input = "a block of 0 bytes",
         .code = "E-BLOCK",
         .status = damaged,
         .offset_bytes = whole_size,
         .text = "0 bytes",
         .events = kEvents,
         .bytes = bad_block(0)},
        {.row = "D48",
         .name = "block_of_three_bytes",
         .input = "a block shorter than its head",
         .code = "E-BLOCK",
         .status = damaged,
         .offset_bytes = whole_size,
         .text = "3 bytes",
         .events = kEvents,
         .bytes = bad_block(3)},
        {.row = "D48",
         .name = "block_of_odd_length",
         .input = "a block of 13 bytes",
         .code = "E-BLOCK",
         .status = damaged,
         .offset_bytes = whole_size,
         .text = "13 bytes",
         .events = kEvents,
         .bytes = bad_block(13)},
        {.row = "D48",
         .name = "block_of_4_gigabytes",
         .input = "a block of 2^32-4 bytes",
         .code = "E-BLOCK",
         .status = damaged,
         .offset_bytes = whole_size,
         .text = "longer than any frame",
         .events = kEvents,
         .bytes = bad_block(0xFFFF'FFFC)},
        {.row = "D48",
         .name = "block_with_two_lengths",
         .input = "the last block ends with a different length than it begins with",
         .code = "E-BLOCK",
         .status = damaged,
         .offset_bytes = whole_size - (frame(datagrams().size() - 1).size() + 3) / 4 * 4 - 32,
         .text = "ends with a length of",
         .bytes =
             [] {
                 Bytes bytes = whole_ng().bytes();
                 bytes[bytes.size() - 4] ^= std::byte{4};
                 return bytes;
             }},
        {.row = "D48",
         .name = "frame_of_no_interface",
         .input = "a frame of an interface that no block describes",
         .code = "E-BLOCK",
         .status = damaged,
         .offset_bytes = whole_size,
         .text = "interface 1",
         .events = kEvents,
         .bytes = [] { return whole_ng().add(frame(0), 1).bytes(); }},
        {.row = "D49",
         .name = "ip_header_too_short",
         .input = "an IPv4 header of 16 bytes",
         .code = "W-PACKET",
         .status = damaged,
         .offset_bytes = kFirstFrame,
         .text = "lengths that contradict",
         .events = kEvents,
         .bytes = spoilt(set(14, 0x44))},
        {.row = "D49",
         .name = "ip_packet_longer_than_captured",
         .input = "an IPv4 packet longer than its frame",
         .code = "W-PACKET",
         .status = damaged,
         .offset_bytes = kFirstFrame,
         .text = "captured shorter",
         .events = kEvents,
         .bytes = spoilt(set(16, 0xFF))},
        {.row = "D49",
         .name = "ip_fragment",
         .input = "a fragment of an IPv4 packet",
         .code = "W-PACKET",
         .status = damaged,
         .offset_bytes = kFirstFrame,
         .text = "fragments",
         .events = kEvents,
         .bytes = spoilt(set(20, 0x20))},
        {.row = "D49",
         .name = "vlan_stack",
         .input = "a frame of 1000 VLAN tags",
         .code = "W-PACKET",
         .status = damaged,
         .offset_bytes = kFirstFrame,
         .text = "more than two VLAN tags",
         .events = kEvents,
         .bytes = deep_stack},
        {.row = "D50",
         .name = "udp_length_below_its_header",
         .input = "a datagram of 7 bytes",
         .code = "W-PACKET",
         .status = damaged,
         .offset_bytes = kFirstFrame,
         .text = "lengths that contradict",
         .events = kEvents,
         .bytes = spoilt([](Bytes& bytes) {
             bytes[38] = std::byte{0};
             bytes[39] = std::byte{7};
         })},
        {.row = "D50",
         .name = "udp_longer_than_ip",
         .input = "a datagram longer than its packet",
         .code = "W-PACKET",
         .status = damaged,
         .offset_bytes = kFirstFrame,
         .text = "lengths that contradict",
         .events = kEvents,
         .bytes = spoilt(set(38, 0xFF))},
        {.row = "D50",
         .name = "wrong_udp_checksum",
         .input = "a datagram with a wrong checksum",
         .code = "W-PACKET",
         .status = damaged,
         .offset_bytes = kFirstFrame,
         .text = "skipped: a wrong UDP checksum",
         .events = kEvents,
         .bytes = spoilt([](Bytes& bytes) { bytes.back() ^= std::byte{1}; })},
        {.row = "D50",
         .name = "wrong_udp_checksum_salvaged",
         .input = "all datagrams of a capture, the last with a wrong checksum, with --salvage",
         .code = "W-PACKET",
         .status = damaged,
         .text = "used all the same",
         .events = kEvents,
         .options = {.salvage = true},
         .bytes =
             [] {
                 Bytes bytes = whole().bytes();
                 bytes.back() ^= std::byte{1};
                 return bytes;
             }},
        {.row = "D51",
         .name = "wrong_count",
         .input = "a packet with a different number of records than it states",
         .code = "W-PACKET",
         .status = damaged,
         .text = "contradicts itself",
         .events = kEvents,
         .bytes = spoilt_packet([](Bytes& bytes) { bytes[16] ^= std::byte{1}; })},
        {.row = "D51",
         .name = "short_by_one_byte",
         .input = "a packet without its last byte",
         .code = "W-PACKET",
         .status = damaged,
         .text = "contradicts itself",
         .events = kEvents,
         .bytes = spoilt_packet([](Bytes& bytes) { bytes.pop_back(); })},
        {.row = "D51",
         .name = "shorter_than_its_header",
         .input = "a packet of 23 bytes",
         .code = "W-PACKET",
         .status = damaged,
         .text = "contradicts itself",
         .events = kEvents,
         .bytes = spoilt_packet([](Bytes& bytes) { bytes.resize(23); })},
        {.row = "D52",
         .name = "repeated_packet",
         .input = "packets out of order, one of them twice",
         .code = "W-DUP",
         .text = "1 packet",
         .events = kEvents,
         .bytes =
             [] {
                 Pcap pcap;
                 pcap.add(frame(1)).add(frame(0)).add(frame(0));
                 for (std::size_t i = 2; i < datagrams().size(); ++i) {
                     pcap.add(frame(i));
                 }
                 return pcap.bytes();
             }},
        {.row = "D52",
         .name = "missing_packet",
         .input = "the second packet is missing",
         .code = "W-GAP",
         .status = damaged,
         .text = "1 packet is missing",
         .bytes =
             [] {
                 Pcap pcap;
                 for (std::size_t i = 0; i < datagrams().size(); ++i) {
                     if (i != 1) {
                         pcap.add(frame(i));
                     }
                 }
                 return pcap.bytes();
             }},
        {.row = "D52",
         .name = "packet_that_contradicts",
         .input = "a packet is repeated with other contents: the first is kept",
         .code = "E-CONFLICT",
         .status = damaged,
         .offset_bytes = file_size(),
         .text = "packet 2 has other contents",
         .events = kEvents,
         .bytes = [] { return whole().add(changed(1)).bytes(); }},
        {.row = "D52",
         .name = "number_that_leaps",
         .input = "a packet whose number leaps by 2^31",
         .code = "W-PACKET",
         .status = damaged,
         .text = "a packet number that jumps too far",
         .events = kEvents,
         .bytes =
             [] {
                 Bytes leap = datagrams()[1];
                 leap[15] = std::byte{0x7F};
                 return whole().add(ethernet(ip_packet(leap))).bytes();
             }},
        {.row = "D52",
         .name = "other_sender",
         .input = "a packet of another machine after the others: left out",
         .code = "E-BOOT",
         .status = damaged,
         .offset_bytes = file_size(),
         .text = "another sender",
         .events = kEvents,
         .bytes = [] { return whole().add(frame(0, 16)).bytes(); }},
        {.row = "D52",
         .name = "sender_begins_again",
         .input = "the sender starts from packet 1 with other contents: left out",
         .code = "E-BOOT",
         .status = damaged,
         .offset_bytes = file_size(),
         .text = "begins again",
         .events = kEvents,
         .bytes = [] { return whole().add(changed(0)).bytes(); }},
        {.row = "D53",
         .name = "false_version_2",
         .input = "a packet that claims to be of version 2, and is not: left out",
         .code = "W-PACKET",
         .status = damaged,
         .text = "contradicts itself or the datagram",
         .events = kEvents,
         .bytes = spoilt_packet(set(8, '2'))},
        {.row = "D53",
         .name = "only_false_version_2",
         .input = "a capture with nothing else: refused",
         .code = "E-EMPTY",
         .status = nothing,
         .text = "no",
         .events = 0,
         .bytes =
             [] {
                 Bytes packet = datagrams()[0];
                 packet[8] = std::byte{'2'};
                 return Pcap().add(ethernet(ip_packet(packet))).bytes();
             }},
    };
}

} // namespace support
