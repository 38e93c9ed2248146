// SPDX-License-Identifier: MIT
// Opens the servers that a fleet uses, and the store at any place. Only this room includes libnats and libcurl.
#pragma once

#include "fleet/server.hpp"
#include "fleet/store.hpp"
#include "fleet/stream.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace host::fleet {

// Failures are those of Outlet; refused: the user, or the certificate, is not accepted.
[[nodiscard]] lib::Result<std::shared_ptr<Outlet>, NetworkFailure> nats_outlet(const std::string& addresses,
                                                                               const Credentials& credentials);

// consumer: the name under which the server keeps the progress of the loaders of one store. Failures are those of
// Source; refused as above.
[[nodiscard]] lib::Result<std::shared_ptr<Source>, NetworkFailure>
nats_source(const std::string& addresses, const Credentials& credentials, const std::string& consumer);

enum class OpenMode : std::uint8_t {
    read,  // for questions; nothing is created or changed. not_found: there is no store
    write, // for loading; what is missing is created
};

// place: clickhouse://..., or a directory.
[[nodiscard]] lib::Result<std::shared_ptr<Store>, StoreFailure>
open_store(const std::string& place, const Credentials& credentials, OpenMode mode);

// Opens a store. While its server is away, reports that once for each reason and asks again after each nap(), until
// that returns false.
[[nodiscard]] lib::Result<std::shared_ptr<Store>, StoreFailure>
open_patiently(const std::function<lib::Result<std::shared_ptr<Store>, StoreFailure>()>& open,
               const std::function<bool()>& nap, const std::function<void(std::string_view)>& report);

} // namespace host::fleet
