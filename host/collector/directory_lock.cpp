// SPDX-License-Identifier: MIT
#include "host/collector/directory_lock.hpp"

#include "host/text/format.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>

namespace host::collector {

namespace {

using Failure = trace::Failure<lib::Error>;

// Only digits, because another program may have written the file.
std::string holder_of(int file) {
    std::array<char, 16> text{};
    const ssize_t count = ::pread(file, text.data(), text.size(), 0);
    const std::string_view read(text.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
    const std::string_view digits = read.substr(0, read.find_first_not_of("0123456789"));
    return digits.empty() ? std::string() : fmt::format(" (process {})", digits);
}

bool write_holder(int file) {
    const std::string text = fmt::format("{}\n", ::getpid());
    return ::ftruncate(file, 0) == 0 &&
           ::pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size());
}

// The file under the lock's name is this one: its former holder has not removed it in between.
bool is_named(int directory, const struct stat& file) {
    struct stat named {};

    return ::fstatat(directory, kLockName.data(), &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_dev == file.st_dev &&
           named.st_ino == file.st_ino;
}

} // namespace

lib::Result<void, Failure> DirectoryLock::take(int directory) {
    constexpr int kAttempts = 100; // each fails only if a collector ended at that moment
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
        trace::Descriptor file(
            ::openat(directory, kLockName.data(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644));

        struct stat found {};

        if (!file || ::fstat(file.number(), &found) != 0) {
            return Failure{lib::Error::refused, fmt::format("{}: {}", kLockName, std::strerror(errno))};
        }
        if (!S_ISREG(found.st_mode)) {
            return Failure{lib::Error::refused, fmt::format("{} in it is no regular file", kLockName)};
        }
        if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
            return Failure{lib::Error::busy, fmt::format("another collector{} writes there", holder_of(file.number()))};
        }
        if (is_named(directory, found)) {
            if (!write_holder(file.number())) {
                return Failure{lib::Error::refused, fmt::format("{}: {}", kLockName, std::strerror(errno))};
            }
            m_directory = directory;
            m_file = std::move(file);
            return {};
        }
    }
    return Failure{lib::Error::busy, "other collectors begin and end there"};
}

DirectoryLock::~DirectoryLock() {
    if (m_file) {
        ::unlinkat(m_directory, kLockName.data(), 0);
    }
}

} // namespace host::collector
