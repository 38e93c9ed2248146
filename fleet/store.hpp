// SPDX-License-Identifier: MIT
// A loader fills a store. Implementations are in fleet/local/ (a directory) and fleet/clickhouse/. Several loaders may
// write to one store at the same time. If the same chunk or session is added twice, queries answer as if it had been
// added once.
#pragma once

#include "fleet/database.hpp"
#include "fleet/message.hpp"
#include "fleet/tables.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/formats/dat/segment.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::fleet {

struct Run {
    NodeName from;
    std::uint64_t boot_id = 0;
    std::int64_t started_s = 0;
};

// chunk_events.hpp has read this chunk to its end without damage.
struct ReadChunk {
    const Message* message = nullptr; // outlives it
    Run run;
    formats::dat::ChunkKey key;
    tracer::ChunkBegin description;
    std::uint64_t events = 0; // without metadata
    std::uint32_t crc32c = 0; // of the body
    std::optional<std::uint64_t> first_ticks;
    std::optional<std::uint64_t> last_ticks;
};

struct StoredChunk {
    formats::dat::ChunkKey key;
    std::uint64_t sequence = 0; // in the stream that it came from; 0: no stream
    std::uint32_t crc32c = 0;
};

// Receives the rows of a session: all cells, in the order of columns_of(table). Within a table, part and row rise. The
// cells are valid during the call.
using RowSink = std::function<void(Table table, std::span<const sql::Cell> cells)>;

struct ReadSession {
    Run run;
    const formats::dat::Manifest* manifest = nullptr;
    // The session directory has the manifest and the chunks; the caller removes it afterwards.
    std::string directory;
    // Makes the rows of nodes, listed, jobs, intervals, interrupts and losses. May be called once.
    std::function<lib::Result<void, trace::Refusal>(const RowSink&)> rows;
};

class Store : public Database {
  public:
    // Creates what is missing of the schema, and upgrades an older one. refused: a newer program made it, or something
    // else uses its names.
    [[nodiscard]] virtual lib::Result<void, StoreFailure> prepare() = 0;

    // Returns the chunks of a run that are stored, in no order.
    [[nodiscard]] virtual lib::Result<std::vector<StoredChunk>, StoreFailure> chunks_of(const Run& run) = 0;

    // Returns whether the session of this run is stored.
    [[nodiscard]] virtual lib::Result<bool, StoreFailure> has_session(const Run& run) = 0;

    // The chunks are durable when it returns. The caller has asked which chunks are stored; one that another loader has
    // stored since then is not added again.
    [[nodiscard]] virtual lib::Result<void, StoreFailure> add_chunks(std::span<const ReadChunk> chunks) = 0;

    // Stores formats.json of a run until its session is stored; durable when it returns.
    [[nodiscard]] virtual lib::Result<void, StoreFailure> add_formats(const Run& /*run*/, std::string_view /*text*/) {
        return {};
    }

    // Returns it; nothing if it has not come; an empty text if this store keeps no texts.
    [[nodiscard]] virtual lib::Result<std::optional<std::string>, StoreFailure> formats_of(const Run& /*run*/) {
        return std::optional(std::string());
    }

    // The session is durable when it returns. The row in nodes, which marks it as complete, is written last.
    [[nodiscard]] virtual lib::Result<void, StoreFailure> add_session(const ReadSession& session) = 0;

    // Adds several sessions, for which a store may need fewer writes. No session is complete before all its rows are
    // stored.
    [[nodiscard]] virtual lib::Result<void, StoreFailure> add_sessions(std::span<const ReadSession> sessions) {
        for (const ReadSession& session : sessions) {
            if (auto added = add_session(session); !added) {
                return added;
            }
        }
        return {};
    }

    // Returns the bytes of a stored chunk; nothing if this store does not keep them, because the stream does.
    [[nodiscard]] virtual lib::Result<std::optional<std::string>, StoreFailure>
    image_of(const Run& run, const formats::dat::ChunkKey& key) = 0;
};

} // namespace host::fleet
