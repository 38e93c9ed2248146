// SPDX-License-Identifier: MIT
// HTTP by libcurl: one connection to each host, kept between requests. The user and the password are in headers, so in
// no URL and in no text of an error.
#pragma once

#include "fleet/clickhouse/http.hpp"
#include "fleet/server.hpp"

#include <memory>

namespace host::fleet {

// tls: https, verified. Null: no memory.
[[nodiscard]] std::unique_ptr<clickhouse::Http> curl_http(bool tls, const Credentials& credentials);

} // namespace host::fleet
