// SPDX-License-Identifier: MIT
// Metadata precedes each exported chunk, so that any chunk decodes alone. Host-safe.
//
// A chunk leaves the machine as one sequence of records:
//
//   chunk_begin | build | trace_cost | cycles_per_msec | id, task_name, task_parameters, *_name ... | numevents |
//   <----------------------------- preamble_slots ------------------------------------------------------------>
//   the chunk's records
//   <---- records ---->
//
// Every metadata event of family C is a long event, and so are the typed and formatted events of family E: 1 to 64
// slots that share stamp and code, each with six payload bytes (par1, then par2, little-endian). The payload starts
// with its own length in bytes (u16, itself included), so the padding of the last slot is never taken for data. Fields
// are little-endian, in the order of their fields() list. New fields are added at the end, and a reader ignores fields
// that it does not know.
//
//   slot:   first            middle ...         last
//          +--+----+        +--+----+        +--+----+
//          |p1| p2 |        |p1| p2 |        |p1| p2 |        6 bytes each; an event of one slot is flagged `simple`
//          +--+----+        +--+----+        +--+----+
//           len ...payload...                  ..0 pad
#pragma once

#include "lib/crc32c.hpp"
#include "lib/endian.hpp"
#include "lib/result.hpp"
#include "tracer/names/hooks.hpp"
#include "tracer/record/record.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tracer {

inline constexpr std::uint16_t kFormatVersion = 1;

inline constexpr std::size_t kCombineSlotsMin = 1;
inline constexpr std::size_t kCombineSlotsMax = 64;
inline constexpr std::size_t kPayloadBytesPerSlot = 6;
inline constexpr std::size_t kCombinePayloadMax = kCombineSlotsMax * kPayloadBytesPerSlot - sizeof(std::uint16_t);

// Names the clock of the stamps; a tool must know it before it reports, for example, jitter.
enum class ClockMode : std::uint8_t {
    unknown = 0,
    emulated = 1, // plain TCG: the clock is the host's
    icount = 2,   // one tick per instruction, deterministic
    hardware = 3, // KVM or a real machine
};

enum class TscSource : std::uint8_t {
    unknown = 0,
    pit = 1,
    pm_timer = 2,
    hpet = 3,
    cpuid = 4,
};

// States what protects the bytes of an exported chunk.
enum class ChunkChecksum : std::uint8_t {
    none = 0,
    crc32c = 1, // the field crc32c of its chunk_begin
};

// States how the main area of a chunk leaves the machine.
enum class Encoding : std::uint8_t {
    records = 0, // 16 bytes each
    compact = 1, // a compact stream (tracer/compact/stream_header.hpp), padded with zeros to a multiple of 16 bytes
};

// States who decided how the record path writes the chunks of a run.
enum class LayoutChoice : std::uint8_t {
    plain = 0,    // records, unless the application wants them compact
    given = 1,    // compact, in the layout that was asked for
    measured = 2, // compact, in the layout that suits the machine (tracer/compact/layout.hpp)
};

// Names longer than this are cut; the cut is visible because the last character is '~'.
inline constexpr std::size_t kNameBytesMax = 48;

struct Name {
    std::array<char, kNameBytesMax> characters{};
    std::uint8_t size = 0;

    friend bool operator==(const Name&, const Name&) = default;

    constexpr Name() = default;

    constexpr Name(std::string_view text) { // NOLINT(google-explicit-constructor): a name is a short string
        for (const char character : text) {
            if (size == kNameBytesMax) {
                characters[kNameBytesMax - 1] = '~';
                return;
            }
            characters[size++] = character;
        }
    }

    [[nodiscard]] constexpr std::string_view view() const { return {characters.data(), size}; }
};

// --- the payloads; each lists its fields once, for both directions -------------------------------------------------

struct ChunkBegin {
    static constexpr std::string_view kEvent = "chunk_begin";
    std::uint16_t format_version = kFormatVersion;
    std::uint16_t chunk = 0;
    std::uint16_t cpu = 0;
    std::uint8_t mode = 0; // FTRACE_CHUNK_FLAG_* of the chunk as it was recorded
    ClockMode clock_mode = ClockMode::unknown;
    std::uint32_t generation = 0; // how often this chunk number was reused before
    std::uint32_t preamble_slots = 0;
    std::uint32_t records = 0; // pieces of 16 bytes that follow the preamble; records, unless compact
    std::uint32_t tsc_khz = 0;
    TscSource tsc_source = TscSource::unknown;
    ChunkChecksum checksum = ChunkChecksum::none;
    std::uint32_t tsc_error_ppm = 0; // spread between the sources that were compared
    std::uint64_t dropped = 0;       // on this CPU, cumulative, when the chunk was frozen for export
    std::uint64_t refused = 0;       // the same
    std::uint64_t overwritten = 0;   // records of this chunk replaced by cyclic recording
    std::uint64_t boot_id = 0;
    Encoding encoding = Encoding::records;
    std::uint8_t layout = 0;         // compact::Layout, if encoding is compact
    std::uint64_t events = 0;        // records that the chunk decodes to; equals `records` unless compact
    std::uint64_t compact_bytes = 0; // of the compact stream, without padding
    std::uint32_t crc32c = 0;        // of all bytes of the chunk, these four taken as zeros; valid if checksum says so

