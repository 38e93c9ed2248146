// SPDX-License-Identifier: MIT
#include "fleet/started.hpp"

#include "fleet/message.hpp"

#include <string>
#include <sys/stat.h>

namespace host::fleet {

std::int64_t started_of(const std::string& directory, const formats::dat::Manifest& manifest) {
    // A clock that was not set is better replaced than stored.
    if (manifest.started_s != 0 && manifest.started_s <= kStartedMax) {
        return static_cast<std::int64_t>(manifest.started_s);
    }
    const std::string name =
        manifest.chunks.empty() ? std::string(formats::dat::kManifestName) : manifest.chunks.front().file;

    struct stat status {};

    return ::stat((directory + '/' + name).c_str(), &status) == 0 ? status.st_mtim.tv_sec : 0;
}

} // namespace host::fleet
