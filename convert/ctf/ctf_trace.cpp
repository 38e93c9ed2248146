// SPDX-License-Identifier: MIT
// ctf is the Common Trace Format, version 1.8, for babeltrace2, Trace Compass and every program that reads CTF. Stamps
// are the trace's own ticks; the names of tasks, mutexes and so on are in enumerations. Events are encoded by the
// classes that ctf_text.cpp declares; ids 0 to 255 are the codes of records.
#include "convert/ctf/ctf_trace.hpp"

#include "convert/ctf/ctf_text.hpp"
#include "convert/losses.hpp"
#include "convert/rows.hpp"
#include "convert/writer/event_words.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "host/trace/value_text.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <string_view>

namespace host::convert::ctf {

namespace {

constexpr std::uint32_t kMagic = 0xC1FC1FC1;
constexpr std::size_t kAlignBytes = 8;

} // namespace

void CtfStream::close_packet() {
    if (m_filled == kHeadBytes && !m_gap) {
        return;
    }
    const std::size_t bytes = (m_filled + kAlignBytes - 1) / kAlignBytes * kAlignBytes;
    std::memset(m_packet.data() + m_filled, 0, bytes - m_filled);
    char* at = put_value(m_packet.data(), kMagic);
    at = put_value(at, std::uint32_t{0});
    at = put_value(at, m_begin);
    at = put_value(at, m_end);
    at = put_value(at, std::uint64_t{m_filled} * 8);
    at = put_value(at, std::uint64_t{bytes} * 8);
    at = put_value(at, m_number++);
    at = put_value(at, m_discarded);
    put_value(at, std::uint32_t{m_cpu});
    m_file.append(std::string_view(m_packet.data(), bytes));
    m_filled = kHeadBytes;
    m_begin = m_end;
    m_gap = false;
}

void CtfStream::lost(std::uint64_t records) {
    close_packet();
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - m_discarded;
    m_discarded += records < room ? records : room;
    m_gap = true;
}

void CtfStream::end_gap() {
    close_packet();
}

void CtfStream::finish(std::uint64_t lost_elsewhere) {
    close_packet();
    if (lost_elsewhere != 0) {
        lost(lost_elsewhere);
        close_packet();
    }
}

namespace {

using trace::kCodeOf;

// Readers count nanoseconds in signed 64 bits; babeltrace2 uses the whole seconds of that.
constexpr std::uint64_t kReadersMaxNs = 9'223'372'036'000'000'000;

constexpr std::uint8_t kPar1 = 1;
constexpr std::uint8_t kPar2 = 2;

// States which parameters the class of a record has.
constexpr std::array<std::uint8_t, 256> kFieldsOf = [] {
    std::array<std::uint8_t, 256> fields{};
    fields.fill(kPar1 | kPar2); // codes outside the table have both
    for (const tracer::EventRow& row : tracer::kEvents) {
        fields[row.code] = static_cast<std::uint8_t>((row.par1.unit != tracer::Unit::none ? kPar1 : 0) |
                                                     (row.par2.unit != tracer::Unit::none ? kPar2 : 0));
    }
    return fields;
}();

constexpr std::string_view kPayloadFields = " uint16_t _length; uint8_t _payload[_length];";

// Zero bytes would end the string, so they are escaped with the rest.
char* put_string(char* at, std::string_view text) {
    std::memcpy(at, text.data(), text.size());
    at[text.size()] = 0;
    return at + text.size() + 1;
}

double fraction(const trace::FieldValue& value) {
    const double raw =
        tracer::is_signed_field(value.type) ? static_cast<double>(value.as_signed()) : static_cast<double>(value.bits);
    return std::ldexp(raw, -int{value.fraction_bits});
}

char* put_field(char* at, const trace::FieldValue& value) {
    if (value.fraction_bits != 0) {
        return put_value(at, fraction(value));
    }
    if (value.type == tracer::FieldType::text) {
        return put_string(at, text::escaped(value.text));
    }
    if (value.type == tracer::FieldType::character) {
        const char character = static_cast<char>(value.bits);
        return put_string(at, text::escaped({&character, 1}));
    }
    const std::size_t bytes = tracer::field_bytes(value.type);
    std::memcpy(at, &value.bits, bytes); // this machine is little-endian
    return at + bytes;
}

static_assert(std::endian::native == std::endian::little);

} // namespace

CtfStream* CtfTrace::open_stream(std::uint16_t cpu) {
    if (!m_opened) {
        return nullptr;
    }
    const auto refuse = [&](Fault cause, std::string_view reason) {
        m_opened =
            Failure{cause, fmt::format("no stream for processor {}: {} (there are {} already)", cpu, reason, m_open)};
        return nullptr;
    };
    if (m_open == kStreamsMax) {
        return refuse(Fault::unusable, "unsupported");
    }
    const auto file = m_destination.add_file(fmt::format("stream_{}", cpu));
    if (!file) {
        return refuse(file.error().cause, file.error().text);
    }
    if (cpu >= m_streams.size()) {
        m_streams.resize(std::size_t{cpu} + 1);
    }
    m_streams[cpu] = std::make_unique<CtfStream>(*file.value(), cpu);
    ++m_open;
    return m_streams[cpu].get();
}

void CtfTrace::add(const trace::Event& event) {
    CtfStream* const to = stream(event.cpu);
    if (to == nullptr) {
        return; // finish() reports it
    }
    if (!event.is_sound()) {
        add_damaged(*to, event);
    } else if (trace::is_foreign(event)) {
        add_foreign(*to, event);
    } else if (!event.payload.empty()) {
        add_long(*to, event);
    } else if (event.code == kCodeOf<"blackout_end">) {
        to->lost(event.par2);
        add_record(*to, event);
        to->end_gap();
    } else {
        add_record(*to, event);
    }
}

void CtfTrace::add_record(CtfStream& stream, const trace::Event& event) {
    const std::uint8_t code = event.code;
    if (event.row == nullptr) {
        m_unknown[code] = true;
    }
    char* at = stream.event(code, stamp(event), sizeof(event.par1) + sizeof(event.par2));
    if ((kFieldsOf[code] & kPar1) != 0) {
        at = put_value(at, event.par1);
    }
    if ((kFieldsOf[code] & kPar2) != 0) {
        at = put_value(at, event.par2);
    }
    stream.used(at);
}

void CtfTrace::add_long(CtfStream& stream, const trace::Event& event) {
    if (event.is(kCodeOf<"formatted_event">)) {
        add_formatted(stream, event);
        return;
    }
    if (event.is(kCodeOf<"typed_event">) && add_typed(stream, event)) {
        return;
    }
    if (event.row == nullptr || event.row->shape != tracer::Shape::combined) {
        add_damaged(stream, event); // the table has no payload for it
        return;
    }
    char* at = stream.event(event.code, stamp(event), sizeof(std::uint16_t) + event.payload.size());
    at = put_value(at, static_cast<std::uint16_t>(event.payload.size()));
    std::memcpy(at, event.payload.data(), event.payload.size());
    stream.used(at + event.payload.size());
}

// Returns false if the event is damaged or undeclared, or if there are too many types; then its payload is written.
bool CtfTrace::add_typed(CtfStream& stream, const trace::Event& event) {
    const auto view = trace::view_typed(event);
    if (!view) {
        return false;
    }
    const std::uint16_t id = declared_id(view->id, *view->declaration);
    if (id == 0) {
        return false;
    }
    char* at = stream.event(id, stamp(event), CtfStream::kEventBytesMax);
    for (const trace::FieldValue& value : view->fields.values()) {
        at = put_field(at, value);
    }
    stream.used(at);
    return true;
}

std::uint16_t CtfTrace::declared_id(std::uint16_t type, const tracer::EventDeclaration& declaration) {
    Declared& known = m_declared[type];
    if (known.seen == &declaration) {
        return known.id;
    }
    if (known.seen == nullptr || known.declaration != declaration) {
        known.declaration = declaration;
        known.id = new_class(declaration.name.view(), declared_fields(declaration));
    }
    known.seen = &declaration;
    return known.id;
}

void CtfTrace::add_formatted(CtfStream& stream, const trace::Event& event) {
    const std::string text = text::escaped(formatted_text(event));
    char* const at = stream.event(event.code, stamp(event), text.size() + 1);
    stream.used(put_string(at, text));
}

void CtfTrace::add_foreign(CtfStream& stream, const trace::Event& event) {
    const std::uint64_t key = std::uint64_t{static_cast<std::uint8_t>(event.origin)} << 32 |
                              std::uint64_t{event.event_class} << 16 | event.number;
    auto known = m_foreign.find(key);
    if (known == m_foreign.end()) {
        const std::string name = event.foreign_name.empty()
                                     ? fmt::format("class_{}_event_{}", event.event_class, event.number)
                                     : std::string(event.foreign_name);
        const std::uint16_t id = new_class(name, " uint16_t _length; hex32 _words[_length];");
        if (id != 0) {
            known = m_foreign.emplace(key, id).first;
        }
    }
    // Words that do not fit into one event are left out; no reader of ours returns so many.
    constexpr std::size_t kWordsMax = 1024;
    const auto words = event.words.first(std::min(event.words.size(), kWordsMax));
    char* at = stream.event(known != m_foreign.end() ? known->second : kOtherId, stamp(event),
                            3 * sizeof(std::uint16_t) + words.size_bytes());
    if (known == m_foreign.end()) {
        at = put_value(at, event.event_class);
        at = put_value(at, event.number);
    }
    at = put_value(at, static_cast<std::uint16_t>(words.size()));
    if (!words.empty()) {
        std::memcpy(at, words.data(), words.size_bytes());
    }
    stream.used(at + words.size_bytes());
}

void CtfTrace::add_damaged(CtfStream& stream, const trace::Event& event) {
    const std::string_view state = trace::state_name(event.is_sound() ? trace::EventState::malformed : event.state);
    char* at = stream.event(kDamagedId, stamp(event), 64);
    at = put_value(at, event.raw_code);
    at = put_value(at, event.par1);
    at = put_value(at, event.par2);
    stream.used(put_string(at, state));
}

std::uint16_t CtfTrace::new_class(std::string_view name, std::string_view fields) {
    if (m_next_id == kFirstOwnId) {
        return 0;
    }
    fmt::memory_buffer text;
    append_event(text, fmt::format("{}{}", m_prefix, name), m_next_id, fields);
    m_classes.append(text.data(), text.size());
    return m_next_id++;
}

lib::Result<void, Failure> CtfTrace::finish(const trace::TraceFacts& facts, std::string_view environment,
                                            std::string_view classes) {
    if (!m_opened) {
        return m_opened;
    }
    if (auto finished = finish_streams(facts); !finished) {
        return finished;
    }
    fmt::memory_buffer out;
    append_metadata_head(out, facts, environment);
    append_classes(out);
    fmt::format_to(std::back_inserter(out), "{}{}", m_classes, classes);
    const auto file = m_destination.add_file("metadata");
    if (!file) {
        return file.error();
    }
    file.value()->append(std::string_view(out.data(), out.size()));
    return {};
}

lib::Result<void, Failure> CtfTrace::finish_streams(const trace::TraceFacts& facts) {
    const auto unseen = unseen_losses(facts);
    for (const auto& [cpu, lost] : unseen) {
        static_cast<void>(stream(cpu)); // a processor that has only losses
    }
    for (std::size_t cpu = 0; cpu < m_streams.size(); ++cpu) {
        if (m_streams[cpu] == nullptr) {
            continue;
        }
        CtfStream& stream = *m_streams[cpu];
        const auto lost = unseen.find(static_cast<std::uint16_t>(cpu));
        stream.finish(lost != unseen.end() ? lost->second.without(stream.discarded()) : 0);
        const lib::Ticks last{stream.last_stamp()};
        const std::uint64_t last_ns =
            counts_ticks(facts) ? lib::TickRate{facts.clock.khz}.to_nanoseconds(last).value : last.value;
        if (last_ns > kReadersMaxNs) {
            return Failure{Fault::unusable,
                           fmt::format("the stamp {} of processor {} is more than 292 years: readers of CTF refuse "
                                       "it; name the true rate with --tsc-khz, or leave the damaged chunk out",
                                       last.value, cpu)};
        }
    }
    return {};
}

void CtfTrace::append_metadata_head(fmt::memory_buffer& out, const trace::TraceFacts& facts,
                                    std::string_view environment) const {
    std::uint64_t raised = 0;
    for (const auto& stream : m_streams) {
        raised += stream != nullptr ? stream->raised() : 0;
    }
    const auto at_end = std::back_inserter(out);
    fmt::format_to(at_end, "/* CTF 1.8 */\n");
    fmt::format_to(at_end, "env {{\n{}", environment);
    if (facts.build) {
        fmt::format_to(at_end, "    kernel = {};\n    compiler = {};\n    application = {};\n",
                       quoted(facts.build->kernel.view()), quoted(facts.build->compiler.view()),
                       quoted(facts.build->application.view()));
    }
    fmt::format_to(at_end, "    boot_id = \"{:016x}\";\n    clock_mode = {};\n    clock_error_ppm = {};\n",
                   facts.boot_id.value_or(0), static_cast<unsigned>(facts.clock.mode), facts.clock.error_ppm);
    if (facts.export_end) {
        fmt::format_to(at_end, "    dropped = \"{}\";\n    refused = \"{}\";\n    overwritten = \"{}\";\n",
                       facts.export_end->dropped, facts.export_end->refused, facts.export_end->overwritten);
    }
    fmt::format_to(at_end, "    stamps_raised = {};\n    clock_rate_khz = {};\n}};\n", raised, facts.clock.khz);
    const bool ticks = counts_ticks(facts);
    const std::string_view name = ticks ? "tsc" : "monotonic";
    fmt::format_to(at_end, "clock {{ name = \"{}\"; freq = {}; offset_s = 0; offset = 0; }};\n", name,
                   ticks ? std::uint64_t{facts.clock.khz} * 1000 : std::uint64_t{1'000'000'000});
    append_head(out, name);
    append_name_types(out, facts.names);
}

// Appends the classes of the event table, of unknown codes that occurred, and of what cannot be decoded.
void CtfTrace::append_classes(fmt::memory_buffer& out) const {
    for (const tracer::EventRow& row : tracer::kEvents) {
        const bool text = row.code == kCodeOf<"formatted_event">;
        append_event(out, row.name, row.code,
                     text                                   ? " string _text;"
                     : row.shape == tracer::Shape::combined ? std::string(kPayloadFields)
                                                            : record_fields(row));
    }
    for (std::size_t code = 0; code < m_unknown.size(); ++code) {
        if (m_unknown[code]) {
            append_event(out, fmt::format("unknown_{:02x}", code), static_cast<std::uint32_t>(code),
                         " uint16_t _par1; uint32_t _par2;");
        }
    }
    append_event(out, "damaged", kDamagedId, " hex16 _code; uint16_t _par1; uint32_t _par2; string _state;");
    append_event(out, "other", kOtherId,
                 " uint16_t _class; uint16_t _number; uint16_t _length; hex32 _words[_length];");
}

namespace {

class Ctf final : public Writer {
  public:
    explicit Ctf(Destination& destination)
        : m_trace(destination, CtfTrace::Clock::ticks, "") {}

    void add(const trace::Event& event) override { m_trace.add(event); }

    lib::Result<void, Failure> finish(const trace::TraceFacts& facts) override {
        return m_trace.finish(facts, "    tracer_name = \"remora\";\n", "");
    }

  private:
    CtfTrace m_trace;
};

} // namespace

const FormatRow kCtfRow = {
    .name = "ctf",
    .suffix = "",
    .meaning = "Common Trace Format 1.8, a directory: babeltrace2, Trace Compass",
    .shape = Destination::Shape::directory,
    .needs_survey = false,
    .make = make_writer<Ctf>,
};

} // namespace host::convert::ctf
