// SPDX-License-Identifier: MIT
// One stream of a CTF 1.8 trace: a file of packets, all of one processor. Source: Common Trace Format, version 1.8.3.
//
//   packet header | packet context                                                              | events ...
//   magic, stream | begin, end, content bits, packet bits, number, discarded so far, processor  |
//
// A packet is put together in memory and written when it is full, so nothing is patched.
#pragma once

#include "convert/writer/output.hpp"
#include "lib/assert.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace host::convert::ctf {

// Writes a number at the place, in the byte order of this machine; returns where the next one goes.
template <typename T>
char* put_value(char* at, T value) {
    std::memcpy(at, &value, sizeof(value));
    return at + sizeof(value);
}

class CtfStream {
  public:
    static constexpr std::size_t kPacketBytes = 64 * 1024;
    static constexpr std::size_t kEventBytesMax = 8 * 1024;
    static constexpr std::size_t kHeadBytes = 60;
    static constexpr std::size_t kEventHeadBytes = 10;

    CtfStream(OutputFile& file, std::uint16_t cpu)
        : m_file(file)
        , m_packet(kPacketBytes)
        , m_cpu(cpu) {}

    // Begins an event; the fields follow where it points to, at most `bytes` of them (up to kEventBytesMax), and used()
    // says where they end. A stamp below one that the stream holds already is raised to it, and counted.
    [[nodiscard]] char* event(std::uint16_t id, std::uint64_t stamp, std::size_t bytes) {
        ASSERT(bytes <= kEventBytesMax);
        if (stamp < m_end) {
            stamp = m_end;
            ++m_raised;
        }
        if (kEventHeadBytes + bytes > kPacketBytes - m_filled) {
            close_packet();
        }
        if (m_filled == kHeadBytes && !m_gap) {
            m_begin = stamp;
        }
        m_end = stamp;
        char* const at = m_packet.data() + m_filled;
        std::memcpy(at, &stamp, sizeof(stamp));
        std::memcpy(at + sizeof(stamp), &id, sizeof(id));
        return at + kEventHeadBytes;
    }

    void used(const char* end) {
        m_filled = static_cast<std::size_t>(end - m_packet.data());
        ASSERT(m_filled <= kPacketBytes);
    }

    // So many records are missing between the last event and the next one. Readers see it between the end of one packet
    // and the end of the next, so the event after the gap gets a packet to itself: end_gap() goes after it.
    void lost(std::uint64_t records);
    void end_gap();

    // Records that are missing at an unknown place: recorded at the end.
    void finish(std::uint64_t lost_elsewhere);

    // Stamps that had to be raised.
    [[nodiscard]] std::uint64_t raised() const { return m_raised; }

    // Of the last event.
    [[nodiscard]] std::uint64_t last_stamp() const { return m_end; }

    [[nodiscard]] std::uint64_t discarded() const { return m_discarded; }

  private:
    void close_packet();

    OutputFile& m_file;
    std::vector<char> m_packet;
    std::size_t m_filled = kHeadBytes;
    std::uint64_t m_begin = 0;
    std::uint64_t m_end = 0;
    std::uint64_t m_number = 0;
    std::uint64_t m_discarded = 0;
    std::uint64_t m_raised = 0;
    std::uint16_t m_cpu;
    bool m_gap = false; // the packet covers a gap and begins where the last one ended
};

} // namespace host::convert::ctf
