// SPDX-License-Identifier: MIT
#include "foreign/tlog/tlog_stream.hpp"

#include "host/text/format.hpp"

#include <algorithm>
#include <utility>

namespace host::formats::tlog {

std::optional<trace::Meaning> PairSchedule::take(const Record& record, const Kind& kind, trace::Names& names) {
    if (kind.role != Role::start && kind.role != Role::end && kind.role != Role::enter && kind.role != Role::leave) {
        return std::nullopt;
    }
    std::vector<std::uint8_t>& open = m_open[record.process];
    if (kind.role == Role::start || kind.role == Role::end) {
        open.clear();
        const bool ends = kind.role == Role::end;
        return switch_to(record.process, ends ? kIdle : kProcess, ends ? trace::kLeaverRests : 0, {}, names);
    }
    if (kind.role == Role::enter) {
        if (open.size() == kDepthMax) {
            return std::nullopt;
        }
        open.push_back(record.type);
        return switch_to(record.process, record.type, 0, kind.name, names);
    }
    const auto opener = std::find(open.rbegin(), open.rend(), Kind::opener(record.type));
    if (opener == open.rend()) {
        return std::nullopt;
    }
    open.erase(opener.base() - 1, open.end());
    return switch_to(record.process, open.empty() ? kProcess : open.back(), trace::kLeaverRests, {}, names);
}

// pair: the name of the IN; the part before "_IN" is the name of the pair. It is only needed for a new task.
std::optional<trace::Meaning> PairSchedule::switch_to(std::uint16_t process, std::uint8_t slot, std::uint32_t par2,
                                                      std::string_view pair, trace::Names& names) {
    const auto found = m_contexts.of(std::uint64_t{process} << 8 | slot);
    if (!found) {
        m_overfull = true;
        return std::nullopt;
    }
    if (found->is_new) {
        const std::string name = slot == kIdle      ? "idle"
                                 : slot == kProcess ? fmt::format("node {}", process)
                                                    : fmt::format("{} {}", process, pair.substr(0, pair.rfind("_IN")));
        names.set(tracer::Unit::context, found->context, name);
    }
    return trace::Meaning{.code = trace::kCodeOf<"context_switch">, .par1 = found->context, .par2 = par2};
}

namespace {

constexpr std::size_t kBufferBytesMin = 1024;
constexpr std::size_t kBufferBytesMax = 64 * 1024;
constexpr std::size_t kBuffersBytes = 16 * 1024 * 1024; // of all processes together, if the smallest buffer allows that

constexpr auto kLaterFirst = [](const auto& a, const auto& b) {
    return a.key != b.key ? a.key > b.key : a.process > b.process;
};

} // namespace

lib::Result<std::unique_ptr<TlogStream>> TlogStream::open(const trace::NamedSource& input, Layout layout,
                                                          const trace::OpenOptions& options,
                                                          trace::Diagnostics& diagnostics) {
    const auto source = trace::ByteSource::positioned(input.bytes);
    if (!source) {
        diagnostics.report("E-IO", {.file = input.name}, error_name(source.error()));
        diagnostics.unusable_input(source.error());
        return source.error();
    }
    auto index = index_runs(*source.value(), input.name, layout, diagnostics);
    if (!index) {
        return index.error();
    }
    return std::unique_ptr<TlogStream>(new TlogStream({.name = input.name, .bytes = source.value()},
                                                      std::move(index.value()), layout, options, diagnostics));
}

TlogStream::TlogStream(const trace::NamedSource& input, RunIndex index, Layout layout,
                       const trace::OpenOptions& options, trace::Diagnostics& diagnostics)
    : m_name(input.name)
    , m_diagnostics(diagnostics)
    , m_strict(options.strict)
    , m_damages(diagnostics.damages())
    , m_index(std::move(index)) {
    m_facts.clock.khz = 1'000'000;
    m_facts.chunks.push_back({.file = m_name});
    if (m_index.too_many_runs) {
        m_whole[0].end_bytes = input.bytes->size_bytes() / kRecordBytes * kRecordBytes;
        m_front = std::make_unique<ProcessCursor>(input.bytes, m_whole, layout, kBufferBytesMax);
        return;
    }
    std::size_t processes = 0;
    for (std::size_t at = 0; at < m_index.runs.size(); at += m_index.process_at(at).size()) {
        ++processes;
    }
    m_processes.reserve(processes);
    const std::size_t buffer_bytes =
        std::clamp(kBuffersBytes / std::max<std::size_t>(processes, 1), kBufferBytesMin, kBufferBytesMax);
    for (std::size_t at = 0; at < m_index.runs.size(); at += m_index.process_at(at).size()) {
        m_processes.push_back(
            {ProcessCursor(input.bytes, m_index.process_at(at), layout, buffer_bytes), ProcessCheck{}});
        advance(m_processes.size() - 1);
    }
}

// Adds the next record of a process to the merge.
void TlogStream::advance(std::size_t process) {
    Process& it = m_processes[process];
    if (!it.cursor.next(it.slot)) {
        report_failure(it.cursor);
        it.check.finish(m_index.table, m_name, m_diagnostics);
        note_misplaced();
        return;
    }
    it.verdict = it.check.take(it.slot, m_index.table, m_name, m_diagnostics);
    m_heads.push_back({it.check.time_ns(), process});
    std::ranges::push_heap(m_heads, kLaterFirst);
}

void TlogStream::note_misplaced() {
    m_facts.misplaced = m_diagnostics.count("W-ORDER") + m_diagnostics.count("W-NESTING");
}

void TlogStream::report_failure(const ProcessCursor& cursor) {
    if (cursor.failed()) {
        m_diagnostics.report("E-IO", {.file = m_name, .offset_bytes = cursor.offset_bytes()},
                             "the file could not be read to its end: it has become shorter, or the disk failed");
    }
}

bool TlogStream::next(trace::Event& event) {
    if (m_strict && m_diagnostics.damages() != m_damages) {
        return false;
    }
    if (m_front != nullptr) {
        return next_in_file(event);
    }
    if (m_heads.empty()) {
        return false;
    }
    std::ranges::pop_heap(m_heads, kLaterFirst);
    const std::size_t process = m_heads.back().process;
    m_heads.pop_back();
    fill(event, m_processes[process].slot, m_processes[process].verdict);
    advance(process);
    return true;
}

bool TlogStream::next_in_file(trace::Event& event) {
    Slot slot;
    if (!m_front->next(slot)) {
        report_failure(*m_front);
        for (auto& [process, check] : std::exchange(m_checks, {})) {
            check.finish(m_index.table, m_name, m_diagnostics);
        }
        note_misplaced();
        return false;
    }
    fill(event, slot, m_checks[slot.record.process].take(slot, m_index.table, m_name, m_diagnostics));
    return true;
}

void TlogStream::fill(trace::Event& event, const Slot& slot, const ProcessCheck::Verdict& verdict) {
    const Record& record = slot.record;
    const Kind kind = kind_of(m_index.table, record.type);
    m_words = {record.arg1, record.arg2};
    event = trace::Event{};
    event.ticks = {verdict.time_ns};
    event.time_ns = static_cast<std::int64_t>(verdict.time_ns);
    event.timed = true;
    event.cpu = record.process;
    event.record = slot.offset_bytes / kRecordBytes;
    event.offset_bytes = slot.offset_bytes;
    event.state = verdict.state;
    event.names = &m_facts.names;
    event.origin = trace::Origin::tlog;
    event.number = record.type;
    event.foreign_name = kind.name;
    event.words = m_words;
    if (event.is_sound()) {
        const bool overfull = m_pairs.overfull();
        if (const auto meaning = m_pairs.take(record, kind, m_facts.names)) {
            trace::set_meaning(event, *meaning);
        } else if (m_pairs.overfull() && !overfull) {
            m_diagnostics.report("W-CAP", {.file = m_name, .offset_bytes = slot.offset_bytes},
                                 "more than 65,535 processes and pairs: the schedule leaves out those that come later");
        }
    }
    ++m_facts.chunks.front().records;
    ++m_facts.chunks.front().events;
    if (kind.role == Role::unknown) {
        m_diagnostics.count_unknown(record.type, {.file = m_name, .offset_bytes = slot.offset_bytes});
    } else if (event.is_sound()) {
        ++m_facts.usable_events;
    }
}

} // namespace host::formats::tlog
