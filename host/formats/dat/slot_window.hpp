// SPDX-License-Identifier: MIT
// Slots at any offset of a source, one by one: where chunks and damaged places are looked for, few slots are looked at
// twice, and those close to each other. The first read of a source brings a page: of most chunks of a session no more
// than the head is looked at.
#pragma once

#include "host/trace/byte_source.hpp"
#include "tracer/record/record.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace host::formats::dat {

class SlotWindow {
  public:
    SlotWindow() = default; // of nothing: begin() first

    // source outlives the window, or its use of it. end_bytes: no slot reaches beyond it.
    SlotWindow(trace::ByteSource& source, std::uint64_t end_bytes) { begin(source, end_bytes); }

    // Another source, in the same memory.
    void begin(trace::ByteSource& source, std::uint64_t end_bytes) {
        m_source = &source;
        m_end = end_bytes;
        m_begin = 0;
        m_filled = 0;
        m_failed = false;
        m_wanted = kFirstBytes;
    }

    [[nodiscard]] trace::ByteSource& source() const { return *m_source; }

    [[nodiscard]] std::uint64_t end_bytes() const { return m_end; }

    // Nothing beyond the end, or if the source cannot be read.
    [[nodiscard]] std::optional<tracer::Record> at(std::uint64_t offset) {
        if (offset + tracer::kRecordBytes > m_end) {
            return std::nullopt;
        }
        if (offset < m_begin || offset + tracer::kRecordBytes > m_begin + m_filled) {
            m_begin = offset - std::min(offset, kBackBytes);
            const auto wanted = static_cast<std::size_t>(
                std::min<std::uint64_t>(std::exchange(m_wanted, trace::ByteSource::kBufferBytes), m_end - m_begin));
            if (m_buffer.size() < wanted) {
                m_buffer.resize(wanted);
            }
            const auto count = m_source->read(m_begin, std::span(m_buffer).first(wanted));
            m_failed = m_failed || !count;
            m_filled = count ? count.value() : 0;
            if (offset + tracer::kRecordBytes > m_begin + m_filled) {
                return std::nullopt;
            }
        }
        return tracer::decode_record(std::span(m_buffer).subspan(offset - m_begin, tracer::kRecordBytes));
    }

    // What the window holds from this slot on, whole slots: after at() has returned it.
    [[nodiscard]] std::span<const std::byte> from(std::uint64_t offset) const {
        const std::span<const std::byte> held = std::span(m_buffer).first(m_filled).subspan(offset - m_begin);
        return held.first(held.size() / tracer::kRecordBytes * tracer::kRecordBytes);
    }

    [[nodiscard]] bool failed() const { return m_failed; }

  private:
    static constexpr std::uint64_t kBackBytes =
        64 * tracer::kRecordBytes; // kept before a slot: it may be looked at too

    static constexpr std::size_t kFirstBytes = 4096;

    trace::ByteSource* m_source = nullptr;
    std::uint64_t m_end = 0;
    std::vector<std::byte> m_buffer;
    std::uint64_t m_begin = 0;
    std::size_t m_filled = 0;
    std::size_t m_wanted = kFirstBytes; // by the next read
    bool m_failed = false;
};

} // namespace host::formats::dat
