// SPDX-License-Identifier: MIT
// Where sessions are stored, under names made here: the boot id as 16 hexadecimal digits, and the first number that is
// free, <16 digits>-<n>. A served directory holds one such directory for each session. `record --out DIR` writes its
// run into DIR itself; if the machine restarts meanwhile, the next boot goes beside it, to DIR-<16 digits>-<n>.
#pragma once

#include "host/collector/limits.hpp"
#include "host/collector/session_directory.hpp"
#include "host/trace/byte_source.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace host::collector {

class SessionPlaces {
  public:
    // Below `root`, which stays locked. Existing sessions are left as they are, and count for the limits.
    [[nodiscard]] static SessionPlaces served(std::shared_ptr<SessionDirectory> root, Usage& usage);

    // Beside `first`.
    [[nodiscard]] static SessionPlaces beside(const SessionDirectory& first);

    // A new directory. no_space: there are `directories_max` already; else it cannot be made.
    [[nodiscard]] SessionDirectory::Opened make(std::uint64_t boot_id, std::size_t directories_max);

    // So many have been removed.
    void release(std::size_t directories) { m_directories -= std::min(m_directories, directories); }

  private:
    std::shared_ptr<SessionDirectory> m_root; // of served sessions
    trace::Descriptor m_parent;               // where directories are made
    std::string m_parent_path;
    std::string m_prefix;
    std::size_t m_directories = 0;
};

} // namespace host::collector
