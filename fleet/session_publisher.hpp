// SPDX-License-Identifier: MIT
// Publishes what is in a session directory, in the order of its chunks, and remembers on the disk how far it came: the
// session itself is the spool. What could not be published stays where it is, and the next publisher continues there.
// The record of progress is a file beside the session, SESSION.published.
//
//   next() --> chunks of the manifest that are not published yet --> outlet --> SESSION.published
//                         and, once the session is closed and the chunks are stored, its manifest
#pragma once

#include "fleet/stream.hpp"
#include "host/formats/dat/manifest.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
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

// Publishes many sessions, also while they are recorded: a batch of each in turn. A server that is away leaves
// everything where it is; the caller decides how long it tries.
class SpoolPublisher {
  public:
    using Connect = std::function<lib::Result<std::shared_ptr<Outlet>, NetworkFailure>()>;

    enum class Step : std::uint8_t {
        more,    // something was done, and something is left
        idle,    // nothing is left for now
        away,    // the server does not answer; see why()
        refused, // it does not take this user; see why()
    };

    struct Counts {
        std::size_t chunks = 0;
        std::uint64_t bytes = 0;
        std::size_t sessions = 0;    // published as a whole
        std::size_t before = 0;      // of the sessions that were added, those that were published already
        std::size_t differing = 0;   // chunks whose file is not what its manifest states
        std::size_t undescribed = 0; // chunks that do not say what they are
        std::size_t failed = 0;      // sessions that cannot be published
    };

    // About so many bytes are in memory at a time.
    static constexpr std::size_t kBatchBytes = std::size_t{4} << 20;

    // report: a line for the user.
    SpoolPublisher(Connect connect, std::function<void(std::string_view)> report);

    // There is more of a session, which may be a new one. closed: it is recorded no more.
    void add(const std::string& directory, const NodeName& from, bool closed);

    // There may be more of those that are recorded.
    void look_again();

    // Whatever is open is recorded no more.
    void close_all();

    [[nodiscard]] Step step();

    [[nodiscard]] const std::string& why() const { return m_why; }

    [[nodiscard]] const Counts& counts() const { return m_counts; }

    // Published as a whole since the last call.
    [[nodiscard]] std::vector<std::string> take_finished();

    // Sessions of which something is not published.
    [[nodiscard]] std::vector<std::string> left() const;

  private:
    struct Session {
        std::unique_ptr<SessionPublisher> publisher; // null: made at its first turn
        std::string directory;
        NodeName from;
        bool closed = false;
        bool due = true;
        bool failed = false;
    };

    [[nodiscard]] Step connected();
    [[nodiscard]] Step publish(Session& session);
    void count(const SessionPublisher& publisher, const SessionPublisher::Counts& before, std::size_t differing);
    [[nodiscard]] bool any_due() const;

    Connect m_connect;
    std::function<void(std::string_view)> m_report;
    std::shared_ptr<Outlet> m_outlet;
    std::list<Session> m_sessions; // the next one's turn is first; without those that are finished
    std::vector<std::string> m_finished;
    Counts m_counts;
    std::string m_why;
};

} // namespace host::fleet
