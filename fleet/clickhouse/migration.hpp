// SPDX-License-Identifier: MIT
// Creates the schema on one server, or upgrades an older one. No row is ever removed: tables with rows only get
// columns, and only views, which can be derived again, are dropped. The table remora_schema states what was made: the
// version, and for each view a checksum of its statement. Several programs may do this at the same time.
#pragma once

#include "fleet/clickhouse/client.hpp"
#include "fleet/clickhouse/schema.hpp"
#include "lib/result.hpp"

#include <map>
#include <string>

namespace host::fleet::clickhouse {

class Migration {
  public:
    // The client must outlive the object. place: its version is ignored, and the server asked for it.
    Migration(Client& client, Endpoint endpoint, Place place);

    // Creates or upgrades the schema. refused: a newer program made it, or something else uses its names; the text says
    // what to do.
    [[nodiscard]] lib::Result<void, StoreFailure> run();

  private:
    using Done = lib::Result<void, StoreFailure>;

    // impatient: does not wait for another program that changes the schema.
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
    std::map<std::string, std::string> m_engines;                        // by table or view in the database
    std::map<std::string, std::map<std::string, std::string>> m_columns; // types of columns, by table and column
    std::map<std::string, std::string> m_notes;                          // the rows of remora_schema
    bool m_raced = false;
};

} // namespace host::fleet::clickhouse
