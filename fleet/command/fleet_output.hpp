// SPDX-License-Identifier: MIT
// What a question to a fleet found, as text or as JSON.
#pragma once

#include "fleet/questions/findings.hpp"
#include "host/cli/terminal/output.hpp"

#include <string_view>

namespace host::cli {

void print_findings(Output& out, const fleet::questions::Findings& findings);

// One object: the question, and an array for each of its tables.
void print_findings_json(Output& out, std::string_view question, const fleet::questions::Findings& findings);

} // namespace host::cli
