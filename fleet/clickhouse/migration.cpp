// SPDX-License-Identifier: MIT
// Creates or upgrades the schema. The table remora_schema states what was made: the version, and for each view a
// checksum of its statement.
#include "fleet/clickhouse/schema.hpp"

#include "fleet/clickhouse/client.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "lib/crc32c.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <span>
#include <thread>
#include <utility>

namespace host::fleet::clickhouse {

namespace {

constexpr std::string_view kNotes = "remora_schema";
constexpr std::string_view kVersion = "version";
constexpr std::string_view kChanging = "changing"; // instead of the checksum, before the first step
constexpr std::string_view kRowsEngine = "ReplacingMergeTree";

// These errors occur when another program has just done what this one wanted to do.
constexpr auto kRaces = std::to_array<std::uint32_t>(
    {kAddedAlready, kUnknownColumn, kTableExists, kUnknownTable, kDatabaseExists, kNoFile});
constexpr int kAttempts = 20;
constexpr std::chrono::milliseconds kBetweenAttempts{100};

const std::string& text_in(const Value& value) {
    static const std::string none;
    const std::string* const text = std::get_if<std::string>(&value);
    return text != nullptr ? *text : none;
}

std::string checksum_of(std::string_view statement) {
    return fmt::format("{:08x}", lib::crc32c(std::as_bytes(std::span(statement))));
}

bool is_rows_of_fleet(std::string_view name) {
    return name == kNotes || std::ranges::any_of(kTableRows, [name](const TableRow& row) {
               return name == fmt::format("{}_rows", row.name);
           });
}

class Migration {
  public:
    // The client must outlive the object. place: its version is ignored, and the server asked for it.
    Migration(Client& client, Endpoint endpoint, Place place);

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

Migration::Migration(Client& client, Endpoint endpoint, Place place)
    : m_client(client)
    , m_endpoint(std::move(endpoint))
    , m_place(std::move(place)) {}

lib::Result<void, StoreFailure> Migration::run() {
    for (int attempt = 1;; ++attempt) {
        m_raced = false;
        const bool last = attempt == kAttempts;
        Done done = run_once(last);
        const bool race = m_raced || std::ranges::find(kRaces, m_client.last_code()) != kRaces.end();
        if (done || last || !race) {
            return done;
        }
        std::this_thread::sleep_for(kBetweenAttempts);
    }
}

lib::Result<void, StoreFailure> Migration::run_once(bool impatient) {
    const auto version = ask("SELECT version() AS version");
    if (!version) {
        return version.error();
    }
    if (version->rows.size() != 1) {
        return StoreFailure{lib::Error::corrupt, "the server does not say which release it is"};
    }
    m_place.version = version_of(text_in(version->rows.front().front()));
    if (Done done = execute(create_database(m_place)); !done) {
        return done;
    }
    if (Done done = read_state(); !done) {
        return done;
    }
    // If a view stays in this state, the program that changed it has ended.
    if (!impatient && std::ranges::any_of(m_notes, [](const auto& note) { return note.second == kChanging; })) {
        return race();
    }
    for (const auto check : {&Migration::check_version, &Migration::check_engines}) {
        if (Done done = (this->*check)(); !done) {
            return done;
        }
    }
    for (std::size_t i = 0; i < kTables; ++i) {
        if (Done done = make_rows(static_cast<Table>(i)); !done) {
            return done;
        }
    }
    for (const Object& object : derived_objects(m_place)) {
        if (Done done = make_object(object); !done) {
            return done;
        }
    }
    return note(kVersion, std::to_string(kSchemaVersion)); // written last: the schema is complete
}

StoreFailure Migration::race() {
    m_raced = true;
    return {lib::Error::unreachable, fmt::format("another program changes the schema of database '{}' at {}",
                                                 m_place.database, text_of(m_endpoint))};
}

lib::Result<Answer, StoreFailure> Migration::ask(const std::string& statement) {
    return m_client.ask(m_endpoint, "", statement);
}

lib::Result<void, StoreFailure> Migration::execute(const std::string& statement) {
    const auto answer = ask(statement);
    return answer ? Done() : Done(answer.error());
}

lib::Result<void, StoreFailure> Migration::read_state() {
    m_engines.clear();
    m_columns.clear();
    m_notes.clear();
    if (Done done = execute(fmt::format("CREATE TABLE IF NOT EXISTS {} (name String, value String, "
                                        "changed DateTime DEFAULT now()) ENGINE = ReplacingMergeTree ORDER BY name",
                                        full_name(m_place, kNotes)));
        !done) {
        return done;
    }
    const std::string database = quoted_text(m_place.database);
    const auto engines = ask(fmt::format("SELECT name, engine FROM system.tables WHERE database = {}", database));
    if (!engines) {
        return engines.error();
    }
    for (const auto& row : engines->rows) {
        m_engines[text_in(row[0])] = text_in(row[1]);
    }
    const auto columns = ask(fmt::format("SELECT table, name, type FROM system.columns WHERE database = {}", database));
    if (!columns) {
        return columns.error();
    }
    for (const auto& row : columns->rows) {
        m_columns[text_in(row[0])][text_in(row[1])] = text_in(row[2]);
    }
    return read_notes(m_notes);
}

lib::Result<void, StoreFailure> Migration::read_notes(std::map<std::string, std::string>& notes) {
    const auto answer = ask(fmt::format("SELECT name, value FROM {} FINAL", full_name(m_place, kNotes)));
    if (!answer) {
        return answer.error();
    }
    for (const auto& row : answer->rows) {
        notes[text_in(row[0])] = text_in(row[1]);
    }
    return {};
}

lib::Result<void, StoreFailure> Migration::check_version() const {
    const auto found = m_notes.find(std::string(kVersion));
    if (found == m_notes.end()) {
        return {};
    }
    const std::string& version = found->second;
    const std::string ours = std::to_string(kSchemaVersion);
    const bool newer = version.size() != ours.size() ? version.size() > ours.size() : version > ours;
    if (newer) {
        return StoreFailure{
            lib::Error::refused,
            fmt::format("database '{}' at {} has version {} of the schema, this program knows {}: use a "
                        "newer remora, or another database",
                        m_place.database, text_of(m_endpoint), text::escaped(version), ours)};
    }
    return {};
}

lib::Result<void, StoreFailure> Migration::check_engines() const {
    const auto objects = derived_objects(m_place);
    for (const auto& [name, engine] : m_engines) {
        const bool is_rows = is_rows_of_fleet(name);
        const auto object = std::ranges::find(objects, name, &Object::name);
        const bool is_object = object != objects.end();
        // This program notes the name of a view before it creates it.
        if ((is_rows && engine != kRowsEngine) || (is_object && !m_notes.contains(name))) {
            return StoreFailure{
                lib::Error::refused,
                fmt::format("'{}' in database '{}' at {} is not of this program (engine {}): use another "
                            "database, or rename the table",
                            text::escaped(name), m_place.database, text_of(m_endpoint), text::escaped(engine))};
        }
    }
    return {};
}

lib::Result<void, StoreFailure> Migration::make_rows(Table table) {
    const std::string name = rows_name(table);
    const auto found = m_columns.find(name);
    if (found == m_columns.end()) {
        return execute(create_rows(m_place, table));
    }
    std::string before;
    for (const StoredColumn& column : stored_columns(table, m_place.version)) {
        const auto stored = found->second.find(column.name);
        const bool there = stored != found->second.end();
        if (there ? plain_type(stored->second) != plain_type(column.type) : column.in_key) {
            const std::string is = there ? fmt::format("has type {}, not", text::escaped(stored->second))
                                         : std::string("is missing, which belongs to its key, with type");
            return StoreFailure{lib::Error::refused,
                                fmt::format("column '{}' of table '{}' in database '{}' at {} {} {}: load into another "
                                            "database; this one stays as it is",
                                            column.name, name, m_place.database, text_of(m_endpoint), is, column.type)};
        }
        if (!there) {
            if (Done done = execute(fmt::format("ALTER TABLE {} ADD COLUMN {} AFTER {}", full_name(m_place, name),
                                                declaration_of(column), before));
                !done) {
                return done;
            }
        }
        before = column.name;
    }
    return {};
}

lib::Result<void, StoreFailure> Migration::make_object(const Object& object) {
    const std::string checksum = checksum_of(object.create);
    const bool there = m_engines.contains(object.name);
    const auto made = m_notes.find(object.name);
    if (there && made != m_notes.end() && made->second == checksum) {
        return {};
    }
    if (there) {
        // A view that another loader has just created is not dropped, because nothing would be derived from rows that
        // are added meanwhile.
        std::map<std::string, std::string> notes;
        if (Done done = read_notes(notes); !done) {
            return done;
        }
        if (notes[object.name] != made->second) {
            return race();
        }
    }
    if (Done done = note(object.name, kChanging); !done) {
        return done;
    }
    if (there) {
        if (Done done = execute(fmt::format("DROP TABLE IF EXISTS {}", full_name(m_place, object.name))); !done) {
            return done;
        }
    }
    if (Done done = execute(object.create); !done) {
        return done;
    }
    return note(object.name, checksum);
}

lib::Result<void, StoreFailure> Migration::note(std::string_view name, std::string_view value) {
    std::string& known = m_notes[std::string(name)];
    if (known == value) {
        return {};
    }
    known = value;
    return execute(fmt::format("INSERT INTO {} (name, value) VALUES ({}, {})", full_name(m_place, kNotes),
                               quoted_text(name), quoted_text(value)));
}

} // namespace

lib::Result<void, StoreFailure> migrate(Client& client, const Endpoint& endpoint, const Place& place) {
    return Migration(client, endpoint, place).run();
}

} // namespace host::fleet::clickhouse
