// SPDX-License-Identifier: MIT
// One process at a time prepares a directory: SQLite does not wait for others when the mode of a journal changes.
#pragma once

#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <unistd.h>

namespace host::fleet::local {

// Waits for the others. A file system without locks: it is as if there were none.
class DirectoryGuard {
  public:
    explicit DirectoryGuard(const std::string& directory)
        : m_descriptor(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        if (m_descriptor >= 0) {
            (void)::flock(m_descriptor, LOCK_EX);
        }
    }

    DirectoryGuard(const DirectoryGuard&) = delete;
    DirectoryGuard& operator=(const DirectoryGuard&) = delete;

    ~DirectoryGuard() {
        if (m_descriptor >= 0) {
            ::close(m_descriptor);
        }
    }

  private:
    int m_descriptor;
};

} // namespace host::fleet::local
