// SPDX-License-Identifier: MIT
// Declares the row of each output format, which is defined beside its writer.
#pragma once

#include "convert/writer/writer.hpp"

namespace host::convert {

namespace table {
extern const FormatRow kCsvRow;
extern const FormatRow kSqliteRow;
} // namespace table

namespace records {
extern const FormatRow kTlogRow;
extern const FormatRow kCompactRow;
extern const FormatRow kKevRow;
extern const FormatRow kDatRow;
} // namespace records

namespace json {
extern const FormatRow kChromeJsonRow;
extern const FormatRow kSpeedscopeRow;
} // namespace json

namespace perfetto {
extern const FormatRow kPerfettoRow;
} // namespace perfetto

namespace vcd {
extern const FormatRow kVcdRow;
} // namespace vcd

namespace linux {
extern const FormatRow kFtraceRow;
extern const FormatRow kKernelSharkRow;
} // namespace linux

namespace ctf {
extern const FormatRow kCtfRow;
extern const FormatRow kCtfLttngRow;
} // namespace ctf

} // namespace host::convert
