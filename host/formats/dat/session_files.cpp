// SPDX-License-Identifier: MIT
#include "host/formats/dat/session_files.hpp"

#include "host/formats/dat/chunk_begin.hpp"
#include "host/text/format.hpp"
#include "host/trace/byte_source.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <system_error>

namespace host::formats::dat {

namespace filesystem = std::filesystem;

lib::Result<std::vector<std::string>> list_chunk_files(const std::string& path) {
    std::error_code code;
    filesystem::directory_iterator entry(path, code);
    std::vector<std::string> files;
    for (; !code && entry != filesystem::directory_iterator(); entry.increment(code)) {
        if (std::string name = entry->path().filename().string(); is_chunk_file_name(name)) {
            files.push_back(std::move(name));
        }
    }
    if (code) {
        return code == std::errc::no_such_file_or_directory ? lib::Error::not_found
               : code == std::errc::permission_denied       ? lib::Error::refused
                                                            : lib::Error::io;
    }
    // At most nine digits: is_chunk_file_name() has looked.
    std::ranges::sort(files, {}, [](const std::string& name) { return std::stoul(name); });
    return files;
}

bool is_totals_file_name(std::string_view name) {
    return name == kTotalsName || name == "ENDTRACE.DAT";
}

lib::Result<tracer::ExportEnd> read_totals(const std::string& directory) {
    auto source = trace::ByteSource::open_file(fmt::format("{}/{}", directory, kTotalsName));
    if (!source && source.error() == lib::Error::not_found) {
        source = trace::ByteSource::open_file(directory + "/ENDTRACE.DAT");
    }
    if (!source) {
        return source.error();
    }
    std::array<std::byte, tracer::kCombineSlotsMax * tracer::kRecordBytes> slots;
    const auto size = source.value()->read(0, slots);
    if (!size) {
        return size.error();
    }
    const auto totals = read_leading_event<tracer::ExportEnd>(trace::kCodeOf<"export_end">,
                                                              std::span<const std::byte>(slots).first(size.value()));
    return totals ? lib::Result<tracer::ExportEnd>(*totals) : lib::Error::corrupt;
}

std::vector<std::string> unlisted_files(const std::string& path, const Manifest& manifest) {
    if (manifest.complete) {
        return {};
    }
    auto files = list_chunk_files(path);
    if (!files) {
        return {};
    }
    std::set<std::string_view> listed;
    for (const ManifestChunk& chunk : manifest.chunks) {
        listed.insert(chunk.file);
    }
    std::erase_if(files.value(), [&listed](const std::string& name) { return listed.contains(name); });
    return std::move(files.value());
}

} // namespace host::formats::dat
