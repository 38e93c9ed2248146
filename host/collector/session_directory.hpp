// SPDX-License-Identifier: MIT
// Prepares the directory of a new session: creates it, accepts an empty one, and replaces an old session only on
// request. It never deletes anything but the files that a session consists of.
#pragma once

#include "host/trace/failure.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace host::collector {

enum class OldSession : std::uint8_t {
    keep,    // refuse if the directory holds one
    replace, // delete its files first
};

// cause: exists: it holds a session, and is to keep it; else it holds something else, or cannot be written.
[[nodiscard]] lib::Result<void, trace::Failure<lib::Error>> prepare_session_directory(const std::string& path,
                                                                                      OldSession old);

// The Ntrace.dat files in a directory, by number. not_found, io.
[[nodiscard]] lib::Result<std::vector<std::string>> list_chunk_files(const std::string& path);

} // namespace host::collector
