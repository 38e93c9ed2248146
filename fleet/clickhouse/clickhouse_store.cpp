// SPDX-License-Identifier: MIT
#include "fleet/clickhouse/clickhouse_store.hpp"

#include "fleet/chunk_events.hpp"
#include "fleet/clickhouse/client.hpp"
#include "fleet/clickhouse/row_binary.hpp"
#include "fleet/clickhouse/schema.hpp"
#include "fleet/session_rows.hpp"
#include "fleet/store.hpp"
#include "host/text/format.hpp"
#include "lib/assert.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace host::fleet::clickhouse {

// This is FNV-1a of site/node/boot; its bits are mixed as in the last step of MurmurHash3, because the lowest bits of
// FNV-1a depend on the lowest bits of the text alone. The function must never change: rows that are stored already
// would be on the wrong shard.
std::size_t shard_of(const Run& run, std::size_t shards) {
    std::uint64_t hash = 0xCBF2'9CE4'8422'2325;
    const auto add = [&hash](std::string_view text) {
        for (const char character : text) {
            hash = (hash ^ static_cast<unsigned char>(character)) * 0x0000'0100'0000'01B3;
        }
    };
    add(run.from.site);
    add("/");
    add(run.from.node);
    add("/");
    add(boot_text(run.boot_id));
    hash = (hash ^ (hash >> 33)) * 0xFF51'AFD7'ED55'8CCD;
    hash = (hash ^ (hash >> 33)) * 0xC4CE'B9FE'1A85'EC53;
    return (hash ^ (hash >> 33)) % shards;
}

namespace {

constexpr std::int64_t kSecondsPerDay = 86'400;

void append_stored(std::string& rows, ColumnType type, Storage storage, const sql::Cell& cell) {
    switch (storage) {
    case Storage::computed:
        return;
    case Storage::split: {
        constexpr std::int64_t kLow = 0xFFFF;
        const auto number = cell.number();
        append_cell(rows, type, number ? sql::Cell(*number >> 16) : cell);
        append_cell(rows, ColumnType::u16, sql::Cell(number.value_or(0) & kLow));
        return;
    }
    case Storage::plain:
        append_cell(rows, type, cell);
    }
}

} // namespace

// Sends rows to one host. A part of a session's rows in a table is never divided between two INSERTs, so the views
// derive the same from it when it is sent again with other parts. Small parts of several sessions are sent together,
// because an INSERT costs the server about as much as thousands of rows. The rows of chunks and nodes, which state that
// the others are stored, are sent last.
class Insertion {
  public:
    // client and endpoint must outlive the object.
    Insertion(Client& client, const Endpoint& endpoint, Place place)
        : m_client(client)
        , m_endpoint(endpoint)
        , m_place(std::move(place)) {
        for (std::size_t i = 0; i < kTables; ++i) {
            Part& part = m_parts.at(i);
            part.columns = columns_of(static_cast<Table>(i));
            for (const Column& column : part.columns) {
                part.storage.push_back(storage_of(static_cast<Table>(i), column));
            }
            const auto number = std::ranges::find(part.columns, "part", &Column::name);
            if (number != part.columns.end()) {
                part.number_at = static_cast<std::size_t>(number - part.columns.begin());
            }
        }
    }

    // Adds a chunk with its events.
    void add(const ReadChunk& chunk) {
        Part& part = part_of(Table::events);
        EventRows rows(chunk);
        const auto read = for_each_event(
            chunk, [&part, &rows](std::span<const trace::Event> events) { rows.append(part.bytes, events); });
        if (!read) {
            throw StoreFailure{read.error().cause, fmt::format("chunk {}: {}", chunk.message->id, read.error().text)};
        }
        part.rows += rows.events();
        write_chunk(chunk, [this](Table table, std::span<const sql::Cell> cells) { add(table, cells); });
        if (part.rows >= kBlockRows) {
            finish();
        }
    }

    void add(const ReadSession& session) {
        for (Part& part : m_parts) {
            part.number.reset();
        }
        const auto made = session.rows([this](Table table, std::span<const sql::Cell> cells) { add(table, cells); });
        if (!made) {
            throw StoreFailure{lib::Error::corrupt, made.error().text};
        }
    }

    void finish() {
        for (std::size_t i = 0; i < kTables; ++i) {
            if (const auto table = static_cast<Table>(i); table != Table::chunks && table != Table::nodes) {
                send(table);
            }
        }
        send(Table::chunks);
        send(Table::nodes);
    }

