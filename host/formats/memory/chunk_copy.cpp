// SPDX-License-Identifier: MIT
#include "host/formats/memory/chunk_copy.hpp"

#include "host/formats/dat/plain_record.hpp"
#include "tracer/compact/decoder.hpp"
#include "tracer/older_half.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace host::formats::memory {

namespace {

using Bytes = std::span<const std::byte>;
using tracer::kRecordBytes;

// Adds the records of a stream after the first `skipped` of them to `out`, unless it is null. The number of records of
// the stream; the fault if it does not hold.
lib::Result<std::uint64_t, trace::Refusal> decode_stream(Bytes stream, std::uint64_t skipped,
                                                         std::vector<std::byte>* out) {
    tracer::compact::Decoder decoder(stream.size());
    std::uint64_t records = 0;
    while (decoder.next(stream.subspan(decoder.offset())) == tracer::compact::Decoder::Step::records) {
        for (const tracer::Record& record : decoder.records()) {
            if (records++ >= skipped && out != nullptr) {
                out->resize(out->size() + kRecordBytes);
                tracer::encode_record(record, std::span(*out).last(kRecordBytes));
            }
        }
    }
    if (decoder.fault() != tracer::compact::Fault::none) {
        return trace::Refusal{
            fmt::format("{} at {} of {} bytes", fault_text(decoder.fault()), decoder.offset(), stream.size())};
    }
    return records;
}

// The offset of the first record that no machine writes: without a code, with reserved bits, or with a stamp that
// falls.
std::optional<std::size_t> first_invalid(Bytes records) {
    std::uint64_t before = 0;
    for (std::size_t at = 0; at < records.size(); at += kRecordBytes) {
        const tracer::Record record = tracer::decode_record(records.subspan(at, kRecordBytes));
        const std::uint64_t stamp = record.stamp().value;
        if (record.empty() || (record.code & dat::kBitsWithoutMeaning) != 0 || stamp < before) {
            return at;
        }
        before = stamp;
    }
    return std::nullopt;
}

// Drops what is before `offset` of an area of which `records` begins at `begin`, and slots of a long event whose first
// ones are gone.
void drop_before(std::size_t offset, std::size_t begin, std::vector<std::byte>& records) {
    std::size_t dropped = offset > begin ? std::min(offset - begin, records.size()) : 0;
    dropped += tracer::first_event(Bytes(records).subspan(dropped));
    records.erase(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(dropped));
}

} // namespace

ChunkCopier::Outcome ChunkCopier::refuse(std::string text) {
    m_why = std::move(text);
    return Outcome::refused;
}

// Nothing if the chunk has been used anew since.
std::optional<ChunkHead> ChunkCopier::head_again(const ChunkHead& head) {
    const auto again = m_box.head(head.number);
    return again && again.value() && again.value()->continues(head) ? again.value() : std::nullopt;
}

lib::Result<const ChunkCopy*, trace::Refusal> ChunkCopier::copy(std::uint32_t index, const ChunkPlace& from,
                                                                Streams streams) {
    std::string torn;
    for (int tries = 0; tries < kTriesMax; ++tries) {
        const auto head = m_box.head(index);
        if (!head) {
            torn = head.error().text; // perhaps it is being changed
            continue;
        }
        if (!head.value()) {
            return nullptr;
        }
        torn.clear();
        if (m_meanwhile) {
            m_meanwhile();
        }
        switch (copy_once(*head.value(), from, streams)) {
        case Outcome::copied:
            return &m_copy;
        case Outcome::overtaken:
            break;
        case Outcome::refused:
            return trace::Refusal{m_why};
        }
    }
    return trace::Refusal{
        torn.empty() ? fmt::format("the machine overwrites it faster than it can be copied ({} tries)", kTriesMax)
                     : torn};
}

ChunkCopier::Outcome ChunkCopier::copy_once(const ChunkHead& head, ChunkPlace from, Streams streams) {
    if (from.uses != head.uses) {
        from = {};
    }
    m_copy = {.head = head,
              .place = {.uses = head.uses,
                        .word = head.word,
                        .end_bytes = head.end(),
                        .emergency_end = head.emergency_position(),
                        .last_stamp = from.last_stamp}};
    if (from.emergency_end < head.emergency_position()) {
        m_copy.emergency.resize(head.emergency_position() - from.emergency_end);
        if (!m_box.image().read(head.emergency_data + from.emergency_end, m_copy.emergency)) {
            return refuse("its emergency area is not in the file");
        }
    }
    const Outcome outcome = head.compact() || head.compressed ? copy_stream(head, from.end_bytes, streams)
                                                              : copy_plain(head, from.end_bytes);
    return outcome == Outcome::copied ? verify() : outcome;
}

