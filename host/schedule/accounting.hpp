// SPDX-License-Identifier: MIT
// Explains why a job took as long as it did: divides its response time among its culprits without a remainder.
// docs/metrics.md has the definitions, with drawings.
//
//   R = f - r = (a - r) + C + I + B + S
//
//   r  release, as the kernel computed it        (a - r)  release jitter
//   a  stamp of job_release: the task is ready   C        execution, handlers left out
//   s  first dispatch                            I        interference, kernel and throttling included
//   f  end of the job                            B        blocking        S  suspension
//
// The parts are added up moment by moment from what the schedule shows; R is computed from the job alone. The
// difference, the residue, must be 0: any other value is an error in these tools and is reported as such. If records
// are missing or stamps decrease within a job, its parts are not known, and nothing is claimed.
//
// Accounting is used as Schedule is, and takes the changes of a Schedule. It reports one JobAccount when a job ends.
#pragma once

#include "host/schedule/base_priority.hpp"
#include "host/schedule/executor.hpp"
#include "host/schedule/jobs.hpp"
#include "host/schedule/mutex_waits.hpp"
#include "host/schedule/schedule.hpp"
#include "host/schedule/share.hpp"
#include "host/trace/event.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace host::schedule {

// The reason why the parts of a job are not known.
enum class Unaccounted : std::uint8_t {
    no, // they are known
    // The job was not complete at the end of the trace, or records are missing within it, or before it such as decide
    // what is interference, or records may be wrong.
    no_end,
    stamps_fell, // records within the job have lower stamps than earlier records
    early,       // the release is later than the record of it
    no_release,  // it is not known which time the record of the release means
    damaged,     // it began in a damaged chunk: its records may be those of several jobs
};

struct JobAccount {
    Job job;
    std::uint16_t cpu = 0;             // where it ended
    Moment ready{};                    // a
    std::array<lib::Ticks, 5> parts{}; // by Part
    lib::Ticks gross{};                // time on the processor: execution, and the handlers that interrupted it
    std::uint64_t records = 0;         // written on its processors from r to f
    std::uint32_t dispatches = 0;      // how often the job got a processor: 1 if it ran in one piece
    std::uint32_t preemptions = 0;     // how often it lost its processor although it could have continued
    std::uint32_t migrations = 0;      // how often it continued on another processor
    std::vector<Share> shares{};       // by culprit, in the order in which they first appear
    Unaccounted unaccounted = Unaccounted::no_end;
    std::int64_t residue = 0; // R minus all parts; 0 unless these tools are wrong

    [[nodiscard]] lib::Ticks part(Part of) const { return parts[static_cast<std::size_t>(of)]; }

    [[nodiscard]] bool is_known() const { return unaccounted == Unaccounted::no; }

    // Precondition of the following functions: is_known().
    [[nodiscard]] lib::Ticks response() const { return job.end->ticks - job.release->ticks; }

    // Returns s - a, or f - a if the job never ran.
    [[nodiscard]] lib::Ticks start_latency() const { return job.start.value_or(*job.end).ticks - ready.ticks; }

    // Returns f - s, or 0 if the job never ran.
    [[nodiscard]] lib::Ticks span() const { return job.end->ticks - job.start.value_or(*job.end).ticks; }
};

// States what happened to one job from one moment to another. The pieces of a job follow each other in time order, from
// r to f, without gap or overlap.
struct Piece {
    std::uint16_t context = 0;
    std::uint64_t job = 0;
    Culprit culprit;
    lib::Ticks begin;
    lib::Ticks end;
    std::uint64_t records = 0;
    RecordPlace place{}; // the record with which it begins
    Executor ended_by{}; // in suspension: what ran when the wait ended
    Executor begun_by{}; // in suspension: what ran when it began
};

class Accounting {
  public:
    using Sink = std::function<void(const JobAccount&)>;
    using PieceSink = std::function<void(const Piece&)>;

    explicit Accounting(Sink sink, PieceSink pieces = {});
    Accounting(const Accounting&) = delete; // m_jobs has a pointer to it
    Accounting& operator=(const Accounting&) = delete;

    // changes: what Schedule::take() returned for the event. schedule: its state after the event. khz: the clock's
    // rate, 0 if it is not known yet.
    void take(const trace::Event& event, std::span<const Change> changes, const Schedule& schedule, std::uint32_t khz) {
        if (event.metadata || event.row == nullptr || !event.is_sound()) {
            return;
        }
        if (event.ticks < m_now) {
            note_fall();
        } else {
            m_now = event.ticks;
        }
        if (trace::kSetsFilter[event.code]) [[unlikely]] {
            note_filter(event, schedule);
        }
        m_lost = m_lost && (event.code != trace::kCodeOf<"trace_start"> || event.par1 != 0);
        note_family(event);
        m_jobs.restore(event, khz);
        m_priorities.take(event, m_jobs.times());
        const bool executes_another = history(event.cpu).take(event, schedule, m_now);
        follow(event, changes, schedule, khz, executes_another);
    }

    // Must be called at the end of the trace: reports the open jobs, as not accounted.
    void finish();

    // Returns the event that is being taken, with which a job that is reported ended; null in finish() and after it.
    [[nodiscard]] const trace::Event* event() const { return m_event; }

    [[nodiscard]] const BasePriorities& priorities() const { return m_priorities; }

    [[nodiscard]] const Jobs& jobs() const { return m_jobs; }

