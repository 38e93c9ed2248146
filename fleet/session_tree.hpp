// SPDX-License-Identifier: MIT
// Finds the sessions below a directory, and the node of each:
//
//   DIR                       a session
//   DIR/SESSION               as `remora record --serve` leaves them
//   DIR/NODE/SESSION          the node is named by the directory
//   DIR/SITE/NODE/SESSION     the site, too
#pragma once

#include "fleet/failure.hpp"
#include "fleet/message.hpp"
#include "host/formats/dat/manifest.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace host::fleet {

struct FoundSession {
    std::string path;
    NodeName names; // a name is empty if no directory gives it
};

// Returns the sessions sorted by path. A session is a directory with a manifest. Links to directories are followed down
// to the depth of the tree above.
[[nodiscard]] std::vector<FoundSession> sessions_below(const std::string& path);

// Returns when a session began, which all its messages state, in seconds since 1970, UTC: the time in the manifest,
// else the time at which the file of the first chunk was written.
[[nodiscard]] std::int64_t started_of(const std::string& directory, const formats::dat::Manifest& manifest);

// Returns formats.json of a session whose manifest names it. corrupt: it is not the one that the manifest names;
// others: it cannot be read.
[[nodiscard]] lib::Result<std::string, Failure> formats_of(const std::string& directory,
                                                           const formats::dat::ManifestFormats& named);

} // namespace host::fleet
