// SPDX-License-Identifier: MIT
// The events of a packed session. Its files are unpacked to where they can be positioned, and read as any records are.
#pragma once

#include "host/formats/dat/record_stream.hpp"

#include <memory>

namespace host::formats::packed {

// Any error was reported to diagnostics.
[[nodiscard]] lib::Result<std::unique_ptr<dat::RecordStream>>
open_stream(const trace::NamedSource& input, const trace::OpenOptions& options, trace::Diagnostics& diagnostics);

} // namespace host::formats::packed
