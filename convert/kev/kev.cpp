// SPDX-License-Identifier: MIT
// Writes QNX .kev files, which the published System Analysis Toolkit reads. The header has keys in their documented
// order, then ours. Names and parameters are events at the start; then the events follow, mapped by
// foreign/kev/codes.hpp, in slots that kev.hpp describes. Nothing in the file depends on when or where it was written.
#include "convert/kev/kev.hpp"

#include "convert/losses.hpp"
#include "convert/rows.hpp"
#include "foreign/kev/codes.hpp"
#include "foreign/kev/header.hpp"
#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"
#include "host/trace/names.hpp"
#include "tracer/names/metadata.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <numeric>

namespace host::convert::records {

namespace {

using formats::kev::Class;
using formats::kev::Kind;
using formats::kev::make_header;
using formats::kev::Slot;

static_assert(std::endian::native == std::endian::little, "slots are written as they are in memory");

constexpr auto kControl = static_cast<std::uint32_t>(Class::control);

std::uint32_t high(std::uint64_t ticks) {
    return static_cast<std::uint32_t>(ticks >> 32);
}

std::uint32_t low(std::uint64_t ticks) {
    return static_cast<std::uint32_t>(ticks);
}

} // namespace

// BUFFER and TIME precede the event, in the same turn.
KevSlots::Plan KevSlots::plan(const Processor& processor, std::uint64_t ticks, bool begins_buffer) {
    const bool late = processor.newest && ticks < processor.newest_ticks;
    const std::uint64_t free = !processor.newest || late ? 0 : *processor.newest + 1;
    std::uint64_t event = late ? ticks : std::max(ticks, free);
    for (;;) {
        const bool time = begins_buffer || !processor.has_time || processor.high != high(event);
        const std::uint64_t in_front = (time ? 1U : 0U) + (begins_buffer ? 1U : 0U);
        if (late) {
            return {.first = event - std::min<std::uint64_t>(in_front, low(event)), .event = event, .time = time};
        }
        const std::uint64_t turn = event & ~std::uint64_t{0xFFFF'FFFF};
        const std::uint64_t first = std::max({event - std::min(in_front, event), free, turn});
        if (high(first + in_front) == high(event)) {
            return {.first = first, .event = std::max(event, first + in_front), .time = time};
        }
        event = first + in_front; // in the next turn, where a TIME may be needed
    }
}

// Handles the general case; add() handles nearly all events itself.
void KevSlots::add_any(std::uint32_t cpu, std::uint32_t class_number, std::uint32_t event, std::uint64_t ticks,
                       std::span<const std::uint32_t> words) {
    const std::size_t slots = std::max<std::size_t>(1, (words.size() + 1) / 2);
    if (m_filled != 0 && m_filled + slots + 1 > kBufferSlots) {
        finish();
    }
    Processor& processor = m_processors[cpu];
    const bool begins_buffer = m_filled == 0;
    const Plan stamps = plan(processor, ticks, begins_buffer);
    std::uint64_t next = stamps.first;
    if (begins_buffer) {
        put({make_header(Kind::simple, cpu, kControl, formats::kev::kControlBuffer),
             low(next++),
             {m_number % formats::kev::kBufferModulus, 0}});
    }
    if (stamps.time) {
        put({make_header(Kind::simple, cpu, kControl, formats::kev::kControlTime),
             low(next++),
             {high(stamps.event), low(stamps.event)}});
        processor.has_time = true;
        processor.high = high(stamps.event);
    }
    const auto word = [&](std::size_t index) { return index < words.size() ? words[index] : 0; };
    const auto put_words = [&](std::size_t slot, Kind kind) {
        put({make_header(kind, cpu, class_number, event), low(stamps.event), {word(2 * slot), word(2 * slot + 1)}});
    };
    if (slots == 1) {
        put_words(0, Kind::simple);
    } else {
        put_words(0, Kind::begin);
        for (std::size_t slot = 1; slot + 1 < slots; ++slot) {
            put_words(slot, Kind::middle);
        }
        put_words(slots - 1, Kind::end);
    }
    processor.newest = std::max(processor.newest.value_or(0), stamps.event);
    processor.newest_ticks = std::max(processor.newest_ticks, ticks);
}

void KevSlots::finish() {
    if (m_filled == 0) {
        return;
    }
    m_buffer.front().data[1] = static_cast<std::uint32_t>(m_filled - 1);
    m_file.append(std::as_bytes(std::span(m_buffer).first(m_filled)));
    m_filled = 0;
    ++m_number;
    for (Processor& processor : m_processors) {
        processor.has_time = false;
    }
}

namespace {

using formats::kev::kNoPid;
using formats::kev::SchedulingPolicy;
using formats::kev::ThreadState;
using trace::kCodeOf;

// Processes of the threads of a trace without processes. The kernel's first threads are the idle ones, one for each
// processor.
constexpr std::uint32_t kKernelPid = 1;
constexpr std::uint32_t kOnlyPid = 2;

// Replaces what the header cannot contain: only printable characters are kept, and "::" would end the value.
std::string header_text(std::string_view text) {
    std::string safe;
    for (const char character : text) {
        const bool printable = character >= ' ' && character <= '~';
        const bool second_colon = character == ':' && safe.ends_with(':');
        safe.push_back(printable && !second_colon ? character : '_');
    }
    return safe;
}

// Returns the number of missing records whose position no event shows. Records that only the first chunk counts as
// overwritten precede the trace.
std::uint64_t unplaced(const trace::TraceFacts& facts) {
    std::uint64_t records = unplaced_losses(facts).missing;
    std::uint64_t overwritten = 0;
    const auto first = std::ranges::min_element(facts.chunks, {}, [](const trace::ChunkReport& chunk) {
        return chunk.first_stamp ? chunk.first_stamp->value : ~std::uint64_t{0};
    });
    for (const trace::ChunkReport& chunk : facts.chunks) {
        records += chunk.missing + chunk.unused + chunk.skipped + chunk.gaps + (chunk.losses_unplaced ? 1U : 0U);
        overwritten += &chunk != &*first ? chunk.description.overwritten : 0;
    }
    return saturating_sum(records, overwritten);
}

// Levels are asked in the order of their numbers; the level of a server is a guest in the queue of another one.
std::uint32_t priority_of(const trace::Names& names, std::uint16_t level, std::string_view name) {
    const std::string_view host = name == "CBS" || name == "GRUB" ? "EDF" : name == "SERVED" ? "RM" : "";
    for (const auto& [number, other] : *names.entries(tracer::Unit::level)) {
        level = !host.empty() && other == host ? number : level;
    }
    return formats::kev::kPriorityMax - std::min<std::uint32_t>(level, formats::kev::kPriorityMax - 1);
}

SchedulingPolicy policy_of(std::string_view level) {
    return level == "RR"                                            ? SchedulingPolicy::round_robin
           : level == "CBS" || level == "GRUB" || level == "SERVED" ? SchedulingPolicy::sporadic
                                                                    : SchedulingPolicy::fifo;
}

} // namespace

KevWriter::KevWriter(OutputFile& file)
    : m_file(file)
    , m_slots(file)
    , m_pids(0x1'0000, kNoPid) {}

lib::Result<void, Failure> KevWriter::begin(const Survey* survey) {
    if (!survey->processors.empty() && survey->processors.back() >= formats::kev::kProcessorsMax) {
        return Failure{Fault::unusable, fmt::format("processor {}: the format has room for {}",
                                                    survey->processors.back(), formats::kev::kProcessorsMax)};
    }
    // Events of other systems have no code of ours, and such a file must not be read as ours.
    const std::uint64_t sound = std::accumulate(survey->per_code.begin(), survey->per_code.end(), std::uint64_t{0});
    m_ours = survey->kind == trace::InputKind::records || survey->per_code[0] != sound;
    write_header(*survey);
    if (m_ours) {
        write_metadata(*survey);
    }
    return {};
}

void KevWriter::write_header(const Survey& survey) {
    const trace::TraceFacts& facts = survey.facts;
    const tracer::Build build = facts.build.value_or(tracer::Build{});
    std::string text(formats::kev::kHeaderBegin);
    const auto add = [&text](std::string_view key, std::string_view value) {
        fmt::format_to(std::back_inserter(text), "TRACE_{}::{}", key, header_text(value));
    };
    const auto add_number = [&](std::string_view key, std::uint64_t value) { add(key, fmt::format("{}", value)); };
    add("FILE_NAME", "remora.kev");
    add("DATE", "unknown");
    add("VER_MAJOR", "1");
    add("VER_MINOR", "01");
    add("LITTLE_ENDIAN", "TRUE");
    add("ENCODING", formats::kev::kEncoding);
    add("BOOT_DATE", "unknown");
    add_number("CYCLES_PER_SEC", std::uint64_t{facts.clock.khz} * 1000);
    add_number("CPU_NUM", survey.processors.empty() ? 1 : survey.processors.back() + 1U);
    add("SYSNAME", m_ours ? formats::kev::kOurSystem : "converted");
    add("NODENAME", build.application.view());
    add("SYS_RELEASE", build.kernel.view());
    add("SYS_VERSION", build.compiler.view());
    add("MACHINE", "x86-64");
    add("SYSPAGE_LEN", "0");
    if (m_ours) {
        add_number("DROPPED", all_losses(facts, survey.lost));
        add_number("OVERWRITTEN", std::transform_reduce(
                                      facts.chunks.begin(), facts.chunks.end(), std::uint64_t{0}, saturating_sum,
                                      [](const trace::ChunkReport& chunk) { return chunk.description.overwritten; }));
        if (std::ranges::all_of(facts.chunks, &trace::ChunkReport::described)) {
            add_number("UNPLACED", unplaced(facts)); // without it the number is unknown
        }
        add_number("TSC_SOURCE", static_cast<std::uint64_t>(facts.clock.source));
        add_number("TSC_ERROR_PPM", facts.clock.error_ppm);
        add_number("CLOCK_MODE", static_cast<std::uint64_t>(facts.clock.mode));
        if (facts.boot_id) {
            add("BOOT_ID", fmt::format("{:016x}", *facts.boot_id));
        }
    }
    text += formats::kev::kHeaderEnd;
    m_file.append(text);
}

template <typename Payload>
void KevWriter::write_payload(std::uint8_t code, const Payload& payload, std::string_view text) {
    std::array<std::byte, tracer::kCombinePayloadMax + 2> bytes{};
    const auto size = tracer::encode_payload(payload, bytes);
    if (size) {
        constexpr std::size_t kLengthBytes = 2;
        const tracer::EventRow* const row = tracer::find_event(code);
        const std::string_view event = row != nullptr ? row->name : "unknown";
        put(0, m_metadata_ticks,
            formats::kev::foreign_of_metadata(code, fmt::format("{}{}{}", event, text.empty() ? "" : " ", text),
                                              std::span(bytes).first(size.value()).subspan(kLengthBytes), m_words));
    }
}

void KevWriter::write_name(std::uint16_t context, std::uint16_t cpu, std::uint64_t ticks, std::string_view name) {
    put(cpu, ticks,
        formats::kev::foreign_of_task_name(context, m_pids[context], name.substr(0, name.find('\0')), m_words));
}

// Writes the metadata. Its stamps rise by one with each event, as in any burst, so they begin early enough for the
// first event to keep its own stamp.
void KevWriter::write_metadata(const Survey& survey) {
    const trace::TraceFacts& facts = survey.facts;
    const trace::Names& names = facts.names;
    const std::size_t count =
        2 * names.tasks().size() + names.declarations().size() + names.formats().size() + kNamesRoom;
    m_metadata_ticks = survey.first.value - std::min<std::uint64_t>(survey.first.value, count);
    if (facts.build) {
        write_payload(kCodeOf<"build">, *facts.build);
    }
    if (facts.cost) {
        write_payload(kCodeOf<"trace_cost">, *facts.cost);
    }
    for (const auto& [context, task] : names.tasks()) {
        m_pids[context] = task.pid.value_or(kNoPid);
        write_name(context, 0, m_metadata_ticks, task.name);
        if (task.parameters) {
            write_payload(kCodeOf<"task_parameters">, *task.parameters, task.name);
        }
    }
    for (const trace::NameEvent& row : trace::kNameEvents) {
        for (const auto& [id, name] : trace::sorted_names(names, row.unit)) {
            if (!name.empty()) {
                write_payload(row.code, tracer::NameOf{id, tracer::Name(name)}, fmt::format("{} {}", id, name));
            }
        }
    }
    for (const auto& [id, declaration] : names.declarations()) {
        write_payload(kCodeOf<"event_declaration">, *declaration, declaration->name.view());
    }
    for (const auto& [id, text] : names.formats()) {
        write_payload(kCodeOf<"format_text">, tracer::FormatText{id, text}, text);
    }
    if (facts.export_end) {
        write_payload(kCodeOf<"export_end">, *facts.export_end);
    }
}

void KevWriter::put(std::uint16_t cpu, std::uint64_t ticks, const formats::kev::Foreign& foreign) {
    m_slots.add(cpu, foreign.class_number, foreign.event, ticks, m_words);
}

void KevWriter::add(const trace::Event& event) {
    if (event.cpu >= formats::kev::kProcessorsMax) {
        return; // the file has grown since begin() checked the processors
    }
    trace::is_foreign(event) || !m_ours ? add_foreign(event) : add_ours(event);
}

void KevWriter::add_ours(const trace::Event& event) {
    if (event.is(kCodeOf<"task_create">) || event.is(kCodeOf<"id">)) {
        m_pids[event.par1] = event.par2;
    }
    formats::kev::ForOthers others{.pid = m_pids[event.par1], .text = text_of(event)};
    if (event.is(kCodeOf<"task_block">)) {
        add_object(event);
        const trace::TaskNames* const task = event.names->task(event.par1);
        if (task != nullptr && task->parameters) {
            const std::string_view level = event.names->find(tracer::Unit::level, task->parameters->level);
            others.priority = priority_of(*event.names, task->parameters->level, level);
            others.policy = policy_of(level);
        }
    }
    const auto foreign = formats::kev::foreign_of(event, others, m_words);
    m_words.resize(std::min(m_words.size(), KevSlots::kWordsMax));
    put(event.cpu, event.ticks.value, foreign);
    m_newest[event.cpu] = std::max(m_newest[event.cpu], event.ticks.value);
}

// Writes the object a few ticks before the wait, if they are free, so that the wait keeps its stamp even where it
// begins a buffer.
void KevWriter::add_object(const trace::Event& event) {
    if (const auto object = formats::kev::foreign_object_of(event, m_words)) {
        constexpr std::uint64_t kInFront = 3; // the event, BUFFER and TIME
        const std::uint64_t ticks = event.ticks.value;
        const std::uint64_t newest = std::min(m_newest[event.cpu], ticks);
        put(event.cpu, ticks - std::min(kInFront, ticks - newest), *object);
    }
}

// Returns the text that the published printer shows for a long event.
std::string_view KevWriter::text_of(const trace::Event& event) {
    if (event.payload.empty()) {
        return {};
    }
    m_text = trace::event_name(event);
    m_text += ' ';
    m_text += m_event_words.of(event);
    return m_text;
}

void KevWriter::add_foreign(const trace::Event& event) {
    m_words.assign(event.words.begin(), event.words.end());
    m_words.resize(std::min(m_words.size(), KevSlots::kWordsMax));
    const bool kev = event.origin == trace::Origin::kev;
    const auto group = kev ? event.event_class : static_cast<std::uint32_t>(formats::kev::Class::user);
    m_slots.add(event.cpu, group, event.number, event.ticks.value, m_words);
    if (!kev && event.is(kCodeOf<"context_switch">)) {
        add_switch(event);
    }
}

// Writes a switch as files of the other system show it.
void KevWriter::add_switch(const trace::Event& event) {
    const auto state = [&](std::uint16_t context, ThreadState entered) {
        m_words = {m_pids[context], m_pids[context] == kKernelPid ? event.cpu + 1U : context + 1U};
        put(event.cpu, event.ticks.value,
            {static_cast<std::uint8_t>(formats::kev::Class::thread), static_cast<std::uint16_t>(entered)});
    };
    const auto [before, is_first] = m_running.try_emplace(event.cpu, event.par1);
    if (!is_first && event.par2 == trace::kLeaverRests) {
        state(before->second, ThreadState::receive);
    }
    if (m_pids[event.par1] == kNoPid) {
        const std::string_view name = event.names->find(tracer::Unit::context, event.par1);
        m_pids[event.par1] = name == "idle" ? kKernelPid : kOnlyPid;
        if (name != "idle") {
            write_name(event.par1, event.cpu, event.ticks.value, name);
        }
    }
    state(event.par1, ThreadState::running);
    before->second = event.par1;
}

lib::Result<void, Failure> KevWriter::finish(const trace::TraceFacts& /*facts*/) {
    m_slots.finish();
    return {};
}

const FormatRow kKevRow = {
    .name = "kev",
    .suffix = ".kev",
    .meaning = "QNX System Analysis Toolkit (.kev): traceprinter, our own libtraceparser",
    .shape = Destination::Shape::file,
    .needs_survey = true,
    .make = [](Destination& destination) -> std::unique_ptr<Writer> {
        return std::make_unique<KevWriter>(destination.file());
    },
};

} // namespace host::convert::records