  private:
    struct Part {
        std::vector<Column> columns;
        std::vector<Storage> storage;         // for each column
        std::optional<std::size_t> number_at; // index of the column `part`
        std::optional<std::int64_t> number;   // of the current part; none: a session begins
        std::uint64_t rows = 0;               // that wait to be sent, in this part and earlier ones
        std::string bytes;
    };

    [[nodiscard]] Part& part_of(Table table) { return m_parts.at(static_cast<std::size_t>(table)); }

    void add(Table table, std::span<const sql::Cell> cells) {
        Part& part = part_of(table);
        ASSERT(cells.size() == part.columns.size());
        const std::int64_t number = part.number_at ? cells[*part.number_at].number().value_or(0) : 0;
        if (number != part.number && part.rows >= kRowsPerPart && table != Table::nodes) {
            send(table);
        }
        part.number = number;
        for (std::size_t i = 0; i < cells.size(); ++i) {
            append_stored(part.bytes, part.columns[i].type, part.storage[i], cells[i]);
        }
        ++part.rows;
    }

    void send(Table table) {
        Part& part = part_of(table);
        if (part.rows != 0) {
            m_client.insert(m_endpoint, insert_statement(m_place, table), part.bytes);
        }
        part.rows = 0;
        part.bytes.clear();
    }

    Client& m_client;
    const Endpoint& m_endpoint;
    Place m_place;
    std::array<Part, kTables> m_parts;
};

ClickHouseStore::ClickHouseStore(Url url, std::string user, std::unique_ptr<Http> http)
    : m_url(std::move(url))
    , m_client(std::move(http), std::move(user))
    , m_place({.database = m_url.database, .cluster = m_url.cluster, .version = {}}) {}

lib::Result<void, StoreFailure> ClickHouseStore::prepare() {
    return caught([this] {
        for (const Endpoint& host : m_url.hosts) {
            migrate(m_client, host, m_place);
        }
    });
}

Answer ClickHouseStore::rows_of(const Run& run, Table table, std::string_view columns) {
    return m_client.ask(m_url.hosts[shard_of(run, m_url.hosts.size())], m_place.database,
                        fmt::format("SELECT {} FROM {} FINAL WHERE {}", columns, rows_name(table), condition_of(run)));
}

lib::Result<std::vector<StoredChunk>, StoreFailure> ClickHouseStore::chunks_of(const Run& run) {
    return caught([&] { return stored_chunks(run, rows_of(run, Table::chunks, kStoredColumns)); });
}

lib::Result<bool, StoreFailure> ClickHouseStore::has_session(const Run& run) {
    return caught([&] { return !rows_of(run, Table::nodes, "complete").rows.empty(); });
}

lib::Result<void, StoreFailure> ClickHouseStore::add_chunks(std::span<const ReadChunk> chunks) {
    return caught([&] {
        // They are divided by host and day, so that an INSERT makes one part in one partition.
        std::map<std::pair<std::size_t, std::int64_t>, Insertion> insertions;
        for (const ReadChunk& chunk : chunks) {
            const std::size_t shard = shard_of(chunk.run, m_url.hosts.size());
            insertions.try_emplace({shard, chunk.run.started_s / kSecondsPerDay}, m_client, m_url.hosts[shard], m_place)
                .first->second.add(chunk);
        }
        for (auto& [where, insertion] : insertions) {
            insertion.finish();
        }
    });
}

lib::Result<void, StoreFailure> ClickHouseStore::add_session(const ReadSession& session) {
    return add_sessions({&session, 1});
}

lib::Result<void, StoreFailure> ClickHouseStore::add_sessions(std::span<const ReadSession> sessions) {
    return caught([&] {
        std::map<std::size_t, Insertion> insertions; // by host
        for (const ReadSession& session : sessions) {
            const std::size_t shard = shard_of(session.run, m_url.hosts.size());
            insertions.try_emplace(shard, m_client, m_url.hosts[shard], m_place).first->second.add(session);
        }
        for (auto& [shard, insertion] : insertions) {
            insertion.finish();
        }
    });
}

lib::Result<std::optional<std::string>, StoreFailure> ClickHouseStore::image_of(const Run& /*run*/,
                                                                                const formats::dat::ChunkKey& /*key*/) {
    return std::optional<std::string>{};
}

lib::Result<Answer, StoreFailure> ClickHouseStore::query(const std::string& statement) {
    lib::Result<Answer, StoreFailure> answer{Answer()};
    for (const Endpoint& host : m_url.hosts) {
        answer = caught([&] { return m_client.ask(host, m_place.database, statement); });
        if (answer || answer.error().cause != lib::Error::unreachable) {
            break;
        }
    }
    return answer;
}

std::string ClickHouseStore::quoted(std::string_view text) const {
    return quoted_text(text);
}

} // namespace host::fleet::clickhouse
