// SPDX-License-Identifier: MIT
// Publishes many sessions, also while they are recorded: a batch of each in turn. A server that is away leaves
// everything where it is; the caller decides how long it tries.
#pragma once

#include "fleet/outlet.hpp"
#include "fleet/session_publisher.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace host::fleet {

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
