// SPDX-License-Identifier: MIT
#include "fleet/local/schema.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <set>
#include <vector>

namespace host::fleet::local {

namespace {

constexpr std::string_view kImages =
    "CREATE TABLE IF NOT EXISTS images(site TEXT, node TEXT, boot TEXT, cpu INTEGER, chunk INTEGER, "
    "generation INTEGER, bytes BLOB, UNIQUE(site, node, boot, cpu, chunk, generation))";

std::string_view declared(ColumnType type) {
    switch (type) {
    case ColumnType::text:
        return "TEXT NOT NULL DEFAULT ''";
    case ColumnType::optional_u8:
    case ColumnType::optional_u16:
    case ColumnType::optional_i64:
        return "INTEGER";
    case ColumnType::u8:
    case ColumnType::u16:
    case ColumnType::u32:
    case ColumnType::u64:
    case ColumnType::event:
        break;
    }
    return "INTEGER NOT NULL DEFAULT 0";
}

// Without row numbers: the key is long, and an index of it would be there a second time.
std::string create_table(Table table) {
    std::string columns;
    for (const Column& column : columns_of(table)) {
        columns += fmt::format("{} {}, ", column.name, declared(column.type));
    }
    return fmt::format("CREATE TABLE IF NOT EXISTS {}({}PRIMARY KEY ({})) WITHOUT ROWID", row_of(table).name, columns,
                       key_of(table));
}

lib::Result<void, StoreFailure> make_table(const Connection& connection, Table table) {
    if (auto made = connection.run(create_table(table)); !made) {
        return made;
    }
    auto names = connection.prepare(fmt::format("SELECT name FROM pragma_table_info('{}')", row_of(table).name));
    if (!names) {
        return names.error();
    }
    std::set<std::string, std::less<>> present;
    auto row = names.value().step();
    for (; row && row.value(); row = names.value().step()) {
        present.insert(names.value().bytes(0));
    }
    if (!row) {
        return row.error();
    }
    for (const Column& column : columns_of(table)) {
        if (present.contains(column.name)) {
            continue;
        }
        if (auto added = connection.run(
                fmt::format("ALTER TABLE {} ADD COLUMN {} {}", row_of(table).name, column.name, declared(column.type)));
            !added) {
            return added;
        }
    }
    return {};
}

struct Identity {
    std::int64_t application = 0;
    std::int64_t version = 0;
    std::int64_t tables = 0; // and views, of anyone
};

lib::Result<Identity, StoreFailure> identity_of(const Connection& connection) {
    const auto application = connection.number("PRAGMA application_id");
    if (!application) {
        return application.error();
    }
    const auto version = connection.number("PRAGMA user_version");
    if (!version) {
        return version.error();
    }
    const auto tables = connection.number("SELECT count(*) FROM sqlite_schema");
    if (!tables) {
        return tables.error();
    }
    return Identity{.application = application.value(), .version = version.value(), .tables = tables.value()};
}

StoreFailure refuse(const std::string& path, std::string_view text) {
    return {lib::Error::refused, fmt::format("{}: {}", text::escaped(path), text)};
}

lib::Result<void, StoreFailure> check(const Identity& identity, const std::string& path) {
    if (identity.application != kApplicationId) {
        return refuse(path, "another program's database: name another directory");
    }
    if (identity.version > kSchemaVersion) {
        return refuse(path, fmt::format("a later remora made it (version {} of the tables, this one knows {}): use "
                                        "that one",
                                        identity.version, kSchemaVersion));
    }
    return {};
}

} // namespace

std::string column_names(Table table) {
    std::string names;
    for (const Column& column : columns_of(table)) {
        names += fmt::format("{}{}", names.empty() ? "" : ", ", column.name);
    }
    return names;
}

lib::Result<void, StoreFailure> make_schema(const Connection& connection, const std::string& path) {
    auto transaction = Transaction::begin(connection);
    if (!transaction) {
        return transaction.error();
    }
    const auto identity = identity_of(connection);
    if (!identity) {
        return identity.error();
    }
    const bool fresh = identity.value().application == 0 && identity.value().tables == 0;
    if (auto checked = check(identity.value(), path); !fresh && !checked) {
        return checked;
    }
    for (std::size_t i = 0; i < kTables; ++i) {
        const auto table = static_cast<Table>(i);
        if (!is_stored(table)) {
            continue;
        }
        if (auto made = make_table(connection, table); !made) {
            return made;
        }
    }
    if (auto finished = connection.run(fmt::format("{}; PRAGMA application_id = {}; PRAGMA user_version = {}", kImages,
                                                   kApplicationId, kSchemaVersion));
        !finished) {
        return finished;
    }
    return transaction.value()->commit();
}

lib::Result<void, StoreFailure> check_schema(const Connection& connection, const std::string& path) {
    const auto identity = identity_of(connection);
    if (!identity) {
        return identity.error();
    }
    if (auto checked = check(identity.value(), path); !checked) {
        return checked;
    }
    if (identity.value().version < kSchemaVersion) {
        return refuse(path, "an earlier remora made it: `remora load --to` this directory changes it once");
    }
    return {};
}

} // namespace host::fleet::local
