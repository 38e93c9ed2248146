// SPDX-License-Identifier: MIT
// The sessions below a directory, and of which node each is:
//
//   DIR                       a session
//   DIR/SESSION               as `remora record --serve` leaves them
//   DIR/NODE/SESSION          the node is named by the directory
//   DIR/SITE/NODE/SESSION     the site, too
#pragma once

#include "fleet/message.hpp"
#include "host/formats/dat/manifest.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace host::fleet {

struct FoundSession {
    std::string path;
    NodeName names; // an empty one is not named by a directory
};

// By path. A session is a directory with a manifest; links to directories are followed as far as the tree is deep.
[[nodiscard]] std::vector<FoundSession> sessions_below(const std::string& path);

// When a session began, as all messages of it state. Seconds since 1970, UTC: as the manifest says, or when the first
// file of a chunk was written.
[[nodiscard]] std::int64_t started_of(const std::string& directory, const formats::dat::Manifest& manifest);

} // namespace host::fleet
