// SPDX-License-Identifier: MIT
// The packets of one export out of a capture: put in order, checked against each other, written one after another.
#pragma once

#include "host/formats/capture/datagram.hpp"
#include "host/formats/dat/packet_order.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace host::formats::capture {

class Session {
  public:
    Session(trace::Spool spool, std::string file, trace::Diagnostics& diagnostics);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // Takes a datagram if it is a packet of this export; offset_bytes: of its frame.
    void take(const Datagram& datagram, std::uint64_t offset_bytes);

    // Must be called after the last frame: delivers waiting packets and reports totals. no_space, io: of the spool.
    [[nodiscard]] lib::Result<void> finish();

    [[nodiscard]] std::uint64_t delivered() const { return m_order.counts().delivered; }

    // Packets whose numbers were skipped, once finished.
    [[nodiscard]] std::uint64_t lost() const { return m_order.counts().lost; }

    // What was delivered, once finished.
    [[nodiscard]] std::shared_ptr<trace::ByteSource> records() { return m_spool.take(); }

  private:
    // What is remembered of a packet, to know it again.
    struct Seen {
        std::uint32_t number = 0; // 0: none
        std::uint32_t checksum = 0;
        std::uint64_t offset_bytes = 0;
    };

    static constexpr std::size_t kSeenMax = 8192;
    // So many packets in a row that contradict earlier packets of the same numbers are another export.
    static constexpr unsigned kConflictsMax = 3;

    [[nodiscard]] bool is_ours(const Datagram& datagram, std::uint64_t offset_bytes);
    [[nodiscard]] bool contradicts(std::uint32_t number, std::span<const std::byte> records,
                                   std::uint64_t offset_bytes);
    void report(trace::Code code, std::uint64_t offset_bytes, std::string_view text);

    trace::Spool m_spool;
    std::string m_file;
    trace::Diagnostics& m_diagnostics;
    std::vector<Seen> m_seen; // by number modulo its size
    std::optional<Datagram> m_sender;
    std::uint64_t m_offset_bytes = 0; // of the frame in hand
    unsigned m_conflicts = 0;
    bool m_over = false; // another export of the same sender has begun
    std::uint64_t m_foreign_packets = 0;
    std::uint64_t m_malformed = 0;
    std::uint64_t m_other_versions = 0;
    lib::Result<void> m_result{};
    dat::PacketOrder m_order;
};

} // namespace host::formats::capture
