// SPDX-License-Identifier: MIT
#include "host/collector/reliable_sessions.hpp"

#include "lib/assert.hpp"
#include "tracer/reliable/packet.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace host::collector {

namespace {

constexpr lib::Nanoseconds kAfterEnd = lib::milliseconds(250);
constexpr lib::Nanoseconds kAfterPacket = lib::milliseconds(3'000);

// Cookies must not be guessed; if the system has no randomness, they can be, and a stranger may open a session.
tracer::reliable::SipKey random_key() {
    tracer::reliable::SipKey key;
    if (::getrandom(&key, sizeof(key), 0) != static_cast<ssize_t>(sizeof(key))) {
        key.first = static_cast<std::uint64_t>(::getpid());
    }
    return key;
}

// Passes on what its file store has made durable.
class DeliveringStore final : public reliable::SessionStore {
  public:
    using Deliver = std::function<void(std::uint32_t number, std::span<const std::byte> records)>;

    DeliveringStore(std::unique_ptr<reliable::SessionStore> files, Deliver deliver)
        : m_files(std::move(files))
        , m_deliver(std::move(deliver)) {}

    // What an earlier collector has received of a stream: its packets are not known, its records are.
    void deliver_earlier(const std::string& path, std::uint64_t lost) {
        m_number += static_cast<std::uint32_t>(lost);
        const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
        std::array<std::byte, tracer::reliable::kBodyBytesMax> piece{};
        while (file != nullptr) {
            const std::size_t size = std::fread(piece.data(), 1, piece.size(), file.get());
            if (size == 0) {
                break;
            }
            m_deliver(++m_number, std::span(piece).first(size));
        }
    }

    [[nodiscard]] reliable::Mark durable(std::uint16_t stream) const override { return m_files->durable(stream); }

    [[nodiscard]] bool append(std::uint16_t stream, std::span<const std::byte> records) override {
        if (!m_files->append(stream, records)) {
            return false;
        }
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
    std::vector<Pending> m_pending; // appended, and not durable yet: at most reliable::Session::kSyncBytes a stream
    std::uint32_t m_number = 0;     // of the packet passed on last
};

} // namespace

ReliableSessions::ReliableSessions(Options options, Calls calls)
    : m_options(std::move(options))
    , m_calls(std::move(calls))
    , m_files(m_options.journals, {.session_bytes = m_options.session_bytes})
    , m_receiver(*this, {.secret = random_key(), .key = m_options.key}) {}

lib::Nanoseconds ReliableSessions::now() {
    const std::chrono::nanoseconds since = std::chrono::steady_clock::now().time_since_epoch();
    return {static_cast<std::uint64_t>(since.count())};
}

void ReliableSessions::take(std::span<const std::byte> datagram_untrusted, const Address& sender) {
    m_last_packet = now();
    const auto reply = m_receiver.handle(datagram_untrusted, {sender.ipv4, sender.port}, m_last_packet);
    if (!reply.empty()) {
        m_calls.send(sender, reply);
    }
}

void ReliableSessions::tick() {
    m_receiver.tick(now(), [this](const reliable::Peer& peer, std::span<const std::byte> reply) {
        m_calls.send({peer.ipv4, peer.port}, reply);
    });
}

bool ReliableSessions::awaited() const {
    const lib::Nanoseconds silence = now() - m_last_packet;
    for (const auto& entry : m_receiver.sessions()) {
        if (silence < (entry->session.ended() ? kAfterEnd : kAfterPacket)) {
            return true;
        }
    }
    return false;
}

bool ReliableSessions::disk_full() const {
    for (const auto& entry : m_receiver.sessions()) {
        if (entry->session.disk_full()) {
            return true;
        }
    }
    return false;
}

void ReliableSessions::remove_journals() {
    for (const auto& entry : m_receiver.sessions()) {
        if (entry->session.ended()) {
            m_files.remove(entry->peer, entry->number);
        }
    }
    ::rmdir(m_options.journals.c_str()); // unless a journal is left
}

std::unique_ptr<reliable::SessionStore> ReliableSessions::open(const reliable::Peer& peer, std::uint64_t session) {
    if (m_options.alone && m_owner && *m_owner != peer) {
        return nullptr;
    }
    if (::mkdir(m_options.journals.c_str(), 0755) != 0 && errno != EEXIST) {
        m_calls.refuse(fmt::format("{}: {}", m_options.journals, std::strerror(errno)));
        return nullptr;
    }
    auto files = m_files.open(peer, session);
    if (files == nullptr) {
        m_calls.refuse(m_files.why());
        return nullptr;
    }
    m_owner = peer;
    const Address sender{peer.ipv4, peer.port};
    auto store = std::make_unique<DeliveringStore>(
        std::move(files), [this, sender](std::uint32_t number, std::span<const std::byte> records) {
            m_calls.deliver(sender, number, records);
        });
    for (std::uint16_t stream = 0; stream < tracer::reliable::kStreamsMax; ++stream) {
        if (const reliable::Mark mark = store->durable(stream); mark.bytes != 0) {
            store->deliver_earlier(m_files.stream_path(peer, session, stream), mark.lost);
        }
    }
    return store;
}

} // namespace host::collector
