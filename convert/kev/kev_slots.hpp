// SPDX-License-Identifier: MIT
// The slots of a .kev file on their way out: buffers, TIME events, stamps.
//
//   BUFFER TIME event event ... | BUFFER TIME event ...
//   <-- kBufferSlots at most --> <----
//
// - Each buffer begins with BUFFER {number modulo 2048, slots after it}. No event spans two buffers, and in each
//   buffer a processor's first event has a TIME in front of it, so that the loss of a buffer affects no other one.
// - TIME {high, low half of the event after it} is also written wherever the high half differs from the last one that
//   was written for that processor.
// - Stamps of a processor strictly rise, except among the slots of one event. BUFFER and TIME have stamps of their own,
//   taken from the ticks before the event if there is room. An event whose stamp is taken gets the next: a burst of n
//   equal stamps ends n - 1 ticks late, and what follows keeps its own stamp as soon as it is higher.
// - An event that its processor wrote late (its ticks are below those of an earlier event) keeps its ticks.
#pragma once

#include "convert/writer/output.hpp"
#include "foreign/kev/slot.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace host::convert::records {

class KevSlots {
  public:
    static constexpr std::size_t kBufferSlots = 1024;
    static constexpr std::size_t kWordsMax = 2 * (kBufferSlots - 3); // of an event: it must fit one buffer

    // The file outlives the object.
    explicit KevSlots(OutputFile& file)
        : m_file(file) {}

    KevSlots(const KevSlots&) = delete;
    KevSlots& operator=(const KevSlots&) = delete;

    // cpu below kProcessorsMax; words: at most kWordsMax.
    void add(std::uint32_t cpu, std::uint32_t class_number, std::uint32_t event, std::uint64_t ticks,
             std::span<const std::uint32_t> words) {
        Processor& processor = m_processors[cpu];
        if (words.size() == formats::kev::kWordsPerSlot && processor.has_time && ticks > *processor.newest &&
            ticks >> 32 == processor.high && m_filled + 2 <= kBufferSlots) [[likely]] {
            processor.newest = processor.newest_ticks = ticks;
            put({formats::kev::make_header(formats::kev::Kind::simple, cpu, class_number, event),
                 static_cast<std::uint32_t>(ticks),
                 {words[0], words[1]}});
            return;
        }
        add_any(cpu, class_number, event, ticks, words);
    }

    // Writes what is buffered.
    void finish();

  private:
    struct Processor {
        std::optional<std::uint64_t> newest; // stamp of the last slot that was written
        std::uint64_t newest_ticks = 0;      // greatest ticks that an event came with
        std::uint32_t high = 0;              // as the last TIME of this buffer said
        bool has_time = false;               // in this buffer
    };

    struct Plan {
        std::uint64_t first = 0; // stamp of the first slot: BUFFER, TIME, or the event
        std::uint64_t event = 0;
        bool time = false;
    };

    [[nodiscard]] static Plan plan(const Processor& processor, std::uint64_t ticks, bool begins_buffer);

    void add_any(std::uint32_t cpu, std::uint32_t class_number, std::uint32_t event, std::uint64_t ticks,
                 std::span<const std::uint32_t> words);

    void put(const formats::kev::Slot& slot) { m_buffer[m_filled++] = slot; }

    OutputFile& m_file;
    std::array<Processor, formats::kev::kProcessorsMax> m_processors;
    std::vector<formats::kev::Slot> m_buffer = std::vector<formats::kev::Slot>(kBufferSlots);
    std::size_t m_filled = 0; // of it
    std::uint32_t m_number = 0;
};

} // namespace host::convert::records
