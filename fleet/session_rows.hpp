// SPDX-License-Identifier: MIT
// Makes the rows of a chunk and of a session in the tables of a fleet: nodes and listed from its manifest, the others
// from one pass of the schedule model over its chunks, as `remora sql` does. Reads the rows of chunks, too.
#pragma once

#include "fleet/store.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace host::fleet {

// Returns the class of a response time: the time rounded up to five significant bits, which is at most 6.25 % more.
[[nodiscard]] std::uint64_t response_class(std::uint64_t response_ns);

// Returns the condition that selects the rows of a run. The names need no escaping, because is_name() allows no quotes.
[[nodiscard]] std::string condition_of(const Run& run);

// Returns the chunks that are the answer of a store that was asked for these columns of `chunks`.
inline constexpr std::string_view kStoredColumns = "cpu, chunk, generation, sequence, crc32c";
[[nodiscard]] std::vector<StoredChunk> stored_chunks(const Run& run, const Answer& answer);

// Makes the row of a chunk.
void write_chunk(const ReadChunk& chunk, const RowSink& sink);

struct SessionRows {
    Run run;
    const formats::dat::Manifest& manifest;
    std::string directory;         // has the manifest and the chunks that exist
    std::function<void()> working; // called now and then

    [[nodiscard]] lib::Result<void, trace::Refusal> write(const RowSink& sink) const;
};

} // namespace host::fleet
