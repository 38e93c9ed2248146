// SPDX-License-Identifier: MIT
// Reads the records of pcap and the blocks of pcapng.
#include "host/formats/capture/capture.hpp"

#include "host/text/format.hpp"
#include "lib/endian.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace host::formats::capture {

namespace {

constexpr std::size_t kReadBytes = 128 * 1024;
constexpr std::size_t kFileHeaderBytes = 24;
constexpr std::size_t kRecordHeaderBytes = 16;
constexpr std::size_t kModifiedHeaderBytes = 24; // also has an interface, a protocol and a kind of packet
constexpr std::size_t kBlockHeadBytes = 8;
constexpr std::size_t kBlockBytesMin = 12;
// A block with a frame has its head, a frame of the greatest size, and options.
constexpr std::size_t kBlockBytesMax = FrameSource::kFrameBytesMax + 4096;

constexpr std::uint32_t kMagicMicro = 0xA1B2C3D4;
constexpr std::uint32_t kMagicNano = 0xA1B23C4D;
constexpr std::uint32_t kMagicModified = 0xA1B2CD34;
constexpr std::uint32_t kSectionBlock = 0x0A0D0D0A;
constexpr std::uint32_t kByteOrderMagic = 0x1A2B3C4D;
constexpr std::uint32_t kInterfaceBlock = 1;
constexpr std::uint32_t kPacketBlock = 2; // obsolete, but in use
constexpr std::uint32_t kSimplePacketBlock = 3;
constexpr std::uint32_t kEnhancedPacketBlock = 6;

} // namespace

FrameSource::FrameSource(trace::NamedSource input, trace::Diagnostics& diagnostics)
    : m_input(std::move(input))
    , m_diagnostics(diagnostics)
    , m_buffer(kReadBytes) {}

void FrameSource::report(trace::Code code, std::string_view text) {
    m_diagnostics.report(code, {.file = m_input.name, .offset_bytes = m_unit}, text);
}

std::span<const std::byte> FrameSource::take(std::size_t bytes, bool may_end) {
    if (m_filled - m_position < bytes) {
        std::copy(m_buffer.begin() + static_cast<std::ptrdiff_t>(m_position),
                  m_buffer.begin() + static_cast<std::ptrdiff_t>(m_filled), m_buffer.begin());
        m_filled -= m_position;
        m_position = 0;
        while (m_filled < bytes) {
            const auto count = m_input.bytes->read(m_offset + m_filled, std::span(m_buffer).subspan(m_filled));
            if (!count) {
                report("E-IO", error_name(count.error()));
                m_ended = true;
                return {};
            }
            if (count.value() == 0) {
                if (!may_end || m_filled != 0) {
                    report("E-TRUNC", fmt::format("the capture ends after {} of {} bytes", m_filled, bytes));
                }
                m_ended = true;
                return {};
            }
            m_filled += count.value();
        }
    }
    const auto taken = std::span(m_buffer).subspan(m_position, bytes);
    m_position += bytes;
    m_offset += bytes;
    return taken;
}

bool FrameSource::skip(std::uint64_t bytes) {
    while (bytes != 0) {
        const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kReadBytes));
        if (take(piece, false).empty()) {
            return false;
        }
        bytes -= piece;
    }
    return true;
}

std::uint32_t FrameSource::word(std::span<const std::byte> bytes) const {
    return m_big_endian ? lib::load_be<std::uint32_t>(bytes) : lib::load_le<std::uint32_t>(bytes);
}

std::uint16_t FrameSource::half(std::span<const std::byte> bytes) const {
    return m_big_endian ? lib::load_be<std::uint16_t>(bytes) : lib::load_le<std::uint16_t>(bytes);
}

bool FrameSource::open() {
    const auto magic = take(4, true);
    if (magic.empty()) {
        if (m_filled == 0) {
            report("E-EMPTY", "the capture is empty");
        }
        return false;
    }
    const auto little = lib::load_le<std::uint32_t>(magic);
    const auto big = lib::load_be<std::uint32_t>(magic);
    if (little == kSectionBlock) {
        m_format = Format::pcapng;
        m_position -= 4;
        m_offset -= 4;
        return true;
    }
    const auto is_pcap = [](std::uint32_t number) {
        return number == kMagicMicro || number == kMagicNano || number == kMagicModified;
    };
    m_big_endian = is_pcap(big);
    if (!m_big_endian && !is_pcap(little)) {
        report("E-MAGIC", fmt::format("0x{:08x} begins neither pcap nor pcapng", big));
        return false;
    }
    const auto header = take(kFileHeaderBytes - 4, false);
    if (header.empty()) {
        return false;
    }
    m_format = Format::pcap;
    m_record_header_bytes =
        little == kMagicModified || big == kMagicModified ? kModifiedHeaderBytes : kRecordHeaderBytes;
    const std::uint32_t length_max = word(header.subspan(12));
    if (length_max == 0 || length_max > 0x7FFF'FFFF) {
        report("E-PCAP", fmt::format("invalid snapshot length of {}: {} is used instead", length_max, kFrameBytesMax));
    }
    m_link_type = static_cast<std::uint16_t>(word(header.subspan(16))); // the upper half has flags
    return true;
}

