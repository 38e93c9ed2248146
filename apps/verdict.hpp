// SPDX-License-Identifier: MIT
// How a teaching application keeps its promises: calls that cannot fail, counts that must come out, one result.
#pragma once

#include "kernel/console.hpp"
#include "kernel/task.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <string_view>

namespace apps {

class Verdict {
  public:
    constexpr explicit Verdict(std::string_view app)
        : m_app(app) {}

    // A call that cannot fail unless the kernel is broken.
    template <typename T>
    void expect(const lib::Result<T>& result, std::string_view what) {
        if (!result.ok()) {
            fail(what, lib::error_name(result.error()));
        }
    }

    // exact: the clock counts instructions. Elsewhere the machine may be held up for any time, and a count that depends
    // on speed proves nothing.
    void check(std::string_view what, std::uint64_t found, std::uint64_t least, std::uint64_t most, bool exact) {
        if (exact && (found < least || found > most)) {
            m_failed = true;
            kernel::console().line(m_app, ": ", what, ": ", found, ", expected ", least, " to ", most);
        }
    }

    void fail(std::string_view what, std::string_view why) {
        m_failed = true;
        kernel::console().line(m_app, ": ", what, ": ", why);
    }

    // Of start(): 0 if all went well.
    [[nodiscard]] int result() const { return m_failed ? 1 : 0; }

  private:
    std::string_view m_app;
    bool m_failed = false;
};

// The counts of a task that is still there.
[[nodiscard]] inline kernel::JobCounts jobs_of(Verdict& verdict, kernel::Pid pid) {
    const auto info = kernel::task_info(pid);
    verdict.expect(info, "task_info");
    return info.ok() ? info.value().jobs : kernel::JobCounts{};
}

} // namespace apps
