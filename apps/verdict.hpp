// SPDX-License-Identifier: MIT
// A Verdict checks a teaching application's result: calls must succeed, and counts must be in a range.
#pragma once

#include "kernel/panic/console.hpp"
#include "kernel/task/task.hpp"
#include "lib/result.hpp"
#include "lib/text.hpp"
#include "tracer/typed_event.hpp"

#include <cstdint>
#include <string_view>

namespace apps {

// Is in the trace of a run that failed, so that its reason is known wherever the trace is read.
inline constinit tracer::TypedEvent<tracer::Text<48>, tracer::Text<80>> verdict_failed{"verdict_failed",
                                                                                       {{"what"}, {"why"}}};

class Verdict {
  public:
    constexpr explicit Verdict(std::string_view app)
        : m_app(app) {}

    // Checks a call that fails only if the kernel is broken.
    template <typename T>
    void expect(const lib::Result<T>& result, std::string_view what) {
        if (!result.ok()) {
            fail(what, lib::error_name(result.error()));
        }
    }

    // Checks a count. `exact`: the clock counts instructions. With any other clock the machine may be delayed for any
    // time, and a count that depends on speed proves nothing.
    void check(std::string_view what, std::uint64_t found, std::uint64_t least, std::uint64_t most, bool exact) {
        if (exact && (found < least || found > most)) {
            lib::Text<80> why;
            why.decimal(found).add(", expected ").decimal(least).add(" to ").decimal(most);
            fail(what, why.view());
        }
    }

    void fail(std::string_view what, std::string_view why) {
        m_failed = true;
        kernel::console().line(m_app, ": ", what, ": ", why);
        verdict_failed.log(what, why);
    }

    // Returns the result of start(), which is 0 if every check passed.
    [[nodiscard]] int result() const { return m_failed ? 1 : 0; }

  private:
    std::string_view m_app;
    bool m_failed = false;
};

// Returns the counts of a task that still exists.
[[nodiscard]] inline kernel::JobCounts jobs_of(Verdict& verdict, kernel::Pid pid) {
    const auto info = kernel::task_info(pid);
    verdict.expect(info, "task_info");
    return info.ok() ? info.value().jobs : kernel::JobCounts{};
}

} // namespace apps
