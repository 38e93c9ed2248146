// SPDX-License-Identifier: MIT
// When a session began, as all messages of it state.
#pragma once

#include "host/formats/dat/manifest.hpp"

#include <cstdint>
#include <string>

namespace host::fleet {

// Seconds since 1970, UTC: as the manifest says, or when the first file of a chunk was written.
[[nodiscard]] std::int64_t started_of(const std::string& directory, const formats::dat::Manifest& manifest);

} // namespace host::fleet
