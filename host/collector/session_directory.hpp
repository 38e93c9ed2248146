// SPDX-License-Identifier: MIT
// A directory that one collector writes to, its lock, and the formats of trace_printf that are kept in it.
#pragma once

#include "host/formats/dat/manifest.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/kernel_image.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace host::collector {

inline constexpr std::string_view kLockName = "collector.lock";

// The lock that permits one collector for each directory: a file `collector.lock` in it, locked with flock() while the
// collector exists. It contains the collector's process id, for the message to a second one. The system releases the
// lock with the process, however that ends; the file is removed at a regular end and reused otherwise.
class DirectoryLock {
  public:
    DirectoryLock() = default;
    DirectoryLock(const DirectoryLock&) = delete;
    DirectoryLock& operator=(const DirectoryLock&) = delete;
    ~DirectoryLock();

    // Must be called once. directory: an open directory, which must outlive the lock. Causes: busy: another collector
    // holds the lock, and the text names its process; refused: the file cannot be made, or is no regular file.
    [[nodiscard]] lib::Result<void, trace::Failure<lib::Error>> take(int directory);

  private:
    int m_directory = -1;
    trace::Descriptor m_file;
};

// The file NAME.published beside a session directory NAME states how far it is published (fleet/session_publisher.hpp).
inline constexpr std::string_view kPublishedSuffix = ".published";

// The directory in a served one that has the journals of acknowledged sessions (reliable_sessions.hpp).
inline constexpr std::string_view kJournalsName = "journal";

enum class OldSession : std::uint8_t {
    keep,    // refuse if the directory holds a session with a chunk, or anything else
    replace, // delete the files of the session first; refuse if there are others
    leave,   // leave everything as it is
};

// The directory is opened once and locked, and then only used through its descriptor, so that no rename or link by
// another process redirects a write. Files are always new, and links are never followed. Only the files of a session
// are ever deleted.
class SessionDirectory {
  public:
    // Causes: busy: another collector writes there; exists: it holds a session, which must be kept; refused: it holds
    // something else, or cannot be used.
    using Opened = lib::Result<std::shared_ptr<SessionDirectory>, trace::Failure<lib::Error>>;

    // Opens a directory; creates it and those above it if they do not exist.
    [[nodiscard]] static Opened open(const std::string& path, OldSession old);

    // Creates a directory of this name in the open directory `parent`. exists: the name is taken.
    [[nodiscard]] static Opened create(int parent, const std::string& parent_path, const std::string& name);

    SessionDirectory(trace::Descriptor directory, std::string path);

    [[nodiscard]] const std::string& path() const { return m_path; }

    [[nodiscard]] int descriptor() const { return m_directory.number(); }

    // Creates a file and opens it for writing; the caller must close it. exists: something has this name; no_space, io.
    [[nodiscard]] lib::Result<int> create_file(const std::string& name) const;

  private:
    [[nodiscard]] lib::Result<void, trace::Failure<lib::Error>> take(OldSession old);
    [[nodiscard]] bool is_empty(const std::string& name) const;

    std::string m_path;
    trace::Descriptor m_directory;
    DirectoryLock m_lock;
};

// Deletes the files of a session that no collector writes to, its directory, and the file that states how far it is
// published. Returns the bytes of its chunks. Causes: those of SessionDirectory::open(); exists: something else is in
// it.
[[nodiscard]] lib::Result<std::uint64_t, trace::Failure<lib::Error>> remove_session(const std::string& path);

// Returns what errno means after a write or a flush that failed: no_space or io.
[[nodiscard]] lib::Error write_error();

// Returns the names in an open directory, without "." and "..". not_found, io.
[[nodiscard]] lib::Result<std::vector<std::string>> list_names(int directory);

// Writes formats.json and the manifest, which names it, so that the session can be read without the kernel image.
// Refuses, and changes nothing, if the formats are those of another image than the session's, the session does not
// state its image, or they cannot be written.
[[nodiscard]] lib::Result<void, trace::Refusal>
store_formats(const trace::KernelImage& formats, const std::string& directory, formats::dat::Manifest& manifest);

} // namespace host::collector
