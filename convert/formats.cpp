// SPDX-License-Identifier: MIT
// The list of output formats: each file of this folder that writes one declares its row in rows.hpp.
#include "convert/rows.hpp"
#include "convert/writer/writer.hpp"

#include <algorithm>

namespace host::convert {

std::vector<const FormatRow*> all_formats() {
    return {
        &table::kCsvRow,       &records::kTlogRow,      &table::kSqliteRow,    &records::kDatRow,
        &records::kCompactRow, &perfetto::kPerfettoRow, &json::kChromeJsonRow, &vcd::kVcdRow,
        &ctf::kCtfRow,         &ctf::kCtfLttngRow,      &linux::kFtraceRow,    &linux::kKernelSharkRow,
        &records::kKevRow,     &json::kSpeedscopeRow,
    };
}

const FormatRow* find_format(std::string_view name) {
    const auto rows = all_formats();
    const auto found = std::ranges::find(rows, name, &FormatRow::name);
    return found != rows.end() ? *found : nullptr;
}

} // namespace host::convert
