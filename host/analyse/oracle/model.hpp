// SPDX-License-Identifier: MIT
// The kernel's queues as the records show them: at each task_schedule the model knows each task's place, the owner of
// each mutex, and the end of each chain of owners. It judges nothing. What happened before the trace or inside a gap is
// unknown until a record shows it.
//
//   place   rank of the level, then its key (EDF: absolute deadline; fixed priority: relative deadline), then the order
//           of insertion. Guests are in their host's queue: CBS and GRUB in EDF's, servers in the fixed-priority one.
//   chain   place -> owner of the mutex that blocks it -> ... ; a job that SRP stops -> owner of the highest ceiling.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/names.hpp"
#include "host/trace/recorded_times.hpp"
#include "lib/units.hpp"
#include "lib/wire_numbers.hpp"
#include "tracer/record/unit_words.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace host::analyse::oracle {

enum class Truth : std::uint8_t {
    unknown,
    no,
    yes,
};

enum class Policy : std::uint8_t {
    unknown,
    fixed,
    edf,
    cbs,
    grub,
    polling,
    deferrable,
    round_robin,
    background,
};

using Protocol = lib::MutexProtocol;

inline constexpr std::uint64_t kLowestLevel = ~std::uint64_t{0};
inline constexpr std::uint64_t kNoVersion = ~std::uint64_t{0}; // no names have it
inline constexpr std::uint32_t kNoCeiling = ~std::uint32_t{0};
inline constexpr std::uint32_t kSaturated = ~std::uint32_t{0}; // a length of time that is too long for its record

struct Task {
    std::uint16_t context = 0;
    bool whole = false; // everything since it was created is known
    Policy policy = Policy::unknown;
    tracer::TaskParameters parameters{};
    bool described = false;        // `policy` and `parameters` are known
    bool idle = false;             // it is the idle task, the last one in the order
    std::uint64_t slice_ticks = 0; // parameters.budget_ns in ticks, once the rate of the clock is known
    Truth ready = Truth::unknown;
    Truth begun = Truth::unknown; // whether the job in progress has been dispatched
    bool suspended = false;       // it is not in the queue, but its place is kept
    // It has begun to wait in its job. If it is suspended then, no record states that it is in the queue again.
    bool waits = false;
    bool kept_place = false;                 // since its job began, it has only run in this place and has not waited
    std::optional<std::uint64_t> release{};  // release of the job in progress, in ticks
    std::optional<std::uint64_t> deadline{}; // deadline of the job in progress, in ticks
    std::uint64_t deadline_slack = 0;        // ticks by which the deadline may be later than `deadline`
    std::uint64_t sequence = 0;              // its number in the order of insertion; 0: not known
    // The mutex that it waits for; its place is lent while the mutex is owned.
    std::optional<std::uint32_t> blocked_on{};
    // It may have blocked on a mutex in a hole; this is true until a record shows whether it lends its place.
    bool may_be_blocked = false;
    std::optional<std::uint16_t> server{};
    std::uint64_t undescribed_by = kNoVersion; // the version of the names in which it has no description
};

struct Mutex {
    std::optional<Protocol> protocol{};
    bool protocol_recorded = false; // false: `protocol` is what a kernel that does not record it uses
    std::optional<std::uint32_t> ceiling_us{};
    bool known = false;      // whether `owner` is valid
    bool noted = false;      // it is among those of which a gap forgets something
    std::uint16_t owner = 0; // 0: free
};

struct Server {
    Policy kind = Policy::unknown;
    std::uint64_t capacity_ns = 0;           // 0 if it is not known, also because it is longer than a record can state
    std::uint64_t period_ns = 0;             // the same
    bool whole = false;                      // everything since it was created is known
    bool requests_known = false;             // every task with a request that it may serve is known
    bool noted = false;                      // it is among those of which a gap forgets something
    std::optional<std::uint64_t> budget{};   // in ticks, as last recorded
    std::optional<std::uint64_t> deadline{}; // ticks
};

// The task that has the processor since the last dispatch.
struct Running {
    std::uint16_t exec = 0;
    std::uint16_t shadow = 0;
    std::uint64_t since = 0; // stamp of the decision, in ticks
};

class Model {
  public:
    // Must be called with each event before the theories judge it.
    void restore(const trace::Event& event) { m_times.take(event, m_rate.khz); }

    // Returns the times that the latest event has stated, while the rest of the model is as it was before.
    [[nodiscard]] const trace::RecordedTimes& times() const { return m_times; }

    // Applies the event. Theories must have judged the event before, by the model as it was.
    void apply(const trace::Event& event);