    template <typename Self, typename Archive>
    static constexpr void fields(Self& self, Archive&& archive) {
        archive(self.format_version, self.chunk, self.cpu, self.mode, self.clock_mode, self.generation,
                self.preamble_slots, self.records, self.tsc_khz, self.tsc_source, self.checksum, self.tsc_error_ppm,
                self.dropped, self.refused, self.overwritten, self.boot_id);
        archive.later(self.encoding, self.layout, self.events, self.compact_bytes);
        archive.later(self.crc32c);
    }
};

// Returns how many slots of a chunk its compact stream fills; they follow the preamble, and records follow them.
[[nodiscard]] constexpr std::uint64_t stream_slots(const ChunkBegin& begin) {
    const std::uint64_t whole = begin.compact_bytes / kRecordBytes;
    return begin.encoding != Encoding::compact ? 0 : whole + (begin.compact_bytes % kRecordBytes != 0 ? 1 : 0);
}

// In task_name, interrupt_name, mutex_name, semaphore_name, condition_name, port_name, server_name, level_name, id is
// the number that records carry.
struct NameOf {
    std::uint16_t id = 0;
    Name name;
    std::uint8_t kind = 0; // of a level: lib::LevelKind; 0: not stated

    friend bool operator==(const NameOf&, const NameOf&) = default;

    template <typename Self, typename Archive>
    static constexpr void fields(Self& self, Archive&& archive) {
        archive(self.id, self.name);
        archive.later_if(self.kind != 0, self.kind);
    }
};

// Times are in nanoseconds, and 0 where the task's model has no such parameter.
struct TaskParameters {
    static constexpr std::string_view kEvent = "task_parameters";
    std::uint16_t context = 0;
    std::uint16_t level = 0;
    std::uint64_t wcet_ns = 0;     // C: worst-case execution time of a job
    std::uint64_t period_ns = 0;   // T: period or minimum inter-arrival
    std::uint64_t deadline_ns = 0; // D: relative deadline
    std::uint64_t budget_ns = 0;   // Q: server budget or round-robin slice
    std::uint64_t offset_ns = 0;   // first release after activation

    friend bool operator==(const TaskParameters&, const TaskParameters&) = default;

    template <typename Self, typename Archive>
    static constexpr void fields(Self& self, Archive&& archive) {
        archive(self.context, self.level, self.wcet_ns, self.period_ns, self.deadline_ns, self.budget_ns,
                self.offset_ns);
    }
};

struct Build {
    static constexpr std::string_view kEvent = "build";
    Name kernel;      // version
    Name compiler;    // __VERSION__
    Name application; // APP=
    std::uint64_t seed = 0;
    std::uint64_t image_id = 0; // of the kernel image that ran, from its build id; 0: not known
    Hooks hooks{};
    std::uint32_t names_lost = 0; // names that the table had no space for

    template <typename Self, typename Archive>
    static constexpr void fields(Self& self, Archive&& archive) {
        archive(self.kernel, self.compiler, self.application, self.seed);
        archive.later(self.image_id);
        archive.later_if(self.hooks.stated() || self.names_lost != 0, self.hooks.words[0], self.hooks.words[1],
                         self.hooks.words[2], self.hooks.words[3], self.names_lost);
    }
};

// Holds the tracer's measurement of itself at boot (tracer/chunk/cost_meter.hpp): ticks of one logging call, in 1/256
// ticks, while its family is enabled, while it is filtered, and while everything is disabled. In a run whose chunks are
// written compactly that is the cost of a compact record, and the payload also holds the layout and the measurements
// that chose it.
struct TraceCost {
    static constexpr std::string_view kEvent = "trace_cost";
    std::uint32_t enabled_ticks_x256 = 0;
    std::uint32_t filtered_ticks_x256 = 0;
    std::uint32_t disabled_ticks_x256 = 0;
    std::uint32_t rounds = 0; // of which the best was taken; 0: not measured, nothing is known
    LayoutChoice choice = LayoutChoice::plain;
    std::uint8_t layout = 0;            // compact::Layout
    std::uint32_t plain_ticks_x256 = 0; // one logging call while enabled, as a plain record
    std::uint32_t timer_ticks = 0;      // one setting of the timer; 2^32-1: that or more

