// SPDX-License-Identifier: MIT
#include "tracer/compact/encoder.hpp"

#include "lib/crc32c.hpp"
#include "tracer/compact/event_walk.hpp"

namespace tracer::compact {

namespace {

constexpr unsigned kProbes = 8;

} // namespace

void Encoder::begin(Layout layout) {
    m_row = row_of(layout);
    m_large_header = static_cast<std::uint32_t>(large_header_bytes(m_row, 0));
    m_records = 0;
    m_predicted_by_two = 0;
    m_predicted_by_one = 0;
    m_recall_one = kNoId;
    m_recall_two = kNoId;
    m_bytes = 0;
    m_last = 0;
    m_turn = 0;
    m_any = false;
    m_recalls = m_row.has_compact_headers();
    m_map.clear(layout);
    m_recall.clear();
    m_patterns.fill({.key = kNoKey, .count = 0, .id = kNoId});
    m_codes.fill({.count = 0, .bare = 0, .id = kNoId});
    m_out = {};
    m_used = 0;
    m_written = 0;
}

// --- first pass ------------------------------------------------------------------------------------------------------

struct Encoder::Counter {
    Encoder& self;

    // In a layout whose large headers depend on their offset there is no map, so the offset is known.
    [[nodiscard]] std::size_t header_bytes() const {
        return large_header_bytes(self.m_row, kHeaderBytes + self.m_bytes);
    }

    bool time(std::uint64_t stamp) const {
        if (stamp < self.m_last) {
            return false;
        }
        self.m_last = stamp;
        if (self.m_row.turn_bits() < 64 && (!self.m_any || stamp >> self.m_row.turn_bits() != self.m_turn)) {
            self.m_turn = stamp >> self.m_row.turn_bits();
            self.m_bytes += heartbeat_bytes(self.m_row);
        }
        self.m_any = true;
        return true;
    }

    bool simple(std::uint64_t stamp, std::uint64_t key) const {
        if (!time(stamp)) [[unlikely]] {
            return false;
        }
        ++self.m_records;
        if (!self.m_recalls) {
            self.m_bytes += header_bytes() + large_payload(key);
            return true;
        }
        if (self.m_recall.predicted(2) == key) {
            ++self.m_predicted_by_two;
        } else if (self.m_recall.predicted(1) == key) {
            ++self.m_predicted_by_one;
        } else {
            self.count_miss(key);
        }
        self.m_recall.take(key);
        return true;
    }

    bool raw(std::uint64_t stamp, std::uint64_t) const {
        self.m_bytes += header_bytes() + kRawPayloadBytes;
        ++self.m_records;
        return time(stamp);
    }

