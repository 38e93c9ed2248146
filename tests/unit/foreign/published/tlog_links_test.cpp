// SPDX-License-Identifier: MIT
// Tests the meeting of the processes of one recording, as threads of this program, over TCP on this machine.
#include "foreign/published/tlog_links.hpp"

#include "foreign/published/tlog_event.h"

#include <arpa/inet.h>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <future>
#include <gmock/gmock.h>
#include <list>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace host::compat {

namespace {

using testing::HasSubstr;

constexpr int kHandled = 100; // signals

std::atomic<int> g_signals = 0;

void count_signal(int /*signal*/) {
    ++g_signals;
}

// One signal to this thread, and it has been handled.
void interrupt(pthread_t thread) {
    const int before = g_signals;
    ASSERT_EQ(pthread_kill(thread, SIGUSR1), 0);
    while (g_signals == before) {
        std::this_thread::yield();
    }
}

class TlogLinks : public testing::Test {
  protected:
    // Without SA_RESTART, as a program that wants its calls interrupted.
    TlogLinks() {
        struct sigaction action {};

        action.sa_handler = &count_signal;
        sigaction(SIGUSR1, &action, &m_before);
        const int probe = socket(AF_INET, SOCK_STREAM, 0);
        socklen_t size = sizeof(m_root);
        m_root.sin_family = AF_INET;
        m_root.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1); // no port that connect() chooses for 127.0.0.1 is this one
        EXPECT_EQ(bind(probe, address(), size), 0);
        EXPECT_EQ(getsockname(probe, reinterpret_cast<sockaddr*>(&m_root), &size), 0);
        close(probe);
    }

    ~TlogLinks() override { sigaction(SIGUSR1, &m_before, nullptr); }

    [[nodiscard]] const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&m_root); }

    [[nodiscard]] TlogMeeting meeting_of(std::uint16_t node) const {
        return {.node = node, .nodes = 2, .host = "127.0.0.2", .port = std::to_string(ntohs(m_root.sin_port))};
    }

    // The number of nodes that node 0 met; others() runs meanwhile, in another thread.
    [[nodiscard]] std::size_t met_by_root(const std::function<void()>& others) {
        const std::jthread thread(others);
        const auto peers = meet(meeting_of(0));
        EXPECT_TRUE(peers) << tlog_last_error();
        m_over = true;
        return peers ? peers->links.size() : 0;
    }

    // A guest that says this; it connects as soon as node 0 listens.
    [[nodiscard]] TlogLink guest(std::string_view says) const {
        for (;;) {
            TlogLink link(socket(AF_INET, SOCK_STREAM, 0));
            if (m_over) {
                ADD_FAILURE() << "node 0 has ended the meeting";
                return link;
            }
            if (connect(link.descriptor(), address(), sizeof(m_root)) == 0) {
                EXPECT_TRUE(link.send(std::as_bytes(std::span(says))));
                return link;
            }
            std::this_thread::yield();
        }
    }

    std::atomic<bool> m_over = false;
    sockaddr_in m_root{};

    struct sigaction m_before {};
};

TEST_F(TlogLinks, SignalsDoNotEndAMeeting) {
    EXPECT_EQ(met_by_root([this, root = pthread_self()] {
                  const TlogLink stranger = guest("none of us"); // node 0 listens
                  for (int i = 0; i < kHandled; ++i) {
                      interrupt(root);
                  }
                  EXPECT_TRUE(meet(meeting_of(1))) << tlog_last_error();
              }),
              1U);
}

TEST_F(TlogLinks, SignalsDoNotExtendAWait) {
    std::array<int, 2> ends{};
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    TlogLink link(ends[0]);
    const TlogLink silent(ends[1]);
    link.limit_wait(1);
    std::array<std::byte, 1> byte{};
    const std::jthread thread([receiver = pthread_self()](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            interrupt(receiver);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    });
    EXPECT_FALSE(link.receive(byte)); // it ends
}

TEST_F(TlogLinks, GuestsThatAreNoNodesDoNotEndAMeeting) {
    EXPECT_EQ(met_by_root([this] {
                  const TlogLink silent = guest("");
                  const TlogLink half = guest("TLOG");
                  const TlogLink stranger = guest("GET / HTTP/1.1\r\n\r\n");
                  static_cast<void>(guest("TL")); // and leaves
                  std::list<TlogLink> crowd;
                  for (int i = 0; i < 100; ++i) {
                      crowd.push_back(guest(""));
                  }
                  EXPECT_TRUE(meet(meeting_of(1))) << tlog_last_error();
              }),
              1U);
}

TEST_F(TlogLinks, AHelloMayComeInPieces) {
    EXPECT_EQ(met_by_root([this] {
                  TlogLink node = guest("TLO");
                  const TlogLink stranger = guest("none of us");
                  const std::array rest{std::byte{'G'}, std::byte{0}, std::byte{1}, std::byte{0}, std::byte{2}};
                  EXPECT_TRUE(node.send(rest));
              }),
              1U);
}

// Of localhost, the first address is that of IPv6 on many machines, and node 0 does not listen there.
TEST_F(TlogLinks, EveryAddressOfTheHostIsTried) {
    m_root.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    TlogMeeting root = meeting_of(0);
    root.host = "127.0.0.1";
    TlogMeeting caller = meeting_of(1);
    caller.host = "localhost";
    auto met = std::async(std::launch::async, [&root] { return meet(root).has_value(); });
    EXPECT_TRUE(meet(caller)) << tlog_last_error();
    EXPECT_TRUE(met.get());
}

class TlogRoot : public testing::Test {
  protected:
    TlogRoot() {
        setenv("TLOG_NODES", "2", 1);
        setenv("TLOG_NODE", "1", 1);
    }

    ~TlogRoot() override {
        for (const char* const name : {"TLOG_NODE", "TLOG_NODES", "TLOG_ROOT"}) {
            unsetenv(name);
        }
    }

    // Host and port, or the error.
    static std::string parsed(const char* root) {
        setenv("TLOG_ROOT", root, 1);
        const auto meeting = meeting_from_environment();
        return meeting ? meeting->host + " " + meeting->port : tlog_last_error();
    }
};

TEST_F(TlogRoot, IsANameOrAnAddressAndAPort) {
    EXPECT_EQ(parsed("127.0.0.1:7001"), "127.0.0.1 7001");
    EXPECT_EQ(parsed("node0.example:1"), "node0.example 1");
    EXPECT_EQ(parsed("[::1]:65535"), "::1 65535");
}

TEST_F(TlogRoot, IsRefusedIfItsPortIsNone) {
    for (const char* const root :
         {"127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:70011", "127.0.0.1:99999999999", "127.0.0.1:-1",
          "127.0.0.1:7001x", "127.0.0.1:no-port", "127.0.0.1:", "127.0.0.1", "[::1]", "[]:7001", ":7001", ""}) {
        EXPECT_THAT(parsed(root), HasSubstr(std::string("TLOG_ROOT is \"") + root +
                                            "\": the host of node 0 and its "
                                            "port, from 1 to 65535, are expected, as in 127.0.0.1:7001 or [::1]:7001"));
    }
}

} // namespace

} // namespace host::compat
