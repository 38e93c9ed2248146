// SPDX-License-Identifier: MIT
// The row of each output format, defined beside its writer.
#pragma once

#include "host/convert/writer.hpp"

namespace host::convert {

extern const FormatRow kCsvRow;
extern const FormatRow kDatRow;
extern const FormatRow kCompactRow;

} // namespace host::convert
