// SPDX-License-Identifier: MIT
// One session puts the packets of one boot of one machine in order, writes them, and states whether anything is
// missing. SessionTable decides which packets these are.
#pragma once

#include "host/collector/observer.hpp"
#include "host/collector/session_writer.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/formats/dat/packet_order.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace host::collector {

using Clock = std::chrono::steady_clock;

// Counts what came and belongs to no session.
struct Strays {
    std::uint64_t packets = 0;                // well-formed packets of senders that own no session
    std::uint64_t malformed = 0;              // datagrams that have the form of no packet, or the number 0
    std::uint64_t malformed_acknowledged = 0; // datagrams of TRACER-V2.0 that were damaged or not authentic
    std::uint64_t traces = 0;                 // packets of other senders that begin a chunk or end an export
    std::uint64_t socket_overflow = 0;        // datagrams that the host's kernel dropped before they could be read
    Address sender;                           // the sender that was counted last in `traces`
};

// Holds what the sessions of one collector share; all of it must outlive them.
struct Surroundings {
    Syncer& syncer;
    Observer& observer;
    const Limits& limits;
    Usage& usage;
    const Strays& strays;
    bool alone = false; // one run is recorded, and packets of others make it doubtful
};

class Session {
  public:
    Session(std::shared_ptr<SessionDirectory> directory, const Surroundings& surroundings);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // Sets the sender that owns the session from now on. boot_id: 0 if it is not known.
    void bind(const Address& sender, std::uint64_t boot_id, Clock::time_point now);

    // Takes a packet of the owner. boot_id: that of the chunk that begins with the packet, if one does.
    void take(std::uint32_t number, std::span<const std::byte> records, std::optional<std::uint64_t> boot_id,
              Clock::time_point now);

    // Returns whether a chunk of this boot cannot follow here, because it belongs to another boot or to an earlier
    // position.
    [[nodiscard]] bool is_other_boot(std::uint64_t boot_id, std::uint32_t number) const;

    void count_malformed() { ++m_malformed; }

    // Must be called regularly: packets that have been missing for long are considered lost.
    void tick(Clock::time_point now);

    // Writes a manifest that lists every sealed chunk, unless one is pending.
    void list_sealed() { m_writer.list_sealed(); }

    // Returns whether the export has ended, or the session cannot be written any further.
    [[nodiscard]] bool ended() const { return m_writer.export_end().has_value() || m_writer.error().has_value(); }

    // Ends the session: nothing must be taken afterwards, and the last manifest is given to the syncer. cut: what ended
    // the session before its sender did; else empty.
    void close(const std::string& cut);

    // Returns whether the session is closed and everything is on the disk.
    [[nodiscard]] bool settled() const { return m_closed && m_writer.durability()->idle(); }

    // Returns the manifest as it is on the disk; if writing failed, it states that. Precondition: settled().
    [[nodiscard]] formats::dat::Manifest result() const;

    [[nodiscard]] std::optional<lib::Error> error() const { return m_writer.error(); }

    [[nodiscard]] SessionView view() const;

    [[nodiscard]] const std::optional<Address>& sender() const { return m_sender; }

    [[nodiscard]] std::uint64_t boot_id() const { return m_boot_id; }

    [[nodiscard]] Clock::time_point last_packet() const { return m_last_packet; }

    [[nodiscard]] const SessionWriter& writer() const { return m_writer; }

    [[nodiscard]] const formats::dat::PacketOrder::Counts& counts() const { return m_order.counts(); }

  private:
    [[nodiscard]] formats::dat::Manifest manifest() const;
    [[nodiscard]] formats::dat::ManifestTransfer transfer() const;
    [[nodiscard]] std::string missing() const;
    [[nodiscard]] std::string unfinished() const;
    void save();

    const Surroundings& m_surroundings;
    std::shared_ptr<SessionDirectory> m_directory;
    std::uint64_t m_overflow_before;
    SessionWriter m_writer;
    formats::dat::PacketOrder m_order;
    std::optional<Address> m_sender;
    std::uint64_t m_boot_id = 0;
    std::uint64_t m_started_s; // since 1970: time of the first packet, before that of the opening
    std::uint64_t m_malformed = 0;
    bool m_closed = false;
    std::string m_cut;
    formats::dat::Manifest m_last; // valid once closed
    Clock::time_point m_last_packet;
};

} // namespace host::collector
