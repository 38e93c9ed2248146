// SPDX-License-Identifier: MIT
// All counters of the NE2000 driver, so that no loss is silent. They only grow, survive each recovery, and start at
// zero only with the object. Any context may read them; only the driver's user writes them.
#pragma once

#include <cstdint>

namespace drivers::ne2000 {

struct Counters {
    std::uint64_t tx_frames = 0;          // transmitted, as the NIC reports it
    std::uint64_t tx_bytes = 0;           // with padding, without CRC
    std::uint64_t tx_busy = 0;            // refused for lack of a buffer
    std::uint64_t tx_errors = 0;          // given up by the NIC: collisions, underrun
    std::uint64_t tx_resends = 0;         // repeated because a recovery had interrupted them
    std::uint64_t tx_abandoned = 0;       // in the NIC when it had to be reset
    std::uint64_t tx_watchdog_resets = 0; // a transmission did not end

    std::uint64_t rx_frames = 0;
    std::uint64_t rx_bytes = 0;            // without CRC
    std::uint64_t rx_runts = 0;            // accepted although shorter than Ethernet allows: emulated links do not pad
    std::uint64_t rx_oversized = 0;        // longer than the caller's buffer, dropped
    std::uint64_t rx_errors = 0;           // reported by the NIC for frames it did not store
    std::uint64_t rx_overflows = 0;        // the ring was full: recovery ran
    std::uint64_t rx_ring_resets = 0;      // a header was inconsistent: all frames in the ring dropped
    std::uint64_t rx_alignment_errors = 0; // the NIC's tally counters
    std::uint64_t rx_crc_errors = 0;
    std::uint64_t rx_missed = 0;

    std::uint64_t dma_timeouts = 0; // remote DMA never completed: NIC reset
    std::uint64_t resets = 0;       // of the whole NIC, for any reason
    std::uint64_t failures = 0;     // the NIC did not recover: absent from then on
};

} // namespace drivers::ne2000
