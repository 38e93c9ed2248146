// SPDX-License-Identifier: MIT
#include "host/fleet/open_store.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"

namespace host::fleet {

lib::Result<std::shared_ptr<Store>, StoreFailure> open_store(const std::string& place, const Credentials& credentials,
                                                             OpenMode mode) {
    if (!is_server(place)) {
        return StoreFailure{lib::Error::unsupported,
                            fmt::format("{}: a store in a directory is not there yet", text::escaped(place))};
    }
    auto store = network()->store(place, credentials);
    if (!store || mode == OpenMode::read) {
        return store;
    }
    const auto prepared = store.value()->prepare();
    return prepared ? store : lib::Result<std::shared_ptr<Store>, StoreFailure>(prepared.error());
}

} // namespace host::fleet
