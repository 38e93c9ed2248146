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
    // All in one file: there may be more of them than a process may hold open.
    auto spool = trace::Spool::create();
    std::vector<std::vector<trace::ByteSource::Part>> parts(files.size());
    const auto keep = [&](std::size_t file, std::span<const std::byte> bytes) -> lib::Result<void> {
        if (!files[file].records || bytes.empty()) {
            return {};
        }
        std::vector<trace::ByteSource::Part>& of_file = parts[file];
        const std::uint64_t at = spool.value().size_bytes();
        if (!of_file.empty() && of_file.back().begin_bytes + of_file.back().size_bytes == at) {
            of_file.back().size_bytes += bytes.size();
        } else {
            of_file.push_back({.begin_bytes = at, .size_bytes = bytes.size()});
        }
        return spool.value().append(bytes);
    };
    const auto extracted = spool ? reader.value()->extract(keep) : lib::Result<void>(spool.error());
    if (!extracted) {
        diagnostics.report("E-IO", {.file = input.name},
                           fmt::format("unpacking to TMPDIR failed: {}", error_name(extracted.error())));
        diagnostics.unusable_input(extracted.error());
        return extracted.error();
    }
    const std::shared_ptr<trace::ByteSource> unpacked = spool.value().take();
    std::vector<trace::NamedSource> sources;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (!parts[i].empty()) {
            sources.push_back({.name = fmt::format("{}({})", input.name, files[i].name),
                               .bytes = trace::ByteSource::of_parts(unpacked, std::move(parts[i])),
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
