// SPDX-License-Identifier: MIT
// Packs and unpacks the body of a block of records: six columns one after the other, each preceded by its sizes (see
// docs/packed-format.md). A column that the entropy coder cannot make smaller is stored uncoded. Unpacking trusts
// nothing: each column's raw size is compared with the number of records before anything is decoded.
#include "host/formats/packed/column_codec.hpp"

#include "host/formats/dat/chunk_begin.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <zstd.h>

namespace host::formats::packed {

namespace {

constexpr std::size_t kColumnHeadBytes = 8; // stored size, raw size
// Level 1 searches few repetitions and codes the rest by frequency, which is sufficient for these columns.
constexpr int kLevel = 1;

using Context = std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)>;
using Decoder = std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)>;

// The six columns of a block. They grow to the size that the largest block so far needs, which kRawBytesMax limits.
struct Columns {
    std::vector<std::byte> guesses; // a Guess for each record
    std::vector<std::byte> symbols; // a symbol for each stamp
    std::vector<std::byte> codes;   // of records that were not guessed: the code
    std::vector<std::byte> values;  // par1 and par2
    std::vector<std::byte> stamps;  // stamps that are not stored as a distance
    std::vector<std::byte> bits;    // bits that follow the symbols, lowest bit first; eight bytes more than needed

    void make_room(std::size_t records) {
        if (guesses.size() < records) {
            guesses.resize(records);
            symbols.resize(records);
            codes.resize(2 * records);
            values.resize(6 * records);
            stamps.resize(8 * records);
            bits.resize(4 * records + 8);
        }
    }
};

void put32(std::vector<std::byte>& out, std::size_t value) {
    const std::size_t at = out.size();
    out.resize(at + sizeof(std::uint32_t));
    lib::store_le(std::span(out).subspan(at), static_cast<std::uint32_t>(value));
}

void put_column(ZSTD_CCtx* context, std::span<const std::byte> column, std::vector<std::byte>& body) {
    const std::size_t head = body.size();
    put32(body, column.size());
    put32(body, column.size());
    const std::size_t data = body.size();
    body.resize(data + ZSTD_compressBound(column.size()));
    const std::size_t stored =
        ZSTD_compressCCtx(context, body.data() + data, body.size() - data, column.data(), column.size(), kLevel);
    if (ZSTD_isError(stored) != 0 || stored >= column.size()) {
        std::ranges::copy(column, body.begin() + static_cast<std::ptrdiff_t>(data));
        body.resize(data + column.size());
        return;
    }
    body.resize(data + stored);
    lib::store_le(std::span(body).subspan(head), static_cast<std::uint32_t>(stored));
}

void put_plain_column(std::span<const std::byte> column, std::vector<std::byte>& body) {
    put32(body, column.size());
    put32(body, column.size());
    body.insert(body.end(), column.begin(), column.end());
}

// Takes the columns from a body, one after another.
class ColumnReader {
  public:
    ColumnReader(ZSTD_DCtx* context, std::span<const std::byte> body)
        : m_context(context)
        , m_body(body) {}

    // Unpacks a column into the front of `out`, whose size is the limit. Does nothing after a fault.
    std::span<const std::byte> take(std::span<std::byte> out) {
        if (failed()) {
            return {};
        }
        if (m_body.size() - m_at < kColumnHeadBytes) {
            return fail("E-TRUNC", "the body ends inside a column's sizes");
        }
        const std::size_t stored = lib::load_le<std::uint32_t>(m_body.subspan(m_at));
        const std::size_t raw = lib::load_le<std::uint32_t>(m_body.subspan(m_at + 4));
        m_at += kColumnHeadBytes;
        if (stored > m_body.size() - m_at) {
            return fail("E-TRUNC", "a column reaches beyond the body");
        }
        if (raw > out.size() || stored > raw) {
            return fail("E-BOMB", fmt::format("a column says it decodes to {} bytes; {} are allowed", raw, out.size()));
        }
        const auto data = m_body.subspan(m_at, stored);
        m_at += stored;
        if (stored == raw) {
            std::ranges::copy(data, out.begin());
            return out.first(raw);
        }
        const std::size_t decoded = ZSTD_decompressDCtx(m_context, out.data(), raw, data.data(), data.size());
        if (ZSTD_isError(decoded) != 0) {
            return fail(is_too_small(decoded) ? trace::Code("E-BOMB") : trace::Code("E-COMP"),
                        ZSTD_getErrorName(decoded));
        }
        return decoded == raw ? out.first(raw) : fail("E-COMP", "a column decodes to less than it says");
    }

    std::span<const std::byte> fail(trace::Code code, std::string text) {
        m_fault.code = code;
        m_fault.in_bytes = m_at;
        m_fault.text = std::move(text);
        return {};
    }

