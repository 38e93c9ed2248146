// SPDX-License-Identifier: MIT
// The files that are in a session directory, whatever its manifest lists, and how one is written into it.
#pragma once

#include "host/formats/dat/manifest.hpp"
#include "lib/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace host::formats::dat {

// The Ntrace.dat files in a directory, by number. not_found, refused, io.
[[nodiscard]] lib::Result<std::vector<std::string>> list_chunk_files(const std::string& path);

// endtrace.dat, in lower or (as FAT has it) upper case: the totals of the run, which a ramdisk has beside its chunks.
inline constexpr std::string_view kTotalsName = "endtrace.dat";
[[nodiscard]] bool is_totals_file_name(std::string_view name);

// not_found: the directory has no such file; corrupt: it does not begin with whole totals; refused, io.
[[nodiscard]] lib::Result<tracer::ExportEnd> read_totals(const std::string& directory);

// Those that the manifest does not list. A collector that was killed leaves such files: the chunk that it was writing,
// and chunks that ended just before. None if the manifest is complete: then it lists all that the machine sent.
[[nodiscard]] std::vector<std::string> unlisted_files(const std::string& path, const Manifest& manifest);

// As save_text() of manifest.hpp, into an open directory: nothing that is renamed or linked meanwhile leads it
// elsewhere. The directory is flushed, too, so that the new name outlives a loss of power. no_space, io.
[[nodiscard]] lib::Result<void> save_text(std::string_view text, int directory, std::string_view name);

} // namespace host::formats::dat
