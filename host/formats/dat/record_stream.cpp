// SPDX-License-Identifier: MIT
#include "host/formats/dat/record_stream.hpp"

#include "host/formats/dat/chunk_ledger.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "host/trace/names.hpp"
#include "lib/assert.hpp"
#include "lib/endian.hpp"
#include "tracer/chunk/chunk_seal.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <utility>

namespace host::formats::dat {

namespace {

bool has_checksum(const SessionFiles& files, const ManifestChunk& chunk) {
    const auto found = files.checksum(chunk.file);
    return !found || found.value().crc32c == chunk.crc32c; // the reader of the file reports that it cannot be read
}

// Returns whether no chunk that is read will state that records of the listed one are missing: its file has no record,
// or is another chunk, or ends within its preamble.
bool is_lost(const ManifestChunk& listed, const std::optional<tracer::ChunkBegin>& header, std::uint64_t bytes) {
    const std::uint64_t preamble = listed.described ? listed.description.preamble_slots : 0;
    return bytes < tracer::kRecordBytes || bytes <= preamble * tracer::kRecordBytes ||
           (header && listed.described &&
            (header->chunk != listed.description.chunk || header->generation != listed.description.generation));
}

// Returns whether the manifest promises that it lists each chunk that the machine has used, and its totals agree.
bool lists_all_chunks(const Manifest& manifest) {
    if (!manifest.complete || !manifest.announced || manifest.announced->chunks != manifest.chunks.size()) {
        return false;
    }
    std::uint64_t records = 0;
    std::uint64_t events = 0;
    for (const ManifestChunk& chunk : manifest.chunks) {
        records += chunk.records;
        events += chunk.described ? chunk.description.events : chunk.records;
    }
    const tracer::ExportEnd& totals = *manifest.announced;
    const std::uint64_t made = totals.committed + totals.tracer_made;
    return records == totals.records &&
           (totals.committed == 0 || events >= made - std::min(made, totals.overwritten)); // 0: not known
}

// Adds the files that a collector has not listed because it was killed.
void add_unlisted(const SessionFiles& files, const Manifest& manifest, ChunkMerge& merge,
                  trace::Diagnostics& diagnostics) {
    for (const std::string& file : files.unlisted(manifest)) {
        const std::string name = files.name_of(file);
        const auto source = files.open(file);
        if (!source) {
            diagnostics.report("E-IO", {.file = name}, trace::file_error(source.error()));
            continue;
        }
        diagnostics.report("W-EXTRA", {.file = name},
                           fmt::format("the manifest does not list this file; it is read. The collector was ended "
                                       "before it could: `remora adopt --force {}` lists what there is",
                                       text::escaped(files.place())));
        SlotWindow window(*source.value(), source.value()->size_bytes());
        merge.add_file(window, header_of(window), name, {.source = files.is_directory() ? nullptr : source.value()});
    }
}

} // namespace

RecordStream::RecordStream(const trace::OpenOptions& options, trace::Diagnostics& diagnostics)
    : m_diagnostics(diagnostics)
    , m_merge(m_facts, diagnostics, options.salvage ? DamagedChunks::salvage : DamagedChunks::skip)
    , m_time(m_facts, diagnostics, options.machine_clock)
    , m_images(diagnostics)
    , m_strict(options.strict)
    , m_damages(diagnostics.damages()) {
    m_facts.clock.khz = options.tsc_khz;
    m_facts.clock.overridden = options.tsc_khz != 0;
}

lib::Result<std::unique_ptr<RecordStream>> RecordStream::of_session(SessionFiles files,
                                                                    const trace::OpenOptions& options,
                                                                    trace::Diagnostics& diagnostics,
                                                                    std::shared_ptr<const SessionIndex> known) {
    auto stream = std::unique_ptr<RecordStream>(new RecordStream(options, diagnostics));
    stream->m_files = std::move(files);
    const std::uint64_t reports = diagnostics.reports();
    const auto found = std::make_shared<SessionIndex>();
    stream->m_session = known != nullptr ? std::move(known) : found;
    const bool is_new = stream->m_session == found;
    if (is_new) {
        if (const auto added = stream->add_session(*found); !added) {
            return added.error();
        }
    }
    const Manifest& manifest = stream->m_session->manifest;
    if (!stream->m_images.load(options, &stream->m_files, &manifest)) {
        return lib::Error::not_found;
    }
    if (is_new) {
        stream->m_merge.start();
        found->absent = stream->m_facts.absent;
        found->segments = stream->m_merge.take_segments();
        stream->m_is_sound = stream->m_files.is_directory() && diagnostics.reports() == reports;
    } else {
        stream->note_absent(stream->m_session->absent);
        stream->m_merge.start(stream->m_session->segments);
        stream->m_is_sound = true;
    }
    stream->m_facts.has_all_chunks = lists_all_chunks(manifest) && stream->m_merge.are_whole(manifest.chunks.size());
    stream->m_time.start_at(stream->m_merge.first_stamp());
    return stream;
}

lib::Result<std::unique_ptr<RecordStream>> RecordStream::of_sources(std::span<const trace::NamedSource> sources,
                                                                    const trace::OpenOptions& options,
                                                                    trace::Diagnostics& diagnostics) {
    auto stream = std::unique_ptr<RecordStream>(new RecordStream(options, diagnostics));
    for (const trace::NamedSource& source : sources) {
        stream->m_merge.add(source);
        stream->m_followed = stream->m_followed || source.followed;
    }
    if (!stream->m_images.load(options, nullptr, nullptr)) {
        return lib::Error::not_found;
    }
    stream->m_merge.start();
    stream->m_time.start_at(stream->m_merge.first_stamp());
    return stream;
}

void RecordStream::add_absent(std::uint64_t records) {
    m_facts.absent.records += std::min(records, ~std::uint64_t{0} - m_facts.absent.records);
}

// Adds everything that the directory holds.
lib::Result<void> RecordStream::add_session(SessionIndex& index) {
    auto manifest = m_files.manifest();
    if (!manifest) {
        const bool missing = manifest.error().cause == lib::Error::not_found;
        m_diagnostics.report(missing ? trace::Code("E-DIR") : trace::Code("E-MANIFEST"),
                             {.file = missing ? m_files.place() : m_files.name_of(kManifestName)},
                             manifest.error().text);
        m_diagnostics.unusable_input();
        return missing ? lib::Error::not_found : lib::Error::corrupt;
    }
    index.manifest = std::move(manifest.value());
    if (index.manifest.transfer) {
        note_absent({.parts = index.manifest.transfer->lost});
    }
    m_merge.expect(index.manifest.chunks.size());
    SlotWindow window;
    for (const ManifestChunk& chunk : index.manifest.chunks) {
        // If a file is missing or unreadable, only its own records are lost, not the session.
        const std::string name = m_files.name_of(chunk.file);
        const auto source = m_files.open(chunk.file);
        if (!source) {
            m_diagnostics.report("E-IO", {.file = name}, trace::file_error(source.error()));
            add_absent(chunk.records);
            continue;
        }
        const bool has_size = source.value()->size_bytes() == chunk.bytes;
        if (!has_size) {
            m_diagnostics.report(
                "E-SIZE", {.file = name},
                fmt::format("the file has {} bytes, the manifest says {}", source.value()->size_bytes(), chunk.bytes));
        }
        // The checksum of a chunk that states one and has no holes is compared when the chunk is opened.
        window.begin(*source.value(), source.value()->size_bytes());
        const auto header = header_of(window);
        if (is_lost(chunk, header, source.value()->size_bytes())) {
            add_absent(chunk.records);
        }
        const bool needs_manifest = chunk.missing != 0 || !header || !tracer::is_sealed(*header);
        const bool is_damaged = has_size && needs_manifest && !has_checksum(m_files, chunk);
        if (is_damaged) {
            m_diagnostics.report("W-CRC", {.file = name},
                                 "the checksum of the file is not that of the manifest: its records are read, and "
                                 "nothing is concluded from them");
        }
        m_merge.add_file(window, header, name,
                         {.is_damaged = is_damaged,
                          .holes_listed = has_size && !is_damaged && chunk.missing != 0,
                          .source = m_files.is_directory() ? nullptr : source.value()});
    }
    add_unlisted(m_files, index.manifest, m_merge, m_diagnostics);
    return {};
}

std::span<trace::Event> RecordStream::read_batch() {
    if (m_time.has_started()) {
        if (const std::span<trace::Event> plain = m_merge.next_plain(); !plain.empty()) {
            m_time.set_plain(plain, m_merge.cursor());
            return plain;
        }
    }
    if (must_stop() || m_exhausted) {
        return {};
    }
    if (!m_merge.next(m_single)) {
        finish();
        return {};
    }
    ChunkCursor& cursor = m_merge.cursor();
    m_time.set(m_single, cursor);
    m_single.image = m_images.find(m_single, m_facts);
    cursor.set_image(m_single.image); // for the plain records that follow
    return must_stop() ? std::span<trace::Event>() : std::span<trace::Event>(&m_single, 1);
}

// Reports what is known only at the end of the trace.
void RecordStream::finish() {
    m_exhausted = true;
    check_counters(m_facts, m_diagnostics);
    check_clock(m_facts, m_diagnostics);
    if (m_followed) {
        report_missing(m_facts, m_diagnostics);
    }
}

// --- images ----------------------------------------------------------------------------------------------------------

// The look-up of images: where they are searched, and what is reported if there is none.

namespace {

constexpr const char* kPlaces = "REMORA_KERNELS"; // an environment variable
constexpr std::string_view kBuildPlace = "build/kernel";

// Returns whether this is a formatted event whose text is not in the trace itself: the kernel exports only the texts
// that fit into a preamble.
bool lacks_text(const trace::Event& event) {
    return event.is(trace::kCodeOf<"formatted_event">) &&
           !event.names->formats().contains(lib::ByteReader(event.payload).le<std::uint32_t>());
}

} // namespace

bool ImageLookup::load(const trace::OpenOptions& options, const SessionFiles* files, const Manifest* manifest) {
    m_may_search = options.find_kernel;
    m_searched = !m_may_search;
    if (!options.kernel.empty()) {
        m_file = options.kernel;
        auto image = trace::KernelImage::from_image(options.kernel);
        if (!image) {
            m_diagnostics.report("E-IO", {.file = options.kernel}, image.error().text);
            m_diagnostics.unusable_input();
            return false;
        }
        m_image = std::move(image.value());
        return true;
    }
    if (manifest == nullptr || !manifest->formats) {
        return true;
    }
    m_file = files->name_of(trace::kFormatsName);
    const auto checksum = files->checksum(trace::kFormatsName);
    const auto text = files->text(trace::kFormatsName, trace::KernelImage::kFileBytesMax);
    auto image = text ? trace::KernelImage::parse(text.value()) : trace::Refusal{text.error().text};
    if (!image) {
        report_once(image.error().text);
    } else if (!checksum || checksum.value().crc32c != manifest->formats->crc32c) {
        report_once("its checksum is not that of the manifest: not used");
    } else {
        m_image = std::move(image.value());
    }
    return true;
}

bool ImageLookup::found_at(const std::string& place, std::uint64_t image_id) {
    for (const std::string& path : {place, place + "/kernel.elf", place + '/' + std::string(trace::kFormatsName)}) {
        std::error_code ignored;
        if (!std::filesystem::is_regular_file(path, ignored)) {
            continue;
        }
        auto image = path.ends_with(".json") ? trace::KernelImage::load(path) : trace::KernelImage::from_image(path);
        if (image && image.value().image_id() == image_id && (!m_image || image.value().has_lines())) {
            m_image = std::move(image.value());
            m_file = path;
            return true;
        }
    }
    return false;
}

void ImageLookup::search(std::uint64_t image_id, const std::string& trace_file) {
    // A chunk in a container (a machine's memory, a capture, a ramdisk) has the path of the container as a folder, so
    // the search starts beside the container.
    std::filesystem::path folder = std::filesystem::path(trace_file).parent_path();
    for (std::error_code ignored; std::filesystem::is_regular_file(folder, ignored);) {
        folder = folder.parent_path();
    }
    const std::string beside = folder.string();
    const char* const named = std::getenv(kPlaces); // NOLINT(concurrency-mt-unsafe): no thread changes it
    std::string places =
        fmt::format("{}:{}:{}", beside.empty() ? "." : beside, named != nullptr ? named : "", kBuildPlace);
    for (std::size_t at = 0; at <= places.size();) {
        const std::size_t end = std::min(places.find(':', at), places.size());
        if (end != at && found_at(places.substr(at, end - at), image_id)) {
            return;
        }
        at = end + 1;
    }
}

void ImageLookup::report_once(std::string_view text) {
    if (!std::exchange(m_reported, true)) {
        m_diagnostics.report("W-FORMATS", {.file = m_file}, text);
    }
}

const trace::KernelImage* ImageLookup::find(const trace::Event& event, const trace::TraceFacts& facts) {
    const std::uint64_t ran = facts.build ? facts.build->image_id : 0;
    const bool formatted = lacks_text(event);
    if (!m_image && ran != 0 && formatted && !std::exchange(m_searched, true)) {
        search(ran, facts.chunks[event.source].file);
    }
    const bool known = m_image && ran != 0 && ran == m_image->image_id();
    if (!m_image && formatted) {
        if (m_file.empty()) {
            m_file = facts.chunks[event.source].file;
        }
        report_once(fmt::format("trace_printf events are shown by number: their texts are in the kernel image{}; name "
                                "it with --kernel kernel.elf, or store it beside the trace or in a directory of {}",
                                ran != 0 ? fmt::format(" with the build id {:016x}", ran) : "", kPlaces));
    } else if (m_image && !known && (ran != 0 || formatted)) {
        report_once(fmt::format("not used: the trace comes from another image (build id {:016x}, this is {:016x}); "
                                "trace_printf events are shown by number, instructions by address",
                                ran, m_image->image_id()));
    }
    return known ? &*m_image : nullptr;
}

const trace::KernelImage* ImageLookup::with_lines(const trace::TraceFacts& facts) {
    const std::uint64_t ran = facts.build ? facts.build->image_id : 0;
    if (m_may_search && ran != 0 && !facts.chunks.empty() && (!m_image || !m_image->has_lines())) {
        search(ran, facts.chunks.front().file);
    }
    return m_image && ran != 0 && ran == m_image->image_id() ? &*m_image : nullptr;
}

// --- time ------------------------------------------------------------------------------------------------------------

void TraceTime::set(trace::Event& event, const ChunkCursor& cursor) {
    if (!m_start && !event.metadata) {
        m_start = event.ticks;
    }
    event.timed = m_facts.clock.khz != 0 && m_start.has_value();
    if (event.metadata) {
        return; // the stamp of metadata is that of the export
    }
    if (!m_machine_clock) {
        begin_kernel_clock(event, cursor);
        m_kernel_clock.take(event, *m_start, m_facts);
    }
    if (event.timed) {
        convert(event);
    }
}

void TraceTime::set_plain(std::span<trace::Event> events, const ChunkCursor& cursor) {
    ASSERT(has_started() && !events.empty());
    if (m_kernel_clock.in_use()) {
        std::ranges::for_each(events, [&](trace::Event& event) { set(event, cursor); });
        return;
    }
    m_kernel_clock.saw(events.back().cpu, events.back().ticks);
    if (m_facts.clock.khz == 0) {
        for (trace::Event& event : events) {
            event.timed = false;
            event.time_ns = 0;
        }
        return;
    }
    update_scale();
    const trace::TickScale scale = m_scale; // a copy, which stays in registers
    const std::uint64_t start = m_start->value;
    for (trace::Event& event : events) {
        event.timed = true;
        const std::uint64_t time_ns = scale.to_nanoseconds(event.ticks.value - start);
        event.time_ns = static_cast<std::int64_t>(time_ns);
        if (event.ticks.value < start || event.time_ns < 0) {
            convert(event);
        }
    }
}

// Handles a cyclic chunk that begins in the middle of the run, after settings of the clock that were overwritten: the
// next setting states by how much the clock was set back before.
void TraceTime::begin_kernel_clock(const trace::Event& event, const ChunkCursor& cursor) {
    if (m_kernel_clock.knows(event.cpu) || m_facts.chunks[event.source].description.overwritten == 0) {
        return;
    }
    const auto setting = cursor.look_ahead(trace::kCodeOf<"clock_compensated">);
    const std::uint64_t removed = setting ? std::uint64_t{setting->par1} << 32 | setting->par2 : 0;
    if (removed != 0 && removed < event.ticks.value) {
        m_kernel_clock.begin(event.cpu, removed);
        m_start = m_start == event.ticks ? lib::Ticks{event.ticks.value - removed} : m_start;
    }
}

void TraceTime::update_scale() {
    if (m_scale.khz() != m_facts.clock.khz) {
        m_scale = trace::TickScale(m_facts.clock.khz);
    }
}

lib::Ticks TraceTime::distance_from_start(const trace::Event& event) const {
    return event.ticks < *m_start ? *m_start - event.ticks : event.ticks - *m_start;
}

// Sets time_ns; a time that does not fit becomes the greatest value, and W-RANGE is reported.
void TraceTime::convert(trace::Event& event) {
    ASSERT(m_start.has_value() && m_facts.clock.khz != 0);
    update_scale();
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const std::uint64_t time_ns = m_scale.to_nanoseconds(distance_from_start(event).value);
    const auto fitting = static_cast<std::int64_t>(std::min(time_ns, kMax));
    event.time_ns = event.ticks < *m_start ? -fitting : fitting;
    if (time_ns > kMax) {
        m_diagnostics.report("W-RANGE", {.file = m_facts.chunks[event.source].file, .offset_bytes = event.offset_bytes},
                             fmt::format("{} ticks after the start exceed 2^63 ns", distance_from_start(event).value));
    }
}

} // namespace host::formats::dat
