// SPDX-License-Identifier: MIT
// The store of an acknowledged session: its streams and journal are files, and what is durable there is passed on to
// the session of the collector.
#pragma once

#include "host/collector/reliable/file_store.hpp"
#include "host/collector/session_writer.hpp"
#include "tracer/reliable/packet.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace host::collector {

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
        , m_full(std::move(full)) {
        for (std::size_t stream = 0; stream < m_passed_on.size(); ++stream) {
            m_passed_on[stream] = m_files->durable(static_cast<std::uint16_t>(stream)).bytes;
        }
    }

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
        const bool synced = m_files->sync(stream, mark);
        if (synced) {
            pass_on(stream);
        }
        return synced;
    }

    [[nodiscard]] reliable::SyncState begin_sync(std::uint16_t stream, const reliable::Mark& mark) override {
        const reliable::SyncState state = m_files->begin_sync(stream, mark);
        if (state == reliable::SyncState::done) {
            pass_on(stream);
        }
        return state;
    }

    [[nodiscard]] reliable::SyncState sync_state(std::uint16_t stream) override {
        const reliable::SyncState state = m_files->sync_state(stream);
        if (state == reliable::SyncState::done) {
            pass_on(stream);
        }
        return state;
    }

    void wait() override { m_files->wait(); }

  private:
    // Passes on what has become durable.
    void pass_on(std::uint16_t stream) {
        m_usage.bytes += reliable::FileStores::kMarkBytes;
        const std::uint64_t durable = m_files->durable(stream).bytes;
        std::uint64_t& passed_on = m_passed_on.at(stream);
        std::erase_if(m_pending, [&](const Pending& packet) {
            const bool due = packet.stream == stream && passed_on + packet.records.size() <= durable;
            if (due) {
                passed_on += packet.records.size();
                m_deliver(++m_number, packet.records);
            }
            return due;
        });
    }

    struct Pending {
        std::uint16_t stream = 0;
        std::vector<std::byte> records;
    };

    std::unique_ptr<reliable::SessionStore> m_files;
    Deliver m_deliver;
    std::vector<Pending> m_pending; // is appended and not durable yet: at most reliable::Session::kUnsyncedMax
    std::array<std::uint64_t, tracer::reliable::kStreamsMax> m_passed_on{}; // bytes of each stream
    std::uint32_t& m_number;
    Usage& m_usage;
    std::uint64_t m_total_bytes;
    std::function<void()> m_full;
};

} // namespace host::collector
