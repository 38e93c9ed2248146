// SPDX-License-Identifier: MIT
// Protocol buffers as they are written by the million (https://protobuf.dev/programming-guides/encoding): fields go
// straight into a buffer, and a message that lies in another one gets its length when it ends. Fields come out in the
// order in which they are added, all numbers as short as they can be.
//
// Usage:
//   Wire wire;
//   Message<Packet> packet(wire);
//   {
//       Message<TrackEvent> event(packet, Packet::track_event);
//       event.add_uint64(TrackEvent::track_uuid, 1);
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace host::convert::perfetto {

class Wire {
  public:
    Wire()
        : m_bytes(kBytes) {}

    [[nodiscard]] bool empty() const { return m_size == 0; }

    [[nodiscard]] std::size_t size() const { return m_size; }

    [[nodiscard]] std::span<const std::byte> bytes() const { return std::as_bytes(std::span(m_bytes).first(m_size)); }

    [[nodiscard]] std::string_view text() const { return {m_bytes.data(), m_size}; }

    void clear() { m_size = 0; }

    void varint(std::uint64_t value) { taken(put(room(kVarintMax), value)); }

    // A field of a number: its tag, and the number. Inline, for then tags are constants, and mostly one byte.
    [[gnu::always_inline]] void field(std::uint32_t tag, std::uint64_t value) {
        taken(put(put(room(2 * kVarintMax), tag), value));
    }

    void append(std::string_view bytes) {
        std::memcpy(room(bytes.size()), bytes.data(), bytes.size());
        m_size += bytes.size();
    }

    // Takes back what lies behind.
    void cut(std::size_t size) { m_size = size; }

    // A length in front of what lies behind `begin`.
    void insert_length(std::size_t begin) {
        const std::size_t length = m_size - begin;
        std::size_t bytes = 1;
        for (std::size_t rest = length; rest >= 0x80; rest >>= 7) {
            ++bytes;
        }
        static_cast<void>(room(bytes));
        std::memmove(m_bytes.data() + begin + bytes, m_bytes.data() + begin, length);
        m_size = begin;
        varint(length);
        m_size += length;
    }

    // Into the one byte in front of `begin`, where most fit, or as many as it takes.
    void set_length(std::size_t begin) {
        const std::size_t length = m_size - begin;
        if (length < 0x80) {
            m_bytes[begin - 1] = static_cast<char>(length);
            return;
        }
        std::memmove(m_bytes.data() + begin - 1, m_bytes.data() + begin, length);
        --m_size;
        insert_length(begin - 1);
    }

  private:
    static constexpr std::size_t kBytes = 4096; // at first
    static constexpr std::size_t kVarintMax = 10;

    [[nodiscard, gnu::always_inline]] static char* put(char* at, std::uint64_t value) {
        while (value >= 0x80) {
            *at++ = static_cast<char>(value | 0x80);
            value >>= 7;
        }
        *at++ = static_cast<char>(value);
        return at;
    }

    void taken(const char* end) { m_size = static_cast<std::size_t>(end - m_bytes.data()); }

    [[nodiscard]] char* room(std::size_t bytes) {
        if (m_bytes.size() - m_size < bytes) [[unlikely]] {
            grow(bytes);
        }
        return m_bytes.data() + m_size;
    }

    [[gnu::noinline]] void grow(std::size_t bytes) { m_bytes.resize(2 * m_bytes.size() + bytes); }

    std::vector<char> m_bytes;
    std::size_t m_size = 0;
};

// Fields of one message, named by an enumeration of their numbers.
template <typename Field>
class Message {
  public:
    // The outermost one: it has no length of its own.
    explicit Message(Wire& wire)
        : m_wire(wire) {}

    // Within another one, which gets nothing else until this one has ended. One without a field is left out.
    template <typename Outer>
    Message(Message<Outer>& outer, std::type_identity_t<Outer> field)
        : m_wire(outer.wire())
        , m_before(m_wire.size()) {
        m_wire.field(Message<Outer>::tag(field, Message<Outer>::kBytes), 0); // the length is not known yet
        m_begin = m_wire.size();
    }

    Message(const Message&) = delete;

    Message(Message&& other) noexcept
        : m_wire(other.m_wire)
        , m_before(other.m_before)
        , m_begin(std::exchange(other.m_begin, 0)) {}

    Message& operator=(const Message&) = delete;

    ~Message() {
        if (m_begin == 0) {
            return;
        }
        if (m_wire.size() == m_begin) {
            m_wire.cut(m_before);
        } else {
            m_wire.set_length(m_begin);
        }
    }

    [[nodiscard]] Wire& wire() { return m_wire; }

    void add_uint64(Field field, std::uint64_t value) { m_wire.field(tag(field, kVarint), value); }

    void add_uint32(Field field, std::uint32_t value) { add_uint64(field, value); }

    void add_int64(Field field, std::int64_t value) { add_uint64(field, static_cast<std::uint64_t>(value)); }

    void add_int32(Field field, std::int32_t value) { add_int64(field, value); }

    void add_enum(Field field, std::int32_t value) { add_int64(field, value); }

    void add_bool(Field field, bool value) { add_uint64(field, value ? 1 : 0); }

    void add_fixed64(Field field, std::uint64_t value) {
        m_wire.varint(tag(field, kFixed64));
        char bytes[sizeof value]; // NOLINT(modernize-avoid-c-arrays)
        std::memcpy(bytes, &value, sizeof value);
        m_wire.append({bytes, sizeof value});
    }

    void add_string(Field field, std::string_view text) {
        m_wire.field(tag(field, kBytes), text.size());
        m_wire.append(text);
    }

  private:
    static constexpr std::uint32_t kVarint = 0;
    static constexpr std::uint32_t kFixed64 = 1;
    static constexpr std::uint32_t kBytes = 2;

    static constexpr std::uint32_t tag(Field field, std::uint32_t type) {
        return static_cast<std::uint32_t>(field) << 3 | type;
    }

    template <typename Inner>
    friend class Message;

    Wire& m_wire;
    std::size_t m_before = 0; // where the message's tag stands
    std::size_t m_begin = 0;  // of its fields; 0: the outermost
};

} // namespace host::convert::perfetto
