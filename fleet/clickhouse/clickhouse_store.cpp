// SPDX-License-Identifier: MIT
#include "fleet/clickhouse/clickhouse_store.hpp"

#include "fleet/chunk_events.hpp"
#include "fleet/clickhouse/migration.hpp"
#include "fleet/clickhouse/row_binary.hpp"
#include "fleet/clickhouse/session_insert.hpp"
#include "fleet/clickhouse/shard.hpp"
#include "host/text/format.hpp"

#include <map>
#include <utility>

namespace host::fleet::clickhouse {

namespace {

constexpr std::int64_t kSecondsPerDay = 86'400;

// What goes into one partition of one host, each row to be inserted with the others.
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

    // First the events: the row in `chunks` says that they are there.
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
        if (auto done = Migration(m_client, host, m_place).run(); !done) {
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
    // By host and day: an INSERT makes one part in one partition.
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

// The beginning of every key.
std::string ClickHouseStore::condition(const Run& run) const {
    return fmt::format("site = {} AND node = {} AND boot = {}", quoted(run.from.site), quoted(run.from.node),
                       quoted(boot_text(run.boot_id)));
}

} // namespace host::fleet::clickhouse
