// SPDX-License-Identifier: MIT
// Writes JSON (RFC 8259) as a stream. The caller opens and closes objects and arrays and names members; the writer adds
// commas, blanks, line breaks and backslashes. It is fast enough for output of millions of events.
//
//   JsonText json(buffer);                 {"events":2,"counts":{"block":2},"names":["a"]}
//   json.begin_object();
//   json.member("events", 2);
//   json.begin_object("counts");
//   ...
//   json.end_object();
//
// The caller must pair begin and end, and give a key before each value of an object.
#pragma once

#include "host/text/digits.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace host::text {

enum class JsonLayout : std::uint8_t {
    compact,  // {"a":1,"b":2}; line() begins a new line
    spaced,   // {"a": 1, "b": 2}; line() begins a new line
    indented, // each member and element on a line of its own, two columns deeper than its container
};

// A sink provides room(bytes) for at least so many bytes; used(bytes) states how many were written there.
template <typename Sink>
concept JsonSink = requires(Sink& sink, std::size_t bytes) {
    { sink.room(bytes) } -> std::same_as<char*>;
    sink.used(bytes);
};

// Appends to a buffer in memory, which must outlive the sink.
class MemorySink {
  public:
    explicit MemorySink(fmt::memory_buffer& buffer)
        : m_buffer(&buffer) {}

    [[nodiscard]] char* room(std::size_t bytes) {
        m_buffer->reserve(m_buffer->size() + bytes);
        return m_buffer->data() + m_buffer->size();
    }

    void used(std::size_t bytes) { m_buffer->resize(m_buffer->size() + bytes); }

  private:
    fmt::memory_buffer* m_buffer;
};

// Writes in place; the caller has room for everything that is written.
class PlaceSink {
  public:
    explicit PlaceSink(char* at)
        : m_at(at) {}

    [[nodiscard]] char* room(std::size_t /*bytes*/) { return m_at; }

    void used(std::size_t bytes) { m_at += bytes; }

  private:
    char* m_at;
};

// Sink may be a reference.
template <typename Sink, JsonLayout Layout = JsonLayout::compact>
requires JsonSink<std::remove_reference_t<Sink>>

class JsonWriter {
  public:
    template <typename Target>
    explicit JsonWriter(Target& target)
        : m_sink(target) {}

    // Writes the value of a member that is so many containers deep; another writer inserts it with plain().
    template <typename Target>
    JsonWriter(Target& target, std::uint32_t depth)
        : m_sink(target)
        , m_state(State::after_key)
        , m_depth(depth) {}

    void begin_object() { open('{'); }

    void end_object() { close('}'); }

    void begin_array() { open('['); }

    void end_array() { close(']'); }

    // Begins an object as the member of this name, of any type that key() takes.
    template <typename Name>
    void begin_object(const Name& name) {
        key(name);
        begin_object();
    }

    template <typename Name>
    void begin_array(const Name& name) {
        key(name);
        begin_array();
    }

    // Precondition: the literal needs no backslash.
    template <std::size_t N>
    void key(const char (&name)[N]) {
        write(N + kSeparatorMax + indent_bytes(), [&](char* at) {
            at = separate(at);
            *at++ = '"';
            __builtin_memcpy(at, name, N - 1);
            return end_key(at + N - 1);
        });
    }

    // Precondition: the name needs no backslash.
    template <std::size_t N>
    void key(const TextOf<N>& name) {
        write(N + kSeparatorMax + indent_bytes(), [&](char* at) {
            at = separate(at);
            *at++ = '"';
            return end_key(name.put(at));
        });
    }

    void key(std::string_view name) {
        write(json_room(name.size()) + kSeparatorMax + indent_bytes(), [&](char* at) {
            at = separate(at);
            *at++ = '"';
            return end_key(put_json(at, name));
        });
    }

