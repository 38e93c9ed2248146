// SPDX-License-Identifier: MIT
#include "fleet/work_directory.hpp"

#include "host/output/output_file.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace host::fleet {

namespace fs = std::filesystem;

namespace {

NetworkFailure failure_at(const std::string& path, lib::Error error) {
    return {error, fmt::format("{}: {}: TMPDIR names another place for a session while it is loaded",
                               text::escaped(path), error_name(error))};
}

} // namespace

lib::Result<std::unique_ptr<WorkDirectory>, NetworkFailure> WorkDirectory::create() {
    std::error_code failed;
    const fs::path above = fs::temp_directory_path(failed);
    std::string path = (failed ? fs::path("/tmp") : above) / "remora-load-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) {
        return failure_at(path, errno == ENOSPC || errno == EDQUOT ? lib::Error::no_space : lib::Error::io);
    }
    return std::make_unique<WorkDirectory>(path);
}

WorkDirectory::~WorkDirectory() {
    std::error_code ignored;
    fs::remove_all(m_path, ignored);
}

lib::Result<void, NetworkFailure> WorkDirectory::write(std::string_view name, std::string_view content) const {
    const std::string path = (fs::path(m_path) / name).string();
    const auto file = output::OutputFile::create(path);
    if (!file) {
        return failure_at(path, file.error());
    }
    file.value()->append(content);
    const auto closed = file.value()->close();
    return closed ? lib::Result<void, NetworkFailure>() : failure_at(path, closed.error());
}

} // namespace host::fleet