    friend bool operator==(const TraceCost&, const TraceCost&) = default;

    template <typename Self, typename Archive>
    static constexpr void fields(Self& self, Archive&& archive) {
        archive(self.enabled_ticks_x256, self.filtered_ticks_x256, self.disabled_ticks_x256, self.rounds);
        archive.later_if(self.choice != LayoutChoice::plain, self.choice, self.layout, self.plain_ticks_x256,
                         self.timer_ticks);
    }

    // Returns the cost of a plain record, in whatever way the chunks of the run are written.
    [[nodiscard]] constexpr std::uint32_t plain_record_ticks_x256() const {
        return choice == LayoutChoice::plain ? enabled_ticks_x256 : plain_ticks_x256;
    }
};

// Holds the text of a format of trace_printf, in a kernel built with FORMATS=inband. It fills the rest of the payload.
struct FormatText {
    static constexpr std::string_view kEvent = "format_text";
    static constexpr std::size_t kTextBytesMax = 248; // of a longer one only the image has the text
    std::uint32_t id = 0;                             // as formatted_event has it
    std::string_view text;                            // decoded: a view into the payload

    template <typename Self, typename Archive>
    static constexpr void fields(Self& self, Archive&& archive) {
        archive(self.id, self.text);
    }
};

enum class RunResult : std::uint8_t {
    unknown = 0,
    completed = 1, // the workload ended well
    failed = 2,    // the workload reported a failure
    panicked = 3,
};

// Is the last event of a stream sink: the totals, which the receiver checks.
struct ExportEnd {
    static constexpr std::string_view kEvent = "export_end";
    static constexpr bool kSealed = true; // its payload ends in a CRC-32C of the bytes before it
    std::uint32_t chunks = 0;
    RunResult result = RunResult::unknown;
    std::uint64_t records = 0; // preambles not counted
    std::uint64_t dropped = 0;
    std::uint64_t refused = 0;
    std::uint64_t overwritten = 0;
    std::uint64_t committed = 0;   // records that were stored in chunks since boot; 0: not stated
    std::uint64_t tracer_made = 0; // by the tracer itself, in addition

    template <typename Self, typename Archive>
    static constexpr void fields(Self& self, Archive&& archive) {
        archive(self.chunks, self.result, self.records, self.dropped, self.refused, self.overwritten);
        archive.later(self.committed, self.tracer_made);
    }
};

// --- payload <-> bytes ---------------------------------------------------------------------------------------------

namespace detail {

struct PayloadWriter {
    lib::ByteWriter& out;

    template <typename... Fields>
    constexpr void operator()(const Fields&... fields) {
        (put(fields), ...);
    }

    template <typename T>

    requires(std::is_unsigned_v<T>) constexpr void put(T value) { out.le(value); }

    template <typename T>

    requires(std::is_enum_v<T>) constexpr void put(T value) { out.le(static_cast<std::underlying_type_t<T>>(value)); }

    // Writes fields that a later version added: an older writer ends before them.
    template <typename... Fields>
    constexpr void later(const Fields&... fields) {
        (put(fields), ...);
    }

    // Writes such fields, which are left out where they say nothing.
    template <typename... Fields>
    constexpr void later_if(bool present, const Fields&... fields) {
        present ? later(fields...) : void();
    }

    constexpr void put(std::string_view text) {
        for (const char character : text) {
            out.le(static_cast<std::uint8_t>(character));
        }
    }

    constexpr void put(const Name& name) {
        out.le(name.size);
        put(name.view());
    }
};

struct PayloadReader {
    lib::ByteReader& in;

    template <typename... Fields>
    constexpr void operator()(Fields&... fields) {
        (get(fields), ...);
    }

    // Reads fields that older payloads end before.
    template <typename... Fields>
    constexpr void later(Fields&... fields) {
        if (in.remaining() != 0) {
            (get(fields), ...);
        }
    }

    template <typename... Fields>
    constexpr void later_if(bool /*present*/, Fields&... fields) {
        later(fields...);
    }

    template <typename T>

    requires(std::is_unsigned_v<T>) constexpr void get(T& value) { value = in.le<T>(); }

    template <typename T>

    requires(std::is_enum_v<T>) constexpr void get(T& value) {
        value = static_cast<T>(in.le<std::underlying_type_t<T>>());
    }

    // Reads the rest of the payload.
    void get(std::string_view& text) {
        const auto bytes = in.take(in.remaining());
        text = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }

