// SPDX-License-Identifier: MIT
// Refilling the buffer: what is left of a slot moves to its beginning.
#include "host/formats/dat/slot_reader.hpp"

#include "lib/assert.hpp"

#include <algorithm>
#include <utility>

namespace host::formats::dat {

SlotReader::SlotReader(SlotSource source, std::uint64_t begin_bytes, std::uint64_t end_bytes, SlotBuffer memory)
    : m_source(std::move(source))
    , m_end(end_bytes)
    , m_buffer_offset(begin_bytes)
    , m_memory(std::move(memory)) {
    ASSERT(begin_bytes <= end_bytes);
    const std::size_t size =
        std::clamp<std::uint64_t>(end_bytes - begin_bytes, tracer::kRecordBytes, m_source.buffer_bytes);
    m_memory.reserve(size);
    m_buffer = m_memory.first(size);
}

lib::Result<std::size_t> SlotReader::read(std::uint64_t offset_bytes, std::span<std::byte> out) {
    if (m_source.bytes != nullptr) {
        return m_source.bytes->read(offset_bytes, out);
    }
    const auto file = trace::ByteSource::open_file(m_source.path);
    return file ? file.value()->read(offset_bytes, out) : lib::Result<std::size_t>(file.error());
}

// What was taken since the last call.
void SlotReader::add_to_sum() {
    const std::uint64_t taken = std::min(m_buffer_offset + m_position, m_sum_end);
    if (m_sum && taken > m_summed_to) {
        m_sum->add(m_buffer.subspan(m_summed_to - m_buffer_offset, taken - m_summed_to));
        m_summed_to = taken;
    }
}

std::optional<std::uint32_t> SlotReader::end_sum() {
    add_to_sum();
    const std::optional<ChunkSum> sum = std::exchange(m_sum, std::nullopt);
    return sum && m_summed_to == m_sum_end ? std::optional(sum->value()) : std::nullopt;
}

bool SlotReader::refill() {
    if (m_failed) {
        return false;
    }
    add_to_sum();
    const std::size_t kept = m_filled - m_position;
    std::ranges::copy(m_buffer.first(m_filled).subspan(m_position), m_buffer.begin());
    m_buffer_offset += m_position;
    m_position = 0;
    m_filled = kept;
    const std::uint64_t read_at = m_buffer_offset + kept;
    const std::uint64_t left = m_end > read_at ? m_end - read_at : 0;
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left, m_buffer.size() - kept));
    const auto count = read(read_at, m_buffer.subspan(kept, wanted));
    if (!count) {
        m_failed = true;
        return false;
    }
    m_filled += count.value();
    m_shrunk = m_shrunk || (is_seekable() && m_end != kToTheEnd && count.value() < wanted);
    return m_filled >= tracer::kRecordBytes;
}

} // namespace host::formats::dat