    // Precondition: the processor has had an event.
    [[nodiscard]] const ExecutorHistory& executors(std::uint16_t cpu) const { return *m_processors[cpu]; }

  private:
    // The positions of the job's shares are cached by a hash of their culprits, because a long job has many shares.
    static constexpr std::size_t kRecentShares = 32;

    struct Open {
        JobAccount account;
        std::array<std::uint32_t, kRecentShares> recent{};
        Culprit now{};
        bool on_processor = false;
        // The job has been suspended since an earlier stamp: only a change that concerns its task ends the piece.
        bool rests = false;
        lib::Ticks since{};
        std::uint64_t records_since = 0; // of its processor, when the piece began
        RecordPlace place{};
        Executor begun_by{};
        bool fell = false;
        bool unsure = false; // records are missing that decide to which part a piece belongs
    };

    struct alignas(32) Task {                 // a power of two as size makes indexing fast
        std::uint32_t open = 0;               // the position of its open job in m_open, from 1; 0: it has none
        bool is_end_of_lost = false;          // a loss has hidden the release of that job, or an earlier end
        std::optional<lib::Ticks> last_end{}; // the end of its latest job
    };

    // The state of one processor after the event that is being taken.
    struct View {
        const Schedule& schedule;
        const Schedule::Processor& here;
        Executor executor;
    };

    // Events of these codes may change a class even if neither the schedule nor what executes changes.
    static constexpr const auto& kMayReclassify =
        trace::kAnyOf<"task_dispatch", "set_mutex_acquire", "set_mutex_unlock", "set_mutex_owner_died", "job_deadline",
                      "set_priority", "deadline_change", "server_budget">;

    // Each of these events ends the job in progress, or the loop of a task whose job was aborted before.
    static constexpr const auto& kEndsJob = trace::kAnyOf<"task_end_cycle", "task_disable", "job_abort">;

    [[nodiscard]] std::span<Open> open_jobs() { return std::span(m_open).first(m_opened); }

    void note_fall();

    // Notes of which family there is a record. Of interrupts only handlers matter, which a kernel that counts
    // interrupts does not record.
    void note_family(const trace::Event& event) {
        const tracer::Family family = event.row->family();
        if (family != tracer::Family::interrupt || event.code == trace::kCodeOf<"interrupt_start">) {
            m_seen |= trace::families({family});
        }
    }

    void note_filter(const trace::Event& event, const Schedule& schedule) {
        m_hidden = schedule.is_hidden(trace::Filters::kParts);
        for (const auto& history : m_processors) {
            if (history != nullptr && trace::Filters::changes(event, trace::Filters::kParts)) {
                history->lose();
            }
        }
    }

    void follow(const trace::Event& event, std::span<const Change> changes, const Schedule& schedule, std::uint32_t khz,
                bool executes_another);
    void note(const trace::Event& event, const Change& change, const Schedule& schedule);
    void begin_job(const trace::Event& event, std::uint16_t context);
    void add_jitter(Open& open, const trace::Event& event, lib::Ticks release);
    void end_job(const Job& job);
    void end_lost_job(const trace::Event& event);
    [[nodiscard]] bool may_be_filtered(const trace::Names& names) const;
    void switched(const trace::Event& event, const Change& change, const Schedule& schedule);
    void reclassify(const trace::Event& event, const Schedule& schedule);
    void end_piece(Open& open, const ExecutorHistory& history);
    void add(Open& open, lib::Ticks end, std::uint64_t records, Executor ended_by);
    [[nodiscard]] static Share& share_of(Open& open, const Culprit& culprit);
    [[nodiscard]] Task& task(std::uint32_t context);
    void add_tasks(std::uint32_t context);
    void migrate(Open& open, std::uint16_t cpu);

    [[nodiscard]] ExecutorHistory& history(std::uint16_t cpu) {
        return cpu < m_processors.size() && m_processors[cpu] != nullptr ? *m_processors[cpu] : new_history(cpu);
    }

    [[nodiscard]] ExecutorHistory& new_history(std::uint16_t cpu);
    [[nodiscard]] Open* open_of(std::uint32_t context);
    [[nodiscard]] Culprit classify(std::uint32_t context, const View& view) const;
    [[nodiscard]] Culprit classify_ready(std::uint32_t context, const View& view) const;
    [[nodiscard]] Culprit classify_mutex(std::uint32_t context, std::uint32_t mutex, const View& view) const;
    [[nodiscard]] Inversion inversion(const Culprit& culprit, std::uint32_t context, const View& view) const;

    Sink m_sink;
    PieceSink m_pieces;
    Jobs m_jobs;
    BasePriorities m_priorities;
    std::vector<Open> m_open; // only the first m_opened are open; the others keep their memory for reuse
    std::size_t m_opened = 0;
    std::vector<Task> m_tasks;                                  // by context
    std::vector<std::unique_ptr<ExecutorHistory>> m_processors; // by number; null: the processor had no event
    MutexWaits m_waits;
    lib::Ticks m_now;               // never decreases
    bool m_lost = true;             // records are missing, or the trace began after the machine did
    bool m_hidden = false;          // a filter hides what the parts of a response time follow from
    trace::Families m_seen = 0;     // families of which there is a record since the latest loss
    trace::Families m_expected = 0; // those of which there was one before it; 0: nothing is lost
    const trace::Event* m_event = nullptr;
};

} // namespace host::schedule
