// SPDX-License-Identifier: MIT
// Tests streams and journals on a real disk: what an earlier process left, cut anywhere and damaged, and a collector
// that is killed again and again while a real sender sends to it over UDP.
#include "host/collector/reliable/file_store.hpp"

#include "host/collector/reliable/receiver.hpp"
#include "lib/crc32c.hpp"
#include "tests/support/host_trace_builder.hpp"
#include "tests/support/udp_flow.hpp"
#include "tracer/reliable/sender.hpp"

#include <arpa/inet.h>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace host::collector::reliable {

namespace file_store_test {

using support::Bytes;
using support::TemporaryDirectory;
using testing::HasSubstr;
namespace filesystem = std::filesystem;

constexpr Peer kPeer{0x7F00'0001, 20000};

Bytes read_file(const filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

void write_file(const filesystem::path& path, const Bytes& bytes) {
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
}

class Storing : public testing::Test {
  protected:
    [[nodiscard]] filesystem::path journal() const { return base() + ".journal"; }

    [[nodiscard]] filesystem::path stream() const { return base() + "-0.trc"; }

    [[nodiscard]] std::string base() const { return m_directory.path() + '/' + FileStores::name_of(kPeer, 0xAB); }

    // Appends a packet of 16 such bytes and syncs.
    void append(SessionStore& store, std::uint8_t value) {
        const Bytes packet(16, static_cast<std::byte>(value));
        ASSERT_TRUE(store.append(0, packet));
        m_mark.crc32c = lib::crc32c(packet, m_mark.crc32c);
        m_mark.bytes += packet.size();
        ++m_mark.packets;
        ASSERT_TRUE(store.sync(0, m_mark));
    }

    TemporaryDirectory m_directory;
    FileStores m_stores{m_directory.path()};
    Mark m_mark;
};

TEST_F(Storing, FindsAgainWhatWasSynced) {
    {
        const auto store = m_stores.open(kPeer, 0xAB);
        ASSERT_NE(store, nullptr);
        append(*store, 1);
        append(*store, 2);
        ASSERT_TRUE(store->append(0, Bytes(16, std::byte{3}))); // and killed
    }
    const auto store = m_stores.open(kPeer, 0xAB);
    ASSERT_NE(store, nullptr) << m_stores.why();
    EXPECT_EQ(store->durable(0), m_mark);
    EXPECT_EQ(read_file(stream()).size(), 32U);
    append(*store, 4);
    const Bytes stored = read_file(stream());
    EXPECT_EQ(stored.size(), 48U);
    EXPECT_EQ(stored.back(), std::byte{4});
}

TEST_F(Storing, AJournalCutAnywhereIsAnEarlierState) {
    std::vector<Mark> marks = {{}};
    {
        const auto store = m_stores.open(kPeer, 0xAB);
        for (std::uint8_t i = 0; i < 3; ++i) {
            append(*store, i);
            marks.push_back(m_mark);
        }
    }
    const Bytes whole_journal = read_file(journal());
    const Bytes whole_stream = read_file(stream());
    ASSERT_EQ(whole_journal.size() % 3, 0U);
    const std::size_t entry = whole_journal.size() / 3;
    for (std::size_t cut = 0; cut <= whole_journal.size(); ++cut) {
        write_file(journal(), Bytes(whole_journal.begin(), whole_journal.begin() + static_cast<std::ptrdiff_t>(cut)));
        write_file(stream(), whole_stream);
        const auto store = m_stores.open(kPeer, 0xAB);
        ASSERT_NE(store, nullptr) << m_stores.why();
        EXPECT_EQ(store->durable(0), marks[cut / entry]) << "cut at " << cut;
    }
    for (std::size_t bit = 0; bit < 8 * entry; ++bit) {
        Bytes damaged = whole_journal;
        damaged[2 * entry + bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        write_file(journal(), damaged);
        write_file(stream(), whole_stream);
        const auto store = m_stores.open(kPeer, 0xAB);
        ASSERT_NE(store, nullptr);
        EXPECT_EQ(store->durable(0), marks[2]) << "bit " << bit << " of the last entry, which a kill may leave torn";
    }
}

// The sender has forgotten what the entries after it promise.
TEST_F(Storing, CutsNothingBeforeADamagedEntryThatIsNotTheLast) {
    {
        const auto store = m_stores.open(kPeer, 0xAB);
        for (std::uint8_t i = 0; i < 3; ++i) {
            append(*store, i);
        }
    }
    const Bytes whole_stream = read_file(stream());
    const Bytes whole_journal = read_file(journal());
    const std::size_t entry = whole_journal.size() / 3;
    for (std::size_t bit = 0; bit < 8 * 2 * entry; ++bit) {
        Bytes damaged = whole_journal;
        damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        write_file(journal(), damaged);
        EXPECT_EQ(m_stores.open(kPeer, 0xAB), nullptr) << "bit " << bit;
        EXPECT_THAT(m_stores.why(), HasSubstr("damaged at byte"));
        EXPECT_EQ(read_file(journal()), damaged);
        EXPECT_EQ(read_file(stream()), whole_stream);
    }
}

// A long journal is read in parts. Only the last entry of the last part may be wrong.
TEST_F(Storing, FindsDamageAtTheEndOfAPartOfAJournal) {
    constexpr std::uint64_t kPart = (256U << 10U) / JournalEntry::kBytes; // entries
    Bytes entries;
    for (std::uint64_t packets = 1; packets <= kPart + 2; ++packets) {
        const auto entry = JournalEntry{.stream = 0, .mark = {.packets = packets, .lost = packets}}.encode();
        entries.insert(entries.end(), entry.begin(), entry.end());
    }
    write_file(journal(), entries);
    const auto whole = m_stores.open(kPeer, 0xAB);
    ASSERT_NE(whole, nullptr) << m_stores.why();
    EXPECT_EQ(whole->durable(0).packets, kPart + 2);
    entries[kPart * JournalEntry::kBytes - 1] ^= std::byte{1};
    write_file(journal(), entries);
    EXPECT_EQ(m_stores.open(kPeer, 0xAB), nullptr);
    EXPECT_THAT(m_stores.why(), HasSubstr(".journal: damaged at byte 262080;"));
}

TEST_F(Storing, RefusesAStreamThatIsNotWhatItsJournalSays) {
    append(*m_stores.open(kPeer, 0xAB), 1);
    const Bytes whole = read_file(stream());
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
        Bytes damaged = whole;
        damaged[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
        write_file(stream(), damaged);
        EXPECT_EQ(m_stores.open(kPeer, 0xAB), nullptr);
        EXPECT_THAT(m_stores.why(), HasSubstr("checksum"));
    }
    write_file(stream(), Bytes(whole.begin(), whole.end() - 1));
    EXPECT_EQ(m_stores.open(kPeer, 0xAB), nullptr);
    EXPECT_THAT(m_stores.why(), HasSubstr("shorter"));
    write_file(stream(), whole);
    EXPECT_NE(m_stores.open(kPeer, 0xAB), nullptr);
}

TEST_F(Storing, OneProcessHasTheDirectoryAndNoLinkIsFollowed) {
    {
        const auto store = m_stores.open(kPeer, 0xAB);
        ASSERT_NE(store, nullptr);
        ASSERT_TRUE(store->append(1, Bytes(16)));
        EXPECT_NE(m_stores.open(kPeer, 0xAC), nullptr);
        EXPECT_NE(m_stores.open({kPeer.ipv4, 20001}, 0xAB), nullptr);
        FileStores other(m_directory.path());
        EXPECT_EQ(other.open(kPeer, 0xAC), nullptr);
        EXPECT_THAT(other.why(), HasSubstr("another process"));
        filesystem::create_symlink(m_directory.path() + "/elsewhere", stream());
        EXPECT_FALSE(store->append(0, Bytes(16)));
        EXPECT_FALSE(filesystem::exists(m_directory.path() + "/elsewhere"));
    }
    filesystem::remove(journal());
    filesystem::create_symlink(m_directory.path() + "/elsewhere", journal());
    EXPECT_EQ(m_stores.open(kPeer, 0xAB), nullptr);
}

std::ptrdiff_t open_files() {
    return std::distance(filesystem::directory_iterator("/proc/self/fd"), {});
}

// However many sessions and streams a machine opens.
TEST_F(Storing, HasFewFilesOpen) {
    ASSERT_TRUE(m_stores.make());
    const std::ptrdiff_t before = open_files();
    std::vector<std::shared_ptr<SessionStore>> sessions;
    for (std::uint64_t session = 0; session < 10; ++session) {
        sessions.push_back(m_stores.open(kPeer, session));
    }
    for (std::uint8_t turn = 1; turn <= 2; ++turn) {
        for (const auto& session : sessions) {
            for (std::uint16_t stream = 0; stream < 20; ++stream) {
                ASSERT_TRUE(session->append(stream, Bytes(16, std::byte{turn})));
            }
        }
    }
    EXPECT_EQ(open_files() - before, std::ptrdiff_t{FileStores::kOpenMax});
    const Bytes twice = [] {
        Bytes bytes(32, std::byte{1});
        std::fill(bytes.begin() + 16, bytes.end(), std::byte{2});
        return bytes;
    }();
    for (std::uint64_t session = 0; session < 10; ++session) {
        ASSERT_TRUE(sessions[session]->sync(7, {.packets = 2, .bytes = 32, .crc32c = lib::crc32c(twice)}));
        EXPECT_EQ(read_file(m_stores.stream_path(kPeer, session, 7)), twice);
    }
    sessions.clear();
    EXPECT_EQ(open_files(), before);
}

// Few streams are flushed one by one, many together.
TEST_F(Storing, FlushesBesideItsCaller) {
    for (const std::uint16_t streams : {std::uint16_t{2}, std::uint16_t{40}}) {
        FileStores stores(m_directory / std::to_string(streams), {}, {}, FileStores::Flushes::aside);
        std::vector<std::shared_ptr<SessionStore>> sessions;
        const Bytes packet(16, std::byte{5});
        const Mark mark{.packets = 1, .bytes = 16, .crc32c = lib::crc32c(packet)};
        for (std::uint64_t session = 0; session < 3; ++session) {
            sessions.push_back(stores.open(kPeer, session));
            for (std::uint16_t stream = 0; stream < streams; ++stream) {
                ASSERT_TRUE(sessions.back()->append(stream, packet));
                ASSERT_EQ(sessions.back()->begin_sync(stream, mark), SyncState::pending);
            }
        }
        pollfd event{.fd = stores.event(), .events = POLLIN, .revents = 0};
        EXPECT_EQ(::poll(&event, 1, -1), 1) << "the end of a flush wakes who waits for it";
        ASSERT_TRUE(sessions[0]->append(0, packet)) << "what comes meanwhile belongs to no mark";
        for (const auto& session : sessions) {
            session->wait();
            for (std::uint16_t stream = 0; stream < streams; ++stream) {
                EXPECT_EQ(session->sync_state(stream), SyncState::done);
                EXPECT_EQ(session->durable(stream), mark);
            }
        }
        static_cast<void>(sessions[1]->begin_sync(0, {.packets = 2, .bytes = 16, .crc32c = mark.crc32c, .lost = 1}));
        sessions.clear();
        const auto again = stores.open(kPeer, 1);
        again->wait();
        ASSERT_EQ(again->poll(), StoreState::ready);
        EXPECT_EQ(again->durable(0).lost, 1U);
        EXPECT_EQ(again->durable(1), mark);
        EXPECT_EQ(read_file(stores.stream_path(kPeer, 0, 0)).size(), 32U);
        EXPECT_EQ(stores.open(kPeer, 0)->durable(0), mark);
    }
}

TEST_F(Storing, TakesNoMoreThanItsLimit) {
    std::vector<std::string> reported;
    FileStores stores(m_directory.path(), {.session_bytes = 40},
                      [&](const std::string& why) { reported.push_back(why); });
    const auto store = stores.open(kPeer, 0xAB);
    EXPECT_TRUE(store->append(0, Bytes(16)));
    EXPECT_TRUE(store->append(1, Bytes(16)));
    EXPECT_TRUE(reported.empty());
    EXPECT_FALSE(store->append(2, Bytes(16)));
    EXPECT_FALSE(store->append(2, Bytes(16)));
    ASSERT_EQ(reported.size(), 1U) << "once";
    EXPECT_TRUE(reported[0].ends_with("cut off by a limit: a session has at most 40 bytes (--session-bytes)"))
        << reported[0];
}

// Marks alone fill no disk: a sender that announces loss after loss is stopped, too.
TEST_F(Storing, ItsJournalCountsForTheLimit) {
    FileStores stores(m_directory.path(), {.session_bytes = 10'000});
    const auto store = stores.open(kPeer, 0xAB);
    ASSERT_TRUE(store->append(0, Bytes(16)));
    std::uint64_t marks = 0;
    while (marks < 1'000 && store->sync(0, {.packets = marks + 1, .bytes = 16, .lost = marks})) {
        ++marks;
    }
    EXPECT_GT(marks, 10'000 / FileStores::kMarkBytes); // those that end its streams are spared
    EXPECT_LT(marks, 1'000U);
    EXPECT_EQ(read_file(journal()).size(), marks * FileStores::kMarkBytes);
}

// Whoever says again and again that it has lost packets does not fill the disk.
TEST_F(Storing, MarksNoLossBeyondTheLimitOfAllSessions) {
    std::atomic<std::uint64_t> bytes = 0;
    std::vector<std::string> reports;
    FileStores stores(
        m_directory.path(), {.total_bytes = 100}, [&](const std::string& why) { reports.push_back(why); },
        FileStores::Flushes::at_once, &bytes);
    const auto store = stores.open(kPeer, 0xAB);
    append(*store, 1);
    append(*store, 2);
    EXPECT_EQ(bytes, 2 * (16U + FileStores::kMarkBytes)) << "what came is marked";
    EXPECT_FALSE(store->append(0, Bytes(16)));
    Mark lossy = m_mark;
    lossy.packets += 5;
    lossy.lost = 5;
    EXPECT_FALSE(store->sync(0, lossy));
    EXPECT_EQ(reports, std::vector<std::string>{"cut off by a limit: all sessions together have at most 100 bytes "
                                                "(--total-bytes)"});
    m_mark.ended = true;
    EXPECT_TRUE(store->sync(0, m_mark));
}

TEST_F(Storing, HasNoFileBeforeTheFirstPacket) {
    const auto store = m_stores.open(kPeer, 0xAB);
    EXPECT_TRUE(store->sync(0, {.ended = true}));
    EXPECT_TRUE(store->sync(0, {.packets = 3, .lost = 3})) << "which its sender says again";
    EXPECT_TRUE(filesystem::is_empty(m_directory.path()));
    EXPECT_TRUE(m_stores.sessions().empty());
    append(*store, 1);
    const std::vector<std::pair<Peer, std::uint64_t>> one = {{kPeer, 0xAB}};
    EXPECT_EQ(m_stores.sessions(), one);
    EXPECT_TRUE(m_stores.remove(kPeer, 0xAB));
    EXPECT_TRUE(filesystem::is_empty(m_directory.path()));
}

TEST_F(Storing, KeepsTheEndOfAStreamWithoutAPacket) {
    {
        const auto store = m_stores.open(kPeer, 0xAB);
        append(*store, 1);
        ASSERT_TRUE(store->sync(3, {.ended = true}));
    }
    const auto store = m_stores.open(kPeer, 0xAB);
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(store->durable(3), (Mark{.ended = true}));
    EXPECT_EQ(store->durable(0), m_mark);
}

TEST_F(Storing, FindsAJournalWhateverFailedBefore) {
    append(*m_stores.open(kPeer, 0xAB), 1);
    errno = ENOENT; // of another file
    EXPECT_EQ(m_stores.open(kPeer, 0xAB)->durable(0), m_mark);
}

// Without anything that wants to know why.
TEST_F(Storing, TakesNothingIfItsJournalCannotBeMade) {
    const auto store = m_stores.open(kPeer, 0xAB);
    filesystem::create_symlink(m_directory.path() + "/elsewhere", journal());
    EXPECT_FALSE(store->append(0, Bytes(16)));
    filesystem::remove(journal());
    EXPECT_FALSE(store->append(0, Bytes(16))) << "and promises nothing more";
    EXPECT_FALSE(filesystem::exists(m_directory.path() + "/elsewhere"));
}

TEST_F(Storing, FindsTheSessionsThatHaveAJournalOfItsName) {
    std::atomic<std::uint64_t> bytes = 0;
    FileStores stores(m_directory.path(), {}, {}, FileStores::Flushes::at_once, &bytes);
    append(*stores.open(kPeer, 0xAB), 1);
    for (const char* const other : {"0000000000000001-7f000001-1.trc", "1-7f000001-1.journal", "x.journal",
                                    "0000000000000001-7f000001-01.journal", "0000000000000001-7f000001-1.journal~"}) {
        write_file(m_directory.path() + '/' + other, Bytes(1));
    }
    using Found = std::vector<std::pair<Peer, std::uint64_t>>;
    EXPECT_EQ(stores.sessions(), (Found{{kPeer, 0xAB}}));
    EXPECT_EQ(FileStores(m_directory.path() + "/none").sessions(), Found{});
    EXPECT_EQ(bytes, 16U + 40U);
    EXPECT_TRUE(stores.remove(kPeer, 0xAB));
    EXPECT_EQ(bytes, 0U);
    EXPECT_TRUE(stores.remove(kPeer, 0xAB)) << "there is nothing";
    EXPECT_EQ(stores.sessions(), Found{});
}

TEST_F(Storing, KnowsWhereALossIs) {
    {
        const auto store = m_stores.open(kPeer, 0xAB);
        append(*store, 1);
        store->lost(0, 3);
        m_mark.packets += 3;
        m_mark.lost += 3;
        append(*store, 2);
        append(*store, 3);
        EXPECT_EQ(store->losses(0), (std::vector<Loss>{{16, 3}}));
    }
    EXPECT_EQ(m_stores.open(kPeer, 0xAB)->losses(0), (std::vector<Loss>{{16, 3}}));
}

// --- a collector that is killed
// ---------------------------------------------------------------------------------------

// Receives until so many datagrams have come, then kills itself; 0: until it is killed.
[[noreturn]] void collect(const std::string& directory, int descriptor, std::uint64_t secret, std::uint64_t datagrams) {
    FileStores stores(directory);
    Receiver receiver(stores, {.secret = {secret, 1}, .key = std::nullopt});
    std::array<std::byte, 2048> buffer{};
    for (std::uint64_t count = 1;; ++count) {
        sockaddr_in from{};
        socklen_t length = sizeof(from);
        const ssize_t size =
            ::recvfrom(descriptor, buffer.data(), buffer.size(), 0, reinterpret_cast<sockaddr*>(&from), &length);
        const Peer peer{ntohl(from.sin_addr.s_addr), ntohs(from.sin_port)};
        const auto reply =
            receiver.handle(std::span(buffer).first(static_cast<std::size_t>(size)), peer, support::UdpFlow::clock());
        if (count == datagrams) {
            ::kill(::getpid(), SIGKILL); // after the disk and before the answer
        }
        if (!reply.empty()) {
            ::sendto(descriptor, reply.data(), reply.size(), 0, reinterpret_cast<const sockaddr*>(&from), length);
        }
    }
}

TEST(KilledCollector, HasEveryByteOnce) {
    TemporaryDirectory directory;
    const int descriptor = ::socket(AF_INET, SOCK_DGRAM, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof(where);
    ASSERT_EQ(::bind(descriptor, reinterpret_cast<const sockaddr*>(&where), length), 0);
    ASSERT_EQ(::getsockname(descriptor, reinterpret_cast<sockaddr*>(&where), &length), 0);

    Bytes sent(300 * 1024);
    for (std::size_t i = 0; i < sent.size(); ++i) {
        sent[i] = static_cast<std::byte>(i * i / 7);
    }
    tracer::ChunkImage image;
    image.parts[0] = std::span(sent).first(1'600);
    image.parts[1] = std::span(sent).subspan(1'600);
    image.description.boot_id = 0xAB;

    support::UdpFlow flow(ntohs(where.sin_port));
    wire::ReliableSink sink(flow, {});
    ASSERT_TRUE(sink.submit(image).ok());
    std::uint64_t kills = 0;
    pid_t collector = -1;
    while (sink.state() == tracer::SinkState::busy) {
        if (collector < 0) {
            const std::uint64_t datagrams = kills < 8 ? 3 + 17 * kills : 0;
            collector = ::fork();
            if (collector == 0) {
                collect(directory.path(), descriptor, 1 + kills, datagrams);
            }
        }
        static_cast<void>(sink.step());
        if (::waitpid(collector, nullptr, WNOHANG) == collector) {
            collector = -1;
            ++kills;
        }
    }
    EXPECT_EQ(sink.state(), tracer::SinkState::idle);
    ASSERT_GT(collector, 0);
    ::kill(collector, SIGKILL);
    ::waitpid(collector, nullptr, 0);
    ::close(descriptor);
    EXPECT_EQ(kills, 8U);
    EXPECT_EQ(sink.counters().lost, 0U);

    std::size_t streams = 0;
    for (const auto& entry : filesystem::directory_iterator(directory.path())) {
        if (entry.path().extension() == ".trc") {
            ++streams;
            EXPECT_EQ(read_file(entry.path()), sent);
        }
    }
    EXPECT_EQ(streams, 1U);
}

} // namespace file_store_test

} // namespace host::collector::reliable
