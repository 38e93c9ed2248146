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
constexpr std::size_t kFirstFrame = 24; // behind the head of the file
constexpr std::size_t kRecordHead = 16;

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
    const std::size_t behind = whole_ng().bytes().size();
    return {
        {"D46",
         "captured_2_gigabytes",
         "a record of 2^31 bytes at the end",
         "E-PCAP",
         damaged,
         file_size(),
         "",
         kEvents,
         {},
         bad_record(1U << 31, 1U << 31)},
        {"D46",
         "captured_minus_one",
         "a record of 2^32-1 bytes",
         "E-PCAP",
         damaged,
         file_size(),
         "",
         kEvents,
         {},
         bad_record(0xFFFF'FFFF, 0xFFFF'FFFF)},
        {"D46",
         "captured_beyond_the_limit",
         "a record of 65,536 bytes",
         "E-PCAP",
         damaged,
         file_size(),
         "",
         kEvents,
         {},
         bad_record(65'536, 65'536)},
        {"D46",
         "captured_more_than_there_was",
         "a record of more bytes than its packet had: skipped",
         "E-PCAP",
         damaged,
         kFirstFrame,
         "skipped",
         kEvents,
         {},
         [] { return whole(Pcap().raw(frame(0), frame(0).size(), frame(0).size() - 1)).bytes(); }},
        {"D46",
         "snapshot_length_of_zero",
         "a file whose frames may have no byte",
         "E-PCAP",
         damaged,
         0,
         "snapshot length",
         kEvents,
         {},
         [] {
             Bytes bytes = whole().bytes();
             std::fill_n(bytes.begin() + 16, 4, std::byte{0});
             return bytes;
         }},
        {"D47",
         "both_byte_orders",
         "pcap and pcapng of both byte orders, in micro- and nanoseconds",
         "",
         clean,
         {},
         "",
         kEvents,
         {},
         {},
         read_both_orders},
        {"D47",
         "unknown_link_type",
         "frames of a link type that is not known",
         "E-LINKTYPE",
         nothing,
         kFirstFrame,
         "link type 147",
         0,
         {},
         [] { return Pcap(false, 0xA1B2C3D4, 147).add(frame(0)).bytes(); }},
        {"D48",
         "block_of_zero_bytes",
         "a block that is as long as nothing",
         "E-BLOCK",
         damaged,
         behind,
         "0 bytes",
         kEvents,
         {},
         bad_block(0)},
        {"D48",
         "block_of_three_bytes",
         "a block shorter than its head",
         "E-BLOCK",
         damaged,
         behind,
         "3 bytes",
         kEvents,
         {},
         bad_block(3)},
        {"D48",
         "block_of_odd_length",
         "a block of 13 bytes",
         "E-BLOCK",
         damaged,
         behind,
         "13 bytes",
         kEvents,
         {},
         bad_block(13)},
        {"D48",
         "block_of_4_gigabytes",
         "a block of 2^32-4 bytes",
         "E-BLOCK",
         damaged,
         behind,
         "longer than any frame",
         kEvents,
         {},
         bad_block(0xFFFF'FFFC)},
        {"D48",
         "block_with_two_lengths",
         "the last block ends with another length than it begins with",
         "E-BLOCK",
         damaged,
         behind - (frame(datagrams().size() - 1).size() + 3) / 4 * 4 - 32,
         "ends with a length of",
         {},
         {},
         [] {
             Bytes bytes = whole_ng().bytes();
             bytes[bytes.size() - 4] ^= std::byte{4};
             return bytes;
         }},
        {"D48",
         "frame_of_no_interface",
         "a frame of an interface that no block describes",
         "E-BLOCK",
         damaged,
         behind,
         "interface 1",
         kEvents,
         {},
         [] { return whole_ng().add(frame(0), 1).bytes(); }},
        {"D49",
         "ip_header_too_short",
         "an IPv4 header of 16 bytes",
         "W-PACKET",
         damaged,
         kFirstFrame,
         "lengths that contradict",
         kEvents,
         {},
         spoilt(set(14, 0x44))},
        {"D49",
         "ip_packet_longer_than_captured",
         "an IPv4 packet longer than its frame",
         "W-PACKET",
         damaged,
         kFirstFrame,
         "captured shorter",
         kEvents,
         {},
         spoilt(set(16, 0xFF))},
        {"D49",
         "ip_fragment",
         "a fragment of an IPv4 packet",
         "W-PACKET",
         damaged,
         kFirstFrame,
         "fragments",
         kEvents,
         {},
         spoilt(set(20, 0x20))},
        {"D49",
         "vlan_stack",
         "a frame of 1000 VLAN tags",
         "W-PACKET",
         damaged,
         kFirstFrame,
         "more than two VLAN tags",
         kEvents,
         {},
         deep_stack},
        {"D50",
         "udp_length_below_its_header",
         "a datagram of 7 bytes",
         "W-PACKET",
         damaged,
         kFirstFrame,
         "lengths that contradict",
         kEvents,
         {},
         spoilt([](Bytes& bytes) {
             bytes[38] = std::byte{0};
             bytes[39] = std::byte{7};
         })},
        {"D50",
         "udp_longer_than_ip",
         "a datagram longer than its packet",
         "W-PACKET",
         damaged,
         kFirstFrame,
         "lengths that contradict",
         kEvents,
         {},
         spoilt(set(38, 0xFF))},
        {"D50",
         "wrong_udp_checksum",
         "a datagram with a wrong checksum",
         "W-PACKET",
         damaged,
         kFirstFrame,
         "skipped: a wrong UDP checksum",
         kEvents,
         {},
         spoilt([](Bytes& bytes) { bytes.back() ^= std::byte{1}; })},
        {"D50",
         "wrong_udp_checksum_salvaged",
         "all datagrams of a capture, the last with a wrong checksum, with --salvage",
         "W-PACKET",
         damaged,
         {},
         "used all the same",
         kEvents,
         {.salvage = true},
         [] {
             Bytes bytes = whole().bytes();
             bytes.back() ^= std::byte{1};
             return bytes;
         }},
        {"D51",
         "count_that_lies",
         "a packet with another number of records than it says",
         "W-PACKET",
         damaged,
         {},
         "contradicts itself",
         kEvents,
         {},
         spoilt_packet([](Bytes& bytes) { bytes[16] ^= std::byte{1}; })},
        {"D51",
         "short_by_one_byte",
         "a packet without its last byte",
         "W-PACKET",
         damaged,
         {},
         "contradicts itself",
         kEvents,
         {},
         spoilt_packet([](Bytes& bytes) { bytes.pop_back(); })},
        {"D51",
         "shorter_than_its_header",
         "a packet of 23 bytes",
         "W-PACKET",
         damaged,
         {},
         "contradicts itself",
         kEvents,
         {},
         spoilt_packet([](Bytes& bytes) { bytes.resize(23); })},
        {"D52",
         "packet_that_comes_again",
         "packets out of order, one of them twice",
         "W-DUP",
         clean,
         {},
         "1 packet",
         kEvents,
         {},
         [] {
             Pcap pcap;
             pcap.add(frame(1)).add(frame(0)).add(frame(0));
             for (std::size_t i = 2; i < datagrams().size(); ++i) {
                 pcap.add(frame(i));
             }
             return pcap.bytes();
         }},
        {"D52",
         "missing_packet",
         "the second packet is missing",
         "W-GAP",
         damaged,
         {},
         "1 packet is missing",
         {},
         {},
         [] {
             Pcap pcap;
             for (std::size_t i = 0; i < datagrams().size(); ++i) {
                 if (i != 1) {
                     pcap.add(frame(i));
                 }
             }
             return pcap.bytes();
         }},
        {"D52",
         "packet_that_contradicts",
         "a packet comes again with other contents: the first is kept",
         "E-CONFLICT",
         damaged,
         file_size(),
         "packet 2 has other contents",
         kEvents,
         {},
         [] { return whole().add(changed(1)).bytes(); }},
        {"D52",
         "number_that_leaps",
         "a packet whose number leaps by 2^31",
         "W-PACKET",
         damaged,
         {},
         "a number that leaps",
         kEvents,
         {},
         [] {
             Bytes leap = datagrams()[1];
             leap[15] = std::byte{0x7F};
             return whole().add(ethernet(ip_packet(leap))).bytes();
         }},
        {"D52",
         "other_sender",
         "a packet of another machine behind the others: left out",
         "E-BOOT",
         damaged,
         file_size(),
         "another sender",
         kEvents,
         {},
         [] { return whole().add(frame(0, 16)).bytes(); }},
        {"D52",
         "sender_begins_again",
         "the sender starts from packet 1 with other contents: left out",
         "E-BOOT",
         damaged,
         file_size(),
         "begins again",
         kEvents,
         {},
         [] { return whole().add(changed(0)).bytes(); }},
        {"D53",
         "authenticated_packet",
         "a packet of a version with authentication: left out",
         "W-PACKET",
         damaged,
         {},
         "authenticated ones need a key",
         kEvents,
         {},
         spoilt_packet(set(8, '2'))},
        {"D53",
         "only_authenticated_packets",
         "a capture with nothing else: refused",
         "E-EMPTY",
         nothing,
         {},
         "no",
         0,
         {},
         [] {
             Bytes packet = datagrams()[0];
             packet[8] = std::byte{'2'};
             return Pcap().add(ethernet(ip_packet(packet))).bytes();
         }},
    };
}

} // namespace support
