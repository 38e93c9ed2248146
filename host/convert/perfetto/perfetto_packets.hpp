// SPDX-License-Identifier: MIT
// Packets of a Perfetto trace, one at a time: each is in the file with its own length, so a trace can be cut and
// joined anywhere between two of them. Messages are protozero's; functions through which millions of events pass are
// [[gnu::flatten]], for inlined into them its tags are constants.
#pragma once

#include "host/convert/output_file.hpp"
#include "host/convert/perfetto/perfetto_fields.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#define PROTOZERO_USE_VIEW std::string_view // what its functions take for texts
#include <protozero/basic_pbf_builder.hpp>
#include <protozero/buffer_fixed.hpp>
#include <protozero/pbf_builder.hpp>

namespace host::convert::perfetto {

template <typename Field>
using Message = protozero::pbf_builder<Field>;

struct ShortBuffer {
    static constexpr std::size_t kBytes = 64;

    std::array<char, kBytes> bytes; // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
    protozero::fixed_size_buffer_adaptor buffer{bytes};
};

// A few numbers, encoded where nothing grows: what occurs by the million is made of such pieces and of texts. A number
// takes at most 12 bytes with its tag.
template <typename Field>
class ShortMessage : private ShortBuffer,
                     public protozero::basic_pbf_builder<protozero::fixed_size_buffer_adaptor, Field> {
  public:
    ShortMessage()
        : protozero::basic_pbf_builder<protozero::fixed_size_buffer_adaptor, Field>(buffer) {}

    ShortMessage(const ShortMessage&) = delete;
    ShortMessage& operator=(const ShortMessage&) = delete;
    ~ShortMessage() = default;

    [[nodiscard]] std::string_view encoded() const { return {bytes.data(), buffer.size()}; }
};

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

    // Likewise, with its first fields.
    [[nodiscard]] Message<Packet> start(const ShortMessage<Packet>& head) {
        m_packet.assign(head.encoded());
        return Message<Packet>(m_packet);
    }

    // Fields that are encoded already go to the end of the innermost message that is open.
    void append_encoded(std::string_view fields) { m_packet += fields; }

    void add() {
        constexpr std::size_t kFrameMax = 16; // tag and length
        const std::size_t most = m_packet.size() + kFrameMax;
        if (most > OutputFile::kBufferBytes) [[unlikely]] {
            std::string framed;
            Message<Trace>(framed).add_message(Trace::packet, m_packet);
            m_file.append(framed);
            return;
        }
        protozero::fixed_size_buffer_adaptor framed(m_file.room(most), most);
        protozero::basic_pbf_builder<protozero::fixed_size_buffer_adaptor, Trace>(framed).add_message(Trace::packet,
                                                                                                      m_packet);
        m_file.used(framed.size());
    }

  private:
    OutputFile& m_file;
    std::string m_packet;
};

} // namespace host::convert::perfetto