    // Checks that all of the body was used.
    Fault finish() {
        if (!failed() && m_at != m_body.size()) {
            fail(kTrailing, fmt::format("{} bytes after the last column", m_body.size() - m_at));
        }
        return m_fault;
    }

    [[nodiscard]] bool failed() const { return m_fault.code.has_value(); }

  private:
    // The text is the stable part of the library's interface; its error numbers are not.
    static bool is_too_small(std::size_t code) {
        return std::string_view(ZSTD_getErrorName(code)).find("too small") != std::string_view::npos;
    }

    ZSTD_DCtx* m_context;
    std::span<const std::byte> m_body;
    std::size_t m_at = 0;
    Fault m_fault;
};

// Reads the columns of records from their beginnings.
struct RecordColumns {
    std::span<const std::byte> guesses;
    std::span<const std::byte> symbols;
    std::span<const std::byte> codes;  // codes of records that were not guessed: two bytes each
    std::span<const std::byte> values; // values of records that were not guessed: six bytes each
    std::span<const std::byte> stamps; // stamps that are not stored as a distance: eight bytes each
    std::span<const std::byte> bits;   // bits of the distances
    Prediction& prediction;
    std::size_t misses = 0;
    std::size_t escapes = 0;
    std::size_t bit = 0;
    std::uint64_t stamp = 0; // of the last record

    // Returns null, or what is wrong.
    [[nodiscard]] const char* next_content(std::size_t record, std::uint64_t& content) {
        const auto guess = static_cast<Guess>(guesses[record]);
        if (guess == Guess::long_memory) {
            content = prediction.from_long();
        } else if (guess == Guess::short_memory) {
            content = prediction.from_short();
        } else if (guess == Guess::none && 2 * misses < codes.size() && 6 * misses < values.size()) {
            std::uint64_t value = 0;
            __builtin_memcpy(&content, codes.data() + 2 * misses, 2);
            __builtin_memcpy(&value, values.data() + 6 * misses, 6);
            content |= value << 16;
            ++misses;
        } else {
            return "a record without contents";
        }
        prediction.learn(content);
        return nullptr;
    }

    [[nodiscard]] const char* next_stamp(std::size_t record) {
        const auto symbol = static_cast<std::uint8_t>(symbols[record]);
        if (is_delta_symbol(symbol)) {
            std::uint64_t ahead = 0;
            __builtin_memcpy(&ahead, bits.data() + bit / 8, 8);
            const unsigned width = bits_after(symbol);
            stamp += base_of(symbol) + ((ahead >> (bit % 8)) & ((std::uint64_t{1} << width) - 1));
            bit += width;
        } else if (symbol == kEscapeSymbol && 8 * escapes < stamps.size()) {
            __builtin_memcpy(&stamp, stamps.data() + 8 * escapes++, 8);
        } else {
            return "a stamp of no kind";
        }
        return bit > 8 * bits.size() ? "the bits of the stamps run out" : nullptr;
    }

    [[nodiscard]] bool all_used() const {
        return 2 * misses == codes.size() && 6 * misses == values.size() && 8 * escapes == stamps.size() &&
               (bit + 7) / 8 == bits.size();
    }
};

} // namespace

struct ColumnCodec::State {
    Context packing{ZSTD_createCCtx(), ZSTD_freeCCtx};
    Decoder unpacking{ZSTD_createDCtx(), ZSTD_freeDCtx};
    Columns columns;
    Prediction prediction;
};

ColumnCodec::ColumnCodec()
    : m_state(std::make_unique<State>()) {}

ColumnCodec::~ColumnCodec() = default;

void ColumnCodec::pack_bytes(std::span<const std::byte> raw, std::vector<std::byte>& body) {
    put_column(m_state->packing.get(), raw, body);
}

