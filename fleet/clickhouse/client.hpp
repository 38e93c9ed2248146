// SPDX-License-Identifier: MIT
// Statements, to one of the servers: with the settings that this project's queries need, and answers and exceptions
// read.
#pragma once

#include "fleet/clickhouse/answer.hpp"
#include "fleet/clickhouse/http.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace host::fleet::clickhouse {

class Client {
  public:
    // user: for texts alone; http has the user's name and password.
    Client(std::unique_ptr<Http> http, std::string user);

    // Of SELECT: its rows. Of others: none. database: of names without one; empty: the user's own.
    [[nodiscard]] lib::Result<Answer, StoreFailure> ask(const Endpoint& endpoint, std::string_view database,
                                                        const std::string& statement);

    // All rows as one block of the server's, as long as there are kBlockRows at most.
    [[nodiscard]] lib::Result<void, StoreFailure> insert(const Endpoint& endpoint, const std::string& statement,
                                                         std::string_view rows);

    // Of the last failure, if it was the server's; else 0.
    [[nodiscard]] std::uint32_t last_code() const { return m_code; }

  private:
    [[nodiscard]] StoreFailure failure(const HttpAnswer& answer, const Endpoint& endpoint);

    std::unique_ptr<Http> m_http;
    std::string m_user;
    std::uint32_t m_code = 0;
};

inline constexpr std::uint64_t kBlockRows = 1'048'576;

} // namespace host::fleet::clickhouse