ChunkCopier::Outcome ChunkCopier::copy_plain(const ChunkHead& head, std::uint64_t from_bytes) {
    const std::uint64_t lap = head.lap();
    const std::uint64_t lap_begin = head.lap_base[lap & 1];
    // Of the previous lap, whose length is among the figures of the present one.
    const std::uint64_t older_end = lap != 0 ? head.lap_end[lap & 1] : 0;
    const std::uint64_t older_base = lap_begin - older_end;
    const std::uint64_t older_from = std::max<std::uint64_t>(from_bytes > older_base ? from_bytes - older_base : 0,
                                                             tracer::scratch_end(head.word, head.scribbled));
    m_older.resize(older_from < older_end ? older_end - older_from : 0);
    const std::uint64_t newer_from =
        std::min<std::uint64_t>(from_bytes > lap_begin ? from_bytes - lap_begin : 0, head.position());
    m_copy.records.resize(head.position() - newer_from);
    if (!m_box.image().read(head.data + older_from, m_older) ||
        !m_box.image().read(head.data + newer_from, m_copy.records)) {
        return refuse("its records are not in the file");
    }
    const auto again = head_again(head);
    if (!again || again->lap() > lap + 1) {
        return Outcome::overtaken;
    }
    const std::size_t scratch = tracer::scratch_end(again->word, again->scribbled);
    if (again->lap() == lap) {
        drop_before(scratch, older_from, m_older);
        m_older.insert(m_older.end(), m_copy.records.begin(), m_copy.records.end());
        m_copy.records.swap(m_older);
    } else {
        drop_before(scratch, newer_from, m_copy.records);
    }
    const std::uint64_t oldest = head.end() - std::min<std::uint64_t>(head.end(), m_copy.records.size());
    m_copy.lost = oldest > from_bytes ? (oldest - from_bytes) / kRecordBytes : 0;
    return Outcome::copied;
}

ChunkCopier::Outcome ChunkCopier::copy_stream(const ChunkHead& head, std::uint64_t from_bytes, Streams streams) {
    const std::size_t size = head.compressed ? head.stream_bytes : head.position();
    std::vector<std::byte>& stream = streams == Streams::kept ? m_copy.records : m_older;
    stream.assign((size + kRecordBytes - 1) / kRecordBytes * kRecordBytes, std::byte{0});
    if (!m_box.image().read(head.data, std::span(stream).first(size))) {
        return refuse("its stream is not in the file");
    }
    if (!head_again(head)) {
        return Outcome::overtaken;
    }
    // The records that a compressed chunk had lost before it was compressed.
    const std::uint64_t before = head.compressed ? head.overwritten : 0;
    const std::uint64_t from = from_bytes / kRecordBytes;
    const auto decoded = decode_stream(Bytes(stream).first(size), from > before ? from - before : 0,
                                       streams == Streams::kept ? nullptr : &m_copy.records);
    if (!decoded) {
        return refuse(decoded.error().text);
    }
    m_copy.place.end_bytes = (before + decoded.value()) * kRecordBytes;
    m_copy.lost = before > from ? before - from : 0;
    if (streams == Streams::kept) {
        m_copy.compact = true;
        m_copy.stream_bytes = static_cast<std::uint32_t>(size);
        m_copy.stream_records = decoded.value();
        const auto layout = stream.size() > 5 ? std::to_integer<std::uint8_t>(stream[5]) : std::uint8_t{0};
        m_copy.layout = layout;
        if (const auto stamp = tracer::compact::first_stamp(Bytes(stream).first(size))) {
            m_copy.stamp = stamp.value();
        }
    }
    return Outcome::copied;
}

// What was copied is a sequence of records; the first stamp is known.
ChunkCopier::Outcome ChunkCopier::verify() {
    const auto check = [this](Bytes records, std::string_view area) {
        if (const auto at = first_invalid(records)) {
            static_cast<void>(refuse(fmt::format("{} record {} of {} copied is none that the tracer writes", area,
                                                 *at / kRecordBytes, records.size() / kRecordBytes)));
            return false;
        }
        if (!records.empty() && !m_copy.stamp) {
            m_copy.stamp = tracer::decode_record(records).stamp();
        }
        if (!records.empty()) {
            const lib::Ticks last = tracer::decode_record(records.last(kRecordBytes)).stamp();
            m_copy.place.last_stamp = std::max(m_copy.place.last_stamp, last.value);
        }
        return true;
    };
    const Bytes main = m_copy.compact ? Bytes() : Bytes(m_copy.records);
    return check(main, "main") && check(m_copy.emergency, "emergency") ? Outcome::copied : Outcome::refused;
}

} // namespace host::formats::memory
