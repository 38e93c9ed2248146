// SPDX-License-Identifier: MIT
#include "host/fleet/local/open_store.hpp"

#include "host/fleet/local/directory_store.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

namespace host::fleet::local {

lib::Result<std::shared_ptr<Store>, StoreFailure> open_store(const std::string& place, const Credentials& credentials,
                                                             Access access) {
    if (!is_server(place)) {
        return DirectoryStore::open(place, access);
    }
    if (!place.starts_with("clickhouse")) {
        return StoreFailure{lib::Error::refused,
                            fmt::format("{}: that is where traces come from; a store is a directory, or "
                                        "clickhouse://HOST:8123/DATABASE",
                                        text::escaped(place))};
    }
    if (network() == nullptr) {
        return StoreFailure{lib::Error::unsupported, continue_with_network()};
    }
    return network()->store(place, credentials);
}

} // namespace host::fleet::local