    // Events of other codes change nothing.
    static constexpr auto kConcerns = [] {
        std::array<bool, 256> concerns =
            trace::kAnyOf<"id", "trace_start", "task_create", "task_activate", "task_schedule", "task_dispatch",
                          "task_epilogue", "task_begin_cycle", "task_end_cycle", "task_sleep", "task_disable",
                          "task_end", "task_block", "task_unblock", "set_priority", "set_mutex_create",
                          "set_mutex_protocol", "set_mutex_ceiling", "set_mutex_lock", "set_mutex_acquire",
                          "set_mutex_block", "set_mutex_deadlock", "set_mutex_timeout", "set_mutex_unlock",
                          "set_mutex_owner_died", "server_create", "server_attach", "server_kind", "server_capacity",
                          "server_period", "server_budget", "server_deadline", "server_remove">;
        for (const tracer::EventRow& row : tracer::kEvents) {
            // It shows that its task exists.
            concerns[row.code] = concerns[row.code] || row.family() == tracer::Family::job;
        }
        return concerns;
    }();

    // Forgets everything that can change. What was recorded once, when a task, a mutex or a server was created, is
    // kept: a number is not given to another one before 65,535 of them have been created. Of what was created meanwhile
    // only the names are known. Precondition: set_names() has been called.
    void forget();

    void set_rate(std::uint32_t khz);

    [[nodiscard]] bool timed() const { return m_rate.khz != 0; }

    // Precondition: timed().
    [[nodiscard]] std::uint64_t to_ticks(std::uint64_t ns) const { return m_rate.to_ticks({ns}).value; }

    [[nodiscard]] std::uint64_t to_ns(std::uint64_t ticks) const { return m_rate.to_nanoseconds({ticks}).value; }

    // Returns whether the kernel records each job and each wait; older kernels did not.
    [[nodiscard]] bool jobs_recorded() const { return m_jobs_recorded; }

    // Returns whether the kernel records who acquires a mutex; older kernels only recorded the attempt.
    [[nodiscard]] bool acquires_recorded() const { return m_acquires_recorded || m_jobs_recorded; }

    // Returns whether every task that can be in a queue is known to the model.
    [[nodiscard]] bool complete() const { return m_complete; }

    // Returns whether everything since the boot of the machine is known.
    [[nodiscard]] bool whole() const { return m_whole; }

    // Returns whether it is known which task has the processor, if any. False after a hole, until a task gets the
    // processor or leaves it.
    [[nodiscard]] bool processor_known() const { return m_processor_known; }

    [[nodiscard]] const std::map<std::uint16_t, Task>& tasks() const { return m_tasks.values(); }

    [[nodiscard]] const std::map<std::uint16_t, Server>& servers() const { return m_servers; }

    // Returns the numbers of the servers of which more than their parameters is known; some may have been removed.
    [[nodiscard]] const std::vector<std::uint16_t>& known_servers() const { return m_known_servers; }

    // Returns whether there is a server that reclaims bandwidth.
    [[nodiscard]] bool reclaims() const { return m_reclaiming != 0; }

    [[nodiscard]] const std::map<std::uint32_t, Mutex>& mutexes() const { return m_mutexes; }

    [[nodiscard]] const Task* find(std::uint16_t context) const { return m_tasks.find(context); }

    [[nodiscard]] const Mutex* mutex(std::uint32_t id) const;
    [[nodiscard]] const Server* server_of(const Task& task) const;

    [[nodiscard]] const std::optional<Running>& running() const { return m_running; }

    // Returns whether it is known that no server serves the task.
    [[nodiscard]] bool has_no_server(const Task& task) const;

    // --- places Returns whether the scheduler can find the task in a queue: it is ready, and if a polling or
    // deferrable server serves it, it is the first request and the server has budget.
    [[nodiscard]] Truth is_queued(const Task& task) const;
    [[nodiscard]] Truth has_budget(const Task& task) const;
    [[nodiscard]] Truth is_front_of_server(const Task& task) const;

    // Returns whether the place of a is searched before that of b.
    [[nodiscard]] Truth before(const Task& a, const Task& b) const;
    [[nodiscard]] std::optional<std::uint32_t> rank(const Task& task) const;

    // Returns whether a is woken before b if both wait: by the queues that they belong to, then by the keys of the
    // places that they had. No if the keys are equal.
    [[nodiscard]] Truth more_urgent(const Task& a, const Task& b) const;

    // --- chains Returns the context of the task at the end of the chain; none if it is not known.
    [[nodiscard]] std::optional<std::uint16_t> chain_end(const Task& task) const;
    [[nodiscard]] bool chain_passes(const Task& from, std::uint16_t context) const;

    // Returns whether a polling or deferrable server with this number has a request, or may have one that is not known.
    [[nodiscard]] Truth has_requests(std::uint16_t server) const;

