// SPDX-License-Identifier: MIT
#include "fleet/session_tree.hpp"

#include "fleet/message.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/kernel_image.hpp"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <sys/stat.h>
#include <system_error>

namespace host::fleet {

namespace {

namespace fs = std::filesystem;

constexpr int kDepth = 3; // of a session: site, node, session

void find(const fs::path& path, const NodeName& names, int depth, std::vector<FoundSession>& found) {
    std::error_code failed;
    if (fs::exists(path / formats::dat::kManifestName, failed)) {
        found.push_back({.path = path.string(), .names = names});
        return;
    }
    if (depth == kDepth) {
        return;
    }
    std::vector<fs::path> inner;
    for (const auto& entry : fs::directory_iterator(path, failed)) {
        if (entry.is_directory(failed)) {
            inner.push_back(entry.path());
        }
    }
    std::ranges::sort(inner);
    // The last directory above a session names the node, the one above that the site. The directory that the user has
    // given names nothing.
    const NodeName inside =
        depth == 0 ? NodeName{} : NodeName{.site = names.node, .node = name_of(path.filename().string())};
    for (const fs::path& one : inner) {
        find(one, inside, depth + 1, found);
    }
}

} // namespace

std::vector<FoundSession> sessions_below(const std::string& path) {
    std::vector<FoundSession> found;
    find(path, {}, 0, found);
    return found;
}

std::int64_t started_of(const std::string& directory, const formats::dat::Manifest& manifest) {
    // The time of a clock that was not set is replaced rather than stored.
    if (manifest.started_s != 0 && manifest.started_s <= kStartedMax) {
        return static_cast<std::int64_t>(manifest.started_s);
    }
    const std::string name =
        manifest.chunks.empty() ? std::string(formats::dat::kManifestName) : manifest.chunks.front().file;

    struct stat status {};

    return ::stat((directory + '/' + name).c_str(), &status) == 0 ? status.st_mtim.tv_sec : 0;
}

lib::Result<std::string, Failure> formats_of(const std::string& directory, const formats::dat::ManifestFormats& named) {
    auto text = trace::read_file((fs::path(directory) / trace::kFormatsName).string(), kFormatsBytesMax);
    if (text && trace::checksum(std::as_bytes(std::span(text.value()))) != named.crc32c) {
        return Failure{lib::Error::corrupt, "its checksum is not that of the manifest"};
    }
    return text;
}

} // namespace host::fleet