void ColumnCodec::pack_records(std::span<const std::byte> raw, std::vector<std::byte>& body) {
    ASSERT(raw.size() <= kRawBytesMax && raw.size() % tracer::kRecordBytes == 0);
    Columns& columns = m_state->columns;
    Prediction& prediction = m_state->prediction;
    prediction = Prediction{}; // blocks are independent
    const std::size_t records = raw.size() / tracer::kRecordBytes;
    columns.make_room(records);
    std::size_t misses = 0;
    std::size_t escapes = 0;
    std::size_t bit_bytes = 0;
    std::uint64_t waiting = 0; // bits that are not yet written; fewer than 8 between records
    unsigned waiting_bits = 0;
    std::uint64_t last = 0;
    for (std::size_t i = 0; i < records; ++i) {
        const std::byte* const slot = raw.data() + i * tracer::kRecordBytes;
        const std::uint64_t content = content_of(dat::load_record(slot));
        const std::uint64_t stamp = dat::load_stamp(slot);
        Guess guess = Guess::none;
        if (content == prediction.from_long()) {
            guess = Guess::long_memory;
        } else if (content == prediction.from_short()) {
            guess = Guess::short_memory;
        } else {
            __builtin_memcpy(columns.codes.data() + 2 * misses, &content, 2);
            const std::uint64_t value = content >> 16;
            __builtin_memcpy(columns.values.data() + 6 * misses, &value, 6);
            ++misses;
        }
        columns.guesses[i] = static_cast<std::byte>(guess);
        prediction.learn(content);
        if (stamp < last || stamp - last > 0xFFFF'FFFF) {
            columns.symbols[i] = std::byte{kEscapeSymbol};
            __builtin_memcpy(columns.stamps.data() + 8 * escapes++, &stamp, 8);
        } else {
            const CodedDelta delta = code_delta(stamp - last);
            columns.symbols[i] = std::byte{delta.symbol};
            waiting |= delta.rest << waiting_bits;
            waiting_bits += delta.bits;
            // Always writes eight bytes and keeps the complete ones, which is cheaper than a branch on their number.
            __builtin_memcpy(columns.bits.data() + bit_bytes, &waiting, 8);
            bit_bytes += waiting_bits / 8;
            waiting >>= waiting_bits / 8 * 8;
            waiting_bits %= 8;
        }
        last = stamp;
    }
    bit_bytes += waiting_bits != 0 ? 1 : 0; // the waiting bits were written with the last record
    ZSTD_CCtx* const context = m_state->packing.get();
    put_column(context, std::span(columns.guesses).first(records), body);
    put_column(context, std::span(columns.symbols).first(records), body);
    put_column(context, std::span(columns.codes).first(2 * misses), body);
    put_column(context, std::span(columns.values).first(6 * misses), body);
    put_column(context, std::span(columns.stamps).first(8 * escapes), body);
    put_plain_column(std::span(columns.bits).first(bit_bytes), body);
}

Fault ColumnCodec::unpack_bytes(std::span<const std::byte> body_untrusted, std::span<std::byte> raw) {
    ColumnReader reader(m_state->unpacking.get(), body_untrusted);
    const auto column = reader.take(raw);
    if (!reader.failed() && column.size() != raw.size()) {
        reader.fail("E-COMP", "it decodes to another size than its header says");
    }
    return reader.finish();
}

Fault ColumnCodec::unpack_records(std::span<const std::byte> body_untrusted, std::span<std::byte> raw) {
    Columns& columns = m_state->columns;
    const std::size_t records = raw.size() / tracer::kRecordBytes;
    columns.make_room(records);
    ColumnReader reader(m_state->unpacking.get(), body_untrusted);
    const auto guesses = reader.take(std::span(columns.guesses).first(records));
    const auto symbols = reader.take(std::span(columns.symbols).first(records));
    const auto codes = reader.take(std::span(columns.codes).first(2 * records));
    const auto values = reader.take(std::span(columns.values).first(6 * records));
    const auto stamps = reader.take(std::span(columns.stamps).first(8 * records));
    const auto bits = reader.take(std::span(columns.bits).first(4 * records));
    if (reader.failed()) {
        return reader.finish();
    }
    if (raw.size() % tracer::kRecordBytes != 0 || guesses.size() != records || symbols.size() != records) {
        reader.fail("E-COMP", "its columns hold another number of records than its header says");
        return reader.finish();
    }
    // Eight bytes are read at a time, so the bytes after the last bit must be zero.
    std::ranges::fill(std::span(columns.bits).subspan(bits.size()).first(8), std::byte{0});
    m_state->prediction = Prediction{};
    RecordColumns record_columns{.guesses = guesses,
                                 .symbols = symbols,
                                 .codes = codes,
                                 .values = values,
                                 .stamps = stamps,
                                 .bits = bits,
                                 .prediction = m_state->prediction};
    for (std::size_t i = 0; i < records; ++i) {
        std::uint64_t content = 0;
        const char* fault = record_columns.next_content(i, content);
        fault = fault == nullptr ? record_columns.next_stamp(i) : fault;
        if (fault != nullptr) {
            return {trace::Code("E-COMP"), 0, i * tracer::kRecordBytes, fault};
        }
        const std::uint64_t stamp = record_columns.stamp;
        const tracer::Record record{static_cast<std::uint16_t>(content), static_cast<std::uint16_t>(content >> 16),
                                    static_cast<std::uint32_t>(stamp >> 32), static_cast<std::uint32_t>(stamp),
                                    static_cast<std::uint32_t>(content >> 32)};
        __builtin_memcpy(raw.data() + i * tracer::kRecordBytes, &record, sizeof record);
    }
    if (!record_columns.all_used()) {
        reader.fail(kTrailing, "contents that belong to no record");
    }
    return reader.finish();
}

} // namespace host::formats::packed
