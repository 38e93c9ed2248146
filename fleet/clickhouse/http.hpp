// SPDX-License-Identifier: MIT
// What the store needs of HTTP: one request, one answer. Implementation: fleet/network/curl_http.hpp; tests have a
// fake.
#pragma once

#include "fleet/database.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace host::fleet::clickhouse {

struct Endpoint {
    std::string host; // an IPv6 address without its brackets
    std::uint16_t port = 0;

    friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// host:port, as in a URL.
[[nodiscard]] std::string text_of(const Endpoint& endpoint);

struct HttpAnswer {
    unsigned status = 0;
    std::string body;
};

class Http {
  public:
    using Parameters = std::vector<std::pair<std::string_view, std::string>>;

    Http() = default;
    Http(const Http&) = delete;
    Http& operator=(const Http&) = delete;
    virtual ~Http() = default;

    // POST / with these parameters of the URL, which it encodes, and the parts as one body. Any status is an answer.
    // unreachable: no connection, or nothing moved for too long; refused: the certificate is not accepted; io.
    [[nodiscard]] virtual lib::Result<HttpAnswer, StoreFailure>
    post(const Endpoint& endpoint, const Parameters& parameters, std::span<const std::string_view> body) = 0;
};

} // namespace host::fleet::clickhouse
