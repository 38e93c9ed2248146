// SPDX-License-Identifier: MIT
// The collector's disk: keeps what was synced when a collector is killed, and forgets the rest. It checks that each
// mark describes what has been appended.
#pragma once

#include "host/collector/reliable/store.hpp"
#include "lib/units.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

namespace simulation {

namespace reliable = host::collector::reliable;

// The collector's process ended here.
struct Killed {};

struct StoredStream {
    std::vector<std::byte> bytes;
    reliable::Mark mark;    // durable
    std::uint64_t lost = 0; // announced by lost(), synced or not
};

struct StoredSession {
    struct Flush {
        reliable::Mark mark;
        lib::Nanoseconds ends;
    };

    std::map<std::uint16_t, StoredStream> streams;
    std::map<std::uint16_t, Flush> flushes; // that have not ended
    bool known = false;                     // to this process
    bool open = false;
};

class Disk final : public reliable::StoreProvider {
  public:
    using Key = std::tuple<std::uint32_t, std::uint16_t, std::uint64_t>; // address, port, session

    [[nodiscard]] std::shared_ptr<reliable::SessionStore> open(const reliable::Peer& peer,
                                                               std::uint64_t session) override;

    [[nodiscard]] const std::map<Key, StoredSession>& sessions() const { return m_sessions; }

    // A collector begins: it knows nothing, and no flush of the one before counts.
    void begin_process();

    // As if the directory had been removed while no collector runs.
    void wipe() { m_sessions.clear(); }

    bool full = false;  // appends and syncs fail
    bool stuck = false; // syncs alone fail

    // A flush, and to read a session again, takes this long, and does not keep the collector waiting; 0: it is done at
    // once.
    lib::Nanoseconds flush_time;
    std::function<lib::Nanoseconds()> clock;

    // Called before and after each append and each sync, so that a row can kill the collector there: it throws Killed.
    std::function<void()> at_boundary;

    void boundary() const {
        if (at_boundary) {
            at_boundary();
        }
    }

  private:
    std::map<Key, StoredSession> m_sessions;
};

} // namespace simulation
