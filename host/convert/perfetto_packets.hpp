// SPDX-License-Identifier: MIT
// Packets of a Perfetto trace, one at a time: each stands in the file with its own length, so a trace can be cut and
// joined anywhere between two of them.
#pragma once

#include "host/convert/output_file.hpp"
#include "host/convert/perfetto_fields.hpp"
#include "host/convert/perfetto_message.hpp"

#include <cstdint>
#include <string_view>

namespace host::convert::perfetto {

class Packets {
  public:
    // One for processors, one for tracks: what a sequence interns and loses is its own.
    enum class Sequence : std::uint32_t { sched = 1, tracks = 2 };

    explicit Packets(OutputFile& file)
        : m_file(file) {}

    // A message to fill; add() writes it out. One at a time.
    [[nodiscard]] Message<Packet> start(Sequence sequence) {
        m_packet.clear();
        m_packet.field(kTag, 0); // the length is not known yet
        Message<Packet> packet(m_packet);
        packet.add_uint32(Packet::sequence_id, static_cast<std::uint32_t>(sequence));
        return packet;
    }

    // Fields that are encoded already go to the end of the innermost message that is open.
    void append_encoded(std::string_view fields) { m_packet.append(fields); }

    void add() {
        m_packet.set_length(2);
        m_file.append(m_packet.bytes());
    }

  private:
    static constexpr std::uint32_t kTag = static_cast<std::uint32_t>(Trace::packet) << 3 | 2;
    static_assert(kTag < 0x80);

    OutputFile& m_file;
    Wire m_packet; // with tag and length
};

} // namespace host::convert::perfetto
