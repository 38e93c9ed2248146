// SPDX-License-Identifier: MIT
// Stores a fleet's tables in ClickHouse. A run goes to one host of the URL (shard_of()); questions go to the first host
// that answers. A row that is sent again replaces itself, so nothing here remembers what was sent.
#pragma once

#include "fleet/clickhouse/client.hpp"
#include "fleet/clickhouse/schema.hpp"
#include "fleet/store.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace host::fleet::clickhouse {

// Returns the shard of a cluster that has a run. All rows of a run are on one shard, because a run is the unit of every
// question that is not a sum.
[[nodiscard]] std::size_t shard_of(const Run& run, std::size_t shards);

class ClickHouseStore final : public Store {
  public:
    // user: the name of the user with which http logs in.
    ClickHouseStore(Url url, std::string user, std::unique_ptr<Http> http);

    [[nodiscard]] lib::Result<void, StoreFailure> prepare() override;
    [[nodiscard]] lib::Result<std::vector<StoredChunk>, StoreFailure> chunks_of(const Run& run) override;
    [[nodiscard]] lib::Result<bool, StoreFailure> has_session(const Run& run) override;
    [[nodiscard]] lib::Result<void, StoreFailure> add_chunks(std::span<const ReadChunk> chunks) override;
    [[nodiscard]] lib::Result<void, StoreFailure> add_session(const ReadSession& session) override;
    [[nodiscard]] lib::Result<void, StoreFailure> add_sessions(std::span<const ReadSession> sessions) override;
    [[nodiscard]] lib::Result<std::optional<std::string>, StoreFailure>
    image_of(const Run& run, const formats::dat::ChunkKey& key) override;

    [[nodiscard]] lib::Result<Answer, StoreFailure> query(const std::string& statement) override;
    [[nodiscard]] std::string quoted(std::string_view text) const override;

  private:
    // Asks for these columns of the rows of a run where the run is.
    [[nodiscard]] Answer rows_of(const Run& run, Table table, std::string_view columns);

    Url m_url;
    Client m_client;
    Place m_place;
};

} // namespace host::fleet::clickhouse
