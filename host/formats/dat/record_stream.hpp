// SPDX-License-Identifier: MIT
// Reads the events of 16-byte records from the files of a session, from unpacked sources or from a pipe. It connects
// the parts: ChunkMerge orders, TraceTime converts stamps, ImageLookup finds the image.
#pragma once

#include "host/formats/dat/chunk_cursor.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/event.hpp"
#include "host/trace/event_stream.hpp"
#include "host/trace/facts.hpp"
#include "host/trace/kernel_image.hpp"
#include "host/trace/tick_scale.hpp"
#include "lib/result.hpp"
#include "lib/units.hpp"
#include "lib/wire_numbers.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace host::formats::dat {

// Is the kernel's clock. Stamps are the machine's counter. If the kernel has set its own clock back
// (clock_compensated), its deadlines and decisions follow that clock: the stamp less what had been removed from it by
// then, on that processor. The clock never decreases, with one exception in a trace that begins in the middle, which
// take() describes: after a setting to a time before one that was already seen, it stops until that time. After a gap,
// in which settings may be missing, it stops until its next record.
class KernelClock {
  public:
    // Returns whether any clock was set back so far.
    [[nodiscard]] bool in_use() const { return m_in_use; }

    // Returns whether this processor had any event.
    [[nodiscard]] bool knows(std::uint16_t cpu) const { return m_processors.contains(cpu); }

    // Must be called before the first event of a processor whose clock was set back before the trace begins. removed:
    // how much was removed by then.
    void begin(std::uint16_t cpu, std::uint64_t removed) {
        m_in_use = true;
        m_processors[cpu].removed = removed;
    }

    // Notes that events were seen up to this stamp, which need nothing else. Only before any clock was set back.
    void saw(std::uint16_t cpu, lib::Ticks stamp) {
        if (cpu != m_seen_cpu || m_seen == nullptr) {
            m_seen_cpu = cpu;
            m_seen = &m_processors[cpu];
        }
        m_seen->last = std::max(m_seen->last, stamp.value);
    }

    // Notes what the event says about the clock and sets its time to that of the kernel's clock. Must be called in the
    // order of stamps, without metadata. start: that of the trace. A clock that lags by more than the trace has lasted
    // was set back before the trace began; only then it decreases, once, to its value.
    void take(trace::Event& event, lib::Ticks start, trace::TraceFacts& facts) {
        if (event.is(trace::kCodeOf<"compensation_count">) && event.par1 < lib::kWords<lib::StepOutcome>.size()) {
            compensation(facts).steps[event.par1] += event.par2;
        }
        const bool setting = event.is(trace::kCodeOf<"clock_compensated">);
        if (!setting && !m_in_use) {
            saw(event.cpu, event.ticks);
            return;
        }
        Processor& cpu = m_processors[event.cpu];
        const bool gap = event.is(trace::kCodeOf<"trace_start">) || event.is(trace::kCodeOf<"blackout_end">);
        if (gap && cpu.removed != 0) { // a clock that was never set back is not recorded again
            cpu.is_settled = false;
        }
        if (setting) {
            m_in_use = true;
            cpu.is_settled = true;
            const std::uint64_t removed = std::uint64_t{event.par1} << 32 | event.par2;
            const std::uint64_t lasted = event.ticks.value - std::min(event.ticks.value, start.value);
            const bool earlier = cpu.removed == 0 && removed > lasted;
            cpu.last = earlier ? 0 : cpu.last;
            if (!earlier && removed > cpu.removed) {
                lib::Ticks& sum = compensation(facts).removed_meanwhile;
                sum = sum + lib::Ticks{removed - cpu.removed};
            }
            const bool set_back = removed != cpu.removed; // else the event is a repetition
            cpu.removed = removed;
            compensation(facts).removed = {std::max(compensation(facts).removed.value, cpu.removed)};
            compensation(facts).settings += set_back ? 1 : 0;
        }
        const std::uint64_t stamp = event.ticks.value;
        if (cpu.is_settled) {
            cpu.last = std::max(cpu.last, stamp - std::min(stamp, cpu.removed));
        }
        event.ticks = {cpu.last};
    }

  private:
    struct Processor {
        std::uint64_t removed = 0;
        std::uint64_t last = 0;
        bool is_settled = true; // `removed` may have increased in a gap
    };

    static trace::Compensation& compensation(trace::TraceFacts& facts) {
        return facts.compensation ? *facts.compensation : facts.compensation.emplace();
    }

    std::map<std::uint16_t, Processor> m_processors;
    Processor* m_seen = nullptr; // entry of m_seen_cpu
    std::uint16_t m_seen_cpu = 0;
    bool m_in_use = false;
};

class TraceTime {
  public:
    // facts and diagnostics must outlive this object. machine_clock: stamps stay unchanged.
    TraceTime(trace::TraceFacts& facts, trace::Diagnostics& diagnostics, bool machine_clock)
        : m_facts(facts)
        , m_diagnostics(diagnostics)
        , m_machine_clock(machine_clock) {}

    TraceTime(const TraceTime&) = delete;
    TraceTime& operator=(const TraceTime&) = delete;

    // Sets the first stamp of the trace; nothing for a pipe, where set() takes it from the first event.
    void start_at(std::optional<lib::Ticks> start) { m_start = start; }

    [[nodiscard]] bool has_started() const { return m_start.has_value(); }

    // Sets the time of an event that this cursor returned.
    void set(trace::Event& event, const ChunkCursor& cursor);

    // Sets the times of one or more plain records of one processor from this cursor. Precondition: has_started().
    void set_plain(std::span<trace::Event> events, const ChunkCursor& cursor);

