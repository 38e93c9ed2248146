// SPDX-License-Identifier: MIT
// The rows of one session on their way to its host: each part of a table is one INSERT, so that what the views derive
// from it is the same when it is sent again. The row of nodes, which says that all others are there, is the last.
#pragma once

#include "host/fleet/clickhouse/client.hpp"
#include "host/fleet/clickhouse/schema.hpp"
#include "host/fleet/store.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace host::fleet::clickhouse {

class SessionInsert {
  public:
    // Both outlive it.
    SessionInsert(Client& client, const Endpoint& endpoint, Place place);

    // Nothing more is sent after a failure; finish() returns it.
    void add(Table table, std::span<const sql::Cell> cells);

    [[nodiscard]] lib::Result<void, StoreFailure> finish();

  private:
    struct Part {
        std::vector<Column> columns;
        std::optional<std::size_t> number_at; // the column `part`
        std::int64_t number = 0;
        std::uint64_t rows = 0;
        std::string bytes;
    };

    void send(Table table);

    Client& m_client;
    const Endpoint& m_endpoint;
    Place m_place;
    std::array<Part, kTables> m_parts;
    std::optional<StoreFailure> m_failure;
};

} // namespace host::fleet::clickhouse