bool FrameSource::next(Frame& frame) {
    if (m_format == Format::unknown && !m_ended && !open()) {
        m_ended = true;
    }
    while (!m_ended) {
        m_unit = m_offset;
        if (m_format == Format::pcap ? next_record(frame) : next_block(frame)) {
            return true;
        }
    }
    return false;
}

// Returns false if there is no frame here; m_ended says whether more may follow.
bool FrameSource::next_record(Frame& frame) {
    const auto header = take(m_record_header_bytes, true);
    if (header.empty()) {
        return false;
    }
    const std::uint32_t captured = word(header.subspan(8));
    const std::uint32_t original = word(header.subspan(12));
    if (captured > kFrameBytesMax || captured > original) {
        report("E-PCAP", fmt::format("{} bytes captured of a packet of {}: skipped", captured, original));
        static_cast<void>(skip(captured));
        return false;
    }
    if (captured == 0) {
        return false;
    }
    frame = {m_unit, m_link_type, take(captured, false)};
    return !frame.bytes.empty();
}

bool FrameSource::next_block(Frame& frame) {
    const auto head = take(kBlockHeadBytes, true);
    if (head.empty()) {
        return false;
    }
    if (lib::load_le<std::uint32_t>(head) == kSectionBlock) {
        std::array<std::byte, kBlockHeadBytes> copy{}; // the field after it states the byte order
        std::ranges::copy(head, copy.begin());
        if (!read_section(copy)) {
            m_ended = true;
        }
        return false;
    }
    const std::uint32_t type = word(head);
    const std::uint32_t length = word(head.subspan(4));
    if (length < kBlockBytesMin || length % 4 != 0) {
        report("E-BLOCK", fmt::format("invalid block length of {} bytes: what follows cannot be found", length));
        m_ended = true;
        return false;
    }
    const std::size_t body_bytes = length - kBlockHeadBytes;
    const bool wanted =
        type == kInterfaceBlock || type == kPacketBlock || type == kSimplePacketBlock || type == kEnhancedPacketBlock;
    if (!wanted || length > kBlockBytesMax) {
        if (wanted) {
            report("E-BLOCK", fmt::format("a block of {} bytes is longer than any frame: skipped", length));
        }
        static_cast<void>(skip(body_bytes));
        return false;
    }
    const auto body = take(body_bytes, false);
    if (body.empty()) {
        return false;
    }
    if (const std::uint32_t trailer = word(body.last(4)); trailer != length) {
        report("E-BLOCK", fmt::format("a block of {} bytes ends with a length of {}: skipped", length, trailer));
        return false;
    }
    return take_block(type, body.first(body_bytes - 4), frame);
}

// Reads the head of a section, which states the byte order of everything that follows. Returns false if it cannot be
// read.
bool FrameSource::read_section(std::span<const std::byte> head) {
    const auto order = take(4, false);
    if (order.empty()) {
        return false;
    }
    m_big_endian = lib::load_be<std::uint32_t>(order) == kByteOrderMagic;
    const std::uint32_t length = word(head.subspan(4));
    if (word(order) != kByteOrderMagic || length < 28 || length % 4 != 0) {
        report("E-BLOCK",
               fmt::format("invalid section head of {} bytes with a byte order mark of 0x{:08x}", length, word(order)));
        return false;
    }
    m_link_types.clear();
    return skip(length - kBlockHeadBytes - 4);
}

bool FrameSource::take_block(std::uint32_t type, std::span<const std::byte> body, Frame& frame) {
    const std::size_t fixed_bytes = type == kInterfaceBlock ? 8 : type == kSimplePacketBlock ? 4 : 20;
    if (body.size() < fixed_bytes) {
        report("E-BLOCK", "the block is too short for what it is: skipped");
        return false;
    }
    if (type == kInterfaceBlock) {
        if (m_link_types.size() == kInterfacesMax) {
            report("E-BLOCK", fmt::format("more than {} interfaces: the rest is not read", kInterfacesMax));
            m_ended = true;
            return false;
        }
        m_link_types.push_back(half(body));
        return false;
    }
    if (type == kSimplePacketBlock) {
        const std::uint32_t original = word(body);
        const auto held = static_cast<std::uint32_t>(body.size() - fixed_bytes); // padding is harmless
        return take_packet(body.subspan(fixed_bytes), 0, std::min(original, held), original, frame);
    }
    const std::uint32_t interface = type == kPacketBlock ? half(body) : word(body);
    return take_packet(body.subspan(fixed_bytes), interface, word(body.subspan(12)), word(body.subspan(16)), frame);
}

bool FrameSource::take_packet(std::span<const std::byte> packet, std::uint32_t interface, std::uint32_t captured,
                              std::uint32_t original, Frame& frame) {
    if (interface >= m_link_types.size()) {
        report("E-BLOCK", fmt::format("the frame is of interface {}, but the section has {}: skipped", interface,
                                      m_link_types.size()));
        return false;
    }
    if (captured > packet.size() || captured > kFrameBytesMax || captured > original) {
        report("E-PCAP", fmt::format("{} bytes captured of a packet of {}, in a block with room for {}: skipped",
                                     captured, original, packet.size()));
        return false;
    }
    frame = {m_unit, m_link_types[interface], packet.first(captured)};
    return captured != 0;
}

} // namespace host::formats::capture
