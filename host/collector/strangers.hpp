// SPDX-License-Identifier: MIT
// Senders that own no session yet. A chunk_begin that can be read makes a sender plausible at once; a published sender,
// whose packets are plain records, becomes so with its second packet of records that a tracer could have written. Until
// then its packets are held, so that one that overtook the first is not lost. Number 0, junk and an end without a
// beginning make no session. Memory: kSendersMax senders with kHeldMax packets each; the sender that was silent for
// longest makes room.
#pragma once

#include "host/collector/udp_socket.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace host::collector {

// Whether a tracer that sends no metadata could have written these records: codes of the event table but metadata, no
// reserved bits, stamps that never decrease but once (a cyclic chunk, an emergency area).
[[nodiscard]] bool plausible_records(std::span<const std::byte> records_untrusted);

class Strangers {
  public:
    static constexpr std::size_t kSendersMax = 64;
    static constexpr std::size_t kHeldMax = 64; // the window of PacketOrder

    // By number.
    using Packets = std::map<std::uint32_t, std::vector<std::byte>>;

    // Holds the packet. The packets of the sender, this one included, if it is plausible from now on. begins: the
    // packet begins with a chunk_begin that can be read.
    [[nodiscard]] std::optional<Packets> take(const Address& sender, std::uint32_t number,
                                              std::span<const std::byte> records, bool begins);

    struct Stranger {
        Address sender;
        Packets packets;
        std::size_t plausible = 0; // packets of plausible records
    };

    // A sender of one plausible packet, when nothing more will come: a short trace without metadata.
    [[nodiscard]] std::optional<Stranger> take_plausible();

  private:
    std::list<Stranger> m_strangers; // the one that sent last is last
};

} // namespace host::collector
