// SPDX-License-Identifier: MIT
// The events of a packed session. Its files are unpacked to where they can be positioned, and read as any records are.
#pragma once

#include "host/trace/record_stream.hpp"

#include <memory>

namespace host::trace::packed {

// Any error was reported to diagnostics.
[[nodiscard]] lib::Result<std::unique_ptr<RecordStream>>
open_stream(const NamedSource& input, const OpenOptions& options, Diagnostics& diagnostics);

} // namespace host::trace::packed
