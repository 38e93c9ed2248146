// SPDX-License-Identifier: MIT
// One file without a name per packed file of records: the disk holds them, memory does not.
#include "host/trace/packed/packed_stream.hpp"

#include "host/trace/packed/archive_reader.hpp"

#include <fmt/format.h>
#include <utility>

namespace host::trace::packed {

lib::Result<std::unique_ptr<RecordStream>> open_stream(const NamedSource& input, const OpenOptions& options,
                                                       Diagnostics& diagnostics) {
    const auto reader = ArchiveReader::open(input, options, diagnostics);
    if (!reader) {
        return reader.error();
    }
    const auto& files = reader.value()->files();
    std::vector<Spool> spools(files.size());
    const auto keep = [&](std::size_t file, std::span<const std::byte> bytes) -> lib::Result<void> {
        if (!files[file].records) {
            return {};
        }
        if (spools[file].size_bytes() == 0) {
            auto spool = Spool::create();
            if (!spool) {
                return spool.error();
            }
            spools[file] = std::move(spool.value());
        }
        return spools[file].append(bytes);
    };
    if (const auto extracted = reader.value()->extract(keep); !extracted) {
        diagnostics.report(Code::io, {.file = input.name},
                           fmt::format("unpacking to TMPDIR failed: {}", error_name(extracted.error())));
        diagnostics.unusable_input(extracted.error());
        return extracted.error();
    }
    std::vector<NamedSource> sources;
    for (std::size_t i = 0; i < spools.size(); ++i) {
        if (spools[i].size_bytes() != 0) {
            sources.push_back({.name = fmt::format("{}({})", input.name, files[i].name),
                               .bytes = spools[i].take(),
                               .keep_open = true});
        }
    }
    auto stream = RecordStream::of_sources(sources, options, diagnostics);
    if (stream) {
        stream.value()->note_absent({.parts = reader.value()->absent(), .unit = "blocks"});
    }
    return stream;
}

} // namespace host::trace::packed
