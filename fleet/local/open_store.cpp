// SPDX-License-Identifier: MIT
// The store at a place. Declared in fleet/, which knows no implementation.
#include "fleet/open_store.hpp"

#include "fleet/local/directory_store.hpp"
#include "fleet/server_text.hpp"
#include "host/text/format.hpp"
#include "lib/assert.hpp"

namespace host::fleet {

namespace {

using OpenedStore = lib::Result<std::shared_ptr<Store>, StoreFailure>;

OpenedStore open_server(const std::string& place, const Credentials& credentials) {
    if (!place.starts_with("clickhouse")) {
        return StoreFailure{lib::Error::refused, fmt::format("{}: traces come from there; a store is a directory, or "
                                                             "clickhouse://HOST[:PORT]/DATABASE",
                                                             shown_address(place))};
    }
    ASSERT(network() != nullptr);
    return network()->store(place, credentials);
}

} // namespace

OpenedStore open_store(const std::string& place, const Credentials& credentials, OpenMode mode) {
    if (!is_server(place) && place.find("://") != std::string::npos) { // a directory's name does not look like that
        return StoreFailure{lib::Error::refused, fmt::format("{}: no store is of this kind; a store is a directory, or "
                                                             "clickhouse://HOST[:PORT]/DATABASE",
                                                             shown_address(place))};
    }
    if (place.empty()) {
        return StoreFailure{lib::Error::refused, "the place of the store is empty: name a directory"};
    }
    const auto access = mode == OpenMode::read ? local::Access::read : local::Access::write;
    auto store = is_server(place) ? open_server(place, credentials) : local::DirectoryStore::open(place, access);
    if (!store || mode == OpenMode::read) {
        return store;
    }
    const auto prepared = store.value()->prepare();
    return prepared ? store : OpenedStore(prepared.error());
}

} // namespace host::fleet
