// SPDX-License-Identifier: MIT
// Who watches a collector: the command line. All calls come from the receive loop's thread.
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

// What one may know of a session.
struct SessionView {
    std::string directory;
    std::optional<Address> sender; // none: no packet came
    std::uint64_t boot_id = 0;     // 0: not known
};

// Of all sessions.
struct Progress {
    std::uint64_t packets = 0;
    std::uint64_t records = 0;
    std::uint64_t lost = 0;
    std::size_t chunks = 0;
    std::uint64_t strays = 0; // datagrams of no session
    std::size_t open = 0;     // sessions that receive now
};

// What was removed from a served directory.
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

    // The manifest is on the disk, unless there is an error. It may be changed: the session is still locked.
    virtual void closed(const SessionView& /*session*/, formats::dat::Manifest& /*manifest*/,
                        std::optional<lib::Error> /*error*/) {}

    // Something that is no session's: a sender that could not be taken.
    virtual void refused(std::string_view /*why*/) {}

    // What the observer removed since the last call.
    [[nodiscard]] virtual Freed take_freed() { return {}; }

    // About once a second.
    virtual void progress(const Progress& /*progress*/) {}
};

} // namespace host::collector
