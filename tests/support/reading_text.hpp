// SPDX-License-Identifier: MIT
// All that a reader makes of an input, as lines of text that a test compares as a whole: every field of every event,
// the diagnostics, and the facts about the trace. And what a damaged input changes of these lines.
#pragma once

#include "host/formats/trace.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace support {

using Lines = std::vector<std::string>;

// The fields of a payload of tracer/names/metadata.hpp, in their order.
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

// open: opens the trace with the diagnostics that it is given.
template <typename Open>
Lines reading_by(const Open& open) {
    using namespace host::trace;
    Lines lines;
    Lines reports;
    Diagnostics diagnostics([&](std::string_view line) { reports.emplace_back(line); });
    bool is_usable = false;
    if (const auto trace = open(diagnostics)) {
        trace.value()->for_each([&](const Event& event) { lines.push_back(event_text(event)); });
        diagnostics.finish();
        add_facts(trace.value()->facts(), lines);
        is_usable = trace.value()->facts().usable_events != 0;
    } else {
        diagnostics.finish();
        lines.push_back(fmt::format("not opened: {}", error_name(trace.error())));
    }
    lines.insert(lines.end(), reports.begin(), reports.end());
    lines.push_back(fmt::format("exit {}", static_cast<unsigned>(diagnostics.exit_status(is_usable))));
    return lines;
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

// The words of two lines that differ; empty if most do.
inline std::string different_words(const std::string& before, const std::string& now) {
    std::istringstream before_words(before);
    std::istringstream now_words(now);
    const std::vector<std::string> from{std::istream_iterator<std::string>(before_words), {}};
    const std::vector<std::string> to{std::istream_iterator<std::string>(now_words), {}};
    std::string text;
    std::size_t same = 0;
    for (std::size_t i = 0; i < from.size() && from.size() == to.size(); ++i) {
        same += from[i] == to[i] ? 1 : 0;
        text += from[i] == to[i] ? "" : fmt::format(" {} > {}", from[i], to[i]);
    }
    return 2 * same >= to.size() ? text : "";
}

// Lines that changed in place; those in a row that changed in the same way are one.
inline std::string changed_lines(std::span<const std::string> before, std::span<const std::string> now,
                                 std::size_t number) {
    std::string text;
    for (std::size_t i = 0; i < now.size();) {
        const std::string words = different_words(before[i], now[i]);
        std::size_t end = i + 1;
        while (!words.empty() && end < now.size() && different_words(before[end], now[end]) == words) {
            ++end;
        }
        text += words.empty()  ? fmt::format("  -{}\n  +{}\n", number + i, now[i])
                : end == i + 1 ? fmt::format("  {}:{}\n", number + i, words)
                               : fmt::format("  {} to {}:{}\n", number + i, number + end - 1, words);
        i = end;
    }
    return text;
}

// What is different: lines that are gone, by their numbers from 1, lines that came, and lines that changed.
inline std::string difference(const Lines& before, const Lines& now) {
    std::vector<std::vector<std::uint16_t>> common(before.size() + 1, std::vector<std::uint16_t>(now.size() + 1));
    for (std::size_t i = before.size(); i-- > 0;) {
        for (std::size_t j = now.size(); j-- > 0;) {
            common[i][j] = before[i] == now[j] ? static_cast<std::uint16_t>(common[i + 1][j + 1] + 1)
                                               : std::max(common[i + 1][j], common[i][j + 1]);
        }
    }
    std::string text;
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < before.size() || j < now.size()) {
        const std::size_t gone = i;
        const std::size_t came = j;
        while ((i < before.size() || j < now.size()) &&
               (i == before.size() || j == now.size() || before[i] != now[j])) {
            const bool is_gone = j == now.size() || (i < before.size() && common[i + 1][j] >= common[i][j + 1]);
            ++(is_gone ? i : j);
        }
        const std::size_t changed = std::min(i - gone, j - came);
        text +=
            changed_lines(std::span(before).subspan(gone, changed), std::span(now).subspan(came, changed), gone + 1);
        if (const std::size_t left = i - gone - changed; left != 0) {
            text += left == 1 ? fmt::format("  -{}\n", i) : fmt::format("  -{} to -{}\n", i - left + 1, i);
        }
        for (std::size_t k = came + changed; k < j; ++k) {
            text += "  +" + now[k] + '\n';
        }
        ++i;
        ++j;
    }
    return text;
}

} // namespace support