  private:
    void begin_kernel_clock(const trace::Event& event, const ChunkCursor& cursor);
    void update_scale();
    void convert(trace::Event& event);
    [[nodiscard]] lib::Ticks distance_from_start(const trace::Event& event) const;

    trace::TraceFacts& m_facts;
    trace::Diagnostics& m_diagnostics;
    KernelClock m_kernel_clock;
    bool m_machine_clock;
    trace::TickScale m_scale;
    std::optional<lib::Ticks> m_start;
};

// Finds the kernel image in which the numbers of a trace are looked up: the one that the user names, else the copy that
// a session keeps, else the first that has the build id of the trace: a kernel.elf or formats.json beside the trace, in
// a directory of the environment variable REMORA_KERNELS (or a file there, all separated by colons), in build/kernel.
// An image other than the one that ran is never used.
class ImageLookup {
  public:
    // diagnostics must outlive the look-up.
    explicit ImageLookup(trace::Diagnostics& diagnostics)
        : m_diagnostics(diagnostics) {}

    // files and manifest are those of a session, else null. Returns false, with E-IO, if the image that
    // the user named cannot be read. If a session's own copy is damaged, only texts and names are missing: W-FORMATS.
    [[nodiscard]] bool load(const trace::OpenOptions& options, const SessionFiles* files, const Manifest* manifest);

    [[nodiscard]] std::optional<trace::KernelImage>& image() { return m_image; }

    // Returns the image of this event; null if the image that ran was not found, which is reported once.
    [[nodiscard]] const trace::KernelImage* find(const trace::Event& event, const trace::TraceFacts& facts);

    // Takes the copy that a container keeps.
    void use(trace::KernelImage image) {
        if (!m_image) {
            m_image = std::move(image);
        }
    }

    // Returns the image that ran, with the lines of its source if its ELF file is found; null if nothing of it is.
    [[nodiscard]] const trace::KernelImage* with_lines(const trace::TraceFacts& facts);

  private:
    void report_once(std::string_view text);

    // Returns whether `place`, or a file in it, is the image.
    [[nodiscard]] bool found_at(const std::string& place, std::uint64_t image_id);
    void search(std::uint64_t image_id, const std::string& trace_file);

    trace::Diagnostics& m_diagnostics;
    std::optional<trace::KernelImage> m_image;
    std::string m_file;
    bool m_reported = false;
    bool m_may_search = true;
    bool m_searched = false; // or no search is wanted
};

// Holds what was found when a session was opened, for another pass over it.
struct SessionIndex {
    Manifest manifest;
    trace::Absent absent;
    std::vector<Segment> segments; // in the order of their first stamps
};

class RecordStream final : public trace::EventStream {
  public:
    // known is the index of a directory, or null. Any error is reported to diagnostics.
    [[nodiscard]] static lib::Result<std::unique_ptr<RecordStream>>
    of_session(SessionFiles files, const trace::OpenOptions& options, trace::Diagnostics& diagnostics,
               std::shared_ptr<const SessionIndex> known);

    // Reads one pipe, or any number of sources that can be positioned.
    [[nodiscard]] static lib::Result<std::unique_ptr<RecordStream>>
    of_sources(std::span<const trace::NamedSource> sources, const trace::OpenOptions& options,
               trace::Diagnostics& diagnostics);

    // Notes what the container of these records states to be lost, instead of what was noted before.
    void note_absent(const trace::Absent& absent) { m_facts.absent = absent; }

    // Notes that the container of these records has each chunk that the machine has used; chunks: how many these are.
    // They may still have been damaged. A pipe has what is read of it.
    void note_all_chunks(std::optional<std::size_t> chunks = {}) {
        m_facts.has_all_chunks = m_followed || m_merge.are_whole(chunks);
    }

    // Notes the machine's totals, which the container of these records has.
    void note_totals(const tracer::ExportEnd& totals) { m_facts.export_end = totals; }

    // Looks numbers up in the image of the container's copy, unless the user named another one.
    void use_image(trace::KernelImage image) { m_images.use(std::move(image)); }

    [[nodiscard]] const SessionFiles& files() const { return m_files; }

    // Returns null unless the stream is a session.
    [[nodiscard]] const Manifest* manifest() const { return m_session != nullptr ? &m_session->manifest : nullptr; }

    // Returns the image that ran, with lines if possible; null if it is not known.
    [[nodiscard]] const trace::KernelImage* symbols() { return m_images.with_lines(m_facts); }

    // Returns the index of a session in a directory; null if opening it has reported something, because whoever opens
    // it again must see that report.
    [[nodiscard]] std::shared_ptr<const SessionIndex> index() const { return m_is_sound ? m_session : nullptr; }

  private:
    RecordStream(const trace::OpenOptions& options, trace::Diagnostics& diagnostics);

    [[nodiscard]] std::span<trace::Event> read_batch() override;

    [[nodiscard]] bool must_stop() const { return m_strict && m_diagnostics.damages() != m_damages; }

    void add_absent(std::uint64_t records);
    [[nodiscard]] lib::Result<void> add_session(SessionIndex& index);
    void finish();

    trace::Diagnostics& m_diagnostics;
    std::shared_ptr<const SessionIndex> m_session;
    bool m_is_sound = false;
    SessionFiles m_files;
    ChunkMerge m_merge;
    TraceTime m_time;
    ImageLookup m_images;
    bool m_strict;
    bool m_followed = false;
    std::uint64_t m_damages; // damages that were reported before anything was read
    bool m_exhausted = false;
};

} // namespace host::formats::dat
