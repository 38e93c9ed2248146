// SPDX-License-Identifier: MIT
// Shows all that a reader makes of an input as lines of text that a test compares as a whole: every field of every
// event, the diagnostics, and the facts about the trace.
#pragma once

#include "host/formats/trace.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace support {

using Lines = std::vector<std::string>;

// Shows the fields of a payload of tracer/names/metadata.hpp, in their order.
class FieldText {
  public:
    template <typename... Fields>
    void operator()(const Fields&... fields) {
        (put(fields), ...);
    }

    template <typename... Fields>
    void later(const Fields&... fields) {
        (put(fields), ...);
    }

    template <typename... Fields>
    void later_if(bool /*present*/, const Fields&... fields) {
        (put(fields), ...);
    }

    template <typename Payload>
    [[nodiscard]] static std::string of(const Payload& payload) {
        FieldText text;
        Payload::fields(payload, text);
        return text.m_text;
    }

  private:
    template <typename T>
    void put(const T& value) {
        if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
            m_text += fmt::format(" {}", static_cast<std::uint64_t>(value));
        } else {
            m_text += fmt::format(" \"{}\"", host::text::escaped(std::string_view(value.view())));
        }
    }

    std::string m_text;
};

inline std::string event_text(const host::trace::Event& event) {
    std::string text =
        fmt::format("{} {} cpu {} chunk {}.{} source {} record {} at 0x{:x} code {:02x} {:04x} par {} {} {}{}{}",
                    event.ticks.value, event.timed ? fmt::format("{} ns", event.time_ns) : "untimed", event.cpu,
                    event.chunk, event.generation, event.source, event.record, event.offset_bytes, event.code,
                    event.raw_code, event.par1, event.par2, state_name(event.state),
                    event.metadata ? " metadata " : " ", host::text::escaped(host::trace::event_name(event)));
    if (event.origin != host::trace::Origin::record) {
        text += fmt::format(" class {} number {} words", event.event_class, event.number);
        for (const std::uint32_t word : event.words) {
            text += fmt::format(" {:x}", word);
        }
    }
    text += event.payload.empty() ? "" : fmt::format(" {} bytes{}", event.payload.size(), event.metadata ? "" : " ");
    for (const std::byte byte : event.metadata ? std::span<const std::byte>() : event.payload) {
        text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    }
    return text;
}

// Returns what the records of an event state, without what others determine: its time since the start, place, lateness;
// and of another system's event the numbers that the reader gives to tasks, and the turn of its stamp.
inline std::string own_text(const host::trace::Event& event) {
    std::string text = fmt::format("{}{}", state_name(event.is_sound() ? host::trace::EventState::ok : event.state),
                                   event.metadata ? " metadata" : "");
    if (event.origin == host::trace::Origin::record) {
        text += fmt::format(" {} {:04x} par {} {}", event.ticks.value, event.raw_code, event.par1, event.par2);
    } else {
        text += fmt::format(" {} class {} number {}", event.ticks.value % (std::uint64_t{1} << 32), event.event_class,
                            event.number);
        for (const std::uint32_t word : event.words) {
            text += fmt::format(" {:x}", word);
        }
    }
    for (const std::byte byte : event.metadata ? std::span<const std::byte>() : event.payload) {
        text += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    }
    return text;
}

inline void add_names(const host::trace::Names& names, Lines& lines) {
    for (const auto& [context, task] : names.tasks()) {
        lines.push_back(fmt::format("task {} \"{}\"{}{}", context, host::text::escaped(task.name),
                                    task.pid ? fmt::format(" pid {}", *task.pid) : "",
                                    task.parameters ? " parameters" + FieldText::of(*task.parameters) : ""));
    }
    for (const host::trace::NameEvent& kind : host::trace::kNameEvents) {
        const auto* const table = names.entries(kind.unit);
        for (const auto& [id, name] : std::map<std::uint16_t, std::string>(table->begin(), table->end())) {
            lines.push_back(
                fmt::format("{} {} \"{}\"", tracer::find_event(kind.code)->name, id, host::text::escaped(name)));
        }
    }
    for (const auto& [id, declaration] : names.declarations()) {
        std::string text = fmt::format("typed event {} \"{}\"", id, host::text::escaped(declaration->name.view()));
        for (std::size_t i = 0; i < declaration->field_count; ++i) {
            const auto& item = declaration->items.at(i);
            text += fmt::format(" {} {} \"{}\" \"{}\"", static_cast<unsigned>(item.type), item.detail,
                                host::text::escaped(item.name.view()), host::text::escaped(item.unit.view()));
        }
        lines.push_back(text);
    }
    for (const auto& [id, format] : names.formats()) {
        lines.push_back(fmt::format("format {} \"{}\"", id, host::text::escaped(format)));
    }
}

