// SPDX-License-Identifier: MIT
#include "host/collector/reliable_sessions.hpp"

#include "host/formats/dat/chunk_begin.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/text/format.hpp"
#include "host/trace/byte_source.hpp"
#include "lib/assert.hpp"
#include "tracer/reliable/packet.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace host::collector {

namespace {

namespace filesystem = std::filesystem;

constexpr lib::Nanoseconds kAfterEnd = lib::milliseconds(1'000);
constexpr lib::Nanoseconds kAfterEndOfLossy = lib::milliseconds(5'000); // long enough for many repetitions of FIN
constexpr lib::Nanoseconds kAfterPacket = lib::milliseconds(3'000);

Address address_of(const reliable::Peer& peer, std::uint64_t session) {
    return {.ipv4 = peer.ipv4, .port = peer.port, .session = session};
}

// The secret of the cookies must not be guessed. If the system has no randomness it can be, and a stranger may open a
// session.
tracer::reliable::SipKey random_key() {
    tracer::reliable::SipKey key;
    if (::getrandom(&key, sizeof(key), 0) != static_cast<ssize_t>(sizeof(key))) {
        key.first = static_cast<std::uint64_t>(::getpid());
    }
    return key;
}

std::vector<filesystem::path> files_in(const std::string& directory) {
    std::error_code code;
    std::vector<filesystem::path> files;
    for (filesystem::directory_iterator entry(directory, code), end; !code && entry != end; entry.increment(code)) {
        files.push_back(entry->path());
    }
    return files;
}

// Returns the boot id of the chunk with which a file begins; 0 if it begins with none.
std::uint64_t boot_of(const filesystem::path& file) {
    constexpr std::size_t kPreambleBytes = 4096;
    std::array<std::byte, kPreambleBytes> head{};
    const auto source = trace::ByteSource::open_file(file.string());
    const auto size = source ? source.value()->read(0, head) : lib::Result<std::size_t>(lib::Error::io);
    const auto begin = size ? formats::dat::read_chunk_begin(std::span(head).first(size.value())) : std::nullopt;
    return begin ? begin->boot_id : 0;
}

// A store that passes on what its file store has made durable.
class DeliveringStore final : public reliable::SessionStore {
  public:
    using Deliver = std::function<void(std::uint32_t number, std::span<const std::byte> records)>;

    // number: that of the packet that was passed on last. full: called when usage first reaches total_bytes.
    DeliveringStore(std::unique_ptr<reliable::SessionStore> files, Deliver deliver, std::uint32_t& number, Usage& usage,
                    std::uint64_t total_bytes, std::function<void()> full)
        : m_files(std::move(files))
        , m_deliver(std::move(deliver))
        , m_number(number)
        , m_usage(usage)
        , m_total_bytes(total_bytes)
        , m_full(std::move(full)) {}

    // Passes on what an earlier collector has received of a stream. Its packets are not known, only its records and
    // where some are missing. Returns false if it cannot be read.
    [[nodiscard]] bool deliver_earlier(const std::string& path, std::uint16_t stream) {
        const std::uint64_t end = m_files->durable(stream).bytes;
        const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
        if (file == nullptr) {
            return end == 0;
        }
        std::uint64_t at = 0;
        std::array<std::byte, tracer::reliable::kBodyBytesMax> piece{};
        const auto deliver_until = [&](std::uint64_t until) {
            while (at < until) {
                const std::size_t wanted = std::min<std::uint64_t>(piece.size(), until - at);
                if (std::fread(piece.data(), 1, wanted, file.get()) != wanted) {
                    return false;
                }
                m_deliver(++m_number, std::span(piece).first(wanted));
                at += wanted;
            }
            return true;
        };
        for (const reliable::Loss& loss : m_files->losses(stream)) {
            if (!deliver_until(loss.at_byte)) {
                return false;
            }
            m_number += static_cast<std::uint32_t>(loss.packets);
        }
        return deliver_until(end);
    }

    [[nodiscard]] reliable::Mark durable(std::uint16_t stream) const override { return m_files->durable(stream); }

    [[nodiscard]] bool append(std::uint16_t stream, std::span<const std::byte> records) override {
        if (m_usage.bytes + records.size() > m_total_bytes) {
            if (const auto full = std::exchange(m_full, nullptr)) {
                full();
            }
            return false;
        }
        if (!m_files->append(stream, records)) {
            return false;
        }
        m_usage.bytes += records.size();
        m_pending.push_back({stream, {records.begin(), records.end()}});
        return true;
    }

    void lost(std::uint16_t stream, std::uint64_t packets) override {
        m_files->lost(stream, packets);
        m_number += static_cast<std::uint32_t>(packets);
    }

    [[nodiscard]] bool sync(std::uint16_t stream, const reliable::Mark& mark) override {
        if (!m_files->sync(stream, mark)) {
            return false;
        }
        m_usage.bytes += reliable::FileStores::kMarkBytes;
        for (const Pending& packet : m_pending) {
            if (packet.stream == stream) {
                m_deliver(++m_number, packet.records);
            }
        }
        std::erase_if(m_pending, [stream](const Pending& packet) { return packet.stream == stream; });
        return true;
    }

  private:
    struct Pending {
        std::uint16_t stream = 0;
        std::vector<std::byte> records;
    };

    std::unique_ptr<reliable::SessionStore> m_files;
    Deliver m_deliver;
    // These are appended but not durable yet: at most reliable::Session::kSyncBytes for each stream.
    std::vector<Pending> m_pending;
    std::uint32_t& m_number;
    Usage& m_usage;
    std::uint64_t m_total_bytes;
    std::function<void()> m_full;
};

} // namespace

ReliableSessions::ReliableSessions(Options options, Calls calls, Usage& usage)
    : m_options(std::move(options))
    , m_calls(std::move(calls))
    , m_usage(usage)
    , m_files(m_options.journals, {.session_bytes = m_options.limits.session_bytes}, m_calls.refuse)
    , m_receiver(*this, {.secret = random_key(), .key = m_options.key}) {
    for (const filesystem::path& file : files_in(m_options.journals)) {
        std::error_code code;
        const std::uintmax_t bytes = filesystem::file_size(file, code);
        m_usage.bytes += code ? 0 : bytes;
    }
}

std::string ReliableSessions::journals_of(std::string directory) {
    while (directory.size() > 1 && directory.back() == '/') {
        directory.pop_back();
    }
    return directory + ".journal";
}

bool ReliableSessions::can_continue(const std::string& directory) {
    const auto manifest = formats::dat::load_manifest(directory);
    std::set<std::uint64_t> held;
    std::size_t journals = 0;
    for (const filesystem::path& file : files_in(journals_of(directory))) {
        journals += file.extension() == ".journal" ? 1U : 0U;
        if (file.extension() == ".trc") {
            held.insert(boot_of(file));
        }
    }
    if (!manifest || manifest.value().complete || journals != 1) {
        return false;
    }
    return std::ranges::all_of(files_in(directory), [&held](const filesystem::path& file) {
        return !formats::dat::is_chunk_file_name(file.filename().string()) || held.contains(boot_of(file));
    });
}

lib::Nanoseconds steady_time() {
    const std::chrono::nanoseconds since = std::chrono::steady_clock::now().time_since_epoch();
    return {static_cast<std::uint64_t>(since.count())};
}

void ReliableSessions::take(std::span<const std::byte> datagram_untrusted, const Address& sender) {
    const auto reply = m_receiver.handle(datagram_untrusted, {sender.ipv4, sender.port}, now());
    if (!reply.empty()) {
        m_calls.send(sender, reply);
    }
}

void ReliableSessions::tick() {
    m_receiver.tick(now(), [this](const reliable::Peer& peer, std::span<const std::byte> reply) {
        m_calls.send({peer.ipv4, peer.port}, reply);
    });
    m_receiver.forget_ended(now(), m_options.forget_after,
                            [this](const auto& entry) { return release(entry.peer, entry.number); });
    release_ended();
    report_forgeries();
    if (!m_full_reported && m_receiver.counters().table_full != 0) {
        m_full_reported = true;
        m_calls.refuse(
            fmt::format("a machine is refused: {} acknowledged sessions are open, and all were heard of in the "
                        "last five minutes",
                        reliable::Receiver::kSessionsMax));
    }
}

// Removes the session's journal unless that must be kept. Returns true if the session need not be remembered any more.
bool ReliableSessions::release(const reliable::Peer& peer, std::uint64_t session) {
    if (!m_calls.settled(address_of(peer, session))) {
        return false;
    }
    const Key key{peer.ipv4, peer.port, session};
    if (!m_kept.contains(key)) {
        m_usage.bytes -= std::min(m_usage.bytes, m_files.remove(peer, session));
    }
    m_passed_on.erase(key);
    return true;
}

void ReliableSessions::forgotten(const reliable::Peer& peer, std::uint64_t session) {
    m_ended.emplace_back(peer, session);
}

void ReliableSessions::release_ended() {
    std::erase_if(m_ended, [this](const auto& ended) { return release(ended.first, ended.second); });
}

void ReliableSessions::keep(const reliable::Peer& peer, std::uint64_t session) {
    if (m_kept.insert({peer.ipv4, peer.port, session}).second) {
        m_calls.refuse(fmt::format("{}: what came has no place in a session, and stays there",
                                   m_files.stream_path(peer, session, 0)));
    }
}

// Reports the first forgery, and the one after which nothing is answered any more.
void ReliableSessions::report_forgeries() {
    const std::uint64_t count = m_receiver.counters().unauthentic;
    if (!m_options.key || count == 0) {
        return;
    }
    if (m_reported == 0) {
        m_reported = 1;
        m_calls.refuse("datagrams come that are not authentic: the machine has another key than --key, or another "
                       "machine forges them");
    }
    if (m_reported == 1 && count >= reliable::Receiver::kForgeriesMax) {
        m_reported = 2;
        m_calls.refuse(fmt::format("{} datagrams were not authentic: none is answered any more; start the collector "
                                   "again when the forger is gone",
                                   count));
    }
}

void ReliableSessions::drop(const Address& sender) {
    if (sender.session && m_receiver.drop({sender.ipv4, sender.port}, *sender.session)) {
        m_passed_on.erase({sender.ipv4, sender.port, *sender.session});
    }
}

void ReliableSessions::begin() {
    for (const auto& [peer, session] : m_files.sessions()) {
        if (m_owner) {
            return;
        }
        auto files = m_files.open(peer, session);
        std::size_t streams = 0;
        std::size_t ended = 0;
        for (std::uint16_t stream = 0; files != nullptr && stream < tracer::reliable::kStreamsMax; ++stream) {
            const reliable::Mark mark = files->durable(stream);
            streams += mark.packets != 0 ? 1U : 0U;
            ended += mark.ended ? 1U : 0U;
        }
        if (files == nullptr) {
            m_calls.refuse(m_files.why());
        } else if (ended != 0 && ended == streams) {
            if (!m_options.replace) {
                static_cast<void>(delivering(peer, session, std::move(files)));
            }
            m_ended.emplace_back(peer, session);
        }
    }
}

bool ReliableSessions::awaited() const {
    const lib::Nanoseconds time = now();
    for (const auto& entry : m_receiver.sessions()) {
        if (m_owner && *m_owner != entry->peer) {
            continue;
        }
        const lib::Nanoseconds silence = time - entry->heard;
        const reliable::Session::Counters& seen = entry->session.counters();
        const bool lossy = seen.duplicates != 0 || seen.early != 0 || m_receiver.counters().malformed != 0;
        const lib::Nanoseconds after_end = lossy ? kAfterEndOfLossy : kAfterEnd;
        if (silence < (entry->session.ended() ? after_end : kAfterPacket)) {
            return true;
        }
    }
    return false;
}

bool ReliableSessions::disk_full() const {
    return std::ranges::any_of(m_receiver.sessions(), [](const auto& entry) { return entry->session.disk_full(); });
}

void ReliableSessions::remove_journals() {
    for (const auto& entry : m_receiver.sessions()) {
        if (entry->session.ended()) {
            static_cast<void>(release(entry->peer, entry->number));
        }
    }
    release_ended();
    ::rmdir(m_options.journals.c_str()); // fails if a journal is left, which is intended
}

std::unique_ptr<reliable::SessionStore> ReliableSessions::open(const reliable::Peer& peer, std::uint64_t session) {
    if (m_options.alone && m_owner && *m_owner != peer) {
        m_calls.stray(address_of(peer, session));
        return nullptr;
    }
    if (::mkdir(m_options.journals.c_str(), 0755) != 0 && errno != EEXIST) {
        m_calls.refuse(fmt::format("{}: {}", m_options.journals, std::strerror(errno)));
        return nullptr;
    }
    if (m_passed_on.size() >= kSessionsMax && !make_space()) {
        m_calls.refuse(
            fmt::format("{} acknowledged sessions since the start: start the collector again", kSessionsMax));
        return nullptr;
    }
    auto files = m_files.open(peer, session);
    if (files == nullptr) {
        m_calls.refuse(m_files.why());
        return nullptr;
    }
    return delivering(peer, session, std::move(files));
}

// Forgets sessions of which no packet came.
bool ReliableSessions::make_space() {
    std::erase_if(m_passed_on, [this](const auto& passed) {
        const auto& [key, packets] = passed;
        return packets == 0 && std::ranges::none_of(m_receiver.sessions(), [&key = key](const auto& entry) {
                   return key == Key{entry->peer.ipv4, entry->peer.port, entry->number};
               });
    });
    return m_passed_on.size() < kSessionsMax;
}

// Returns a store of which the durable part has already been passed on; null if that cannot be read.
std::unique_ptr<reliable::SessionStore> ReliableSessions::delivering(const reliable::Peer& peer, std::uint64_t session,
                                                                     std::unique_ptr<reliable::SessionStore> files) {
    const auto [passed, is_new] = m_passed_on.try_emplace({peer.ipv4, peer.port, session}, 0);
    auto store = std::make_unique<DeliveringStore>(
        std::move(files),
        [this, peer, session](std::uint32_t number, std::span<const std::byte> records) {
            if (m_options.alone && !m_owner && formats::dat::read_chunk_begin(records)) {
                m_owner = peer;
            }
            if (!m_calls.deliver(address_of(peer, session), number, records)) {
                keep(peer, session);
            }
        },
        passed->second, m_usage, m_options.limits.total_bytes,
        [this] {
            m_calls.refuse(fmt::format("cut off by a limit: all sessions together have at most {} bytes "
                                       "(--total-bytes)",
                                       m_options.limits.total_bytes));
        });
    // What this process has passed on before must not be passed on twice.
    for (std::uint16_t stream = 0; is_new && stream < tracer::reliable::kStreamsMax; ++stream) {
        if (const std::string path = m_files.stream_path(peer, session, stream);
            !store->deliver_earlier(path, stream)) {
            m_calls.refuse(fmt::format("{}: {}", path, std::strerror(errno)));
            return nullptr;
        }
    }
    return store;
}

} // namespace host::collector
