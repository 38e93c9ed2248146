// SPDX-License-Identifier: MIT
// Where a loader puts what it takes. Implementations: fleet/local/ (a directory), fleet/clickhouse/. Several
// loaders may write to one store at the same time, and the same chunk or session may be added twice: what a query
// answers is then as if it had been added once.
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
#include <vector>

namespace host::fleet {

struct Run {
    NodeName from;
    std::uint64_t boot_id = 0;
    std::int64_t started_s = 0;
};

// A chunk that was read to its end without damage (chunk_events.hpp).
struct ReadChunk {
    const Message* message = nullptr; // outlives it
    Run run;
    formats::dat::ChunkKey key;
    tracer::ChunkBegin description;
    std::uint64_t events = 0; // metadata left out
    std::uint32_t crc32c = 0; // of the body
    std::optional<std::uint64_t> first_ticks;
    std::optional<std::uint64_t> last_ticks;
};

struct StoredChunk {
    formats::dat::ChunkKey key;
    std::uint64_t sequence = 0; // in the stream that it came from; 0: it came from none
    std::uint32_t crc32c = 0;
};

// Takes the rows of a session: all cells, in the order of columns_of(table), those of one table with rising part and
// row. The cells are valid during the call.
using RowSink = std::function<void(Table table, std::span<const sql::Cell> cells)>;

struct ReadSession {
    Run run;
    const formats::dat::Manifest* manifest = nullptr;
    // With its chunks and manifest, as a session directory; it is removed afterwards.
    std::string directory;
    // Makes the rows of nodes, listed, jobs, intervals, interrupts and losses. Once.
    std::function<lib::Result<void, trace::Refusal>(const RowSink&)> rows;
};

class Store : public Database {
  public:
    // Makes what is missing of the schema, and changes an older one. refused: a newer program made it, or something
    // else has its names.
    [[nodiscard]] virtual lib::Result<void, StoreFailure> prepare() = 0;

    // The chunks of a run that are stored, in no order.
    [[nodiscard]] virtual lib::Result<std::vector<StoredChunk>, StoreFailure> chunks_of(const Run& run) = 0;

    // Whether the session of this run is.
    [[nodiscard]] virtual lib::Result<bool, StoreFailure> has_session(const Run& run) = 0;

    // Durable when it returns. Not those that it has already: the caller has asked, but another loader may have been
    // faster.
    [[nodiscard]] virtual lib::Result<void, StoreFailure> add_chunks(std::span<const ReadChunk> chunks) = 0;

    // Durable when it returns; nodes, which says that it is complete, comes last.
    [[nodiscard]] virtual lib::Result<void, StoreFailure> add_session(const ReadSession& session) = 0;

    // Likewise several, of which a store may make fewer writes. None of them is complete before all its rows are there.
    [[nodiscard]] virtual lib::Result<void, StoreFailure> add_sessions(std::span<const ReadSession> sessions) {
        for (const ReadSession& session : sessions) {
            if (auto added = add_session(session); !added) {
                return added;
            }
        }
        return {};
    }

    // The file of a stored chunk. Nothing: this store does not keep them, the stream does.
    [[nodiscard]] virtual lib::Result<std::optional<std::string>, StoreFailure>
    image_of(const Run& run, const formats::dat::ChunkKey& key) = 0;
};

} // namespace host::fleet
