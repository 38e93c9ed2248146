// SPDX-License-Identifier: MIT
// One line that shows how far long work has come: on a terminal only, and only after a second.
#pragma once

#include "host/cli/terminal/output.hpp"

#include <chrono>
#include <cstdint>
#include <string_view>

namespace host::cli {

class ProgressLine {
  public:
    // what: such as "converting". out outlives the line.
    ProgressLine(Output& out, std::string_view what)
        : m_out(out)
        , m_what(what)
        , m_next(std::chrono::steady_clock::now() + std::chrono::seconds(1)) {}

    // total 0: not known.
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
