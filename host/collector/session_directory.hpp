// SPDX-License-Identifier: MIT
// A directory that one collector writes to: opened once and locked, then reached by its descriptor alone, so that
// nothing that another process renames or links leads a write elsewhere. Files are made new and never followed. It
// never deletes anything but the files that a session consists of.
#pragma once

#include "host/formats/dat/manifest.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/failure.hpp"
#include "host/trace/kernel_image.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace host::collector {

// One collector for each directory: a file `collector.lock` in it, locked with flock() as long as the collector lives.
// It holds the collector's process id, for the message to a second one. The system releases the lock with the process,
// however that ends; the file is removed at a clean end and used again otherwise.

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

// Keeps the formats of trace_printf in the session of the kernel that they belong to, so that the session can be read
// when the kernel image is gone.

// Writes formats.json and the manifest, which names it. Refused, and nothing changed: the formats are of another image
// than the session, the session does not state its image, or they cannot be written.
[[nodiscard]] lib::Result<void, trace::Refusal>
store_formats(const trace::KernelImage& formats, const std::string& directory, formats::dat::Manifest& manifest);

} // namespace host::collector
