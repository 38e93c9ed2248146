// SPDX-License-Identifier: MIT
// The rows of sessions on their way to one host. A part of a session's rows in a table is never divided between two
// INSERTs, so what the views derive from it is the same when it is sent again, with whatever other parts; small parts
// of several sessions are sent together, because an INSERT costs the server about as much as thousands of rows. The
// rows of nodes, which say that all others are there, are the last.
#pragma once

#include "fleet/clickhouse/client.hpp"
#include "fleet/clickhouse/schema.hpp"
#include "fleet/store.hpp"

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

    // What follows is of another session.
    void begin();

    // Nothing more is sent after a failure; finish() returns it.
    void add(Table table, std::span<const sql::Cell> cells);

    [[nodiscard]] lib::Result<void, StoreFailure> finish();

  private:
    struct Part {
        std::vector<Column> columns;
        std::vector<Storage> storage;         // of the columns
        std::optional<std::size_t> number_at; // the column `part`
        std::optional<std::int64_t> number;   // of the part that is being added to; none: a session begins
        std::uint64_t rows = 0;               // to be sent, of this part and of those before it
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
