// SPDX-License-Identifier: MIT
// Creates or upgrades the schema. The table remora_schema states what was made: the version, and for each view a
// checksum of its statement.
#include "fleet/clickhouse/schema.hpp"

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

// This code is none of the server: this program has found that another one changes the schema.
constexpr std::uint32_t kRace = ~std::uint32_t{0};

// These errors occur when another program has just done what this one wanted to do.
constexpr auto kRaces = std::to_array<std::uint32_t>(
    {kRace, kAddedAlready, kUnknownColumn, kTableExists, kUnknownTable, kDatabaseExists, kNoFile});
constexpr int kAttempts = 20;
constexpr std::chrono::milliseconds kBetweenAttempts{100};

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
    Migration(Client& client, Endpoint endpoint, Place place)
        : m_client(client)
        , m_endpoint(std::move(endpoint))
        , m_place(std::move(place)) {}

    // impatient: does not wait for another program that changes the schema.
    void run(bool impatient) {
        const Answer version = ask("SELECT version() AS version");
        if (version.rows.size() != 1) {
            throw StoreFailure{lib::Error::corrupt, "the server does not say which release it is"};
        }
        m_place.version = version_of(Cells(version.rows.front()).text());
        ask(create_database(m_place));
        read_state();
        // If a view stays in this state, the program that changed it has ended.
        if (!impatient && std::ranges::any_of(m_notes, [](const auto& note) { return note.second == kChanging; })) {
            race();
        }
        check_version();
        check_engines();
        for (std::size_t i = 0; i < kTables; ++i) {
            make_rows(static_cast<Table>(i));
        }
        for (const Object& object : derived_objects(m_place)) {
            make_object(object);
        }
        note(kVersion, std::to_string(kSchemaVersion)); // written last: the schema is complete
    }

  private:
    using Texts = std::map<std::string, std::string>;

    // Returns a map of the rows of two texts.
    [[nodiscard]] Texts texts(const std::string& statement) {
        Texts texts;
        for (const auto& row : ask(statement).rows) {
            Cells cells(row);
            std::string key = cells.text();
            texts[std::move(key)] = cells.text();
        }
        return texts;
    }

    void read_state() {
        ask(fmt::format(
            "CREATE TABLE IF NOT EXISTS {} (name String, value String, changed DateTime DEFAULT now()) ENGINE = "
            "ReplacingMergeTree ORDER BY name",
            full_name(m_place, kNotes)));
        const std::string database = quoted_text(m_place.database);
        m_engines = texts(fmt::format("SELECT name, engine FROM system.tables WHERE database = {}", database));
        for (const auto& row :
             ask(fmt::format("SELECT table, name, type FROM system.columns WHERE database = {}", database)).rows) {
            Cells cells(row);
            Texts& columns = m_columns[cells.text()];
            std::string name = cells.text();
            columns[std::move(name)] = cells.text();
        }
        m_notes = texts(fmt::format("SELECT name, value FROM {} FINAL", full_name(m_place, kNotes)));
    }

    [[noreturn]] void race() const {
        throw ServerFailure{{lib::Error::unreachable, "another program changes the schema of " + where()}, kRace};
    }

    [[noreturn]] void refuse(const std::string& text) const { throw StoreFailure{lib::Error::refused, text}; }

    void check_version() const {
        const auto found = m_notes.find(std::string(kVersion));
        const std::string version = found != m_notes.end() ? found->second : std::string();
        const std::string ours = std::to_string(kSchemaVersion);
        if (std::pair(version.size(), version) > std::pair(ours.size(), ours)) {
            refuse(fmt::format("{} has version {} of the schema, this program knows {}: use a newer remora, or another "
                               "database",
                               where(), text::escaped(version), ours));
        }
    }

    void check_engines() const {
        const auto objects = derived_objects(m_place);
        for (const auto& [name, engine] : m_engines) {
            const bool is_object = std::ranges::find(objects, name, &Object::name) != objects.end();
            // This program notes the name of a view before it creates it.
            if ((is_rows_of_fleet(name) && engine != kRowsEngine) || (is_object && !m_notes.contains(name))) {
                refuse(fmt::format("'{}' in {} is not of this program (engine {}): use another database, or rename the "
                                   "table",
                                   text::escaped(name), where(), text::escaped(engine)));
            }
        }
    }

    void make_rows(Table table) {
        const std::string name = rows_name(table);
        const auto found = m_columns.find(name);
        if (found == m_columns.end()) {
            ask(create_rows(m_place, table));
            return;
        }
        std::string before;
        for (const StoredColumn& column : stored_columns(table, m_place.version)) {
            const auto stored = found->second.find(column.name);
            const bool there = stored != found->second.end();
            if (there ? plain_type(stored->second) != plain_type(column.type) : column.in_key) {
                const std::string is = there ? fmt::format("has type {}, not", text::escaped(stored->second))
                                             : std::string("is missing, which belongs to its key, with type");
                refuse(fmt::format(
                    "column '{}' of table '{}' in {} {} {}: load into another database; this one stays as it "
                    "is",
                    column.name, name, where(), is, column.type));
            }
            if (!there) {
                ask(fmt::format("ALTER TABLE {} ADD COLUMN {} AFTER {}", full_name(m_place, name),
                                declaration_of(column), before));
            }
            before = column.name;
        }
    }

    void make_object(const Object& object) {
        const std::string checksum = checksum_of(object.create);
        const bool there = m_engines.contains(object.name);
        const auto made = m_notes.find(object.name);
        if (there && made != m_notes.end() && made->second == checksum) {
            return;
        }
        // A view that another loader has just created is not dropped, because nothing would be derived from rows that
        // are added meanwhile.
        if (there && texts(fmt::format("SELECT name, value FROM {} FINAL", full_name(m_place, kNotes)))[object.name] !=
                         made->second) {
            race();
        }
        note(object.name, kChanging);
        if (there) {
            ask(fmt::format("DROP TABLE IF EXISTS {}", full_name(m_place, object.name)));
        }
        ask(object.create);
        note(object.name, checksum);
    }

    void note(std::string_view name, std::string_view value) {
        std::string& known = m_notes[std::string(name)];
        if (known != value) {
            known = value;
            ask(fmt::format("INSERT INTO {} (name, value) VALUES ({}, {})", full_name(m_place, kNotes),
                            quoted_text(name), quoted_text(value)));
        }
    }

    Answer ask(const std::string& statement) { return m_client.ask(m_endpoint, "", statement); }

    // Returns "database 'fleet' at host:port".
    [[nodiscard]] std::string where() const {
        return fmt::format("database '{}' at {}", m_place.database, text_of(m_endpoint));
    }

    Client& m_client;
    Endpoint m_endpoint;
    Place m_place;
    Texts m_engines;                        // by table or view in the database
    std::map<std::string, Texts> m_columns; // types of columns, by table and column
    Texts m_notes;                          // the rows of remora_schema
};

} // namespace

void migrate(Client& client, const Endpoint& endpoint, const Place& place) {
    for (int attempt = 1;; ++attempt) {
        try {
            return Migration(client, endpoint, place).run(attempt == kAttempts);
        } catch (const ServerFailure& failure) {
            if (attempt == kAttempts || std::ranges::find(kRaces, failure.code) == kRaces.end()) {
                throw;
            }
        }
        std::this_thread::sleep_for(kBetweenAttempts);
    }
}

} // namespace host::fleet::clickhouse