    bool combined(std::uint64_t stamp, std::span<const std::byte> slots) const {
        const std::size_t count = slots.size() / kRecordBytes;
        self.m_bytes += header_bytes() + padded(count * kPayloadBytesPerSlot);
        self.m_records += static_cast<std::uint32_t>(count);
        return time(stamp);
    }
};

lib::Result<void> Encoder::count(std::span<const std::byte> records) {
    if (!visit_events(records, Counter{*this})) {
        return lib::Error::corrupt;
    }
    return {};
}

std::size_t Encoder::code_index(std::uint64_t key) {
    return (key & kCodeMask) | ((key & kFastPathBit) != 0 ? 0x100U : 0U);
}

// Returns the pattern of this key or a free entry for it, or null if none is within reach.
Encoder::Pattern* Encoder::find_pattern(std::uint64_t key) {
    const std::uint64_t place = (key * 0x9E37'79B9'7F4A'7C15U) >> (64 - kPatternBits);
    for (unsigned probe = 0; probe < kProbes; ++probe) {
        Pattern& pattern = m_patterns[(place + probe) % kPatterns];
        if (pattern.key == key || pattern.key == kNoKey) {
            return &pattern;
        }
    }
    return nullptr;
}

void Encoder::count_miss(std::uint64_t key) {
    m_bytes += m_large_header + large_payload(key);
    CodeCount& code = m_codes[code_index(key)];
    if (fits_word(key)) {
        ++code.count;
        code.bare += key >> 16 == 0 ? 1U : 0U;
    }
    if (Pattern* const pattern = find_pattern(key); pattern != nullptr) {
        pattern->key = key;
        ++pattern->count;
    }
}

// --- the map: largest savings first ----------------------------------------------------------------------------

// Returns the bytes saved compared to writing these events with the present map.
std::uint32_t Encoder::gain_of(const Pattern& pattern) const {
    const bool has_word = m_codes[code_index(pattern.key)].id != kNoId && fits_word(pattern.key);
    const std::uint32_t now = has_word ? 8 : m_large_header + large_payload(pattern.key);
    return pattern.count * (now - 4);
}

std::uint32_t Encoder::gain_of(const CodeCount& code) const {
    // Events without parameters take four bytes less as large events.
    const std::uint32_t now = code.count * (m_large_header + 4) - code.bare * 4;
    return now > code.count * 8 ? now - code.count * 8 : 0;
}

void Encoder::use_recall() {
    const auto add = [this](std::uint8_t order) {
        const auto id = m_map.add({.form = Form::recall, .order = order});
        return id ? id.value() : kNoId;
    };
    m_recall_two = m_predicted_by_two != 0 ? add(2) : kNoId;
    m_recall_one = m_predicted_by_one != 0 ? add(1) : kNoId;
}

// Gives an id to the pattern or code that saves most. Returns false if none saves bytes, or no id is left.
bool Encoder::pick_best() {
    Pattern* best_pattern = nullptr;
    CodeCount* best_code = nullptr;
    std::uint32_t best = 0;
    for (CodeCount& code : m_codes) {
        if (code.id == kNoId && gain_of(code) > best + 4) {
            best_code = &code;
            best = gain_of(code) - 4;
        }
    }
    for (Pattern& pattern : m_patterns) {
        const std::uint32_t cost = pattern.key >> 16 == 0 ? 4 : 12;
        if (pattern.key != kNoKey && pattern.id == kNoId && gain_of(pattern) > best + cost) {
            best_pattern = &pattern;
            best = gain_of(pattern) - cost;
        }
    }
    if (best_pattern != nullptr) {
        const std::uint64_t key = best_pattern->key;
        const auto id = m_map.add({.code = static_cast<std::uint16_t>(key),
                                   .form = key >> 16 == 0 ? Form::none : Form::constant,
                                   .order = 0,
                                   .par1 = static_cast<std::uint16_t>(key >> 16),
                                   .par2 = static_cast<std::uint32_t>(key >> 32)});
        if (!id) {
            return false;
        }
        ASSERT(gain_of(*best_pattern) <= m_bytes);
        m_bytes -= gain_of(*best_pattern);
        best_pattern->id = id.value();
        if (CodeCount& code = m_codes[code_index(key)]; fits_word(key) && code.id == kNoId) {
            code.count -= best_pattern->count;
            code.bare -= key >> 16 == 0 ? best_pattern->count : 0;
        }
        return true;
    }
    if (best_code != nullptr) {
        const auto index = static_cast<std::uint32_t>(best_code - m_codes.data());
        const auto code = static_cast<std::uint16_t>((index & kCodeMask) | ((index & 0x100) != 0 ? kFastPathBit : 0U));
        const auto id = m_map.add({.code = code, .form = Form::word});
        if (!id) {
            return false;
        }
        ASSERT(gain_of(*best_code) <= m_bytes);
        m_bytes -= gain_of(*best_code);
        best_code->id = id.value();
        return true;
    }
    return false;
}

std::size_t Encoder::plan() {
    use_recall();
    m_bytes += std::uint64_t{4} * (m_predicted_by_one + m_predicted_by_two);
    while (m_map.size() < m_map.capacity() && pick_best()) {
    }
    return kHeaderBytes + m_map.bytes() + m_bytes;
}

// --- second pass -----------------------------------------------------------------------------------------------------

struct Encoder::Writer {
    Encoder& self;

    void put(std::uint32_t word) const {
        ASSERT(!lib::kChecked || self.m_out.size() - self.m_used >= 4); // time() has found the room
        store_word(self.m_out.data() + self.m_used, word);
        self.m_used += 4;
    }

    void put_large(std::uint64_t stamp, const LargeHeader& header) const {
        if (self.m_row.kind == Kind::bare) {
            put(escape_word(self.m_row));
        }
        put(pack_large(header));
        if (self.m_row.kind == Kind::large96 && self.m_used % 8 != 0) {
            put(0);
        }
        put(static_cast<std::uint32_t>(stamp));
        if (self.m_row.kind == Kind::large96) {
            put(static_cast<std::uint32_t>(stamp >> 32));
        }
    }

    // Returns false if the space that the plan reserved does not suffice.
    bool time(std::uint64_t stamp, std::size_t event_bytes) const {
        const std::size_t left = self.m_out.size() - self.m_used;
        if (left < kLongest + 16 && left < event_bytes + 16 + heartbeat_bytes(self.m_row)) [[unlikely]] {
            if (left < event_bytes + (needs_heartbeat(stamp) ? heartbeat_bytes(self.m_row) : 0)) {
                return false;
            }
        }
        if (needs_heartbeat(stamp)) [[unlikely]] {
            self.m_turn = stamp >> self.m_row.turn_bits();
            self.m_used += write_heartbeat(self.m_row, self.m_out.subspan(self.m_used), {stamp});
        }
        self.m_any = true;
        return true;
    }

    [[nodiscard]] bool needs_heartbeat(std::uint64_t stamp) const {
        return self.m_row.turn_bits() < 64 && (!self.m_any || stamp >> self.m_row.turn_bits() != self.m_turn);
    }

    [[nodiscard]] std::size_t large_bytes(std::size_t payload) const {
        return large_header_bytes(self.m_row, self.m_used) + padded(payload);
    }

    bool simple(std::uint64_t stamp, std::uint64_t key) const {
        ++self.m_written;
        std::uint32_t id = kNoId;
        bool word = false;
        if (self.m_recalls) {
            id = self.recall_id(key);
            self.m_recall.take(key);
            if (id == kNoId) {
                const Pattern* const pattern = self.find_pattern(key);
                id = pattern != nullptr ? pattern->id : kNoId;
            }
            if (id == kNoId && fits_word(key)) {
                id = self.m_codes[code_index(key)].id;
                word = true;
            }
        }
        if (id != kNoId) [[likely]] {
            if (!time(stamp, word ? 8 : 4)) {
                return false;
            }
            put(pack_compact(self.m_row, id, stamp));
            if (word) {
                put(static_cast<std::uint32_t>(key >> 16));
            }
            return true;
        }
        const std::uint32_t payload = large_payload(key);
        if (!time(stamp, large_bytes(payload))) {
            return false;
        }
        put_large(stamp, {.id = large_id(key), .size_bytes = payload});
        if (payload == 4) {
            put(static_cast<std::uint32_t>(key >> 16));
        } else if (payload == 8) {
            put(static_cast<std::uint32_t>(key >> 16) & 0xFFFF);
            put(static_cast<std::uint32_t>(key >> 32));
        }
        return true;
    }

    bool raw(std::uint64_t stamp, std::uint64_t key) const {
        ++self.m_written;
        if (!time(stamp, large_bytes(kRawPayloadBytes))) {
            return false;
        }
        put_large(stamp, {.id = large_id(key), .size_bytes = kRawPayloadBytes});
        put(static_cast<std::uint32_t>(key >> 16) & 0xFFFF);
        put(static_cast<std::uint32_t>(key >> 32));
        put(static_cast<std::uint32_t>(key) & 0xFFFF);
        return true;
    }

    bool combined(std::uint64_t stamp, std::span<const std::byte> slots) const {
        const std::size_t count = slots.size() / kRecordBytes;
        const auto payload = static_cast<std::uint32_t>(count * kPayloadBytesPerSlot);
        self.m_written += static_cast<std::uint32_t>(count);
        if (!time(stamp, large_bytes(payload))) {
            return false;
        }
        put_large(stamp, {.id = large_id(key_of(slots.data())) | kLargeLong, .size_bytes = payload});
        for (; !slots.empty(); slots = slots.subspan(kRecordBytes)) {
            const auto piece = slot_payload(decode_record(slots));
            __builtin_memcpy(self.m_out.data() + self.m_used, piece.data(), piece.size());
            self.m_used += piece.size();
        }
        for (; self.m_used % 4 != 0; ++self.m_used) {
            self.m_out[self.m_used] = std::byte{0};
        }
        return true;
    }
};

std::uint32_t Encoder::recall_id(std::uint64_t key) const {
    if (m_recall.predicted(2) == key && m_recall_two != kNoId) {
        return m_recall_two;
    }
    return m_recall.predicted(1) == key ? m_recall_one : kNoId;
}

lib::Result<void> Encoder::start(std::span<std::byte> out) {
    if (out.size() < kHeaderBytes + m_map.bytes()) {
        return lib::Error::no_space;
    }
    m_out = out;
    m_recall.clear();
    m_any = false;
    m_turn = 0;
    m_written = 0;
    lib::ByteWriter writer(out.subspan(kHeaderBytes));
    for (const MapEntry& entry : m_map.entries()) {
        encode_entry(entry, writer);
    }
    ASSERT(!writer.failed() && writer.offset() == m_map.bytes());
    m_used = kHeaderBytes + writer.offset();
    return {};
}

lib::Result<void> Encoder::write(std::span<const std::byte> records) {
    if (!visit_events(records, Writer{*this})) {
        return lib::Error::no_space;
    }
    return {};
}

lib::Result<std::size_t> Encoder::finish() {
    if (m_written != m_records) {
        return lib::Error::corrupt;
    }
    ASSERT(m_used <= m_out.size() && m_used % 4 == 0);
    StreamHeader header{.layout = m_row.layout,
                        .flags = kFlagSealed,
                        .entries = m_map.size(),
                        .records = m_records,
                        .bytes = static_cast<std::uint32_t>(m_used)};
    encode_stream_header(header, m_out);
    header.crc32c = lib::crc32c(m_out.first(kChecksumAt));
    header.crc32c = lib::crc32c(m_out.first(m_used).subspan(kHeaderBytes), header.crc32c);
    encode_stream_header(header, m_out);
    return m_used;
}

} // namespace tracer::compact
