// SPDX-License-Identifier: MIT
// What ReliableSessions does with the journals that an earlier collector has left.
#include "host/collector/reliable_sessions.hpp"
#include "host/formats/dat/chunk_begin.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/text/format.hpp"
#include "host/trace/byte_source.hpp"
#include "lib/result.hpp"
#include "tracer/reliable/packet.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

namespace host::collector {

namespace {

namespace filesystem = std::filesystem;

std::vector<filesystem::path> files_in(const std::string& directory) {
    std::error_code code;
    std::vector<filesystem::path> files;
    for (filesystem::directory_iterator entry(directory, code), end; !code && entry != end; entry.increment(code)) {
        files.push_back(entry->path());
    }
    return files;
}

// Returns the boot id of the chunk with which a file begins; none if it begins with none.
lib::Result<std::optional<std::uint64_t>> boot_of(const filesystem::path& file) {
    constexpr std::size_t kPreambleBytes = 4096;
    std::array<std::byte, kPreambleBytes> head{};
    const auto source = trace::ByteSource::open_file(file.string());
    const auto size = source ? source.value()->read(0, head) : lib::Result<std::size_t>(source.error());
    if (!size) {
        return size.error();
    }
    const auto begin = formats::dat::read_chunk_begin(std::span(head).first(size.value()));
    return begin ? std::optional(begin->boot_id) : std::nullopt;
}

// States with what the streams of a session begin.
struct Beginning {
    bool is_read = false;                 // there are streams, and each of them could be read up to the boot id
    std::optional<std::uint64_t> boot_id; // of the first one that begins with a chunk; none: none does
};

Beginning beginning_of(const reliable::FileStores& files, const reliable::Peer& peer, std::uint64_t session) {
    Beginning beginning;
    for (std::uint16_t stream = 0; stream < tracer::reliable::kStreamsMax && !beginning.boot_id; ++stream) {
        const auto boot = boot_of(files.stream_path(peer, session, stream));
        if (boot) {
            beginning = {.is_read = true, .boot_id = boot.value()};
        } else if (boot.error() != lib::Error::not_found) {
            return {};
        }
    }
    return beginning;
}

} // namespace

// Counts the bytes of an earlier collector's files.
void ReliableSessions::count_earlier() {
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

std::string ReliableSessions::journals_in(const std::string& served) {
    return served + '/' + std::string(kJournalsName);
}

lib::Result<void, trace::Failure<lib::Error>> ReliableSessions::prepare(const std::string& served) {
    const std::string journals = journals_in(served);
    const std::string earlier = journals_of(served);
    std::error_code code;
    if (!filesystem::exists(journals, code) && filesystem::is_directory(filesystem::symlink_status(earlier, code)) &&
        ::rename(earlier.c_str(), journals.c_str()) != 0) {
        return trace::Failure<lib::Error>{
            lib::Error::refused,
            fmt::format("{} holds what an earlier collector has acknowledged and cannot be moved to {}: {}", earlier,
                        journals, std::strerror(errno))};
    }
    reliable::FileStores files(journals);
    if (const auto made = files.make(); !made) {
        return trace::Failure<lib::Error>{made.error(), files.why()};
    }
    return {};
}

bool ReliableSessions::can_continue(const std::string& directory) {
    const auto manifest = formats::dat::load_manifest(directory);
    std::set<std::optional<std::uint64_t>> held;
    const auto is_held = [&held](const filesystem::path& file) {
        const auto boot = boot_of(file);
        return boot && held.contains(boot.value());
    };
    std::size_t journals = 0;
    for (const filesystem::path& file : files_in(journals_of(directory))) {
        journals += file.extension() == ".journal" ? 1U : 0U;
        if (const auto boot = boot_of(file); boot && file.extension() == ".trc") {
            held.insert(boot.value());
        }
    }
    if (!manifest || manifest.value().complete || journals == 0) {
        return false;
    }
    return std::ranges::all_of(files_in(directory), [&is_held](const filesystem::path& file) {
        return !formats::dat::is_chunk_file_name(file.filename().string()) || is_held(file);
    });
}

void ReliableSessions::begin() {
    for (const auto& [peer, session] : m_files.sessions()) {
        const reliable::FileStores::Glance seen = m_files.glance(peer, session);
        if (seen.is_ended || seen.is_damaged) {
            m_earlier.emplace_back(peer, session);
        }
        const Beginning begins = seen.is_empty ? Beginning{} : beginning_of(m_files, peer, session);
        const bool is_strange = begins.is_read && !begins.boot_id;
        if (is_strange) {
            m_strangers.insert({peer.ipv4, peer.port, session});
        }
        // What a machine sends from its first packet on begins with a chunk; after a loss, one may follow.
        if (!seen.is_damaged && seen.is_plain && (seen.is_empty || is_strange)) {
            m_abandoned.emplace_back(peer, session);
        }
    }
    while (m_options.alone && !m_earlier.empty()) { // because this decides whose run is recorded
        pass_on_earlier(true);
    }
}

// Continues with the sessions that an earlier collector received: one after the other, a part at a time, so that no
// machine waits for them. One whose machine asks again is passed on by the store of that machine's session.
void ReliableSessions::pass_on_earlier(bool at_once) {
    if (m_earlier.empty()) {
        return;
    }
    const auto [peer, session] = m_earlier.front();
    const auto* const received = received_session(peer, session);
    const reliable::StoreState state =
        received != nullptr ? received->held() : continue_earlier(peer, session, at_once);
    if (received == nullptr && (state == reliable::StoreState::loading || state == reliable::StoreState::passing)) {
        return;
    }
    m_earlier_store.reset();
    m_earlier.pop_front();
    if (state == reliable::StoreState::ready) {
        m_ended.emplace_back(peer, session);
    } else if (state != reliable::StoreState::failed) {
        m_earlier.emplace_back(peer, session);
    } else if (received == nullptr) {
        forgotten(peer, session, false);
    }
}

// Returns `failed`, too, if the session has not ended or has no place. Then its journal is kept.
reliable::StoreState ReliableSessions::continue_earlier(const reliable::Peer& peer, std::uint64_t session,
                                                        bool at_once) {
    const auto poll = [this, at_once] {
        if (at_once) {
            m_earlier_store->wait();
        }
        return m_earlier_store->poll();
    };
    if (m_earlier_store == nullptr) {
        m_earlier_is_loaded = false;
        m_earlier_store = m_files.open(peer, session);
        if (m_earlier_store == nullptr) {
            m_calls.refuse(m_files.why());
            return reliable::StoreState::failed;
        }
    }
    const reliable::StoreState state = poll();
    if (state != reliable::StoreState::ready || m_earlier_is_loaded) {
        return state; // why it failed is reported
    }
    const bool beside = m_options.alone && (m_options.beside || m_owner);
    const auto owner = m_owner;
    if (!m_earlier_store->has_ended() ||
        (beside &&
         !m_calls.open_beside(address_of(peer, session), beginning_of(m_files, peer, session).boot_id.value_or(0)))) {
        return reliable::StoreState::failed;
    }
    m_earlier_store = delivering(peer, session, std::move(m_earlier_store));
    m_earlier_is_loaded = true;
    const reliable::StoreState passed = poll();
    m_owner = beside ? owner : m_owner;
    return passed;
}

// If this session is being passed on, another store continues, or the next one begins again.
void ReliableSessions::leave_earlier(const reliable::Peer& peer, std::uint64_t session) {
    if (!m_earlier.empty() && m_earlier.front() == std::pair(peer, session)) {
        m_earlier_store.reset();
    }
}

// The session is not passed on any more, and the next one needs a store of its own.
void ReliableSessions::forget_earlier(const reliable::Peer& peer, std::uint64_t session) {
    leave_earlier(peer, session);
    std::erase(m_earlier, std::pair(peer, session));
}

} // namespace host::collector
