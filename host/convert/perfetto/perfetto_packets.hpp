// SPDX-License-Identifier: MIT
// Packets of a Perfetto trace, one at a time: each is in the file with its own length, so a trace can be cut and
// joined anywhere between two of them. Messages are protozero's; what occurs by the million is a ShortMessage, encoded
// in place, in functions that are [[gnu::flatten]]: inlined into them its tags are constants.
#pragma once

#include "host/convert/output_file.hpp"
#include "host/convert/perfetto/perfetto_fields.hpp"
#include "host/text/digits.hpp"
#include "host/text/short_text.hpp"
#include "lib/assert.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#define PROTOZERO_USE_VIEW std::string_view // what its functions take for texts
#include <protozero/pbf_builder.hpp>
#include <protozero/varint.hpp>

namespace host::convert::perfetto {

template <typename Field>
using Message = protozero::pbf_builder<Field>;

// Tag and length of a field whose content follows.
inline constexpr std::size_t kFrameMax = 16;

template <typename Field>
[[nodiscard]] char* put_frame(char* at, Field field, std::size_t bytes) {
    constexpr std::uint32_t kLengthDelimited = 2;
    at += protozero::add_varint_to_buffer(at, static_cast<std::uint32_t>(field) << 3 | kLengthDelimited);
    return at + protozero::add_varint_to_buffer(at, bytes);
}

template <typename Field>
[[nodiscard]] std::size_t frame_bytes(Field field, std::size_t bytes) {
    const int tag = protozero::length_of_varint(std::uint64_t{static_cast<std::uint32_t>(field)} << 3);
    const int length = protozero::length_of_varint(bytes);
    return static_cast<std::size_t>(tag) + static_cast<std::size_t>(length);
}

// A few numbers and short texts that are encoded already, where nothing grows. A number takes at most 12 bytes with its
// tag, texts the bytes of their types and a frame; the sum is the caller's to keep below Bytes.
template <typename Field, std::size_t Bytes = 224>
class ShortMessage {
  public:
    ShortMessage() {} // NOLINT(modernize-use-equals-default): m_bytes is written before it is read

    ShortMessage(const ShortMessage&) = delete;
    ShortMessage& operator=(const ShortMessage&) = delete;
    ~ShortMessage() = default;

    void add_number(Field field, std::uint64_t value) {
        m_at += protozero::add_varint_to_buffer(m_at, static_cast<std::uint32_t>(field) << 3);
        m_at += protozero::add_varint_to_buffer(m_at, value);
    }

    // Fields.
    template <std::size_t N>
    void add_encoded(const text::TextOf<N>& fields) {
        m_at = fields.put(m_at);
    }

    // Of a message or a text that follows.
    void add_frame(Field field, std::size_t bytes) { m_at = put_frame(m_at, field, bytes); }

    // A message of these two parts.
    template <std::size_t N>
    void add_message(Field field, const text::TextOf<N>& first, std::string_view second) {
        m_at = text::put(first.put(put_frame(m_at, field, first.size + second.size())), second);
    }

    template <std::size_t M, std::size_t N>
    void add_message(Field field, const text::TextOf<M>& first, const text::TextOf<N>& second) {
        m_at = second.put(first.put(put_frame(m_at, field, std::size_t{first.size} + second.size)));
    }

    [[nodiscard]] std::string_view encoded() const {
        ASSERT(m_at <= m_bytes.data() + m_bytes.size());
        return {m_bytes.data(), m_at};
    }

    // Bytes of room; all of them are copied, without a loop.
    [[nodiscard]] char* put(char* at) const {
        __builtin_memcpy(at, m_bytes.data(), Bytes);
        return at + encoded().size();
    }

  private:
    std::array<char, Bytes> m_bytes;
    char* m_at = m_bytes.data();
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

    // Fields that are encoded already go to the end of the innermost message that is open.
    void append_encoded(std::string_view fields) { m_packet += fields; }

    using Head = ShortMessage<Packet, 32>;

    // A whole packet: its first fields, others that may be missing, and a message as its last field, in two parts.
    void add(const Head& head, std::string_view more, Packet field, std::string_view first, std::string_view second) {
        const std::size_t message = first.size() + second.size();
        const std::size_t bytes = head.encoded().size() + more.size() + frame_bytes(field, message) + message;
        char* const begin = m_file.room(kFrameMax + sizeof head + bytes);
        char* at = head.put(put_frame(begin, Trace::packet, bytes));
        if (!more.empty()) {
            at = text::put(at, more);
        }
        at = text::put(put_frame(at, field, message), first);
        if (!second.empty()) {
            at = text::put(at, second);
        }
        m_file.used(static_cast<std::size_t>(at - begin));
    }

    void add() {
        char* const begin = m_file.room(kFrameMax + m_packet.size());
        char* const at = text::put(put_frame(begin, Trace::packet, m_packet.size()), m_packet);
        m_file.used(static_cast<std::size_t>(at - begin));
    }

  private:
    OutputFile& m_file;
    std::string m_packet;
};

} // namespace host::convert::perfetto
