// SPDX-License-Identifier: MIT
#include "fleet/clickhouse/clickhouse_store.hpp"

#include "fleet/chunk_events.hpp"
#include "fleet/clickhouse/client.hpp"
#include "fleet/clickhouse/row_binary.hpp"
#include "fleet/clickhouse/schema.hpp"
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

// Sends the rows of sessions to one host. A part of a session's rows in a table is never divided between two INSERTs,
// so the views derive the same from it when it is sent again with other parts. Small parts of several sessions are sent
// together, because an INSERT costs the server about as much as thousands of rows. The rows of nodes, which state that
// all others are stored, are sent last.
class SessionInsert {
  public:
    // client and endpoint must outlive the object.
    SessionInsert(Client& client, const Endpoint& endpoint, Place place);

    // Begins the next session.
    void begin();

    // Adds a row. After a failure, which finish() returns, nothing is sent any more.
    void add(Table table, std::span<const sql::Cell> cells);

    [[nodiscard]] lib::Result<void, StoreFailure> finish();

  private:
    struct Part {
        std::vector<Column> columns;
        std::vector<Storage> storage;         // for each column
        std::optional<std::size_t> number_at; // index of the column `part`
        std::optional<std::int64_t> number;   // of the current part; none: a session begins
        std::uint64_t rows = 0;               // that wait to be sent, in this part and earlier ones
        std::string bytes;
    };

    void send(Table table);

    Client& m_client;
    const Endpoint& m_endpoint;
    Place m_place;
    std::array<Part, kTables> m_parts;
    std::optional<StoreFailure> m_failure;
};

