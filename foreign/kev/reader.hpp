// SPDX-License-Identifier: MIT
// Reads the events of a .kev file in the order in which they were completed, with their 64-bit times. It reads the
// header, the system page and then slot by slot, so the input may be a pipe. Damage is reported, and the rest of a
// damaged event is returned with its state. Memory: one buffer, the open events, and kQueueMax events that wait for
// their time.
#pragma once

#include "foreign/kev/assembler.hpp"
#include "foreign/kev/header.hpp"
#include "foreign/kev/slot.hpp"
#include "foreign/kev/time_line.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/event.hpp"
#include "host/trace/event_stream.hpp"
#include "lib/result.hpp"

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::formats::kev {

struct RawEvent {
    std::uint32_t header = 0; // of the first slot, or of an orphan
    std::uint32_t stamp = 0;
    std::uint64_t slot = 0; // number of that slot in the file, from 0
    std::uint64_t ticks = 0;
    trace::EventState state = trace::EventState::ok;
    std::array<std::uint32_t, kWordsPerSlot> pair{};
    std::uint64_t missing_buffers = 0;   // before it
    std::vector<std::uint32_t> longer{}; // used instead of `pair` for an event of several slots

    [[nodiscard]] std::span<const std::uint32_t> words() const {
        return longer.empty() ? std::span<const std::uint32_t>(pair) : std::span<const std::uint32_t>(longer);
    }
};

class Reader {
  public:
    static constexpr std::size_t kBufferBytes = 64 * 1024;
    static constexpr std::size_t kQueueMax = 4096;

    // Reads up to the first slot. Errors are reported to diagnostics, which must outlive the reader.
    [[nodiscard]] static lib::Result<std::unique_ptr<Reader>, HeaderError>
    open(const trace::NamedSource& input, trace::Diagnostics& diagnostics, const trace::OpenOptions& options = {});

    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;

    // Returns the next event; false at the end.
    [[nodiscard]] bool next(RawEvent& event);

    [[nodiscard]] const Header& header() const { return m_header; }

    [[nodiscard]] std::span<const std::byte> syspage() const { return m_syspage; }

    // Returns how many slots were read so far.
    [[nodiscard]] std::uint64_t slots() const { return m_slots; }

    // Returns how many buffers are missing at least; their numbers restart after kBufferModulus.
    [[nodiscard]] std::uint64_t missing_buffers() const { return m_missing_buffers; }

    [[nodiscard]] std::uint64_t offset_of(std::uint64_t slot) const { return m_first_slot + slot * kSlotBytes; }

  private:
    struct Queued {
        RawEvent event;
        Stamp stamp;
    };

    Reader(const trace::NamedSource& input, trace::Diagnostics& diagnostics, const trace::OpenOptions& options);

    [[nodiscard]] bool must_stop() const { return m_strict && m_diagnostics.damages() != m_damages; }

    [[nodiscard]] lib::Result<void, HeaderError> read_header();
    [[nodiscard]] lib::Result<void, HeaderError> read_syspage();
    [[nodiscard]] HeaderError header_error(HeaderError error, std::uint64_t offset_bytes, std::string_view text);
    [[nodiscard]] bool read_more(std::size_t bytes);
    [[nodiscard]] bool read_slot();
    void take(const Slot& slot);
    void take_part(const Slot& slot, const Stamp& stamp);
    void take_buffer(const Slot& slot);
    void check(const Slot& slot);
    void report_guess(std::uint8_t cpu);
    void take_time(const Time& time, RawEvent& event);
    void finish();
    void emit(Assembled&& event, trace::EventState state);
    void emit(const Slot& slot, trace::EventState state, const Stamp& stamp);
    void give_up(Assembled&& event, std::string_view reason);
    void give_up_all(std::string_view reason);
    void report(trace::Code code, std::uint64_t slot, std::uint8_t cpu, std::string_view text);

    std::string m_name;
    std::shared_ptr<trace::ByteSource> m_source;
    trace::Diagnostics& m_diagnostics;
    Header m_header;
    std::vector<std::byte> m_syspage;

    std::vector<std::byte> m_buffer;
    std::size_t m_position = 0;
    std::size_t m_filled = 0;
    std::uint64_t m_read_offset = 0; // of the next byte to be read from the source
    std::uint64_t m_first_slot = 0;  // offset of the first slot

    Assembler m_assembler;
    TimeLine m_time_line;
    std::map<std::uint64_t, Stamp> m_open_stamps; // of the open events, by the number of their first slot
    std::deque<Queued> m_queue;
    std::size_t m_queued_words = 0;
    std::uint64_t m_slots = 0;
    std::optional<std::uint32_t> m_buffer_number;
    std::uint64_t m_missing_buffers = 0;
    std::bitset<32> m_unknown_reported; // by class
    std::bitset<kProcessorsMax> m_processor_reported;
    std::bitset<kProcessorsMax> m_guess_reported;
    bool m_reserved_reported = false;
    bool m_strict;
    bool m_salvage;
    std::uint64_t m_damages;                              // reported before reading began
    std::array<std::uint64_t, kProcessorsMax> m_newest{}; // greatest ticks of a returned event
    bool m_finished = false;
};

// Sorts the events of a reader by time within a window: the earliest of kWindowEvents events is next. An event that was
// written later than that stays in the order of the file.

class Window {
  public:
    static constexpr std::size_t kWindowEvents = 4096;

    // The reader must outlive the window.
    explicit Window(Reader& reader)
        : m_reader(reader) {}

    // Returns the next event; false at the end.
    [[nodiscard]] bool next(RawEvent& event);

  private:
    struct Key {
        std::uint64_t ticks = 0;
        std::uint64_t order = 0; // of completion
        std::size_t index = 0;   // in m_pool
    };

    void fill();

    Reader& m_reader;
    std::vector<RawEvent> m_pool; // the events in the window, and free entries
    std::vector<std::size_t> m_free;
    std::vector<Key> m_heap; // the earliest on top
    std::size_t m_words = 0;
    std::uint64_t m_order = 0;
    bool m_read_all = false;
};

} // namespace host::formats::kev
