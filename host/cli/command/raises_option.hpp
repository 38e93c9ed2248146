// SPDX-License-Identifier: MIT
// The option --raises of the commands that show latencies.
#pragma once

#include "host/cli/command/command_line.hpp"
#include "host/schedule/latency.hpp"
#include "host/trace/byte_source.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace host::cli {

inline void add_raises_option(Command& command, std::string& path) {
    command.option("--raises", path,
                   "what an observer outside of the machine saw of its interrupts: when devices raised them");
}

inline constexpr std::size_t kRaisesBytesMax = std::size_t{1} << 30;

// None: not asked for. What is wrong with the file, for its user.
inline lib::Result<std::optional<std::vector<schedule::Observed>>, trace::Refusal> observed(const std::string& path) {
    if (path.empty()) {
        return std::optional<std::vector<schedule::Observed>>();
    }
    const auto text = trace::read_file(path, kRaisesBytesMax);
    if (!text) {
        return trace::Refusal{text.error().text};
    }
    auto rows = schedule::parse_raises(text.value());
    if (!rows) {
        return rows.error();
    }
    return std::optional(std::move(rows.value()));
}

} // namespace host::cli