    // Writes a boolean, a number or a text, or null for nullptr and for an optional without a value. A char is a text
    // of one character; a char and a literal must need no backslash.
    template <typename T>
    void value(const T& value) {
        if constexpr (std::is_array_v<T>) {
            constexpr std::size_t kBytes = std::extent_v<T> - 1;
            place(kBytes + 2, [&value](char* at) {
                *at++ = '"';
                __builtin_memcpy(at, value, kBytes);
                at[kBytes] = '"';
                return at + kBytes + 1;
            });
        } else if constexpr (std::is_same_v<T, char>) {
            place(3, [value](char* at) {
                *at++ = '"';
                *at++ = value;
                *at++ = '"';
                return at;
            });
        } else if constexpr (std::is_same_v<T, bool>) {
            plain(value ? "true" : "false");
        } else if constexpr (std::is_null_pointer_v<T>) {
            plain("null");
        } else if constexpr (std::integral<T>) {
            place(kNumberMax, [value](char* at) { return put_number(at, value); });
        } else if constexpr (std::floating_point<T>) {
            fraction(value);
        } else if constexpr (std::convertible_to<T, std::string_view>) {
            string(value);
        } else {
            value ? this->value(*value) : this->value(nullptr);
        }
    }

    template <std::size_t N, typename T>
    void member(const char (&name)[N], const T& content) {
        key(name);
        value(content);
    }

    template <typename T>
    void member(std::string_view name, const T& content) {
        key(name);
        value(content);
    }

    // Writes an array as the member of this name: add(element) writes each element.
    template <typename Name, typename Range, typename Add>
    void array(const Name& name, Range&& elements, Add add) {
        begin_array(name);
        for (auto&& element : elements) {
            add(element);
        }
        end_array();
    }

    // Writes an array of objects: members(element) writes the members of each.
    template <typename Name, typename Range, typename Members>
    void objects(const Name& name, Range&& elements, Members members) {
        array(name, elements, [&](const auto& element) {
            begin_object();
            members(element);
            end_object();
        });
    }

    // Writes an object, or null if there is no content: members(*content) writes its members.
    template <typename Name, typename Content, typename Members>
    void object_or_null(const Name& name, const Content& content, Members members) {
        key(name);
        if (!content) {
            value(nullptr);
            return;
        }
        begin_object();
        members(*content);
        end_object();
    }

    // Writes a text that json_encoded() has made.
    void encoded(std::string_view text) {
        place(text.size() + 2, [text](char* at) {
            *at++ = '"';
            return put(put(at, text), "\"");
        });
    }

    template <std::size_t N>
    void encoded(const TextOf<N>& text) {
        place(N + 2, [&text](char* at) {
            *at++ = '"';
            at = text.put(at);
            *at++ = '"';
            return at;
        });
    }

    // Writes a value or members that are JSON already.
    void plain(std::string_view json) {
        place(json.size(), [json](char* at) { return put(at, json); });
    }

    template <std::size_t N>
    void plain(const TextOf<N>& json) {
        place(N, [&json](char* at) { return json.put(at); });
    }

    // Writes JSON that put(char*) writes in place. It takes at most `bytes` and returns where it ends.
    template <typename Put>
    void place(std::size_t bytes, Put put) {
        write(bytes + kSeparatorMax + indent_bytes(), [&](char* at) {
            at = put(separate(at));
            m_state = State::after_value;
            return at;
        });
    }

    // Writes an object of at most `bytes` in place; members(writer) adds its members. This is faster than member by
    // member, because the compiler keeps the writer in registers.
    template <typename Members>
    void object(std::size_t bytes, Members members) requires(Layout != JsonLayout::indented) {
        place(bytes, [&members](char* at) {
            JsonWriter<PlaceSink, Layout> json(at);
            json.begin_object();
            members(json);
            json.end_object();
            return json.m_sink.room(0);
        });
    }

    // Begins a line with the next element. Not for an indented document.
    void line() requires(Layout != JsonLayout::indented) {
        write(2, [this](char* at) {
            *at = ',';
            at += m_state == State::after_value ? 1 : 0;
            *at++ = '\n';
            m_state = State::begun;
            return at;
        });
    }

