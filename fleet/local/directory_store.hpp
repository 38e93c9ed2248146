// SPDX-License-Identifier: MIT
// Stores a fleet in a directory, without a server. Any number of processes may write to it and read it at the same
// time.
//
//   DIR/fleet.sqlite            the tables of fleet/tables.hpp but the events, and the files of the chunks whose
//                               session is not stored yet
//   DIR/<site>/<node>/<boot>.rpk   a stored session, packed: every command reads it as it is
//
// Stored data is durable: SQLite flushes each transaction, and a packed file is flushed before its rows are inserted. A
// process that ends at any instant leaves at most a packed file without rows, or one with the suffix .partial. Adding
// the session again replaces the former.
#pragma once

#include "fleet/local/connection.hpp"
#include "fleet/store.hpp"
#include "lib/result.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::fleet::local {

class DirectoryStore final : public Store {
  public:
    // read: refused if the directory is no store. write: prepare() creates the directory.
    [[nodiscard]] static lib::Result<std::shared_ptr<Store>, StoreFailure> open(const std::string& directory,
                                                                                Access access);

    [[nodiscard]] lib::Result<Answer, StoreFailure> query(const std::string& statement) override;
    [[nodiscard]] std::string quoted(std::string_view text) const override;

    [[nodiscard]] lib::Result<void, StoreFailure> prepare() override;
    [[nodiscard]] lib::Result<std::vector<StoredChunk>, StoreFailure> chunks_of(const Run& run) override;
    [[nodiscard]] lib::Result<bool, StoreFailure> has_session(const Run& run) override;
    [[nodiscard]] lib::Result<void, StoreFailure> add_chunks(std::span<const ReadChunk> chunks) override;
    [[nodiscard]] lib::Result<void, StoreFailure> add_formats(const Run& run, std::string_view text) override;
    [[nodiscard]] lib::Result<std::optional<std::string>, StoreFailure> formats_of(const Run& run) override;
    [[nodiscard]] lib::Result<void, StoreFailure> add_session(const ReadSession& session) override;
    [[nodiscard]] lib::Result<std::optional<std::string>, StoreFailure>
    image_of(const Run& run, const formats::dat::ChunkKey& key) override;

  private:
    explicit DirectoryStore(std::string directory);

    [[nodiscard]] lib::Result<std::optional<std::string>, StoreFailure> image(const std::string& condition) const;

    std::string m_directory;
    std::string m_database;                   // path of the file
    std::unique_ptr<Connection> m_connection; // null before prepare()
};

// Returns the path of the packed session of this run.
[[nodiscard]] std::string archive_path(const NodeName& from, std::string_view boot);

} // namespace host::fleet::local
