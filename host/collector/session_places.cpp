// SPDX-License-Identifier: MIT
// The directories of sessions: their names, and how many there are.
#include "host/collector/session_table.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <utility>

namespace host::collector {

namespace {

// Returns the bytes of the files directly in a directory; 0 if it is no directory.
std::uint64_t bytes_in(int parent, const std::string& name) {
    const trace::Descriptor directory(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    const auto names = list_names(directory.number());
    std::uint64_t bytes = 0;
    for (const std::string& file : names ? names.value() : std::vector<std::string>()) {
        struct stat status {};

        if (::fstatat(directory.number(), file.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode)) {
            bytes += static_cast<std::uint64_t>(status.st_size);
        }
    }
    return bytes;
}

} // namespace

SessionPlaces SessionPlaces::served(std::shared_ptr<SessionDirectory> root, Usage& usage) {
    SessionPlaces places;
    places.m_parent = trace::Descriptor(::fcntl(root->descriptor(), F_DUPFD_CLOEXEC, 0));
    places.m_parent_path = root->path();
    const auto names = list_names(root->descriptor());
    for (const std::string& name : names ? names.value() : std::vector<std::string>()) {
        if (name != kLockName && name != kJournalsName && !name.ends_with(kPublishedSuffix)) {
            ++places.m_directories;
            usage.bytes += bytes_in(root->descriptor(), name);
        }
    }
    places.m_root = std::move(root);
    return places;
}

SessionPlaces SessionPlaces::beside(const SessionDirectory& first) {
    std::error_code code;
    const std::filesystem::path path = std::filesystem::canonical(first.path(), code);
    SessionPlaces places;
    places.m_parent_path = path.parent_path().string();
    places.m_prefix = path.filename().string() + '-';
    places.m_parent = trace::Descriptor(::open(places.m_parent_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    return places;
}

SessionDirectory::Opened SessionPlaces::make(std::uint64_t boot_id, std::size_t directories_max) {
    if (m_directories >= directories_max) {
        return trace::Failure<lib::Error>{
            lib::Error::no_space,
            fmt::format("there are {} sessions in {} already: move some elsewhere", m_directories, m_parent_path)};
    }
    for (std::size_t number = 0; number <= directories_max; ++number) {
        const std::string name = fmt::format("{}{:016x}-{}", m_prefix, boot_id, number);
        auto made = SessionDirectory::create(m_parent.number(), m_parent_path, name);
        if (made || made.error().cause != lib::Error::exists) {
            m_directories += made ? 1U : 0U;
            return made;
        }
    }
    return trace::Failure<lib::Error>{lib::Error::exists, "every name is taken"};
}

} // namespace host::collector
