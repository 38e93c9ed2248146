// SPDX-License-Identifier: MIT
// A store by its place: the URL of a ClickHouse server, or a directory.
#pragma once

#include "host/fleet/local/connection.hpp"
#include "host/fleet/network.hpp"
#include "host/fleet/store.hpp"
#include "lib/result.hpp"

#include <memory>
#include <string>

namespace host::fleet::local {

// A program without the libraries of servers is replaced by the one with them, if the place is a server. Access::write:
// prepare() comes next. refused: a place that is no store.
[[nodiscard]] lib::Result<std::shared_ptr<Store>, StoreFailure>
open_store(const std::string& place, const Credentials& credentials, Access access);

} // namespace host::fleet::local
