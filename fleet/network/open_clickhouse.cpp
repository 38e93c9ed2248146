// SPDX-License-Identifier: MIT
#include "fleet/network/open_clickhouse.hpp"

#include "fleet/clickhouse/clickhouse_store.hpp"
#include "fleet/network/curl_http.hpp"

#include <utility>

namespace host::fleet {

lib::Result<std::shared_ptr<Store>, StoreFailure> open_clickhouse(const std::string& url,
                                                                  const Credentials& credentials) {
    auto parsed = clickhouse::parse_url(url);
    if (!parsed) {
        return StoreFailure{lib::Error::invalid_argument, parsed.error().text};
    }
    Credentials user = credentials;
    if (!parsed->user.empty()) {
        user.user = parsed->user;
    }
    auto http = curl_http(parsed->tls, user);
    if (http == nullptr) {
        return StoreFailure{lib::Error::no_space, "no memory for a connection"};
    }
    return std::shared_ptr<Store>(
        std::make_shared<clickhouse::ClickHouseStore>(std::move(parsed.value()), user.user, std::move(http)));
}

} // namespace host::fleet
