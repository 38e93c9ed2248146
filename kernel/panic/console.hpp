// SPDX-License-Identifier: MIT
// The console prints one line of text at a time to what the composition root has attached (the serial port). Lines that
// other programs wait for start with "REMORA: ". Output is polled and slow, so that a task that prints delays all
// others; the kernel itself prints only at boot, at the end and in a panic. Context: any.
#pragma once

#include "lib/text.hpp"

#include <concepts>
#include <cstdint>
#include <string_view>

namespace kernel {

// Marks a number that is printed in hexadecimal, with prefix.
struct Hex {
    std::uint64_t value;
};

class Console {
  public:
    using Write = void (*)(std::string_view text);

    // Attaches the output; lines before it are dropped.
    void attach(Write write) { m_write = write; }

    // Prints strings, integers and Hex, in order, then a newline. A line of more than 240 characters is cut and ends in
    // '~'.
    template <typename... Parts>
    void line(const Parts&... parts) {
        Line text;
        (add(text, parts), ...);
        finish(text);
    }

    // Prints such a line after "REMORA: ".
    template <typename... Parts>
    void mark(const Parts&... parts) {
        line("REMORA: ", parts...);
    }

  private:
    static constexpr std::size_t kLineMax = 240;
    using Line = lib::Text<kLineMax>;

    static void add(Line& text, std::string_view part) { text.add(part); }

    static void add(Line& text, Hex part) { text.add("0x").hex(part.value); }

    template <std::integral T>
    static void add(Line& text, T part) {
        text.decimal(part);
    }

    void finish(const Line& text) const {
        if (m_write != nullptr) {
            m_write(text.view());
            m_write(text.truncated() ? "~\n" : "\n");
        }
    }

    Write m_write = nullptr;
};

namespace detail {

inline constinit Console console;

} // namespace detail

// Returns the one console.
[[nodiscard]] inline Console& console() {
    return detail::console;
}

} // namespace kernel
