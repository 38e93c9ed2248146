// SPDX-License-Identifier: MIT
// Opening and merging. A segment is opened when the merge reaches its first stamp and closed at its end.
#include "host/trace/record_stream.hpp"

#include "host/trace/chunk_counters.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <utility>

namespace host::trace {

namespace {

constexpr auto kLaterFirst = [](const auto& a, const auto& b) {
    return a.key != b.key ? a.key > b.key : a.order > b.order;
};

} // namespace

RecordStream::RecordStream(const OpenOptions& options, Diagnostics& diagnostics)
    : m_diagnostics(diagnostics)
    , m_strict(options.strict)
    , m_condemned(options.salvage ? Condemned::salvaged : Condemned::skipped)
    , m_damages(diagnostics.damages()) {
    m_facts.clock.khz = options.tsc_khz;
    m_machine_clock = options.machine_clock;
    m_facts.clock.overridden = options.tsc_khz != 0;
}

lib::Result<std::unique_ptr<RecordStream>> RecordStream::of_session(const std::string& path, const OpenOptions& options,
                                                                    Diagnostics& diagnostics) {
    auto stream = std::unique_ptr<RecordStream>(new RecordStream(options, diagnostics));
    if (const auto opened = stream->open_directory(path); !opened) {
        return opened.error();
    }
    if (!stream->load_image(options)) {
        return lib::Error::not_found;
    }
    stream->order_segments();
    return stream;
}

lib::Result<std::unique_ptr<RecordStream>>
RecordStream::of_sources(std::span<const NamedSource> sources, const OpenOptions& options, Diagnostics& diagnostics) {
    auto stream = std::unique_ptr<RecordStream>(new RecordStream(options, diagnostics));
    for (const NamedSource& source : sources) {
        stream->add_source(source);
    }
    if (!stream->load_image(options)) {
        return lib::Error::not_found;
    }
    stream->order_segments();
    return stream;
}

void RecordStream::order_segments() {
    if (m_pipe == nullptr) {
        drop_duplicates(m_segments, m_diagnostics);
    }
    for (std::size_t i = 0; i < m_segments.size(); ++i) {
        m_segments[i].order = i;
    }
    std::ranges::stable_sort(m_segments, {}, [](const Segment& segment) { return segment.first_stamp.value; });
    // A pipe's first stamp is not known before it is read: set_time() takes it from the first event.
    if (m_pipe == nullptr && !m_segments.empty()) {
        m_start = m_segments.front().first_stamp;
    }
}

lib::Result<void> RecordStream::open_directory(const std::string& path) {
    std::string why;
    auto manifest = load_manifest(path, why);
    if (!manifest) {
        if (manifest.error() == lib::Error::not_found) {
            m_diagnostics.report(Code::directory, {.file = path},
                                 "the directory holds no manifest.json, so it is no session; if Ntrace.dat files were "
                                 "copied into it, run `remora adopt` on it first");
        } else {
            m_diagnostics.report(Code::manifest, {.file = path + "/manifest.json"},
                                 why.empty() ? error_name(manifest.error()) : std::string_view(why));
        }
        m_diagnostics.unusable_input();
        return manifest.error();
    }
    m_directory = path;
    m_manifest = std::move(manifest.value());
    if (m_manifest->transfer) {
        note_absent({.parts = m_manifest->transfer->lost});
    }
    for (const ManifestChunk& chunk : m_manifest->chunks) {
        // A file that is missing or unreadable costs its own records, not the session.
        const auto source = ByteSource::open(path + '/' + chunk.file);
        const std::string name = path + '/' + chunk.file;
        if (!source || !source.value()->seekable()) {
            m_diagnostics.report(Code::io, {.file = name}, source ? "not a regular file" : error_name(source.error()));
            m_facts.absent.records += std::min(chunk.records, ~std::uint64_t{0} - m_facts.absent.records);
            continue;
        }
        if (source.value()->size_bytes() != chunk.bytes) {
            m_diagnostics.report(
                Code::size, {.file = name},
                fmt::format("the file has {} bytes, the manifest says {}", source.value()->size_bytes(), chunk.bytes));
        }
        index_file(*source.value(), name, m_segments, m_diagnostics);
    }
    return {};
}

void RecordStream::add_source(const NamedSource& input) {
    if (!input.bytes->seekable()) {
        m_pipe = input.bytes;
        m_segments.push_back({.path = input.name});
        return;
    }
    const std::size_t first = m_segments.size();
    index_file(*input.bytes, input.name, m_segments, m_diagnostics);
    // A file that has a path of its own is opened again when its turn comes: a session may have more files than a
    // process may hold open.
    for (std::size_t i = first; i < m_segments.size() && input.keep_open; ++i) {
        m_segments[i].source = input.bytes;
    }
}

void RecordStream::open_due_segments() {
    while (m_next_segment < m_segments.size() &&
           (m_heads.empty() || m_segments[m_next_segment].first_stamp.value <= m_heads.front().key)) {
        const std::size_t order = m_next_segment++;
        const Segment& segment = m_segments[order];
        std::shared_ptr<ByteSource> source = m_pipe != nullptr ? m_pipe : segment.source;
        if (source == nullptr) {
            const auto opened = ByteSource::open(segment.path);
            if (!opened) {
                m_diagnostics.report(Code::io, {.file = segment.path}, error_name(opened.error()));
                continue;
            }
            source = opened.value();
        }
        advance(
            {.cursor = std::make_unique<ChunkCursor>(segment, std::move(source), m_facts, m_diagnostics, m_condemned),
             .event = {},
             .key = segment.first_stamp.value,
             .order = order});
    }
}

void RecordStream::advance(Head head) {
    if (!head.cursor->next(head.event)) {
        return;
    }
    if (!head.event.metadata && head.event.is_sound()) {
        head.key = std::max(head.key, head.event.ticks.value);
    }
    m_heads.push_back(std::move(head));
    std::ranges::push_heap(m_heads, kLaterFirst);
}

// The stamp at which another chunk may come before the next event of the current one. Only next_slowly() changes it.
std::uint64_t RecordStream::time_of_next_turn() const {
    std::uint64_t turn = ~std::uint64_t{0};
    if (!m_heads.empty()) {
        turn = m_heads.front().key;
    }
    if (m_next_segment < m_segments.size()) {
        turn = std::min(turn, m_segments[m_next_segment].first_stamp.value);
    }
    return turn;
}

bool RecordStream::next(Event& event) {
    if (m_current.cursor != nullptr && next_plain(event)) {
        return true;
    }
    if (must_stop() || m_exhausted) {
        return false;
    }
    const bool taken = next_slowly(event) && !must_stop();
    m_turn = time_of_next_turn();
    return taken;
}

// What only the whole trace tells.
void RecordStream::finish() {
    m_exhausted = true;
    check_counters(m_facts, m_diagnostics);
    check_clock(m_facts, m_diagnostics);
}

// The usual case: a plain record of the current chunk, before any other chunk's turn. False: nothing was taken.
bool RecordStream::next_plain(Event& event) {
    if (!m_start || !m_current.cursor->next_plain(m_current.key, m_turn, event)) {
        return false;
    }
    m_current.key = std::max(m_current.key, event.ticks.value);
    if (m_kernel_clock.in_use()) {
        set_time(event);
        return true;
    }
    m_kernel_clock.saw(event.cpu, event.ticks);
    event.timed = m_facts.clock.khz != 0;
    event.time_ns = 0;
    if (event.timed && !convert_time(event)) {
        report_range(event);
    }
    return true;
}

std::span<const Event> RecordStream::next_batch() {
    const std::span<Event> batch = m_current.cursor != nullptr && m_start && !m_kernel_clock.in_use()
                                       ? m_current.cursor->next_plain(m_current.key, m_turn)
                                       : std::span<Event>();
    if (batch.empty()) {
        return EventStream::next_batch();
    }
    m_current.key = std::max(m_current.key, batch.back().ticks.value);
    m_kernel_clock.saw(batch.back().cpu, batch.back().ticks);
    if (m_facts.clock.khz == 0) {
        for (Event& event : batch) {
            event.timed = false;
            event.time_ns = 0;
        }
        return batch;
    }
    if (m_scale.khz() != m_facts.clock.khz) {
        m_scale = TickScale(m_facts.clock.khz);
    }
    const TickScale scale = m_scale; // in registers
    const std::uint64_t start = m_start->value;
    for (Event& event : batch) {
        event.timed = true;
        const std::uint64_t time_ns = scale.to_nanoseconds(event.ticks.value - start);
        event.time_ns = static_cast<std::int64_t>(time_ns);
        if ((event.ticks.value < start || event.time_ns < 0) && !convert_time(event)) {
            report_range(event);
        }
    }
    return batch;
}

bool RecordStream::next_slowly(Event& event) {
    if (m_current.cursor != nullptr) {
        if (m_heads.empty() && next_alone(event)) {
            return true;
        }
        if (m_current.cursor != nullptr) {
            advance(std::move(m_current));
        }
        m_current = Head{};
    }
    open_due_segments();
    if (m_heads.empty()) {
        finish();
        return false;
    }
    std::ranges::pop_heap(m_heads, kLaterFirst);
    m_current = std::move(m_heads.back());
    m_heads.pop_back();
    event = m_current.event;
    set_time(event);
    set_image(event);
    return true;
}

// The usual case: one chunk is being read and no other begins before its next event. False if the merge must decide, or
// the chunk has ended (then there is no current cursor any more).
bool RecordStream::next_alone(Event& event) {
    if (m_next_segment < m_segments.size() && m_segments[m_next_segment].first_stamp.value <= m_current.key) {
        return false;
    }
    if (!m_current.cursor->next(event)) {
        m_current.cursor.reset();
        return false;
    }
    if (!event.metadata && event.is_sound()) {
        m_current.key = std::max(m_current.key, event.ticks.value);
    }
    if (m_next_segment < m_segments.size() && m_segments[m_next_segment].first_stamp.value <= m_current.key) {
        m_current.event = event;
        m_heads.push_back(std::move(m_current));
        m_current = Head{};
        return false;
    }
    set_time(event);
    set_image(event);
    return true;
}

// False if the image that the user named cannot be read. A session's own copy that is damaged costs the texts and names
// only.
bool RecordStream::load_image(const OpenOptions& options) {
    std::string why;
    if (!options.kernel.empty()) {
        m_image_file = options.kernel;
        auto image = KernelImage::from_image(options.kernel, why);
        if (!image) {
            m_diagnostics.report(Code::io, {.file = options.kernel}, why);
            m_diagnostics.unusable_input();
            return false;
        }
        m_image = std::move(image.value());
        return true;
    }
    if (!m_manifest || !m_manifest->formats) {
        return true;
    }
    m_image_file = m_directory + '/' + std::string(kFormatsName);
    const auto checksum = checksum_file(m_image_file);
    auto image = KernelImage::load(m_image_file, why);
    if (!image) {
        report_image(why);
    } else if (!checksum || checksum.value().crc32c != m_manifest->formats->crc32c) {
        report_image("its checksum is not that of the manifest: not used");
    } else {
        m_image = std::move(image.value());
    }
    return true;
}

// Once per trace.
void RecordStream::report_image(std::string_view text) {
    if (!std::exchange(m_image_told, true)) {
        m_diagnostics.report(Code::formats, {.file = m_image_file}, text);
    }
}

// The image, if it is the one that ran; else says once why not. Plain records that follow get it from their cursor.
void RecordStream::set_image(Event& event) {
    const std::uint64_t ran = m_facts.build ? m_facts.build->image_id : 0;
    const bool known = m_image && ran != 0 && ran == m_image->image_id();
    event.image = known ? &*m_image : nullptr;
    m_current.cursor->set_image(event.image);
    const bool formatted = event.is(kCodeOf<"formatted_event">);
    if (!m_image && formatted) {
        if (m_image_file.empty()) {
            m_image_file = m_facts.chunks[event.source].file;
        }
        report_image("trace_printf events are shown by number: their texts are in the kernel image; name it with "
                     "--kernel kernel.elf");
    } else if (m_image && !known && (ran != 0 || formatted)) {
        report_image(fmt::format("not used: the trace comes from another image (build id {:016x}, this is {:016x}); "
                                 "trace_printf events are shown by number, instructions by address",
                                 ran, m_image->image_id()));
    }
}

// A cyclic chunk that begins in the middle of the run, behind settings of the clock that were overwritten: where the
// clock was then its next setting tells.
void RecordStream::begin_kernel_clock(const Event& event) {
    if (m_kernel_clock.knows(event.cpu) || m_facts.chunks[event.source].description.overwritten == 0) {
        return;
    }
    const auto setting = m_current.cursor->look_ahead(kCodeOf<"clock_compensated">);
    const std::uint64_t removed = setting ? std::uint64_t{setting->par1} << 32 | setting->par2 : 0;
    if (removed != 0 && removed < event.ticks.value) {
        m_kernel_clock.begin(event.cpu, removed);
        m_start = m_start == event.ticks ? lib::Ticks{event.ticks.value - removed} : m_start;
    }
}

void RecordStream::set_time(Event& event) {
    if (m_pipe != nullptr && !m_start && !event.metadata) {
        m_start = event.ticks;
    }
    event.timed = m_facts.clock.khz != 0 && m_start.has_value();
    if (event.metadata) {
        return; // its stamp is that of the export
    }
    if (!m_machine_clock) {
        begin_kernel_clock(event);
        m_kernel_clock.take(event, m_start.value_or(event.ticks), m_facts);
    }
    if (!event.timed) {
        return;
    }
    if (!convert_time(event)) {
        report_range(event);
    }
}

// Sets time_ns. False if it exceeds what fits: then it is the greatest. Precondition: the rate and the start are known.
bool RecordStream::convert_time(Event& event) {
    if (m_scale.khz() != m_facts.clock.khz) {
        m_scale = TickScale(m_facts.clock.khz);
    }
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const bool before = event.ticks < *m_start;
    const lib::Ticks distance = before ? *m_start - event.ticks : event.ticks - *m_start;
    const std::uint64_t time_ns = m_scale.to_nanoseconds(distance.value);
    const auto fitting = static_cast<std::int64_t>(std::min(time_ns, kMax));
    event.time_ns = before ? -fitting : fitting;
    return time_ns <= kMax;
}

void RecordStream::report_range(const Event& event) {
    const std::uint64_t distance =
        event.ticks < *m_start ? (*m_start - event.ticks).value : (event.ticks - *m_start).value;
    m_diagnostics.report(Code::range, {.file = m_facts.chunks[event.source].file, .offset_bytes = event.offset_bytes},
                         fmt::format("{} ticks after the start exceed 2^63 ns", distance));
}

} // namespace host::trace
