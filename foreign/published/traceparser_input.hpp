// SPDX-License-Identifier: MIT
// Any trace as a .kev file: a .kev file itself is read unchanged, any other is converted into a file without a name.
#pragma once

#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <string>

namespace host::compat {

// path: a file of any kind that the reader library knows, a session directory, or "-". What is wrong goes to
// diagnostics. corrupt: there is no usable event in it; else the errors of opening and of the temporary file.
[[nodiscard]] lib::Result<trace::NamedSource> open_as_kev(const std::string& path, trace::Diagnostics& diagnostics);

} // namespace host::compat
