// SPDX-License-Identifier: MIT
// The commands that a page of a fleet shows: each asks for what the page leaves out.
#pragma once

#include "fleet/questions/asked.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace host::fleet::report {

// remora fleet QUESTION PLACE, with the selection of the page, and more words.
[[nodiscard]] std::string fleet_command(std::string_view question, const questions::Asked& asked,
                                        std::string_view more);

// Of the trace's time.
struct Span {
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 0;

    friend auto operator<=>(const Span&, const Span&) = default;
};

// A job, and as much before its release and after its end as its response time.
[[nodiscard]] Span span_around(std::int64_t release_ns, std::int64_t end_ns);

// remora report ARCHIVE of that span.
[[nodiscard]] std::string report_command(const std::string& archive, const Span& span);

} // namespace host::fleet::report
