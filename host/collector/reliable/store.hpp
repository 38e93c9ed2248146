// SPDX-License-Identifier: MIT
// Where the packets of a session go, as the receiver sees it: bytes appended to streams, and a mark for each stream
// that survives a crash. The receiver acknowledges a packet as durable only after sync() has returned true for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace host::collector::reliable {

// Who sends: one address and port. Sessions of different peers are different, whatever their numbers.
struct Peer {
    std::uint32_t ipv4 = 0; // host byte order
    std::uint16_t port = 0;

    friend bool operator==(const Peer&, const Peer&) = default;
};

// How far a stream has come.
struct Mark {
    std::uint64_t packets = 0; // of the sender's numbering, lost ones included
    std::uint64_t bytes = 0;   // appended
    std::uint32_t crc32c = 0;  // of them
    std::uint64_t lost = 0;    // packets that neither side has any more
    bool ended = false;        // the sender's totals agreed

    friend bool operator==(const Mark&, const Mark&) = default;
};

// Packets that are missing in a stream, and where: before the byte at_byte.
struct Loss {
    std::uint64_t at_byte = 0;
    std::uint64_t packets = 0;

    friend bool operator==(const Loss&, const Loss&) = default;
};

class SessionStore {
  public:
    SessionStore() = default;
    SessionStore(const SessionStore&) = delete;
    SessionStore& operator=(const SessionStore&) = delete;
    virtual ~SessionStore() = default;

    // The mark of the last sync() of this stream, by this process or an earlier one. The store has dropped what was
    // appended after it by an earlier process.
    [[nodiscard]] virtual Mark durable(std::uint16_t stream) const = 0;

    // The losses in what is durable, in order; empty if the store keeps none.
    [[nodiscard]] virtual std::vector<Loss> losses(std::uint16_t /*stream*/) const { return {}; }

    // At the end of the stream: the records of one packet. False: nothing was appended, there is no space.
    [[nodiscard]] virtual bool append(std::uint16_t stream, std::span<const std::byte> records) = 0;

    // So many packets are missing before what is appended next. Everything appended is durable.
    virtual void lost(std::uint16_t stream, std::uint64_t packets) = 0;

    // Makes everything appended to the stream durable, and then the mark, which describes it. False: it is not.
    [[nodiscard]] virtual bool sync(std::uint16_t stream, const Mark& mark) = 0;
};

class StoreProvider {
  public:
    StoreProvider() = default;
    StoreProvider(const StoreProvider&) = delete;
    StoreProvider& operator=(const StoreProvider&) = delete;
    virtual ~StoreProvider() = default;

    // The store of this session, with what an earlier process has made durable; null: refused (quota, disk). One store
    // of a session exists at a time.
    [[nodiscard]] virtual std::unique_ptr<SessionStore> open(const Peer& peer, std::uint64_t session) = 0;

    // A session that has ended is not received any more: its store is gone.
    virtual void forgotten(const Peer& /*peer*/, std::uint64_t /*session*/) {}
};

} // namespace host::collector::reliable
