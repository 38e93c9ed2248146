// SPDX-License-Identifier: MIT
// Makes the directory of a new session ready: creates it, accepts an empty one, and replaces an old session only when
// told to. It never deletes anything but the files that a session consists of.
#pragma once

#include "lib/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace host::collector {

enum class OldSession : std::uint8_t {
    keep,    // refuse if the directory holds one
    replace, // delete its files first
};

// exists: it holds a session, and `old` is keep. refused: it holds something else; `why` names it. io, no_space.
[[nodiscard]] lib::Result<void> prepare_session_directory(const std::string& path, OldSession old, std::string& why);

// The Ntrace.dat files in a directory, by number. not_found, io.
[[nodiscard]] lib::Result<std::vector<std::string>> list_chunk_files(const std::string& path);

} // namespace host::collector
