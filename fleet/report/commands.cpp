// SPDX-License-Identifier: MIT
#include "fleet/report/commands.hpp"

#include "fleet/questions/selection.hpp"
#include "fleet/server.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>

namespace host::fleet::report {

std::string fleet_command(std::string_view question, const questions::Asked& asked, std::string_view more) {
    std::string command = fmt::format("remora fleet {} {}", question, text::shell_word(shown_address(asked.place)));
    const auto add = [&command](std::string_view option, const std::string& value) {
        command += value.empty() ? std::string() : fmt::format(" {} {}", option, text::shell_word(value));
    };
    const auto moment = [](const std::optional<std::int64_t>& time_s) {
        return time_s ? questions::moment_text(*time_s) : std::string();
    };
    add("--site", asked.only.site);
    add("--node", asked.only.node);
    add("--boot", asked.only.boot);
    add("--application", asked.only.application);
    add("--task", asked.only.task);
    add("--since", moment(asked.only.since_s));
    add("--until", moment(asked.only.until_s));
    return more.empty() ? command : fmt::format("{} {}", command, more);
}

Span span_around(std::int64_t release_ns, std::int64_t end_ns) {
    constexpr std::int64_t kLeastNs = 1000;
    const std::int64_t around = std::max(end_ns - release_ns, kLeastNs);
    return {.from_ns = std::max<std::int64_t>(release_ns - around, 0), .to_ns = end_ns + around};
}

std::string report_command(const std::string& archive, const Span& span) {
    return fmt::format("remora report {} --from-time {} --to {} -o worst.html", text::shell_word(archive), span.from_ns,
                       span.to_ns);
}

} // namespace host::fleet::report
