// SPDX-License-Identifier: MIT
// The store at a place: a server's, or a directory.
#pragma once

#include "fleet/network.hpp"
#include "fleet/store.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace host::fleet {

enum class OpenMode : std::uint8_t {
    read,  // to ask; nothing is made or changed. not_found: there is no store
    write, // to load; what is missing of it is made
};

// Precondition: network() is not null if the place is a server.
[[nodiscard]] lib::Result<std::shared_ptr<Store>, StoreFailure>
open_store(const std::string& place, const Credentials& credentials, OpenMode mode);

} // namespace host::fleet
