// SPDX-License-Identifier: MIT
// Publishes what is in a session directory, in the order of its chunks, and remembers on the disk how far it came: the
// session itself is the spool. What could not be published stays where it is, and the next publisher continues there.
// The record of progress is a file beside the session, SESSION.published.
//
//   next() --> chunks of the manifest that are not published yet --> outlet --> SESSION.published
//                         and, once the session is closed and the chunks are stored, its manifest
#pragma once

#include "fleet/outlet.hpp"
#include "host/formats/dat/manifest.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace host::fleet {

struct Published {
    std::size_t chunks = 0;     // of the manifest's list, the first ones: published or left out
    std::size_t differing = 0;  // of them, left out: the file is not what the manifest states
    bool session = false;       // the manifest, too: nothing is left
    std::int64_t started_s = 0; // of all messages of the session

    friend bool operator==(const Published&, const Published&) = default;
};

// SESSION.published.
[[nodiscard]] std::string progress_file_of(const std::string& directory);

// As whose the session was announced or published, according to that file.
[[nodiscard]] std::optional<NodeName> node_of_session(const std::string& directory);

// Remembers whose a session is before anything of it is published. io, no_space.
[[nodiscard]] lib::Result<void, NetworkFailure> announce_session(const std::string& directory, const NodeName& from);

// What that file states of the session of this boot, published as this node's. None: nothing.
[[nodiscard]] Published published_of(const std::string& directory, const NodeName& from, std::uint64_t boot_id);

class SessionPublisher {
  public:
    // directory: a session; its manifest may be missing still. report: a line for the user.
    SessionPublisher(std::string directory, NodeName from, Outlet& outlet,
                     std::function<void(std::string_view)> report);

    // Publishes what is there and was not published, at most about so many bytes. closed: no collector writes to the
    // session any more; then its manifest follows. True: nothing is left for now. unreachable and others of
    // Outlet::publish(); not_found: no session; corrupt: its manifest; refused: it has no boot id; io, no_space: the
    // progress cannot be stored. A chunk whose file differs from the manifest is reported and left out.
    [[nodiscard]] lib::Result<bool, NetworkFailure> next(std::size_t bytes, bool closed);

    [[nodiscard]] const Published& published() const { return m_published; }

    // The whole session was, before this publisher came.
    [[nodiscard]] bool published_before() const { return m_published_before; }

    // By this publisher.
    struct Counts {
        std::size_t chunks = 0;
        std::uint64_t bytes = 0;
        // Chunks that do not say what they are, or are of another boot; the manifest that follows lists them.
        std::size_t undescribed = 0;
    };

    [[nodiscard]] const Counts& counts() const { return m_counts; }

    // How many chunks of the list are not published yet.
    [[nodiscard]] std::size_t left() const;

  private:
    [[nodiscard]] lib::Result<void, NetworkFailure> look();
    [[nodiscard]] lib::Result<void, NetworkFailure> publish_chunks(std::size_t bytes);
    [[nodiscard]] lib::Result<void, NetworkFailure> publish_manifest();
    [[nodiscard]] std::optional<Message> read(const formats::dat::ManifestChunk& chunk);
    [[nodiscard]] lib::Result<void, NetworkFailure> save() const;

    [[nodiscard]] bool has_nothing() const { return m_manifest.chunks.empty() && m_manifest.boot_id == 0; }

    [[nodiscard]] NetworkFailure failed(lib::Error cause, std::string_view text) const;
    void leave_out(const formats::dat::ManifestChunk& chunk, std::string_view why);

    std::string m_directory;
    NodeName m_from;
    Outlet& m_outlet;
    std::function<void(std::string_view)> m_report;
    Published m_published;
    Counts m_counts;
    formats::dat::Manifest m_manifest;
    std::string m_text; // of the manifest
    bool m_published_before = false;
    bool m_looked = false;     // the manifest is read
    std::uint64_t m_inode = 0; // of the manifest that was read; each is a new file
    std::int64_t m_changed_ns = 0;
};

} // namespace host::fleet
