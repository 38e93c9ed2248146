// SPDX-License-Identifier: MIT
// Directory handling through std::filesystem, without its exceptions.
#include "host/collector/session_directory.hpp"

#include "host/formats/dat/manifest.hpp"
#include "host/trace/kernel_image.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>

namespace host::collector {

namespace filesystem = std::filesystem;

namespace {

lib::Error error_of(const std::error_code& code) {
    if (code == std::errc::no_space_on_device) {
        return lib::Error::no_space;
    }
    if (code == std::errc::no_such_file_or_directory) {
        return lib::Error::not_found;
    }
    return code == std::errc::permission_denied ? lib::Error::refused : lib::Error::io;
}

bool belongs_to_session(const std::string& name) {
    const auto is = [&name](std::string_view text) { return name == text || name == std::string(text) + ".new"; };
    return is(formats::dat::kManifestName) || is(trace::kFormatsName) || formats::dat::is_chunk_file_name(name);
}

lib::Result<std::vector<std::string>> list(const std::string& path) {
    std::error_code code;
    filesystem::directory_iterator entry(path, code);
    std::vector<std::string> names;
    for (; !code && entry != filesystem::directory_iterator(); entry.increment(code)) {
        names.push_back(entry->path().filename().string());
    }
    if (code) {
        return error_of(code);
    }
    return names;
}

unsigned long number_of(const std::string& name) {
    return std::stoul(name); // at most nine digits: is_chunk_file_name() has looked
}

} // namespace

lib::Result<void, trace::Failure<lib::Error>> prepare_session_directory(const std::string& path, OldSession old) {
    const auto unusable = [](std::string_view text) {
        return trace::Failure<lib::Error>{lib::Error::refused, std::string(text)};
    };
    std::error_code code;
    filesystem::create_directories(path, code);
    if (code) {
        return unusable(code.message());
    }
    const auto names = list(path);
    if (!names) {
        return unusable(error_name(names.error()));
    }
    if (names.value().empty()) {
        return {};
    }
    for (const std::string& name : names.value()) {
        if (!belongs_to_session(name)) {
            return unusable(fmt::format("it holds \"{}\", which belongs to no session", name));
        }
    }
    if (const auto manifest = formats::dat::load_manifest(path); !manifest) {
        return unusable("it holds Ntrace.dat files without a manifest of ours");
    }
    if (old == OldSession::keep) {
        return trace::Failure<lib::Error>{lib::Error::exists, "it holds an earlier session"};
    }
    for (const std::string& name : names.value()) {
        if (!filesystem::remove(filesystem::path(path) / name, code) && code) {
            return unusable(code.message());
        }
    }
    return {};
}

lib::Result<std::vector<std::string>> list_chunk_files(const std::string& path) {
    auto names = list(path);
    if (!names) {
        return names.error();
    }
    std::vector<std::string> files = std::move(names.value());
    std::erase_if(files, [](const std::string& name) { return !formats::dat::is_chunk_file_name(name); });
    std::ranges::sort(files, {}, number_of);
    return files;
}

} // namespace host::collector
