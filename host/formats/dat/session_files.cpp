// SPDX-License-Identifier: MIT
#include "host/formats/dat/session_files.hpp"

#include <algorithm>
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

std::vector<std::string> unlisted_files(const std::string& path, const Manifest& manifest) {
    auto files = list_chunk_files(path);
    if (manifest.complete || !files) {
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
