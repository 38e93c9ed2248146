// SPDX-License-Identifier: MIT
// Which files an archive is made of: all of a session, or one file.
#pragma once

#include "host/formats/packed/archive_writer.hpp"
#include "host/trace/failure.hpp"
#include "lib/result.hpp"

#include <string>
#include <vector>

namespace host::formats::packed {

// Sorted by name. Refused: a file cannot be read, or the directory has none.
[[nodiscard]] lib::Result<std::vector<FileToPack>, trace::Refusal> files_to_pack(const std::string& input);

} // namespace host::formats::packed
