// SPDX-License-Identifier: MIT
// Declares how the command line watches a collector. All calls come from the receive loop's thread.
#pragma once

#include "host/collector/udp_socket.hpp"
#include "host/formats/dat/manifest.hpp"
#include "lib/result.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace host::collector {

// Holds what an observer gets to know of a session.
struct SessionView {
    std::string directory;
    std::optional<Address> sender; // none if no packet has come
    std::uint64_t boot_id = 0;     // 0 if it is not known
};

// Sums over all sessions.
struct Progress {
    std::uint64_t packets = 0;
    std::uint64_t records = 0;
    std::uint64_t lost = 0;
    std::size_t chunks = 0;
    std::uint64_t strays = 0; // datagrams that belong to no session
    std::size_t open = 0;     // sessions that are receiving
};

// States what was removed from a served directory.
struct Freed {
    std::uint64_t bytes = 0;
    std::size_t sessions = 0;
};

class Observer {
  public:
    Observer() = default;
    Observer(const Observer&) = delete;
    Observer& operator=(const Observer&) = delete;
    virtual ~Observer() = default;

    virtual void opened(const SessionView& /*session*/) {}

    virtual void sealed(const SessionView& /*session*/, const formats::dat::ManifestChunk& /*chunk*/) {}

    // The manifest is on the disk unless there is an error. The observer may change it, because the session is still
    // locked.
    virtual void closed(const SessionView& /*session*/, formats::dat::Manifest& /*manifest*/,
                        std::optional<lib::Error> /*error*/) {}

    // Reports what concerns no session, such as a sender that could not be accepted.
    virtual void refused(std::string_view /*why*/) {}

    // Returns what the observer has removed since the previous call.
    [[nodiscard]] virtual Freed take_freed() { return {}; }

    // Is called about once a second.
    virtual void progress(const Progress& /*progress*/) {}
};

} // namespace host::collector
