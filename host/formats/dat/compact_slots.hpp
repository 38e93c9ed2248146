// SPDX-License-Identifier: MIT
// The records of a compact stream, taken piece by piece from the slots that contain it. Memory is a window of a few
// kilobytes and the decoder's state, whatever the size of the chunk; works on pipes, too.
#pragma once

#include "host/formats/dat/slot_reader.hpp"
#include "host/trace/byte_source.hpp"
#include "tracer/compact/decoder.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace host::formats::dat {

class CompactSlots {
  public:
    explicit CompactSlots(std::uint64_t stream_bytes)
        : m_slots((stream_bytes + tracer::kRecordBytes - 1) / tracer::kRecordBytes)
        , m_slots_left(m_slots) {
        m_decoder.restart(stream_bytes);
    }

    CompactSlots(const CompactSlots&) = delete;
    CompactSlots& operator=(const CompactSlots&) = delete;

    // The next record, and the offset of its event in the file. False after the last one, or at a fault; the reader is
    // then after the stream, or at the end of the file.
    [[nodiscard]] bool next(SlotReader& reader, tracer::Record& record, std::uint64_t& offset_bytes);

    // Takes the rest of the stream from the reader, undecoded.
    void skip(SlotReader& reader);

    // In the stream, padding included.
    [[nodiscard]] std::uint64_t slots() const { return m_slots; }

    // How many slots were taken from the reader since this was asked last.
    [[nodiscard]] std::uint64_t take_slots_read() { return std::exchange(m_slots_read, 0); }

    [[nodiscard]] tracer::compact::Fault fault() const { return m_decoder.fault(); }

    [[nodiscard]] std::uint64_t fault_offset_bytes() const { return m_file_offset + m_decoder.offset(); }

    // Whether the fault was reported before; the caller reports it if not.
    [[nodiscard]] bool already_reported() { return std::exchange(m_reported, true); }

  private:
    bool take_slot(SlotReader& reader);

    tracer::compact::Decoder m_decoder;
    std::vector<std::byte> m_window;
    std::uint64_t m_window_begin = 0; // offset of the window in the stream
    std::uint64_t m_file_offset = 0;  // of the stream in the file
    std::uint64_t m_event_offset = 0; // in the stream
    std::uint64_t m_slots;
    std::uint64_t m_slots_left;
    std::uint64_t m_slots_read = 0;
    std::size_t m_next_record = 0; // of the decoder's
    bool m_begun = false;
    bool m_reported = false;
};

// The stream is not sealed, does not reach its checksum, or has the right one. Reads it once, in pieces.
[[nodiscard]] bool compact_checksum_holds(trace::ByteSource& source, std::uint64_t offset_bytes,
                                          std::uint64_t stream_bytes);

} // namespace host::formats::dat
