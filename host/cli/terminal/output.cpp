// SPDX-License-Identifier: MIT
#include "host/cli/terminal/output.hpp"

#include "host/cli/terminal/pager.hpp"

#include <array>
#include <cstdlib>
#include <unistd.h>

namespace host::cli {

Output::Output(std::FILE* stream)
    : m_stream(stream)
    , m_terminal(::isatty(::fileno(stream)) == 1) {
    const char* const no_color = std::getenv("NO_COLOR");
    // m_buffer is the buffer: the stream's own would cut each flush into three writes.
    std::setvbuf(stream, nullptr, _IONBF, 0);
    m_colour = m_terminal && (no_color == nullptr || *no_color == '\0');
}

Output::~Output() {
    finish();
}

void Output::finish() {
    flush();
    if (m_pager != nullptr) {
        std::fclose(std::exchange(m_pager, nullptr));
        wait_for_pager(m_pager_process);
    }
}

void Output::page() {
    if (m_may_page && m_terminal && m_pager == nullptr) {
        m_pager = start_pager(m_pager_process);
    }
}

void Output::flush() {
    put({m_buffer.data(), m_buffer.size()});
    m_buffer.clear();
}

void Output::write(std::string_view text) {
    flush();
    put(text);
}

void Output::put(std::string_view text) {
    if (!text.empty() && !m_failed) {
        std::FILE* const stream = m_pager != nullptr ? m_pager : m_stream;
        m_failed = std::fwrite(text.data(), 1, text.size(), stream) != text.size() || std::fflush(stream) != 0;
        m_error_number = m_failed ? errno : 0;
    }
}

std::string Output::styled(Style style, std::string_view text) const {
    if (!m_colour || style == Style::plain) {
        return std::string(text);
    }
    constexpr auto kCodes = std::to_array<std::string_view>({"", "2", "1", "1;32", "1;33", "1;31"}); // by Style
    const std::string_view code = kCodes.at(static_cast<std::size_t>(style));
    return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

} // namespace host::cli
