// SPDX-License-Identifier: MIT
#include "host/formats/packed/packed_stream.hpp"

#include "host/formats/packed/archive_reader.hpp"
#include "host/text/format.hpp"

#include <utility>

namespace host::formats::packed {

lib::Result<std::unique_ptr<dat::RecordStream>>
open_stream(const trace::NamedSource& input, const trace::OpenOptions& options, trace::Diagnostics& diagnostics) {
    const auto reader = ArchiveReader::open(input, options, diagnostics);
    if (!reader) {
        return reader.error();
    }
    const auto& files = reader.value()->files();
    std::vector<trace::Spool> spools(files.size());
    const auto keep = [&](std::size_t file, std::span<const std::byte> bytes) -> lib::Result<void> {
        if (!files[file].records) {
            return {};
        }
        if (spools[file].size_bytes() == 0) {
            auto spool = trace::Spool::create();
            if (!spool) {
                return spool.error();
            }
            spools[file] = std::move(spool.value());
        }
        return spools[file].append(bytes);
    };
    if (const auto extracted = reader.value()->extract(keep); !extracted) {
        diagnostics.report("E-IO", {.file = input.name},
                           fmt::format("unpacking to TMPDIR failed: {}", error_name(extracted.error())));
        diagnostics.unusable_input(extracted.error());
        return extracted.error();
    }
    std::vector<trace::NamedSource> sources;
    for (std::size_t i = 0; i < spools.size(); ++i) {
        if (spools[i].size_bytes() != 0) {
            sources.push_back({.name = fmt::format("{}({})", input.name, files[i].name),
                               .bytes = spools[i].take(),
                               .keep_open = true});
        }
    }
    auto stream = dat::RecordStream::of_sources(sources, options, diagnostics);
    if (stream) {
        stream.value()->note_absent({.parts = reader.value()->absent(), .unit = "blocks"});
    }
    return stream;
}

} // namespace host::formats::packed
