// SPDX-License-Identifier: MIT
// remora report --live: the page of a machine that runs, served on this machine.
#pragma once

#include "host/cli/command/report/report_reading.hpp"
#include "host/cli/command/trace_input.hpp"

#include <cstdint>
#include <string>

namespace host::cli {

struct LiveReport {
    TraceInput input;
    Reading::Options reading{};
    std::string output;     // the page when the command ends; empty: none
    std::uint16_t port = 0; // 0: one that is free
};

// Until the user stops it.
[[nodiscard]] trace::ExitStatus follow_live(const LiveReport& options, Context context);

} // namespace host::cli