    // Returns nanoseconds; a shorter time is a higher level. None if it is not known, or longer than records can state.
    [[nodiscard]] std::optional<std::uint64_t> preemption_level(const Task& task) const;

    // Returns whether a preemption level is above a ceiling. The record of a ceiling saturates.
    [[nodiscard]] static Truth is_above(std::uint64_t level, std::uint32_t ceiling_us);

    // Returns, among the mutexes of this protocol that other tasks hold, the one with the highest ceiling; null if
    // there is none. Sets `unknown` if it cannot be determined.
    [[nodiscard]] const Mutex* highest_ceiling(Protocol protocol, std::uint16_t task, bool& unknown) const;

    // Returns whether the task owns a mutex; unknown if a mutex whose owner is not known may be its own.
    [[nodiscard]] Truth owns_any(std::uint16_t context) const;

    // Returns whether SRP prevents the task's next job from beginning. A task that kept a mutex from an earlier job is
    // not stopped.
    [[nodiscard]] Truth stopped(const Task& task) const;

    // Sets the source of names until the next event; it must outlive all calls that use names.
    void set_names(const trace::Names& names) { m_names = &names; }

    [[nodiscard]] const trace::Names& names() const { return *m_names; }

    [[nodiscard]] std::string name(std::uint16_t context) const; // such as "control (4)"
    [[nodiscard]] std::string place_text(const Task& task) const;

  private:
    Task& task(std::uint16_t context);
    void describe(Task& task) const;
    [[nodiscard]] Task& new_task(std::uint16_t context);
    [[nodiscard]] Mutex& make_mutex(std::uint32_t id);
    [[nodiscard]] Mutex& note_mutex(std::uint32_t id);
    [[nodiscard]] Server& note_server(std::uint16_t id);
    void set_kind(Server& server, Policy kind);
    void remove_server(std::uint16_t id);
    void forget_mutexes();
    [[nodiscard]] bool may_block(const Mutex& mutex) const;
    void insert(Task& task);
    static void begin_wait(Task& task, std::uint32_t word);
    void resolve_idle();
    void apply_task(const trace::Event& event);
    void apply_job(const trace::Event& event);
    void apply_mutex(const trace::Event& event);
    void apply_server(const trace::Event& event);
    void apply_priority(const trace::Event& event);
    void apply_schedule(const trace::Event& event);
    void begin_trace(bool at_boot);
    void apply_dispatch(Task& task);
    void take_deadline(Task& task);
    void describe_server(const Task& task);
    void retry_lock(Task& task);
    void end_task(std::uint16_t context);
    void free_mutexes(std::uint16_t context);
    void note_places(const trace::Event& event);

    // Returns whether the key of a is smaller than that of b, in the order of before() without the order of insertion.
    [[nodiscard]] Truth smaller_key(const Task& a, const Task& b) const;

    // Returns the next link; 0 at the end of the chain; none if it is not known.
    [[nodiscard]] std::optional<std::uint16_t> next_in_chain(const Task& task) const;

    lib::TickRate m_rate;
    trace::RecordedTimes m_times;
    const trace::Names* m_names = nullptr;
    trace::NumberMap<Task> m_tasks; // by context
    std::map<std::uint32_t, Mutex> m_mutexes;
    std::map<std::uint16_t, Server> m_servers;
    std::map<std::uint16_t, std::uint16_t> m_attached; // by context: the server of the task
    // There may be many objects, and many gaps, so these are the ones that the next gap concerns.
    std::vector<std::uint32_t> m_known_mutexes;
    std::vector<std::uint16_t> m_known_servers;
    std::uint64_t m_named = kNoVersion; // the version of the names whose mutexes are in m_mutexes
    bool m_protocols_recorded = false;  // each mutex of which a protocol was only assumed has forgotten it
    std::size_t m_reclaiming = 0;       // servers whose kind is GRUB
    std::optional<Running> m_running;
    std::optional<Running> m_decided; // the latest decision
    bool m_forgot = false;            // tasks may have blocked in a hole
    std::uint64_t m_sequence = 0;
    bool m_jobs_recorded = false;
    bool m_acquires_recorded = false;
    bool m_complete = false;
    bool m_whole = false;
    bool m_had_tasks = false; // a record has named a task
    bool m_processor_known = false;
    bool m_stack = false; // an SRP mutex may exist
};

[[nodiscard]] Policy policy_of_level(std::string_view name);
[[nodiscard]] Policy policy_of_kind(lib::LevelKind kind);

// Returns the ticks that a server_budget states; none if they do not fit the record.
[[nodiscard]] std::optional<std::uint64_t> recorded_budget(const trace::Event& event);

} // namespace host::analyse::oracle
