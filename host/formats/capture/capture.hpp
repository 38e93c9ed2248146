// SPDX-License-Identifier: MIT
// Reads a network capture as a trace: the packets of the first export in it, in order of their numbers, become the
// chunks that they were cut from. A packet is recognized by its magic, on any port. It needs one file without a name,
// of the size of the records, on disk, and some bytes of memory for each packet.
#pragma once

#include "host/formats/dat/record_stream.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace host::formats::capture {

// Any error is reported to diagnostics. Errors: corrupt (it has no packet of ours), io, no_space. Besides what
// FrameSource reports, it reports E-LINKTYPE (unless no packet is missing), W-PACKET (skipped, by reason), W-GAP
// (numbers missing), W-DUP, E-CONFLICT (same number, other content), E-BOOT (another export begins).
[[nodiscard]] lib::Result<std::unique_ptr<dat::RecordStream>>
open(const trace::NamedSource& input, const trace::OpenOptions& options, trace::Diagnostics& diagnostics);

// Reads the frames of a network capture, and the datagrams in them. Captures may be pcap in both byte orders with
// micro- or nanoseconds, pcap as some Linux distributions have modified it, or pcapng with any number of sections and
// interfaces; they are read from front to back, so a pipe can be read, too. Lengths in the file are used only within
// their possible range. Sources: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng; RFC 768, RFC 791, RFC 1071, RFC
// 8200; IEEE 802.1Q; the list of link types at tcpdump.org.

struct Frame {
    std::uint64_t offset_bytes = 0; // of the record or block that holds it
    std::uint16_t link_type = 0;
    std::span<const std::byte> bytes; // the captured part; valid until the next frame
};

class FrameSource {
  public:
    // A frame that states a greater size is invalid.
    static constexpr std::size_t kFrameBytesMax = 65'535;
    static constexpr std::size_t kInterfacesMax = 4096;

    explicit FrameSource(trace::NamedSource input, trace::Diagnostics& diagnostics);

    // Returns false at the end, or where the file cannot be read any further. Reports E-EMPTY, E-TRUNC, E-PCAP,
    // E-BLOCK, E-IO.
    [[nodiscard]] bool next(Frame& frame);

  private:
    enum class Format : std::uint8_t { unknown, pcap, pcapng };

    [[nodiscard]] bool open();
    [[nodiscard]] bool next_record(Frame& frame);
    [[nodiscard]] bool next_block(Frame& frame);
    [[nodiscard]] bool read_section(std::span<const std::byte> head);
    [[nodiscard]] bool take_block(std::uint32_t type, std::span<const std::byte> body, Frame& frame);
    [[nodiscard]] bool take_packet(std::span<const std::byte> packet, std::uint32_t interface, std::uint32_t captured,
                                   std::uint32_t original, Frame& frame);

    // Takes so many bytes, or none if the input ends before them. The end is reported unless it may be there.
    [[nodiscard]] std::span<const std::byte> take(std::size_t bytes, bool may_end);
    [[nodiscard]] bool skip(std::uint64_t bytes);
    [[nodiscard]] std::uint32_t word(std::span<const std::byte> bytes) const;
    [[nodiscard]] std::uint16_t half(std::span<const std::byte> bytes) const;
    void report(trace::Code code, std::string_view text);

    trace::NamedSource m_input;
    trace::Diagnostics& m_diagnostics;
    std::vector<std::byte> m_buffer;
    std::size_t m_position = 0;
    std::size_t m_filled = 0;
    std::uint64_t m_offset = 0; // offset of the next byte in the input
    std::uint64_t m_unit = 0;   // offset of the record or block that is being read
    Format m_format = Format::unknown;
    bool m_big_endian = false;
    bool m_ended = false;
    std::uint16_t m_link_type = 0;             // pcap
    std::size_t m_record_header_bytes = 0;     // pcap
    std::vector<std::uint16_t> m_link_types{}; // pcapng: of the section's interfaces
};

enum class Verdict : std::uint8_t {
    datagram,
    unknown_link, // the link type is not known here
    other,        // not IP, or not UDP: the frame is not ours
    vlan,         // more than two tags
    cut,          // fewer bytes were captured than its lengths say
    bad_header,   // lengths that contradict each other
    fragment,
    bad_checksum,
};

inline constexpr std::size_t kVerdicts = 8;

// Returns why a frame was skipped; empty if nothing is lost with it.
[[nodiscard]] std::string_view verdict_text(Verdict verdict);

struct Datagram {
    std::uint32_t source_address = 0; // of IPv6 a checksum of it
    std::uint16_t source_port = 0;
    std::span<const std::byte> payload;
};

// Sets `datagram` for Verdict::datagram and Verdict::bad_checksum.
[[nodiscard]] Verdict find_datagram(std::uint16_t link_type, std::span<const std::byte> frame, Datagram& datagram);

} // namespace host::formats::capture
