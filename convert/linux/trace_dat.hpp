// SPDX-License-Identifier: MIT
// Writes the parts of a trace.dat file: the pages of a ring buffer, and the texts that describe events.
#pragma once

#include "host/trace/byte_source.hpp"
#include "host/trace/names.hpp"
#include "tracer/record/event_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::convert::linux {

// Writes the events of one processor as pages of a Linux ring buffer, which a trace.dat file contains. Source: the
// kernel's documentation (trace/ring-buffer-design) and its files events/header_page and header_event.
//
//   page, 4096 bytes:  u64 time | u64 commit: bytes of data, and flags | data ... | u64 lost, if the flags say so
//   event:             u32 type_len (5 bits), delta in ns (27 bits) | data in words of four bytes
//   time extend:       u32 type_len 30, low 27 bits of a delta      | u32 its high bits
class RingPages {
  public:
    static constexpr std::size_t kPageBytes = 4096;
    static constexpr std::size_t kDataBytesMax = 2048; // of one event

    RingPages()
        : m_buffer(kPagesPerWrite * kPageBytes) {}

    // This many bytes after an event may be overwritten until the next call of a member.
    static constexpr std::size_t kSlackBytes = 8;

    // Adds an event and returns the position of its data. bytes: a multiple of four, at most kDataBytesMax. A time
    // below the last one is raised to it, and counted.
    [[nodiscard]] char* event(std::uint64_t time_ns, std::size_t bytes) {
        const std::uint64_t delta = time_ns - m_time; // more than kDeltaMax if the time falls
        if (m_filled == 0 || delta > kDeltaMax || bytes > kShortMax || !fits(kShortHeadBytes + bytes)) [[unlikely]] {
            return any_event(time_ns, bytes);
        }
        m_time = time_ns;
        char* const at = page() + m_filled;
        store(at, static_cast<std::uint32_t>(bytes / 4 | delta << kTypeBits));
        m_filled += kShortHeadBytes + bytes;
        return at + kShortHeadBytes;
    }

    // Reports that `records` records are missing before the next event.
    void lost(std::uint64_t records);

    // Ends the pages and returns them; null if there was no event. io, no_space: of the file that stores the pages
    // until then.
    [[nodiscard]] lib::Result<std::shared_ptr<trace::ByteSource>> finish(std::uint64_t& bytes);

    [[nodiscard]] std::uint64_t raised() const { return m_raised; }

    // Returns the time of the last event.
    [[nodiscard]] std::uint64_t time_ns() const { return m_time; }

    // Returns how many records were reported as missing.
    [[nodiscard]] std::uint64_t lost_records() const { return m_lost_total; }

  private:
    static constexpr std::size_t kHeadBytes = 16;
    static constexpr std::size_t kPagesPerWrite = 64;
    static constexpr std::size_t kCountBytes = 8;
    static constexpr std::size_t kExtendBytes = 8;
    static_assert(kSlackBytes <= kCountBytes, "fits() keeps that free");
    static constexpr std::size_t kShortHeadBytes = 4;
    static constexpr std::size_t kShortMax = std::size_t{28} * 4; // largest data whose size is in the head of an event
    static constexpr unsigned kTypeBits = 5;
    static constexpr unsigned kDeltaBits = 27;
    static constexpr std::uint64_t kDeltaMax = (std::uint64_t{1} << kDeltaBits) - 1;

    template <typename T>
    static void store(char* at, T value) {
        std::memcpy(at, &value, sizeof(value));
    }

    [[nodiscard]] char* page() { return m_buffer.data() + m_page * kPageBytes; }

    // Returns whether the bytes fit on the page, with all that an event may need beside them.
    [[nodiscard]] bool fits(std::size_t bytes) const {
        return m_filled + kExtendBytes + bytes + kCountBytes <= kPageBytes;
    }

    [[nodiscard]] char* any_event(std::uint64_t time_ns, std::size_t bytes);

    void open_page(std::uint64_t time_ns);
    void close_page();
    void write_out();

    std::vector<char> m_buffer;
    std::size_t m_page = 0;   // in the buffer
    std::size_t m_filled = 0; // bytes of the page; 0 if it has not begun
    std::uint64_t m_time = 0;
    std::uint64_t m_lost = 0; // before the page
    std::uint64_t m_lost_total = 0;
    std::uint64_t m_raised = 0;
    trace::Spool m_spool;
    bool m_spooled = false;
    lib::Result<void> m_written{};
};

} // namespace host::convert::linux

namespace host::convert::linux::tracefs {

// Linux describes a traced event by a text (events/SYSTEM/EVENT/format in tracefs), which has its fields with their
// positions, and how to print them. A trace.dat file has one for each of its events.

// Every event begins with u16 type, u8 flags, u8 preempt count, i32 pid.
inline constexpr std::size_t kCommonBytes = 8;

inline constexpr std::uint8_t kFlagHardInterrupt = 0x08;

struct Field {
    std::string_view declaration; // `int prev_prio`; a text at another position: `__data_loc char[] name`
    std::size_t bytes;
    bool is_signed;
};

// print: the text after `print fmt: `, in the language of these files.
[[nodiscard]] std::string format(std::string_view name, std::uint32_t id, const std::vector<Field>& fields,
                                 std::string_view print);

// Returns the text for a record, with the parameters that the row uses, as u32.
[[nodiscard]] std::string record_format(const tracer::EventRow& row, std::uint32_t id, std::string_view par1_names,
                                        std::string_view par2_names);

// Returns a name that these files can have: letters, digits and underscores, not empty.
[[nodiscard]] std::string plain_name(std::string_view text_untrusted);

extern const std::string_view kHeaderPage;
extern const std::string_view kHeaderEvent;

} // namespace host::convert::linux::tracefs

namespace host::convert::linux::kernelshark {

// Our trace.dat files have these events, with these numbers and format texts.

// Numbers of event formats. That of a record is kRecordId + code.
inline constexpr std::uint32_t kSwitchId = 100;
inline constexpr std::uint32_t kWakingId = 101;
inline constexpr std::uint32_t kIrqEntryId = 102;
inline constexpr std::uint32_t kIrqExitId = 103;
inline constexpr std::uint32_t kPrioId = 104;
inline constexpr std::uint32_t kDamagedId = 110;
inline constexpr std::uint32_t kLostId = 111;
inline constexpr std::uint32_t kOtherId = 112;
inline constexpr std::uint32_t kRecordId = 200;
inline constexpr std::uint32_t kFirstTextId = 500;
inline constexpr std::uint32_t kIdMax = 0xFFFF;

inline constexpr std::size_t kCommBytes = 16; // as in the kernel; longer names of tasks are cut

[[nodiscard]] std::vector<std::string> scheduler_formats();
[[nodiscard]] std::vector<std::string> interrupt_formats();

// Returns the texts for our events: those of the table, and those that were found in the trace, with their ids.
[[nodiscard]] std::vector<std::string> own_formats(const trace::Names& names,
                                                   const std::map<std::string, std::uint32_t>& found);

} // namespace host::convert::linux::kernelshark
