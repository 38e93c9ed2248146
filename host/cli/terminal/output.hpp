// SPDX-License-Identifier: MIT
// The output of a command: a buffer before a stream, and whether colours make sense there. A write that fails is
// remembered, not thrown: commands check failed() and stop early, and run() derives the exit status from it.
#pragma once

#include "host/text/format.hpp"
#include "host/trace/diagnostics.hpp"

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace host::cli {

enum class Style : std::uint8_t { plain, dim, strong, good, warning, bad };

class Output {
  public:
    static constexpr std::size_t kFlushBytes = 64 * 1024;

    // The stream must outlive the output. Colours are used only on a terminal, and only if NO_COLOR is not set.
    explicit Output(std::FILE* stream);
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    ~Output();

    // Sends the output through a pager (REMORA_PAGER, else PAGER, else less), if the stream is a terminal and
    // no_pager() was not called. This is for commands whose text may be longer than a screen, and must precede the
    // first output.
    void page();

    void no_pager() { m_may_page = false; }

    // Writes everything and waits until the pager, if any, has ended: the user has seen the text.
    void finish();

    template <typename... Arguments>
    void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        fmt::format_to(std::back_inserter(m_buffer), format, std::forward<Arguments>(arguments)...);
        flush_if_full();
    }

    // Callers that format by hand append to buffer(), then call flush_if_full().
    [[nodiscard]] fmt::memory_buffer& buffer() { return m_buffer; }

    void flush_if_full() {
        if (m_buffer.size() >= kFlushBytes) {
            flush();
        }
    }

    void flush();

    // Writes a long text by itself, without copying it, after what the buffer has.
    void write(std::string_view text);

    // Returns whether a write has failed: the disk is full, or the pipe has no reader any more.
    [[nodiscard]] bool failed() const { return m_failed; }

    // Returns the errno of that write; 0 while none has failed.
    [[nodiscard]] int error_number() const { return m_error_number; }

    [[nodiscard]] bool reader_gone() const { return m_error_number == EPIPE; }

    [[nodiscard]] bool is_terminal() const { return m_terminal; }

    // Returns the text in a style, or unchanged where colours make no sense.
    [[nodiscard]] std::string styled(Style style, std::string_view text) const;

  private:
    void put(std::string_view text);

    std::FILE* m_stream;
    std::FILE* m_pager = nullptr; // replaces m_stream; null: no pager
    int m_pager_process = -1;
    bool m_may_page = true;
    bool m_terminal;
    bool m_colour;
    bool m_failed = false;
    int m_error_number = 0;
    fmt::memory_buffer m_buffer;
};

// The streams that every command gets.
struct Context {
    Output& out;
    Output& err;
};

// A line that shows the progress of long work, only on a terminal and only after a second.
class ProgressLine {
  public:
    // what is a word such as "converting". out must outlive the line.
    ProgressLine(Output& out, std::string_view what)
        : m_out(out)
        , m_what(what)
        , m_next(std::chrono::steady_clock::now() + std::chrono::seconds(1)) {}

    // total: 0 if it is not known.
    void show(std::uint64_t done, std::uint64_t total) {
        const auto now = std::chrono::steady_clock::now();
        if (!m_out.is_terminal() || now < m_next) {
            return;
        }
        m_next = now + std::chrono::milliseconds(200);
        m_shown = true;
        if (total != 0) {
            m_out.print("\r\x1b[K{} {:>3} % of {} events", m_what, done * 100 / total, total);
        } else {
            m_out.print("\r\x1b[K{} {} events", m_what, done);
        }
        m_out.flush();
    }

    void clear() {
        if (m_shown) {
            m_out.print("\r\x1b[K");
            m_out.flush();
            m_shown = false;
        }
    }

  private:
    Output& m_out;
    std::string_view m_what;
    std::chrono::steady_clock::time_point m_next;
    bool m_shown = false;
};

} // namespace host::cli
