// SPDX-License-Identifier: MIT
// The servers that a fleet uses, and the store at any place. Only this room includes libnats and libcurl.
#pragma once

#include "fleet/server.hpp"
#include "fleet/store.hpp"
#include "fleet/stream.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace host::fleet {

// Failures: as Outlet and Source say; refused, too: the user, or the certificate, is not accepted.
[[nodiscard]] lib::Result<std::shared_ptr<Outlet>, NetworkFailure> nats_outlet(const std::string& addresses,
                                                                               const Credentials& credentials);

// consumer: the name under which the server keeps how far the loaders of one store have come.
[[nodiscard]] lib::Result<std::shared_ptr<Source>, NetworkFailure>
nats_source(const std::string& addresses, const Credentials& credentials, const std::string& consumer);

enum class OpenMode : std::uint8_t {
    read,  // to ask; nothing is made or changed. not_found: there is no store
    write, // to load; what is missing of it is made
};

// place: clickhouse://..., or a directory.
[[nodiscard]] lib::Result<std::shared_ptr<Store>, StoreFailure>
open_store(const std::string& place, const Credentials& credentials, OpenMode mode);

} // namespace host::fleet
