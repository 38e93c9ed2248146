// SPDX-License-Identifier: MIT
// What a collector takes at most, whoever sends: every limit is here, none comes from the wire. What exceeds one ends
// the session that it belongs to, and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>

namespace host::collector {

struct Limits {
    std::size_t sessions = 64;      // open at once; of `record --out`: restarts of the machine
    std::size_t directories = 4096; // in a served directory, those of earlier sessions included
    std::size_t files = 4096;       // of a session
    std::uint64_t session_bytes = std::uint64_t{1} << 30;
    std::uint64_t total_bytes = std::uint64_t{16} << 30; // in a served directory, earlier sessions included
};

// What all sessions of a collector have written together, of Limits::total_bytes.
struct Usage {
    std::uint64_t bytes = 0;
};

} // namespace host::collector