inline void add_chunk(const host::trace::ChunkReport& chunk, Lines& lines) {
    const auto stamp = [](const auto& ticks) { return ticks ? fmt::format("{}", ticks->value) : "-"; };
    lines.push_back(fmt::format("chunk of {} at 0x{:x} order {}{}{}{}", chunk.file, chunk.begin_bytes, chunk.order,
                                chunk.described ? " described" : "", chunk.losses_unplaced ? " unplaced" : "",
                                FieldText::of(chunk.description)));
    lines.push_back(
        fmt::format("found: preamble {} records {} events {} missing {} extra {} unused {} skipped {} gaps {} "
                    "blackout {}{}{} numevents {} stamps {} to {}",
                    chunk.preamble, chunk.records, chunk.events, chunk.missing, chunk.extra, chunk.unused,
                    chunk.skipped, chunk.gaps, chunk.blackout, chunk.in_blackout ? " open" : "",
                    chunk.damaged ? " damaged" : "", chunk.numevents ? fmt::format("{}", *chunk.numevents) : "-",
                    stamp(chunk.first_stamp), stamp(chunk.last_stamp)));
}

inline void add_facts(const host::trace::TraceFacts& facts, Lines& lines) {
    lines.push_back(fmt::format("clock {} kHz{} source {} mode {} error {} ppm; boot {}; {} usable, {} misplaced{}",
                                facts.clock.khz, facts.clock.overridden ? " overridden" : "",
                                static_cast<unsigned>(facts.clock.source), static_cast<unsigned>(facts.clock.mode),
                                facts.clock.error_ppm, facts.boot_id ? fmt::format("{:x}", *facts.boot_id) : "-",
                                facts.usable_events, facts.misplaced, facts.restarted ? ", restarted" : ""));
    lines.push_back(
        fmt::format("absent {} {} and {} records", facts.absent.parts, facts.absent.unit, facts.absent.records));
    if (facts.build) {
        lines.push_back("build" + FieldText::of(*facts.build));
    }
    if (facts.cost) {
        lines.push_back("cost" + FieldText::of(*facts.cost));
    }
    if (facts.export_end) {
        lines.push_back("totals" + FieldText::of(*facts.export_end));
    }
    add_names(facts.names, lines);
    for (const host::trace::ChunkReport& chunk : facts.chunks) {
        add_chunk(chunk, lines);
    }
}

// Is what a reader made of an input.
struct Reading {
    Lines events; // if they are wanted
    Lines own;    // own_text() of each event
    Lines facts;  // or why the input could not be opened
    Lines reports;
    host::trace::ExitStatus status = host::trace::ExitStatus::clean;
    bool is_damaged = false;

    [[nodiscard]] Lines lines() const {
        Lines all = events;
        all.insert(all.end(), facts.begin(), facts.end());
        all.insert(all.end(), reports.begin(), reports.end());
        all.push_back(fmt::format("exit {}", static_cast<unsigned>(status)));
        return all;
    }
};

// Reads a trace, which open() opens with the diagnostics that it is given; `events` adds their texts, which take time.
template <typename Open>
Reading read_by(const Open& open, bool events = true) {
    using namespace host::trace;
    Reading reading;
    Diagnostics diagnostics([&](std::string_view line) { reading.reports.emplace_back(line); });
    const auto trace = open(diagnostics);
    if (trace) {
        trace.value()->for_each([&](const Event& event) {
            if (events) {
                reading.events.push_back(event_text(event));
            }
            reading.own.push_back(own_text(event));
        });
        add_facts(trace.value()->facts(), reading.facts);
    } else {
        reading.facts.push_back(fmt::format("not opened: {}", error_name(trace.error())));
    }
    diagnostics.finish();
    reading.status = diagnostics.exit_status(trace.ok() && trace.value()->facts().usable_events != 0);
    reading.is_damaged = diagnostics.damaged();
    return reading;
}

template <typename Open>
Lines reading_by(const Open& open) {
    return read_by(open).lines();
}

inline Lines reading_of(std::shared_ptr<host::trace::ByteSource> bytes, const host::trace::OpenOptions& options) {
    return reading_by([&](host::trace::Diagnostics& diagnostics) {
        return host::formats::Trace::open({.name = "f", .bytes = std::move(bytes), .keep_open = true}, options,
                                          diagnostics);
    });
}

inline Lines reading_of(const std::string& path, const host::trace::OpenOptions& options) {
    return reading_by(
        [&](host::trace::Diagnostics& diagnostics) { return host::formats::Trace::open(path, options, diagnostics); });
}

} // namespace support
