// SPDX-License-Identifier: MIT
// Restores the 64-bit times of releases and deadlines, of which records have the low 32 bits. At 4 GHz these repeat
// each second, so the rest follows from what else the trace states: a periodic task is released one period after its
// release before, a job that waited was released when its arrival was recorded, D follows the release, T the deadline
// of a server. Where none of this decides, as after a loss, the time is unknown until it does. This is the only place
// that restores such a time; tick_scale.hpp has the arithmetic.
//
// Usage: RecordedTimes times; for each event: { times.take(event, khz); ... times.release(event.par1) ... }
#pragma once

#include "host/trace/event.hpp"
#include "lib/units.hpp"
#include "lib/wire_numbers.hpp"
#include "tracer/names/metadata.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace host::trace {

class RecordedTimes {
  public:
    // Must be called with each event, in order, before the functions below are asked about it. khz: the clock's rate, 0
    // if it is not known: then no deadline is known either.
    void take(const Event& event, std::uint32_t khz) {
        if (event.after_hole) [[unlikely]] {
            forget();
        }
        if (kConcerns[event.code] && event.is_sound()) {
            follow(event, khz);
        }
    }

    // Must be called if nothing is known of what was before the next event, unless that event states it: a loss, a
    // pause, a filter, a hole.
    void forget();

    // Each of these returns ticks; none if no record has stated the time or if it is not known which time was meant.

    // Returns when the latest recorded job of the task was released.
    [[nodiscard]] std::optional<std::uint64_t> release(std::uint16_t context) const;

    // Returns the deadline by which that job competes.
    [[nodiscard]] std::optional<std::uint64_t> deadline(std::uint16_t context) const;

    // As deadline(). If only set_priority states it, as in traces of older kernels, it is up to a microsecond later.
    [[nodiscard]] std::optional<std::uint64_t> deadline_about(std::uint16_t context) const;

    // Returns the server of the task; none if it has none, or if records of it may be missing.
    [[nodiscard]] std::optional<std::uint16_t> server(std::uint16_t context) const;

    // Returns whether the task has a server, or parameters that only a task with a dynamic server has: then its
    // recorded deadlines are those of the server.
    [[nodiscard]] bool is_served(std::uint16_t context) const;

    // Returns the deadline of a server, or its next replenishment.
    [[nodiscard]] std::optional<std::uint64_t> server_deadline(std::uint16_t server) const;

    // Returns the period of a server in nanoseconds; none if it is longer than a record can state, and no task has it
    // as a parameter.
    [[nodiscard]] std::optional<std::uint64_t> server_period_ns(std::uint16_t server) const;

    // Events of other codes change nothing.
    static constexpr const auto& kConcerns =
        kAnyOf<"task_create", "task_end", "task_activate", "task_timer", "task_schedule", "task_end_cycle",
               "task_disable", "job_abort", "job_queued", "job_skipped", "job_release", "job_deadline", "set_priority",
               "deadline_change", "server_create", "server_kind", "server_period", "server_attach", "server_active",
               "server_replenish", "server_exhaust", "server_deadline", "server_remove", "blackout_start",
               "blackout_end", "trace_start", "filter_general", "filter_task", "filter_priority", "filter_server",
               "filter_job">;

  private:
    struct Task {
        tracer::TaskParameters parameters{};
        std::uint64_t described_by = ~std::uint64_t{0}; // the version of the names that `parameters` are from
        std::optional<std::uint16_t> server{};
        std::optional<std::uint64_t> release{};
        std::optional<std::uint64_t> deadline{};
        std::optional<std::uint64_t> about{}; // the deadline by set_priority alone
        std::optional<std::uint32_t> low{};   // the low half of a deadline that set_priority decides
        // These are the relative deadlines that deadline_change has set, the latest first.
        std::array<std::optional<std::uint32_t>, 2> changed_us{};
        bool whole = false;   // everything since the creation of the task is known
        bool regular = false; // since its release it has not been activated
        // A job that waited is released at the end of the one before, at once; any other, at its arrival.
        bool ended = false;                        // its job ended, and no decision and no arrival has followed
        bool arrived = false;                      // its job did not end after its latest arrival
        std::optional<std::uint64_t> activation{}; // stamp of an activation that may wait
        std::deque<std::uint64_t> waiting{};       // stamps of the arrivals that wait
        bool waiting_known = false;                // `waiting` is complete

        [[nodiscard]] bool is_soft() const { return parameters.deadline_ns == 0 && parameters.period_ns != 0; }
    };

    struct Server {
        std::optional<lib::ServerKind> kind{};
        bool whole = false; // everything since its creation is known
        std::optional<std::uint32_t> period_ns{};
        std::optional<std::uint16_t> task{}; // which a dynamic server serves
        std::optional<std::uint64_t> deadline{};
        // These have been recorded since its last deadline.
        bool active = false;
        bool replenished = false;
        bool exhausted = false;
        std::uint64_t known_since = 0; // m_forgotten at that time; what is known from before is kind and period alone
    };

    void follow(const Event& event, std::uint32_t khz);
    void follow_server(const Event& event);
    void follow_task(const Event& event);
    Task& task(const Event& event, std::uint16_t context);
    static void arrive(Task& task);
    static void wait(Task& task, std::uint64_t stamp);
    void settle();
    void released(Task& task, const Event& event);
    [[nodiscard]] std::optional<std::uint64_t> release_of(Task& task, const Event& event) const;
    void due(Task& task, std::uint32_t low);
    [[nodiscard]] std::optional<std::uint64_t> hard_deadline(const Task& task, std::uint32_t low) const;
    void priority(Task& task, const Event& event);
    [[nodiscard]] Server& server(std::uint16_t id);
    [[nodiscard]] Server* server_of(const Task& task);
    [[nodiscard]] std::optional<std::uint64_t> period_of(std::uint16_t server) const;
    [[nodiscard]] static std::optional<std::uint64_t> dynamic_deadline(const Server& server, const Event& event,
                                                                       std::optional<std::uint64_t> period);
    [[nodiscard]] static std::optional<std::uint64_t> fixed_deadline(const Server& server, const Event& event,
                                                                     std::optional<std::uint64_t> period);

    [[nodiscard]] bool timed() const { return m_rate.khz != 0; }

    [[nodiscard]] std::uint64_t to_ticks(std::uint64_t ns) const { return m_rate.to_ticks({ns}).value; }

    lib::TickRate m_rate;
    NumberMap<Task> m_tasks; // by context
    NumberMap<Server> m_servers;
    std::vector<std::uint16_t> m_ended; // tasks whose jobs ended since the last decision
    std::uint64_t m_forgotten = 0;      // how often forget() was called
    // Records are missing, so a task may have had jobs that wait. A trace may begin long after the machine did: only
    // the trace_start of the machine's start states that nothing precedes it.
    bool m_forgot = true;
    bool m_in_gap = true; // no decision has followed what is missing, so the end of a job may be, too
};

} // namespace host::trace
