// SPDX-License-Identifier: MIT
// A session as one packed file, written beside its name, flushed, then renamed.
#pragma once

#include "fleet/database.hpp"
#include "lib/result.hpp"

#include <string>

namespace host::fleet::local {

// What was at `path` is replaced. The directory of `path` exists. no_space, io; corrupt: a file of the session.
[[nodiscard]] lib::Result<void, StoreFailure> write_archive(const std::string& session, const std::string& path);

// Makes the directory and what is missing above it; all of them are durable. no_space, refused, io.
[[nodiscard]] lib::Result<void, StoreFailure> make_directories(const std::string& path);

} // namespace host::fleet::local
