// SPDX-License-Identifier: MIT
// The row of each output format, defined beside its writer.
#pragma once

#include "host/convert/writer.hpp"

namespace host::convert {

extern const FormatRow kCsvRow;
extern const FormatRow kTlogRow;
extern const FormatRow kKevRow;
extern const FormatRow kSqliteRow;
extern const FormatRow kDatRow;
extern const FormatRow kCompactRow;
extern const FormatRow kPerfettoRow;
extern const FormatRow kChromeJsonRow;
extern const FormatRow kVcdRow;
extern const FormatRow kCtfRow;
extern const FormatRow kCtfLttngRow;
extern const FormatRow kFtraceRow;
extern const FormatRow kKernelSharkRow;
extern const FormatRow kSpeedscopeRow;

} // namespace host::convert
