// SPDX-License-Identifier: MIT
// The rows of a session, in one transaction: those that the session makes, what is derived from its jobs, and last the
// row that says that it is complete.
#pragma once

#include "fleet/local/connection.hpp"
#include "fleet/store.hpp"
#include "lib/result.hpp"

namespace host::fleet::local {

// Rows of the same run from before are replaced; the files of its chunks are removed, of those that it lists. corrupt:
// the session makes no rows.
[[nodiscard]] lib::Result<void, StoreFailure> insert_session(const Connection& connection, const ReadSession& session);

} // namespace host::fleet::local
