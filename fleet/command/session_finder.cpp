// SPDX-License-Identifier: MIT
#include "fleet/command/session_finder.hpp"

#include "fleet/message.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/text/format.hpp"

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace host::cli {

namespace {

constexpr int kDepthMax = 3;
constexpr std::string_view kPacked = ".rpk";

bool is_boot(std::string_view text) {
    return text.size() == 16 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

} // namespace

SessionFinder::SessionFinder(std::string directory)
    : m_directory(std::move(directory)) {}

std::string SessionFinder::find(const std::string& site_untrusted, const std::string& node_untrusted,
                                const std::string& boot_untrusted) {
    if (!fleet::is_name(site_untrusted) || !fleet::is_name(node_untrusted) || !is_boot(boot_untrusted)) {
        return {};
    }
    std::error_code error;
    std::string stored =
        fmt::format("{}/{}/{}/{}{}", m_directory, site_untrusted, node_untrusted, boot_untrusted, kPacked);
    if (std::filesystem::is_regular_file(stored, error)) {
        return stored;
    }
    if (!std::exchange(m_looked, true)) {
        look_everywhere();
    }
    const auto found = m_by_boot.find(boot_untrusted);
    return found != m_by_boot.end() ? found->second : std::string();
}

void SessionFinder::look_everywhere() {
    namespace fs = std::filesystem;
    std::error_code error;
    fs::recursive_directory_iterator entry(m_directory, fs::directory_options::skip_permission_denied, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
        const fs::path& path = entry->path();
        std::error_code unknown;
        if (entry->is_regular_file(unknown) && path.extension() == kPacked && is_boot(path.stem().string())) {
            m_by_boot.emplace(path.stem().string(), path.string());
        } else if (entry->is_directory(unknown)) {
            const bool is_session = fs::exists(path / formats::dat::kManifestName, unknown);
            if (is_session) {
                if (const auto manifest = formats::dat::load_manifest(path.string())) {
                    m_by_boot.emplace(fleet::boot_text(manifest.value().boot_id), path.string());
                }
            }
            if (is_session || entry.depth() >= kDepthMax) {
                entry.disable_recursion_pending();
            }
        }
    }
}

} // namespace host::cli