    // Ends an array whose elements begin with line().
    void end_lines() requires(Layout != JsonLayout::indented) {
        blank(m_state == State::begun ? "" : "\n");
        end_array();
    }

    // Writes white space between values, such as line breaks.
    void blank(std::string_view text) {
        write(text.size(), [text](char* at) { return put(at, text); });
    }

  private:
    template <typename OtherSink, JsonLayout OtherLayout>
    requires JsonSink<std::remove_reference_t<OtherSink>>
    friend class JsonWriter;

    enum class State : std::uint8_t { begun, after_key, after_value };

    static constexpr std::size_t kSeparatorMax = 8; // comma, line break, quotes, colon, blanks
    static constexpr std::size_t kPieceBytes = 4096;

    template <typename Put>
    void write(std::size_t bytes, Put put) {
        char* const begin = m_sink.room(bytes);
        m_sink.used(static_cast<std::size_t>(put(begin) - begin));
    }

    [[nodiscard]] std::size_t indent_bytes() const { return Layout == JsonLayout::indented ? 2 * m_depth + 1 : 0; }

    // Writes the comma, line break and blanks that precede a key or a value.
    [[nodiscard]] char* separate(char* at) const {
        *at = ',';
        at += m_state == State::after_value ? 1 : 0;
        if constexpr (Layout == JsonLayout::spaced) {
            *at = ' ';
            at += m_state == State::after_value ? 1 : 0;
        } else if constexpr (Layout == JsonLayout::indented) {
            at = m_state == State::after_key || m_depth == 0 ? at : put_line(at);
        }
        return at;
    }

    [[nodiscard]] char* put_line(char* at) const {
        *at++ = '\n';
        return std::fill_n(at, 2 * m_depth, ' ');
    }

    [[nodiscard]] char* end_key(char* at) {
        *at++ = '"';
        *at++ = ':';
        if constexpr (Layout != JsonLayout::compact) {
            *at++ = ' ';
        }
        m_state = State::after_key;
        return at;
    }

    void open(char bracket) {
        place(1, [bracket](char* at) {
            *at = bracket;
            return at + 1;
        });
        m_state = State::begun;
        ++m_depth;
    }

    void close(char bracket) {
        --m_depth;
        write(kSeparatorMax + indent_bytes(), [&](char* at) {
            if constexpr (Layout == JsonLayout::indented) {
                at = m_state == State::begun ? at : put_line(at);
            }
            *at = bracket;
            m_state = State::after_value;
            return at + 1;
        });
    }

    void string(std::string_view text) {
        if (text.size() > kPieceBytes) {
            long_string(text);
            return;
        }
        place(json_room(text.size()) + 2, [text](char* at) {
            *at++ = '"';
            at = put_json(at, text);
            *at++ = '"';
            return at;
        });
    }

    // Writes the text in pieces that end between two characters, because a sink need not have room for a text of any
    // size.
    void long_string(std::string_view text) {
        plain("\"");
        while (!text.empty()) {
            const std::string_view piece = cut(text, kPieceBytes);
            write(json_room(piece.size()), [piece](char* at) { return put_json(at, piece); });
            text.remove_prefix(piece.size());
        }
        blank("\"");
    }

    // Writes the shortest number that reads back as the same value, with a point or an exponent in it; null if the
    // value is not finite.
    void fraction(double number) {
        if (!(number - number == 0)) {
            plain("null");
            return;
        }
        fmt::memory_buffer digits;
        fmt::format_to(std::back_inserter(digits), "{}", number);
        const std::string_view text(digits.data(), digits.size());
        const bool whole = text.find_first_of(".e") == std::string_view::npos;
        place(text.size() + 2, [text, whole](char* at) { return put(put(at, text), whole ? ".0" : ""); });
    }

    Sink m_sink;
    State m_state = State::begun;
    std::uint32_t m_depth = 0;
};

using JsonText = JsonWriter<MemorySink>;
using JsonDocument = JsonWriter<MemorySink, JsonLayout::indented>;

} // namespace host::text
