// SPDX-License-Identifier: MIT
// Packets of a CTF stream.
#include "convert/ctf/ctf_stream.hpp"

#include <limits>
#include <string_view>

namespace host::convert::ctf {

namespace {

constexpr std::uint32_t kMagic = 0xC1FC1FC1;
constexpr std::size_t kAlignBytes = 8;

} // namespace

void CtfStream::close_packet() {
    if (m_filled == kHeadBytes && !m_gap) {
        return;
    }
    const std::size_t bytes = (m_filled + kAlignBytes - 1) / kAlignBytes * kAlignBytes;
    std::memset(m_packet.data() + m_filled, 0, bytes - m_filled);
    char* at = put_value(m_packet.data(), kMagic);
    at = put_value(at, std::uint32_t{0});
    at = put_value(at, m_begin);
    at = put_value(at, m_end);
    at = put_value(at, std::uint64_t{m_filled} * 8);
    at = put_value(at, std::uint64_t{bytes} * 8);
    at = put_value(at, m_number++);
    at = put_value(at, m_discarded);
    put_value(at, std::uint32_t{m_cpu});
    m_file.append(std::string_view(m_packet.data(), bytes));
    m_filled = kHeadBytes;
    m_begin = m_end;
    m_gap = false;
}

void CtfStream::lost(std::uint64_t records) {
    close_packet();
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - m_discarded;
    m_discarded += records < room ? records : room;
    m_gap = true;
}

void CtfStream::end_gap() {
    close_packet();
}

void CtfStream::finish(std::uint64_t lost_elsewhere) {
    close_packet();
    if (lost_elsewhere != 0) {
        lost(lost_elsewhere);
        close_packet();
    }
}

} // namespace host::convert::ctf
