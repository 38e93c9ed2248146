// SPDX-License-Identifier: MIT
// Writes .kev files; see kev.cpp. The traceparser library uses the writer, too, to read a trace of any kind.
#pragma once

#include "convert/writer/event_words.hpp"
#include "convert/writer/writer.hpp"
#include "foreign/kev/codes.hpp"
#include "foreign/kev/slot.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::convert::records {

// Writes the slots of a .kev file, with buffers, TIME events and stamps.
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
class KevSlots {
  public:
    static constexpr std::size_t kBufferSlots = 1024;
    static constexpr std::size_t kWordsMax = 2 * (kBufferSlots - 3); // of an event, which must fit into one buffer

    // The file must outlive the object.
    explicit KevSlots(OutputFile& file)
        : m_file(file) {}

    KevSlots(const KevSlots&) = delete;
    KevSlots& operator=(const KevSlots&) = delete;

    // Adds an event. cpu: below kProcessorsMax. words: at most kWordsMax.
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

    // Writes the buffered slots.
    void finish();

  private:
    struct Processor {
        std::optional<std::uint64_t> newest; // stamp of the last slot that was written
        std::uint64_t newest_ticks = 0;      // greatest ticks of an event
        std::uint32_t high = 0;              // as in the last TIME of this buffer
        bool has_time = false;               // a TIME is in this buffer
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
    std::size_t m_filled = 0; // of m_buffer
    std::uint32_t m_number = 0;
};

class KevWriter final : public Writer {
  public:
    // The file must outlive the writer.
    explicit KevWriter(OutputFile& file);

    // survey: must not be null. Unusable: the number of a processor does not fit into the format.
    [[nodiscard]] lib::Result<void, Failure> begin(const Survey* survey) override;
    void add(const trace::Event& event) override;

    [[nodiscard]] lib::Result<void, Failure> finish(const trace::TraceFacts& facts) override;

  private:
    static constexpr std::size_t kNamesRoom = 4096; // ticks before the first event, for names other than those of tasks

    void write_header(const Survey& survey);
    void write_metadata(const Survey& survey);
    template <typename Payload>
    void write_payload(std::uint8_t code, const Payload& payload, std::string_view text = {});
    void write_name(std::uint16_t context, std::uint16_t cpu, std::uint64_t ticks, std::string_view name);
    void add_ours(const trace::Event& event);
    void add_foreign(const trace::Event& event);
    void add_object(const trace::Event& event);
    void add_switch(const trace::Event& event);
    [[nodiscard]] std::string_view text_of(const trace::Event& event);
    void put(std::uint16_t cpu, std::uint64_t ticks, const formats::kev::Foreign& foreign);

    OutputFile& m_file;
    KevSlots m_slots;
    std::vector<std::uint32_t> m_pids; // by context
    std::vector<std::uint32_t> m_words;
    std::uint64_t m_metadata_ticks = 0;
    bool m_ours = true;
    std::array<std::uint64_t, formats::kev::kProcessorsMax> m_newest{}; // ticks of the newest event of ours
    std::map<std::uint16_t, std::uint16_t> m_running;                   // contexts by processor, of another system
    EventWords m_event_words;
    std::string m_text;
};

} // namespace host::convert::records
