// SPDX-License-Identifier: MIT
#include "host/formats/packed/files_to_pack.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace host::formats::packed {

namespace {

namespace fs = std::filesystem;

lib::Result<FileToPack, trace::Refusal> file_to_pack(const fs::path& path) {
    const auto source = trace::ByteSource::open_file(path.string());
    if (!source) {
        return trace::Refusal{fmt::format("{}: {}", text::escaped(path.string()), trace::file_error(source.error()))};
    }
    return FileToPack{
        .name = path.filename().string(), .path = path.string(), .path_bytes = source.value()->size_bytes()};
}

} // namespace

lib::Result<std::vector<FileToPack>, trace::Refusal> files_to_pack(const std::string& input) {
    std::error_code failed;
    const bool directory = fs::is_directory(input, failed);
    std::vector<fs::path> paths;
    if (!directory) {
        paths.emplace_back(input);
    } else {
        for (const auto& entry : fs::directory_iterator(input, failed)) {
            paths.push_back(entry.path());
        }
        if (failed) {
            return trace::Refusal{fmt::format("{}: {}", text::escaped(input), failed.message())};
        }
    }
    std::ranges::sort(paths);
    std::vector<FileToPack> files;
    for (const fs::path& path : paths) {
        auto file = file_to_pack(path);
        if (!file) {
            return file.error();
        }
        // Of a single file, whatever its name: bytes of any other kind survive, too.
        file.value().records = !directory || path.extension() == ".dat";
        files.push_back(std::move(file.value()));
    }
    if (files.empty()) {
        return trace::Refusal{fmt::format("{}: the directory is empty", text::escaped(input))};
    }
    return files;
}

} // namespace host::formats::packed
