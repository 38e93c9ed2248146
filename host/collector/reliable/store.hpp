// SPDX-License-Identifier: MIT
// The interface through which the receiver stores the packets of a session: bytes are appended to streams, and each
// stream has a mark that survives a crash. The receiver acknowledges a packet as durable only after sync() has returned
// true for it.
#pragma once

#include "tracer/reliable/packet.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace host::collector::reliable {

// A sender is one address and port. Sessions of different peers are different, whatever their numbers.
struct Peer {
    std::uint32_t ipv4 = 0; // host byte order
    std::uint16_t port = 0;

    friend bool operator==(const Peer&, const Peer&) = default;
};

// The state of a stream.
struct Mark {
    std::uint64_t packets = 0; // in the sender's numbering, including lost ones
    std::uint64_t bytes = 0;   // appended bytes
    std::uint32_t crc32c = 0;  // that of the appended bytes
    std::uint64_t lost = 0;    // packets that neither side has any more
    bool ended = false;        // the sender's totals were equal

    friend bool operator==(const Mark&, const Mark&) = default;
};

// Packets that are missing in a stream before the byte `at_byte`.
struct Loss {
    std::uint64_t at_byte = 0;
    std::uint64_t packets = 0;

    friend bool operator==(const Loss&, const Loss&) = default;
};

enum class SyncState : std::uint8_t {
    done,
    pending,
    failed,
};

enum class StoreState : std::uint8_t {
    loading, // what is durable is not known yet: nothing but poll() and wait() may be called
    failed,  // permanently; why is reported
    passing, // what is durable is being passed on
    ready,
};

class SessionStore {
  public:
    SessionStore() = default;
    SessionStore(const SessionStore&) = delete;
    SessionStore& operator=(const SessionStore&) = delete;
    virtual ~SessionStore() = default;

    // Returns the mark of the last sync() of this stream, by this process or an earlier one. The store has dropped what
    // an earlier process appended after it.
    [[nodiscard]] virtual Mark durable(std::uint16_t stream) const = 0;

    // Returns whether every stream of which something came has ended.
    [[nodiscard]] bool has_ended() const {
        std::size_t streams = 0;
        std::size_t ended = 0;
        for (std::uint16_t stream = 0; stream < tracer::reliable::kStreamsMax; ++stream) {
            const Mark mark = durable(stream);
            streams += mark.packets != 0 ? 1U : 0U;
            ended += mark.ended ? 1U : 0U;
        }
        return ended != 0 && ended == streams;
    }

    // Returns the losses in the durable part, in order; empty if the store does not record them.
    [[nodiscard]] virtual std::vector<Loss> losses(std::uint16_t /*stream*/) const { return {}; }

    // Appends the records of one packet to the stream. Returns false if nothing was appended because there is no space.
    [[nodiscard]] virtual bool append(std::uint16_t stream, std::span<const std::byte> records) = 0;

    // Notes that this number of packets is missing before what is appended next. Precondition: everything appended is
    // durable.
    virtual void lost(std::uint16_t stream, std::uint64_t packets) = 0;

    // Makes everything appended to the stream durable, then the mark, which describes it. Returns false if that failed.
    [[nodiscard]] virtual bool sync(std::uint16_t stream, const Mark& mark) = 0;

    // Begins what sync() does and returns its state; sync_state() returns it later. One sync of a stream may be pending
    // at a time. Meanwhile more may be appended, which the mark does not describe.
    [[nodiscard]] virtual SyncState begin_sync(std::uint16_t stream, const Mark& mark) {
        return sync(stream, mark) ? SyncState::done : SyncState::failed;
    }

    [[nodiscard]] virtual SyncState sync_state(std::uint16_t /*stream*/) { return SyncState::done; }

    // Continues for a bounded time what the store does beside the receiver. Must be called regularly.
    [[nodiscard]] virtual StoreState poll() { return StoreState::ready; }

    // Returns when nothing is pending, and everything durable is passed on.
    virtual void wait() {}
};

class StoreProvider {
  public:
    StoreProvider() = default;
    StoreProvider(const StoreProvider&) = delete;
    StoreProvider& operator=(const StoreProvider&) = delete;
    virtual ~StoreProvider() = default;

    // Returns the store of this session, with what an earlier process has made durable; null if refused (quota, disk).
    // Only one store of a session may be used at a time.
    [[nodiscard]] virtual std::shared_ptr<SessionStore> open(const Peer& peer, std::uint64_t session) = 0;

    // Called when a session has given up its place or failed, and its store has been destroyed. ended: it is not
    // continued.
    virtual void forgotten(const Peer& /*peer*/, std::uint64_t /*session*/, bool /*ended*/) {}
};

} // namespace host::collector::reliable
