// SPDX-License-Identifier: MIT
// One line of text at a time to whatever the composition root attached (the serial port). Lines that other programs
// wait for start with "REMORA: ". Output is polled and slow: a task that prints delays everybody, so the kernel prints
// only at boot, at the end and in a panic. Context: any.
#pragma once

#include "lib/text.hpp"

#include <concepts>
#include <cstdint>
#include <string_view>

namespace kernel {

// A number to be printed in hexadecimal, with prefix.
struct Hex {
    std::uint64_t value;
};

class Console {
  public:
    using Write = void (*)(std::string_view text);

    // Before this, lines are dropped.
    void attach(Write write) { m_write = write; }

    // Strings, integers and Hex, in order, then a newline. Longer lines than kLineMax are cut and end in '~'.
    template <typename... Parts>
    void line(const Parts&... parts) {
        Line text;
        (add(text, parts), ...);
        finish(text);
    }

    // The same after "REMORA: ".
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

[[nodiscard]] inline Console& console() {
    return detail::console;
}

} // namespace kernel
