// SPDX-License-Identifier: MIT
// The store at a place, which is a URL or a directory.
#include "fleet/clickhouse/clickhouse_store.hpp"
#include "fleet/local/directory_store.hpp"
#include "fleet/network/curl_http.hpp"
#include "fleet/network/network.hpp"
#include "host/text/format.hpp"

#include <utility>

namespace host::fleet {

namespace {

using OpenedStore = lib::Result<std::shared_ptr<Store>, StoreFailure>;

OpenedStore open_clickhouse(const std::string& place, const Credentials& credentials) {
    auto url = clickhouse::parse_url(place);
    if (!url) {
        return StoreFailure{lib::Error::invalid_argument, url.error().text};
    }
    Credentials user = credentials;
    if (!url->user.empty()) {
        user.user = url->user;
    }
    auto http = curl_http(url->tls, user);
    if (http == nullptr) {
        return StoreFailure{lib::Error::no_space, "no memory for a connection"};
    }
    return std::shared_ptr<Store>(
        std::make_shared<clickhouse::ClickHouseStore>(std::move(url.value()), user.user, std::move(http)));
}

OpenedStore open(const std::string& place, const Credentials& credentials, OpenMode mode) {
    if (place.starts_with("clickhouse://") || place.starts_with("clickhouses://")) {
        return open_clickhouse(place, credentials);
    }
    if (place.find("://") != std::string::npos) { // no directory has such a name
        return StoreFailure{lib::Error::refused,
                            fmt::format("{}: {}; a store is a directory, or clickhouse://HOST[:PORT]/DATABASE",
                                        shown_address(place),
                                        is_server(place) ? "traces come from there" : "no store is of this kind")};
    }
    if (place.empty()) {
        return StoreFailure{lib::Error::refused, "the place of the store is empty: name a directory"};
    }
    return local::DirectoryStore::open(place, mode == OpenMode::read ? local::Access::read : local::Access::write);
}

} // namespace

OpenedStore open_store(const std::string& place, const Credentials& credentials, OpenMode mode) {
    auto store = open(place, credentials, mode);
    if (!store || mode == OpenMode::read) {
        return store;
    }
    const auto prepared = store.value()->prepare();
    return prepared ? store : OpenedStore(prepared.error());
}

} // namespace host::fleet