namespace {

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

SessionInsert::SessionInsert(Client& client, const Endpoint& endpoint, Place place)
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

void SessionInsert::begin() {
    for (Part& part : m_parts) {
        part.number.reset();
    }
}

void SessionInsert::add(Table table, std::span<const sql::Cell> cells) {
    Part& part = m_parts.at(static_cast<std::size_t>(table));
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

lib::Result<void, StoreFailure> SessionInsert::finish() {
    for (std::size_t i = 0; i < kTables; ++i) {
        if (static_cast<Table>(i) != Table::nodes) {
            send(static_cast<Table>(i));
        }
    }
    send(Table::nodes);
    return m_failure ? lib::Result<void, StoreFailure>(*m_failure) : lib::Result<void, StoreFailure>();
}

void SessionInsert::send(Table table) {
    Part& part = m_parts.at(static_cast<std::size_t>(table));
    if (part.rows != 0 && !m_failure) {
        const auto done = m_client.insert(m_endpoint, insert_statement(m_place, table), part.bytes);
        if (!done) {
            m_failure = done.error();
        }
    }
    part.rows = 0;
    part.bytes.clear();
}

namespace {

constexpr std::int64_t kSecondsPerDay = 86'400;

// A batch has the rows for one partition of one host, which are inserted together.
class Batch {
  public:
    [[nodiscard]] lib::Result<void, StoreFailure> add(const ReadChunk& chunk) {
        EventRows rows(chunk);
        const auto read = for_each_event(
            chunk, [this, &rows](std::span<const trace::Event> events) { rows.append(m_events, events); });
        if (!read) {
            return StoreFailure{read.error().cause, fmt::format("chunk {}: {}", chunk.message->id, read.error().text)};
        }
        m_event_count += rows.events();
        append_chunk(m_chunks, chunk);
        return {};
    }

    [[nodiscard]] bool is_full() const { return m_event_count >= kBlockRows; }

    // The events are inserted first, because the row in `chunks` states that they are stored.
    [[nodiscard]] lib::Result<void, StoreFailure> insert(Client& client, const Endpoint& endpoint, const Place& place) {
        if (m_event_count != 0) {
            if (auto done = client.insert(endpoint, insert_statement(place, Table::events), m_events); !done) {
                return done;
            }
        }
        if (!m_chunks.empty()) {
            if (auto done = client.insert(endpoint, insert_statement(place, Table::chunks), m_chunks); !done) {
                return done;
            }
        }
        m_events.clear();
        m_chunks.clear();
        m_event_count = 0;
        return {};
    }

  private:
    std::string m_events;
    std::string m_chunks;
    std::uint64_t m_event_count = 0;
};

std::uint64_t number_in(const Value& value) {
    const std::int64_t* const number = std::get_if<std::int64_t>(&value);
    return number != nullptr ? static_cast<std::uint64_t>(*number) : 0;
}

} // namespace

ClickHouseStore::ClickHouseStore(Url url, std::string user, std::unique_ptr<Http> http)
    : m_url(std::move(url))
    , m_client(std::move(http), std::move(user))
    , m_place({.database = m_url.database, .cluster = m_url.cluster, .version = {}}) {}

lib::Result<void, StoreFailure> ClickHouseStore::prepare() {
    for (const Endpoint& host : m_url.hosts) {
        if (auto done = migrate(m_client, host, m_place); !done) {
            return done;
        }
    }
    return {};
}

lib::Result<std::vector<StoredChunk>, StoreFailure> ClickHouseStore::chunks_of(const Run& run) {
    const auto answer =
        m_client.ask(host_of(run), m_place.database,
                     fmt::format("SELECT cpu, chunk, generation, sequence, crc32c FROM {} FINAL WHERE {}",
                                 rows_name(Table::chunks), condition(run)));
    if (!answer) {
        return answer.error();
    }
    std::vector<StoredChunk> chunks;
    for (const auto& row : answer->rows) {
        chunks.push_back({.key = {.boot_id = run.boot_id,
                                  .cpu = static_cast<std::uint16_t>(number_in(row[0])),
                                  .chunk = static_cast<std::uint16_t>(number_in(row[1])),
                                  .generation = static_cast<std::uint32_t>(number_in(row[2]))},
                          .sequence = number_in(row[3]),
                          .crc32c = static_cast<std::uint32_t>(number_in(row[4]))});
    }
    return chunks;
}

lib::Result<bool, StoreFailure> ClickHouseStore::has_session(const Run& run) {
    const auto answer =
        m_client.ask(host_of(run), m_place.database,
                     fmt::format("SELECT complete FROM {} WHERE {} LIMIT 1", rows_name(Table::nodes), condition(run)));
    if (!answer) {
        return answer.error();
    }
    return !answer->rows.empty();
}

lib::Result<void, StoreFailure> ClickHouseStore::add_chunks(std::span<const ReadChunk> chunks) {
    // Batches are divided by host and day, so that an INSERT makes one part in one partition.
    std::map<std::pair<std::size_t, std::int64_t>, Batch> batches;
    for (const ReadChunk& chunk : chunks) {
        const std::size_t shard = shard_of(chunk.run, m_url.hosts.size());
        Batch& batch = batches[{shard, chunk.run.started_s / kSecondsPerDay}];
        if (auto done = batch.add(chunk); !done) {
            return done;
        }
        if (batch.is_full()) {
            if (auto done = batch.insert(m_client, m_url.hosts[shard], m_place); !done) {
                return done;
            }
        }
    }
    for (auto& [where, batch] : batches) {
        if (auto done = batch.insert(m_client, m_url.hosts[where.first], m_place); !done) {
            return done;
        }
    }
    return {};
}

lib::Result<void, StoreFailure> ClickHouseStore::add_session(const ReadSession& session) {
    return add_sessions({&session, 1});
}

lib::Result<void, StoreFailure> ClickHouseStore::add_sessions(std::span<const ReadSession> sessions) {
    std::map<std::size_t, SessionInsert> inserts; // by host
    for (const ReadSession& session : sessions) {
        const std::size_t shard = shard_of(session.run, m_url.hosts.size());
        SessionInsert& insert = inserts.try_emplace(shard, m_client, m_url.hosts[shard], m_place).first->second;
        insert.begin();
        const auto made =
            session.rows([&insert](Table table, std::span<const sql::Cell> cells) { insert.add(table, cells); });
        if (!made) {
            return StoreFailure{lib::Error::corrupt, made.error().text};
        }
    }
    for (auto& [shard, insert] : inserts) {
        if (auto done = insert.finish(); !done) {
            return done;
        }
    }
    return {};
}

lib::Result<std::optional<std::string>, StoreFailure> ClickHouseStore::image_of(const Run& /*run*/,
                                                                                const formats::dat::ChunkKey& /*key*/) {
    return std::optional<std::string>{};
}

lib::Result<Answer, StoreFailure> ClickHouseStore::query(const std::string& statement) {
    auto answer = m_client.ask(m_url.hosts.front(), m_place.database, statement);
    for (std::size_t i = 1; i < m_url.hosts.size() && !answer && answer.error().cause == lib::Error::unreachable; ++i) {
        answer = m_client.ask(m_url.hosts[i], m_place.database, statement);
    }
    return answer;
}

std::string ClickHouseStore::quoted(std::string_view text) const {
    return quoted_text(text);
}

const Endpoint& ClickHouseStore::host_of(const Run& run) const {
    return m_url.hosts[shard_of(run, m_url.hosts.size())];
}

// Returns a condition on the columns with which every key begins.
std::string ClickHouseStore::condition(const Run& run) const {
    return fmt::format("site = {} AND node = {} AND boot = {}", quoted(run.from.site), quoted(run.from.node),
                       quoted(boot_text(run.boot_id)));
}

} // namespace host::fleet::clickhouse
