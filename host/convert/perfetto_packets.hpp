// SPDX-License-Identifier: MIT
// Packets of a Perfetto trace, one at a time: each stands in the file with its own length, so a trace can be cut and
// joined anywhere between two of them.
#pragma once

#include "host/convert/output_file.hpp"
#include "host/convert/perfetto_fields.hpp"

#include <cstdint>
#include <protozero/pbf_builder.hpp>
#include <string>

namespace host::convert::perfetto {

template <typename Field>
using Message = protozero::pbf_builder<Field>;

class Packets {
  public:
    // One for processors, one for tracks: what a sequence interns and loses is its own.
    enum class Sequence : std::uint32_t { sched = 1, tracks = 2 };

    explicit Packets(OutputFile& file)
        : m_file(file) {}

    // A message to fill; add() writes it out. One at a time.
    [[nodiscard]] Message<Packet> start(Sequence sequence) {
        m_packet.clear();
        Message<Packet> packet(m_packet);
        packet.add_uint32(Packet::sequence_id, static_cast<std::uint32_t>(sequence));
        return packet;
    }

    // Fields that are encoded already go to the end of the innermost message that is open.
    void append_encoded(const std::string& fields) { m_packet += fields; }

    void add() {
        m_framed.clear();
        Message<Trace>(m_framed).add_message(Trace::packet, m_packet);
        m_file.append(m_framed);
    }

  private:
    OutputFile& m_file;
    std::string m_packet;
    std::string m_framed; // with tag and length
};

} // namespace host::convert::perfetto
