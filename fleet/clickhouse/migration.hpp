// SPDX-License-Identifier: MIT
// Makes the schema on one server, or changes an older one to it. No row is ever removed: tables with rows only get
// columns, and only what can be derived again (views) is dropped. The table remora_schema says what was made: the
// version, and of each view a checksum of its statement. Several programs may do this at the same time.
#pragma once

#include "fleet/clickhouse/client.hpp"
#include "fleet/clickhouse/schema.hpp"
#include "lib/result.hpp"

#include <map>
#include <string>

namespace host::fleet::clickhouse {

class Migration {
  public:
    // The client outlives it. place: its version is asked for.
    Migration(Client& client, Endpoint endpoint, Place place);

    // refused: a newer program made the schema, or something else has its names; the text says what to do.
    [[nodiscard]] lib::Result<void, StoreFailure> run();

  private:
    using Done = lib::Result<void, StoreFailure>;

    // impatient: does not wait for another program that is at it.
    [[nodiscard]] Done run_once(bool impatient);
    [[nodiscard]] Done execute(const std::string& statement);
    [[nodiscard]] Done read_state();
    [[nodiscard]] Done read_notes(std::map<std::string, std::string>& notes);
    [[nodiscard]] StoreFailure race();
    [[nodiscard]] Done check_version() const;
    [[nodiscard]] Done check_engines() const;
    [[nodiscard]] Done make_rows(Table table);
    [[nodiscard]] Done make_object(const Object& object);
    [[nodiscard]] Done note(std::string_view name, std::string_view value);
    [[nodiscard]] lib::Result<Answer, StoreFailure> ask(const std::string& statement);

    Client& m_client;
    Endpoint m_endpoint;
    Place m_place;
    std::map<std::string, std::string> m_engines;                        // of what is in the database
    std::map<std::string, std::map<std::string, std::string>> m_columns; // types, by table and column
    std::map<std::string, std::string> m_notes;                          // of remora_schema
    bool m_raced = false;
};

} // namespace host::fleet::clickhouse
