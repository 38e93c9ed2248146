// SPDX-License-Identifier: MIT
// One collector for each directory: a file `collector.lock` in it, locked with flock() as long as the collector lives.
// It holds the collector's process id, for the message to a second one. The system releases the lock with the process,
// however that ends; the file is removed at a clean end and used again otherwise.
#pragma once

#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <string_view>

namespace host::collector {

inline constexpr std::string_view kLockName = "collector.lock";

class DirectoryLock {
  public:
    DirectoryLock() = default;
    DirectoryLock(const DirectoryLock&) = delete;
    DirectoryLock& operator=(const DirectoryLock&) = delete;
    ~DirectoryLock();

    // directory: an open directory, which outlives the lock. Once. cause: busy: another collector holds it, the text
    // names its process; refused: the file cannot be made, or is no regular file.
    [[nodiscard]] lib::Result<void, trace::Failure<lib::Error>> take(int directory);

  private:
    int m_directory = -1;
    trace::Descriptor m_file;
};

} // namespace host::collector