    constexpr void get(Name& name) {
        const auto size = in.le<std::uint8_t>();
        const auto bytes = in.take(size);
        name.size = static_cast<std::uint8_t>(bytes.size() < kNameBytesMax ? bytes.size() : kNameBytesMax);
        for (std::size_t i = 0; i < name.size; ++i) {
            name.characters[i] = static_cast<char>(bytes[i]);
        }
    }
};

} // namespace detail

// Writes the payload after its length. Returns the bytes used, length included. no_space: `out` is too small.
template <typename Payload>
[[nodiscard]] constexpr lib::Result<std::size_t> encode_payload(const Payload& payload, std::span<std::byte> out) {
    lib::ByteWriter writer(out);
    writer.le(std::uint16_t{0});
    Payload::fields(payload, detail::PayloadWriter{writer});
    if constexpr (requires { Payload::kSealed; }) {
        const std::size_t size = writer.offset();
        if (!writer.failed() && out.size() - size >= sizeof(std::uint32_t)) {
            lib::store_le(out, static_cast<std::uint16_t>(size + sizeof(std::uint32_t)));
        }
        writer.le(writer.failed() ? 0 : lib::crc32c(out.first(size)));
    }
    if (writer.failed()) {
        return lib::Error::no_space;
    }
    lib::store_le(out, static_cast<std::uint16_t>(writer.offset()));
    return writer.offset();
}

// Decodes a payload from the six-byte pieces of all slots in order. corrupt: the length is wrong, or a field is cut.
template <typename Payload>
[[nodiscard]] constexpr lib::Result<Payload> decode_payload(std::span<const std::byte> bytes) {
    if (bytes.size() < sizeof(std::uint16_t)) {
        return lib::Error::corrupt;
    }
    const auto length = lib::load_le<std::uint16_t>(bytes);
    if (length < sizeof(std::uint16_t) || length > bytes.size()) {
        return lib::Error::corrupt;
    }
    lib::ByteReader reader(bytes.first(length).subspan(sizeof(std::uint16_t)));
    Payload payload;
    Payload::fields(payload, detail::PayloadReader{reader});
    if constexpr (requires { Payload::kSealed; }) { // older payloads end before it
        constexpr std::size_t kSum = sizeof(std::uint32_t);
        if (reader.remaining() >= kSum &&
            lib::load_le<std::uint32_t>(bytes.subspan(length - kSum)) != lib::crc32c(bytes.first(length - kSum))) {
            return lib::Error::corrupt;
        }
    }
    if (reader.failed()) {
        return lib::Error::corrupt;
    }
    return payload;
}

// Returns the slots that a payload of this many bytes (length included) needs.
[[nodiscard]] constexpr std::size_t combine_slots(std::size_t payload_bytes) {
    const std::size_t slots = (payload_bytes + kPayloadBytesPerSlot - 1) / kPayloadBytesPerSlot;
    return slots < kCombineSlotsMin ? kCombineSlotsMin : slots;
}

[[nodiscard]] constexpr Combine combine_flag(std::size_t slot, std::size_t slots) {
    if (slots == 1) {
        return Combine::simple;
    }
    return slot == 0 ? Combine::first : slot + 1 == slots ? Combine::last : Combine::middle;
}

// Spreads payload bytes, length word included, over slots, for the exporter and the logging calls alike. no_space:
// `out` has too few slots, or more than kCombineSlotsMax would be needed.
[[nodiscard]] constexpr lib::Result<std::size_t>
encode_combined(std::uint8_t code, lib::Ticks stamp, std::span<const std::byte> payload, std::span<Record> out) {
    const std::size_t slots = combine_slots(payload.size());
    if (slots > out.size() || slots > kCombineSlotsMax) {
        return lib::Error::no_space;
    }
    for (std::size_t slot = 0; slot < slots; ++slot) {
        std::array<std::byte, kPayloadBytesPerSlot> piece{};
        for (std::size_t i = 0; i < kPayloadBytesPerSlot && slot * kPayloadBytesPerSlot + i < payload.size(); ++i) {
            piece[i] = payload[slot * kPayloadBytesPerSlot + i];
        }
        out[slot] = make_record(
            static_cast<std::uint16_t>(code | static_cast<std::uint16_t>(combine_flag(slot, slots))),
            lib::load_le<std::uint16_t>(piece), lib::load_le<std::uint32_t>(std::span(piece).subspan(2)), stamp);
    }
    return slots;
}

[[nodiscard]] constexpr std::array<std::byte, kPayloadBytesPerSlot> slot_payload(const Record& slot) {
    std::array<std::byte, kPayloadBytesPerSlot> piece{};
    lib::store_le(std::span(piece), slot.par1);
    lib::store_le(std::span(piece).subspan(2), slot.par2);
    return piece;
}

} // namespace tracer
