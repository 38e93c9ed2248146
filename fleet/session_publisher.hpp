// SPDX-License-Identifier: MIT
// Publishes a session directory in the order of its chunks, and stores its progress on the disk: the session itself is
// the spool. What could not be published stays where it is, and the next publisher continues there. The progress is in
// a file beside the session, SESSION.published.
//
//   next() --> chunks of the manifest that are not published yet --> outlet --> SESSION.published
//                         and, once the session is closed and the chunks are stored, its formats and manifest
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
#include <utility>
#include <vector>

namespace host::fleet {

struct Published {
    std::size_t chunks = 0;     // the first ones of the manifest's list, published or left out
    std::size_t differing = 0;  // chunks among them that were left out because the file differs from the manifest
    bool session = false;       // the manifest is published, too, and nothing is left
    std::int64_t started_s = 0; // stated in all messages of the session
    std::string stream{};       // into which they were published (Outlet::stream())

    friend bool operator==(const Published&, const Published&) = default;
};

// Returns the path SESSION.published.
[[nodiscard]] std::string progress_file_of(const std::string& directory);

// Returns the node as whose session it was announced or published, according to that file.
[[nodiscard]] std::optional<NodeName> node_of_session(const std::string& directory);

// Stores which node's session it is, before anything of it is published. io, no_space.
[[nodiscard]] lib::Result<void, NetworkFailure> announce_session(const std::string& directory, const NodeName& from);

// Returns the progress of the session of this boot, published as this node's. All is zero if the file is about another
// one, or missing. The caller compares the stream: another one has none of the session.
[[nodiscard]] Published published_of(const std::string& directory, const NodeName& from, std::uint64_t boot_id);

class SessionPublisher {
  public:
    // directory: a session, whose manifest may not exist yet. report: is called with a line for the user.
    SessionPublisher(std::string directory, NodeName from, Outlet& outlet,
                     std::function<void(std::string_view)> report);

    // Publishes what was not published yet, at most about `bytes`. closed: no collector writes to the session any more;
    // then its manifest follows. Returns true if nothing is left for now. Errors: those of Outlet::publish();
    // not_found: no session; corrupt: its manifest; refused: it has no boot id; io, no_space: the progress cannot be
    // stored. A chunk whose file differs from the manifest is reported and left out.
    [[nodiscard]] lib::Result<bool, NetworkFailure> next(std::size_t bytes, bool closed);

    [[nodiscard]] const Published& published() const { return m_published; }

    // The whole session was published before this publisher began.
    [[nodiscard]] bool published_before() const { return m_published_before; }

    // Counts what this publisher has published.
    struct Counts {
        std::size_t chunks = 0;
        std::uint64_t bytes = 0;
        // Chunks without a description, or of another boot; the manifest that follows lists them.
        std::size_t undescribed = 0;
    };

    [[nodiscard]] const Counts& counts() const { return m_counts; }

    // Returns how many chunks of the list are not published yet.
    [[nodiscard]] std::size_t left() const;

  private:
    // What fails in these is thrown.
    void look();
    void publish_chunks(std::size_t bytes);
    void publish_formats();
    void publish_manifest();
    void save();
    [[nodiscard]] std::string stream() const;
    [[noreturn]] void fail(lib::Error cause, std::string_view text) const;

    [[nodiscard]] Message message(MessageKind kind, std::string id, std::string body) const {
        return {.from = m_from,
                .kind = kind,
                .id = std::move(id),
                .started_s = m_published.started_s,
                .body = std::move(body)};
    }

    // Returns nothing if the chunk is left out.
    [[nodiscard]] std::optional<Message> read(const formats::dat::ManifestChunk& chunk);

    [[nodiscard]] bool has_nothing() const { return m_manifest.chunks.empty() && m_manifest.boot_id == 0; }

    void leave_out(std::string_view file, std::string_view why);

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
    std::uint64_t m_inode = 0; // of the manifest that was read; every manifest is a new file
    std::int64_t m_changed_ns = 0;
};

// Publishes many sessions, also while they are recorded: a batch of each in turn. If the server cannot be reached,
// nothing is lost; the caller decides how long to try.
class SpoolPublisher {
  public:
    using Connect = std::function<lib::Result<std::shared_ptr<Outlet>, NetworkFailure>()>;

    enum class Step : std::uint8_t {
        more,    // progress was made, and more is left
        idle,    // nothing is left for now
        away,    // the server does not answer; see why()
        refused, // the server refuses this user; see why()
    };

    struct Counts {
        std::size_t chunks = 0;
        std::uint64_t bytes = 0;
        std::size_t sessions = 0;    // published as a whole
        std::size_t before = 0;      // sessions that were published already when they were added
        std::size_t differing = 0;   // chunks whose file differs from the manifest
        std::size_t undescribed = 0; // chunks without a description
        std::size_t failed = 0;      // sessions that cannot be published
    };

    // About this many bytes are in memory at a time.
    static constexpr std::size_t kBatchBytes = std::size_t{4} << 20;

    // report: a line for the user.
    SpoolPublisher(Connect connect, std::function<void(std::string_view)> report);

    // Adds a session, or notes that a known one has grown. closed: the session is not recorded any more.
    void add(const std::string& directory, const NodeName& from, bool closed);

    // Looks for new chunks of the sessions that are still recorded.
    void look_again();

    // Marks all open sessions as not recorded any more.
    void close_all();

    [[nodiscard]] Step step();

    [[nodiscard]] const std::string& why() const { return m_why; }

    [[nodiscard]] const Counts& counts() const { return m_counts; }

    // Returns the sessions that were published as a whole since the last call.
    [[nodiscard]] std::vector<std::string> take_finished();

    // Returns the sessions that are not published as a whole.
    [[nodiscard]] std::vector<std::string> left() const;

  private:
    struct Session {
        std::unique_ptr<SessionPublisher> publisher; // null before its first turn
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
    std::list<Session> m_sessions; // the next one is first; finished ones are removed
    std::vector<std::string> m_finished;
    Counts m_counts;
    std::string m_why;
};

} // namespace host::fleet
