// SPDX-License-Identifier: MIT
// Puts datagrams back into the order of their packet numbers. A small window waits for stragglers; a number that does
// not come while the window fills is given up as lost, and its late arrival is counted but not used. Packet numbers of
// a session start at 1. A number that comes again is compared with the first by content: it is a duplicate of the
// network only if both are the same. Memory: at most kWindow datagrams, kGapsMax gaps and kRemembered checksums (128
// KiB).
//
//   delivered ... n-1 | n (missing)  n+1  n+2 ... n+kWindow |          a packet beyond the window gives n up
//                       ^ expected   held in the window
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <span>
#include <vector>

namespace host::formats::dat {

class PacketOrder {
  public:
    static constexpr std::uint32_t kWindow = 256; // what 1,280 packets a second need if some take 200 ms longer
    // A number that is further ahead is not a loss but invalid.
    static constexpr std::uint32_t kJumpMax = 1U << 20;
    static constexpr std::size_t kGapsMax = 4096;
    // The checksums of so many delivered packets are kept, which are 30 MiB of trace. No network delays a packet for
    // longer.
    static constexpr std::size_t kRemembered = 32768;

    struct Counts {
        std::uint64_t delivered = 0;
        std::uint64_t lost = 0;
        std::uint64_t late = 0;
        std::uint64_t duplicate = 0; // equal number and contents
        std::uint64_t conflict = 0;  // equal number, different contents, or too old to be compared
        std::uint64_t reordered = 0; // arrived out of order but in time
        std::uint64_t implausible = 0;
    };

    // Is called in the order of the numbers. lost_before is how many packets are missing directly before this one.
    using Deliver = std::function<void(std::span<const std::byte> records, std::uint64_t lost_before)>;

    explicit PacketOrder(Deliver deliver);
    PacketOrder(const PacketOrder&) = delete;
    PacketOrder& operator=(const PacketOrder&) = delete;

    // `records` is the datagram without its header; it is copied if it has to wait.
    void accept(std::uint32_t number, std::span<const std::byte> records);

    // Must be called at the end: gives up every gap and delivers the waiting packets.
    void flush();

    [[nodiscard]] bool waiting() const { return !m_held.empty(); }

    // Returns the number that is delivered next, from 1.
    [[nodiscard]] std::uint64_t expected() const { return m_expected; }

    [[nodiscard]] const Counts& counts() const { return m_counts; }

  private:
    struct Gap {
        std::uint64_t first = 0;
        std::uint64_t end = 0; // the first number after the gap
    };

    void deliver(std::span<const std::byte> records);
    void deliver_held();
    void give_up_to(std::uint64_t number);
    [[nodiscard]] bool was_given_up(std::uint64_t number) const;
    [[nodiscard]] bool is_as_delivered(std::uint64_t number, std::span<const std::byte> records) const;

    Deliver m_deliver;
    std::uint64_t m_expected = 1;
    std::uint64_t m_lost_before = 0;
    std::map<std::uint64_t, std::vector<std::byte>> m_held;
    std::deque<Gap> m_gaps;
    std::vector<std::uint32_t> m_checksums; // of delivered packets, by number modulo kRemembered
    Counts m_counts;
};

} // namespace host::formats::dat
