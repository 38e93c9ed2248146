// SPDX-License-Identifier: MIT
// A directory that one collector writes to: opened once and locked, then reached by its descriptor alone, so that
// nothing that another process renames or links leads a write elsewhere. Files are made new and never followed. It
// never deletes anything but the files that a session consists of.
#pragma once

#include "host/collector/directory_lock.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace host::collector {

// Beside a session directory, NAME.published: how far it is published (fleet/session_publisher.hpp).
inline constexpr std::string_view kPublishedSuffix = ".published";

enum class OldSession : std::uint8_t {
    keep,    // refuse if the directory holds one, or anything else
    replace, // delete its files first; refuse if there are others
    leave,   // whatever there is stays
};

class SessionDirectory {
  public:
    // cause: busy: another collector writes there; exists: it holds a session, and is to keep it; refused: it holds
    // something else, or cannot be used.
    using Opened = lib::Result<std::shared_ptr<SessionDirectory>, trace::Failure<lib::Error>>;

    // Creates the directory and those above it.
    [[nodiscard]] static Opened open(const std::string& path, OldSession old);

    // A new directory of this name in the open directory `parent`. exists: the name is taken.
    [[nodiscard]] static Opened create(int parent, const std::string& parent_path, const std::string& name);

    SessionDirectory(trace::Descriptor directory, std::string path);

    [[nodiscard]] const std::string& path() const { return m_path; }

    [[nodiscard]] int descriptor() const { return m_directory.number(); }

    // A new file, open for writing; the caller closes it. exists: something has this name; no_space, io.
    [[nodiscard]] lib::Result<int> create_file(const std::string& name) const;

  private:
    [[nodiscard]] lib::Result<void, trace::Failure<lib::Error>> take(OldSession old);

    std::string m_path;
    trace::Descriptor m_directory;
    DirectoryLock m_lock;
};

// Deletes the files of a session that no collector writes to, its directory, and what is remembered of its publishing.
// Returns the bytes of its chunks. cause: as of SessionDirectory::open(); exists: something else is in it.
[[nodiscard]] lib::Result<std::uint64_t, trace::Failure<lib::Error>> remove_session(const std::string& path);

// The names in an open directory, without . and .. not_found, io.
[[nodiscard]] lib::Result<std::vector<std::string>> list_names(int directory);

} // namespace host::collector
