// SPDX-License-Identifier: MIT
// The store of an acknowledged session: its streams and journal are files, and what is durable there is passed on to
// the session of the collector: as the packets that came if they are still in memory, else as the file has them, a
// bounded part at a time.
#pragma once

#include "host/collector/reliable/file_store.hpp"
#include "host/collector/session_writer.hpp"
#include "host/formats/dat/chunk_begin.hpp"
#include "host/text/format.hpp"
#include "host/trace/byte_source.hpp"
#include "tracer/reliable/packet.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace host::collector {

// States how far a session has been passed on, by all stores that it has had.
struct PassedOn {
    struct Position {
        std::uint64_t bytes = 0;
        std::uint64_t lost = 0; // packets
    };

    std::uint32_t number = 0; // of the last packet, including lost ones
    std::array<Position, tracer::reliable::kStreamsMax> streams{};
    bool all = false; // nothing that is durable is left
};

// A store that passes on what its file store has made durable.
class DeliveringStore final : public reliable::SessionStore {
  public:
    struct Calls {
        std::function<void(std::uint32_t number, std::span<const std::byte> records)> deliver;
        std::function<bool()> has_room; // false: nothing is passed on at present
        // Whether a session of which nothing is stored may begin. with_chunk: with the beginning of one.
        std::function<bool(bool with_chunk)> may_begin;
        std::function<std::string(std::uint16_t stream)> path; // returns that of the stream's file
        std::function<void(const std::string& why)> failed;    // a file cannot be read
    };

    DeliveringStore(std::shared_ptr<reliable::SessionStore> files, Calls calls, PassedOn& passed_on)
        : m_files(std::move(files))
        , m_calls(std::move(calls))
        , m_passed_on(passed_on) {}

    [[nodiscard]] reliable::Mark durable(std::uint16_t stream) const override { return m_files->durable(stream); }

    [[nodiscard]] bool append(std::uint16_t stream, std::span<const std::byte> records) override {
        const bool is_first = std::ranges::all_of(m_appended, [](std::uint64_t bytes) { return bytes == 0; });
        m_is_failed =
            m_is_failed || (is_first && !m_calls.may_begin(formats::dat::read_chunk_begin(records).has_value()));
        if (m_is_failed || !m_files->append(stream, records)) {
            return false;
        }
        if (m_passed_on.all) { // else it is read again when its turn comes
            m_pending[{stream, m_appended.at(stream)}].assign(records.begin(), records.end());
        }
        m_appended.at(stream) += records.size();
        return true;
    }

    void lost(std::uint16_t stream, std::uint64_t packets) override { m_files->lost(stream, packets); }

    [[nodiscard]] bool sync(std::uint16_t stream, const reliable::Mark& mark) override {
        const bool synced = m_files->sync(stream, mark);
        pass_on(kAtOnce);
        return synced;
    }

    [[nodiscard]] reliable::SyncState begin_sync(std::uint16_t stream, const reliable::Mark& mark) override {
        const reliable::SyncState state = m_files->begin_sync(stream, mark);
        pass_on(kAtOnce);
        return state;
    }

    [[nodiscard]] reliable::SyncState sync_state(std::uint16_t stream) override {
        const reliable::SyncState state = m_files->sync_state(stream);
        pass_on(kAtOnce);
        return state;
    }

    [[nodiscard]] reliable::StoreState poll() override { return poll(kAtOnce); }

    void wait() override {
        m_files->wait();
        static_cast<void>(poll(kAll));
    }

  private:
    static constexpr std::uint64_t kAtOnce = 256U << 10U;                                // bytes
    static constexpr std::uint64_t kAll = std::numeric_limits<std::uint64_t>::max() / 2; // whether there is room or not

    [[nodiscard]] reliable::StoreState poll(std::uint64_t most) {
        if (const reliable::StoreState state = m_files->poll(); state != reliable::StoreState::ready) {
            return state;
        }
        for (std::uint16_t stream = 0; !std::exchange(m_is_loaded, true) && stream < m_appended.size(); ++stream) {
            m_appended[stream] = m_files->durable(stream).bytes;
        }
        pass_on(most);
        return m_is_failed       ? reliable::StoreState::failed
               : m_passed_on.all ? reliable::StoreState::ready
                                 : reliable::StoreState::passing;
    }

    // One stream after the other, because a chunk of one is passed on whole before the next one's.
    void pass_on(std::uint64_t most) {
        std::uint64_t left = most;
        m_passed_on.all = true;
        for (std::uint16_t stream = 0; m_passed_on.all && stream < m_appended.size(); ++stream) {
            m_passed_on.all = pass_on(stream, left);
        }
    }

    // Returns whether nothing of the stream is left.
    [[nodiscard]] bool pass_on(std::uint16_t stream, std::uint64_t& left) {
        auto& [bytes, lost] = m_passed_on.streams[stream];
        const reliable::Mark durable = m_files->durable(stream);
        if (lost != durable.lost) {
            std::uint64_t sum = 0;
            for (const reliable::Loss& loss : m_files->losses(stream)) {
                sum += loss.packets;
                if (sum > lost) {
                    if (!pass_on_until(stream, loss.at_byte, left)) {
                        return false;
                    }
                    m_passed_on.number += static_cast<std::uint32_t>(sum - lost);
                    lost = sum;
                }
            }
        }
        return bytes >= durable.bytes || pass_on_until(stream, durable.bytes, left);
    }

    [[nodiscard]] bool pass_on_until(std::uint16_t stream, std::uint64_t end, std::uint64_t& left) {
        std::uint64_t& at = m_passed_on.streams[stream].bytes;
        trace::Descriptor file;
        std::array<std::byte, tracer::reliable::kBodyBytesMax> piece{};
        while (at < end) {
            if (left == 0 || (left <= kAtOnce && !m_calls.has_room())) {
                return false;
            }
            const auto next = m_pending.lower_bound({stream, at});
            const bool has_next = next != m_pending.end() && next->first.first == stream;
            std::span<const std::byte> records;
            if (has_next && next->first.second == at) {
                records = next->second;
            } else {
                file = file
                           ? std::move(file)
                           : trace::Descriptor(::open(m_calls.path(stream).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
                const std::uint64_t until = has_next ? std::min(end, next->first.second) : end;
                const auto wanted = std::span(piece).first(std::min<std::uint64_t>(piece.size(), until - at));
                if (::pread(file.number(), wanted.data(), wanted.size(), static_cast<off_t>(at)) !=
                    static_cast<ssize_t>(wanted.size())) {
                    m_is_failed = true;
                    m_calls.failed(fmt::format("{}: {}", m_calls.path(stream), std::strerror(errno)));
                    return false;
                }
                records = wanted;
            }
            at += records.size();
            left -= std::min<std::uint64_t>(left, records.size());
            m_calls.deliver(++m_passed_on.number, records);
            if (has_next && next->first.second < at) {
                m_pending.erase(next);
            }
        }
        return true;
    }

    std::shared_ptr<reliable::SessionStore> m_files;
    Calls m_calls;
    PassedOn& m_passed_on;
    std::array<std::uint64_t, tracer::reliable::kStreamsMax> m_appended{}; // bytes of each stream
    bool m_is_loaded = false;                                              // m_appended is known
    bool m_is_failed = false;                                              // for its reader, or as a stranger's
    // The packets that are appended and not durable yet, by stream and position: at most
    // reliable::Session::kUnsyncedMax.
    std::map<std::pair<std::uint16_t, std::uint64_t>, std::vector<std::byte>> m_pending;
};

} // namespace host::collector
