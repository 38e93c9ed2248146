// SPDX-License-Identifier: MIT
// One session: the packets of one boot of one machine, put in order and written, and the verdict whether anything is
// missing. Which packets those are is decided by SessionTable.
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

// What came and is of no session.
struct Strays {
    std::uint64_t packets = 0;                // well-formed, of senders that own no session
    std::uint64_t malformed = 0;              // of the protocol's port and of no packet's form, or with number 0
    std::uint64_t malformed_acknowledged = 0; // of TRACER-V2.0: damaged, or not authentic
    std::uint64_t traces = 0;                 // packets of other senders that begin a chunk or end an export
    std::uint64_t socket_overflow = 0;        // datagrams that the host's kernel dropped before they could be read
    Address sender;                           // the last one counted in `traces`
};

// What sessions of one collector share; all of it outlives them.
struct Surroundings {
    Syncer& syncer;
    Observer& observer;
    const Limits& limits;
    Usage& usage;
    const Strays& strays;
    bool alone = false; // one run is recorded: what else comes makes it doubtful
};

class Session {
  public:
    Session(std::shared_ptr<SessionDirectory> directory, const Surroundings& surroundings);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // The sender that owns the session from here on. boot_id 0: not known.
    void bind(const Address& sender, std::uint64_t boot_id, Clock::time_point now);

    // A packet of the owner. boot_id: of the chunk that begins with it, if one does.
    void take(std::uint32_t number, std::span<const std::byte> records, std::optional<std::uint64_t> boot_id,
              Clock::time_point now);

    // A chunk of this boot cannot follow here: it is of another boot, or of an earlier place.
    [[nodiscard]] bool is_other_boot(std::uint64_t boot_id, std::uint32_t number) const;

    void count_malformed() { ++m_malformed; }

    // What the passing of time does: packets that are missing for long do not come any more.
    void tick(Clock::time_point now);

    // Lists every chunk that is sealed in a manifest, unless one is pending.
    void list_sealed() { m_writer.list_sealed(); }

    // Its export has ended, or it can be written no further.
    [[nodiscard]] bool ended() const { return m_writer.export_end().has_value() || m_writer.error().has_value(); }

    // Nothing is taken any more; the last manifest is on its way to the disk. cut: what ended it before its sender did.
    void close(const std::string& cut);

    // Closed, and everything is on the disk.
    [[nodiscard]] bool settled() const { return m_closed && m_writer.durability()->idle(); }

    // Once settled: as it is on the disk. A manifest that could not be written says so.
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
    std::uint64_t m_started_s; // since 1970: of the first packet, until then of the opening
    std::uint64_t m_malformed = 0;
    bool m_closed = false;
    std::string m_cut;
    formats::dat::Manifest m_last; // once closed
    Clock::time_point m_last_packet;
};

} // namespace host::collector
