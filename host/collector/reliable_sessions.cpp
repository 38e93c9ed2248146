// SPDX-License-Identifier: MIT
#include "host/collector/reliable_sessions.hpp"

#include "host/formats/dat/chunk_begin.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/trace/byte_source.hpp"
#include "lib/assert.hpp"
#include "tracer/reliable/packet.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
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
constexpr lib::Nanoseconds kAfterEndOfLossy = lib::milliseconds(5'000); // many repetitions of FIN
constexpr lib::Nanoseconds kAfterPacket = lib::milliseconds(3'000);

// Cookies must not be guessed; if the system has no randomness, they can be, and a stranger may open a session.
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

// Of the machine whose chunk a file begins with; 0: it begins with none.
std::uint64_t boot_of(const filesystem::path& file) {
    constexpr std::size_t kPreambleBytes = 4096;
    std::array<std::byte, kPreambleBytes> head{};
    const auto source = trace::ByteSource::open_file(file.string());
    const auto size = source ? source.value()->read(0, head) : lib::Result<std::size_t>(lib::Error::io);
    const auto begin = size ? formats::dat::read_chunk_begin(std::span(head).first(size.value())) : std::nullopt;
    return begin ? begin->boot_id : 0;
}

// Passes on what its file store has made durable.
class DeliveringStore final : public reliable::SessionStore {
  public:
    using Deliver = std::function<void(std::uint32_t number, std::span<const std::byte> records)>;

    // number: of the packet passed on last.
    DeliveringStore(std::unique_ptr<reliable::SessionStore> files, Deliver deliver, std::uint32_t& number, Usage& usage,
                    std::uint64_t total_bytes)
        : m_files(std::move(files))
        , m_deliver(std::move(deliver))
        , m_number(number)
        , m_usage(usage)
        , m_total_bytes(total_bytes) {}

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
        if (m_usage.bytes + records.size() > m_total_bytes || !m_files->append(stream, records)) {
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
    std::vector<Pending> m_pending; // appended, and not durable yet: at most reliable::Session::kSyncBytes a stream
    std::uint32_t& m_number;
    Usage& m_usage;
    std::uint64_t m_total_bytes;
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
    m_receiver.forget_ended(now(), m_options.forget_after, [this](const auto& entry) { return release(entry); });
}

bool ReliableSessions::release(const reliable::Receiver::Entry& entry) {
    if (!m_calls.settled({entry.peer.ipv4, entry.peer.port})) {
        return false;
    }
    m_usage.bytes -= std::min(m_usage.bytes, m_files.remove(entry.peer, entry.number));
    m_passed_on.erase({entry.peer.ipv4, entry.peer.port, entry.number});
    return true;
}

bool ReliableSessions::awaited() const {
    const lib::Nanoseconds silence = now() - m_last_packet;
    for (const auto& entry : m_receiver.sessions()) {
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
            static_cast<void>(m_files.remove(entry->peer, entry->number));
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
    if (m_passed_on.size() >= kSessionsMax) {
        m_calls.refuse(
            fmt::format("{} acknowledged sessions since the start: start the collector again", kSessionsMax));
        return nullptr;
    }
    auto files = m_files.open(peer, session);
    if (files == nullptr) {
        m_calls.refuse(m_files.why());
        return nullptr;
    }
    m_owner = peer;
    const Address sender{peer.ipv4, peer.port};
    const auto [passed, is_new] = m_passed_on.try_emplace({peer.ipv4, peer.port, session}, 0);
    auto store = std::make_unique<DeliveringStore>(
        std::move(files),
        [this, sender](std::uint32_t number, std::span<const std::byte> records) {
            m_calls.deliver(sender, number, records);
        },
        passed->second, m_usage, m_options.limits.total_bytes);
    // What this process has passed on before is not passed on twice.
    for (std::uint16_t stream = 0; is_new && stream < tracer::reliable::kStreamsMax; ++stream) {
        if (const reliable::Mark mark = store->durable(stream); mark.bytes != 0) {
            store->deliver_earlier(m_files.stream_path(peer, session, stream), mark.lost);
        }
    }
    return store;
}

} // namespace host::collector
