// SPDX-License-Identifier: MIT
#include "host/formats/dat/compact_slots.hpp"

#include "host/trace/checksum.hpp"
#include "lib/endian.hpp"

#include <algorithm>
#include <array>

namespace host::formats::dat {

namespace {

constexpr std::size_t kWindowBytes = 4 * tracer::compact::Decoder::kLookaheadBytes;

} // namespace

bool CompactSlots::take_slot(SlotReader& reader) {
    tracer::Record piece;
    if (m_slots_left == 0 || !reader.next(piece)) {
        return false;
    }
    --m_slots_left;
    ++m_slots_read;
    m_window.resize(m_window.size() + tracer::kRecordBytes);
    tracer::encode_record(piece, std::span(m_window).last(tracer::kRecordBytes));
    return true;
}

void CompactSlots::skip(SlotReader& reader) {
    do {
        m_window.clear();
    } while (take_slot(reader));
}

bool CompactSlots::next(SlotReader& reader, tracer::Record& record, std::uint64_t& offset_bytes) {
    using Step = tracer::compact::Decoder::Step;
    if (!std::exchange(m_begun, true)) {
        m_file_offset = reader.offset_bytes();
    }
    while (m_next_record == m_decoder.records().size()) {
        const std::size_t used = m_decoder.offset() - m_window_begin;
        if (m_window.size() - used < tracer::compact::Decoder::kLookaheadBytes && m_slots_left != 0) {
            m_window.erase(m_window.begin(), m_window.begin() + static_cast<std::ptrdiff_t>(used));
            m_window_begin = m_decoder.offset();
            while (m_window.size() < kWindowBytes && take_slot(reader)) {
            }
        }
        const std::size_t at = m_decoder.offset() - m_window_begin;
        m_event_offset = m_decoder.offset();
        m_next_record = 0;
        if (m_decoder.next(std::span<const std::byte>(m_window).subspan(at)) != Step::records) {
            skip(reader); // the rest of the stream cannot be decoded
            m_window_begin = m_decoder.offset();
            return false;
        }
    }
    record = m_decoder.records()[m_next_record++];
    offset_bytes = m_file_offset + m_event_offset;
    return true;
}

bool compact_checksum_holds(trace::ByteSource& source, std::uint64_t offset_bytes, std::uint64_t stream_bytes) {
    using namespace tracer::compact; // NOLINT(google-build-using-namespace): one function about one thing
    std::array<std::byte, kHeaderBytes> head{};
    const auto count = source.read(offset_bytes, head);
    const std::span<const std::byte> view = head;
    const bool sealed = count && count.value() == head.size() && lib::load_le<std::uint32_t>(view) == kMagic &&
                        (std::to_integer<std::uint8_t>(view[6]) & kFlagSealed) != 0 &&
                        lib::load_le<std::uint32_t>(view.subspan(16)) == stream_bytes;
    if (!sealed || stream_bytes < head.size()) {
        return true;
    }
    std::uint32_t crc = trace::checksum(view.first(kChecksumAt));
    std::vector<std::byte> buffer(trace::ByteSource::kBufferBytes);
    for (std::uint64_t at = head.size(); at < stream_bytes;) {
        const auto piece = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), stream_bytes - at));
        const auto got = source.read(offset_bytes + at, piece);
        if (!got || got.value() != piece.size()) {
            return true; // it is cut: the decoder reports where
        }
        crc = trace::checksum(piece, crc);
        at += piece.size();
    }
    return crc == lib::load_le<std::uint32_t>(view.subspan(kChecksumAt));
}

} // namespace host::formats::dat
