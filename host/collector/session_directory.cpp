// SPDX-License-Identifier: MIT
// Directory handling through std::filesystem, without its exceptions.
#include "host/collector/session_directory.hpp"

#include "host/trace/kernel_image.hpp"
#include "host/trace/manifest.hpp"

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
    return is(trace::kManifestName) || is(trace::kFormatsName) || trace::is_chunk_file_name(name);
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

lib::Result<void> prepare_session_directory(const std::string& path, OldSession old, std::string& why) {
    std::error_code code;
    filesystem::create_directories(path, code);
    if (code) {
        why = code.message();
        return error_of(code);
    }
    const auto names = list(path);
    if (!names) {
        why = error_name(names.error());
        return names.error();
    }
    if (names.value().empty()) {
        return {};
    }
    for (const std::string& name : names.value()) {
        if (!belongs_to_session(name)) {
            why = fmt::format("it holds \"{}\", which belongs to no session", name);
            return lib::Error::refused;
        }
    }
    std::string reason;
    if (const auto manifest = trace::load_manifest(path, reason); !manifest) {
        why = "it holds Ntrace.dat files without a manifest of ours";
        return lib::Error::refused;
    }
    if (old == OldSession::keep) {
        return lib::Error::exists;
    }
    for (const std::string& name : names.value()) {
        if (!filesystem::remove(filesystem::path(path) / name, code) && code) {
            why = code.message();
            return error_of(code);
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
    std::erase_if(files, [](const std::string& name) { return !trace::is_chunk_file_name(name); });
    std::ranges::sort(files, {}, number_of);
    return files;
}

} // namespace host::collector
