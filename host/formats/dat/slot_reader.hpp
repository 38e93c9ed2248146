// SPDX-License-Identifier: MIT
// Reads the 16-byte slots of a part of a source one after the other. Memory is one buffer per open reader, whatever the
// size of the input.
#pragma once

#include "host/formats/dat/chunk_sum.hpp"
#include "host/formats/dat/reader_memory.hpp"
#include "host/trace/byte_source.hpp"
#include "tracer/record/record.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace host::formats::dat {

// What is read, and how.
struct SlotSource {
    std::shared_ptr<trace::ByteSource> bytes; // null: the file is opened for each read, and no descriptor is held
    std::string path{};
    std::size_t buffer_bytes = trace::ByteSource::kBufferBytes; // at most, one slot at least
};

// Walks over the 16-byte slots of [begin, end) of a source.
class SlotReader {
  public:
    static constexpr std::uint64_t kToTheEnd = ~std::uint64_t{0};

    // memory: what an earlier reader left, if any.
    SlotReader(SlotSource source, std::uint64_t begin_bytes, std::uint64_t end_bytes, SlotBuffer memory = {});

    // Nothing may be read any more.
    [[nodiscard]] SlotBuffer take_memory() { return std::move(m_memory); }

    // False at the end, or once a read failed.
    [[nodiscard]] bool next(tracer::Record& record) {
        if (m_position + tracer::kRecordBytes > m_filled && !refill()) {
            return false;
        }
        record = tracer::decode_record(m_buffer.subspan(m_position, tracer::kRecordBytes));
        m_position += tracer::kRecordBytes;
        return true;
    }

    // The slot that next() would take. Nothing at the end; of a pipe neither where it is still to come.
    [[nodiscard]] std::optional<tracer::Record> peek() {
        if (m_position + tracer::kRecordBytes > m_filled && (!is_seekable() || !refill())) {
            return std::nullopt;
        }
        return tracer::decode_record(m_buffer.subspan(m_position, tracer::kRecordBytes));
    }

    // The whole slots in the buffer; skip() takes them.
    [[nodiscard]] std::span<const std::byte> buffered() const {
        return m_buffer.subspan(m_position, (m_filled - m_position) / tracer::kRecordBytes * tracer::kRecordBytes);
    }

    void skip(std::size_t slots) { m_position += slots * tracer::kRecordBytes; }

    // From the next slot on, up to end_bytes, what is taken is added to the sum.
    void begin_sum(const ChunkSum& sum, std::uint64_t end_bytes) {
        m_sum = sum;
        m_summed_to = m_buffer_offset + m_position;
        m_sum_end = end_bytes;
    }

    // The sum of the bytes, if all of them were taken; and no more is added. Nothing too if begin_sum() was not called.
    [[nodiscard]] std::optional<std::uint32_t> end_sum();

    // No pipe.
    [[nodiscard]] bool is_seekable() const { return m_source.bytes == nullptr || m_source.bytes->seekable(); }

    // Of the next slot, from the start of the file.
    [[nodiscard]] std::uint64_t offset_bytes() const { return m_buffer_offset + m_position; }

    // Bytes after the last whole slot; meaningful once next() was false.
    [[nodiscard]] std::size_t tail_bytes() const { return m_filled - m_position; }

    [[nodiscard]] bool failed() const { return m_failed; }

    // The file ended before `end_bytes`: it was cut after its size was read.
    [[nodiscard]] bool shrunk() const { return m_shrunk; }

  private:
    bool refill();
    void add_to_sum();
    [[nodiscard]] lib::Result<std::size_t> read(std::uint64_t offset_bytes, std::span<std::byte> out);

    SlotSource m_source;
    std::uint64_t m_end;
    std::uint64_t m_buffer_offset;
    SlotBuffer m_memory;
    std::span<std::byte> m_buffer;
    std::size_t m_position = 0;
    std::size_t m_filled = 0;
    std::optional<ChunkSum> m_sum;
    std::uint64_t m_summed_to = 0; // offset in the source
    std::uint64_t m_sum_end = 0;
    bool m_failed = false;
    bool m_shrunk = false;
};

} // namespace host::formats::dat
