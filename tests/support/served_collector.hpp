// SPDX-License-Identifier: MIT
// A collector as `record --serve` composes it, on a real disk, without a socket and with a clock of the test's own.
#pragma once

#include "host/collector/reliable_sessions.hpp"
#include "host/collector/session_directory.hpp"
#include "host/collector/session_table.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace host::collector::served_collector {

namespace filesystem = std::filesystem;

inline constinit lib::Nanoseconds virtual_time{};

inline lib::Nanoseconds clock() {
    return virtual_time;
}

inline Clock::time_point now() {
    return Clock::time_point(std::chrono::nanoseconds(virtual_time.value));
}

// Its end is that of a killed one, unless it is stopped.
class Served {
  public:
    using Send = std::function<void(const Address&, std::span<const std::byte>)>;

    struct Options {
        Limits limits;
        std::optional<tracer::reliable::SipKey> key;
        bool flush_aside = false;
        std::function<void(const std::string& why)> refuse = [](const std::string& why) { ADD_FAILURE() << why; };
    };

    Served(const std::string& path, Options options, Send send)
        : m_limits(options.limits)
        , m_table(nullptr, SessionDirectory::open(path, OldSession::leave).value(), m_limits, m_observer)
        , m_sessions({.journals = ReliableSessions::journals_in(path),
                      .limits = m_limits,
                      .flush_aside = options.flush_aside,
                      .key = options.key,
                      .clock = &clock},
                     {.deliver =
                          [this](const Address& sender, std::uint32_t number, std::span<const std::byte> records) {
                              return m_table.take(sender, number, records, now());
                          },
                      .send = std::move(send),
                      .refuse = std::move(options.refuse),
                      .stray = {},
                      .settled = [this](const Address& sender) { return m_table.settled(sender); },
                      .has_room = [this] { return m_table.has_room(); }},
                     m_table.usage())
        , m_path(path)
        , m_others(m_table.usage().bytes - bytes_in(path)) {
        m_sessions.begin();
    }

    void take(const Address& sender, std::span<const std::byte> datagram) { m_sessions.take(datagram, sender); }

    void take_plain(const Address& sender, std::uint32_t number, std::span<const std::byte> records) {
        m_table.take(sender, number, records, now());
    }

    void tick() {
        m_sessions.tick();
        for (const Address& silent : m_table.tick(now(), std::chrono::seconds(60))) {
            m_sessions.drop(silent);
        }
    }

    void stop() {
        m_sessions.sync();
        m_table.close_all("asked to stop");
        m_sessions.remove_journals();
        // What this collector has written and removed, and nothing else, is counted.
        EXPECT_EQ(m_table.usage().bytes - m_others, bytes_in(m_path)) << "not every byte is counted";
    }

  private:
    // The bytes of journals and chunks; manifests do not count.
    static std::uint64_t bytes_in(const std::string& path) {
        std::uint64_t bytes = 0;
        for (const auto& entry : filesystem::recursive_directory_iterator(path)) {
            const std::string name = entry.path().filename();
            bytes += entry.is_regular_file() && !name.ends_with(".json") && name != kLockName ? entry.file_size() : 0;
        }
        return bytes;
    }

    Limits m_limits;
    Observer m_observer;
    SessionTable m_table;
    ReliableSessions m_sessions;
    std::string m_path;
    std::uint64_t m_others; // the manifests of earlier collectors, which count
};

} // namespace host::collector::served_collector
