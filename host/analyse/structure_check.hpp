// SPDX-License-Identifier: MIT
// Checks in one pass what must hold in every trace of a correct kernel. It judges structure, not timing: pairs match,
// one task runs at a time, decisions are followed, counts agree. Where the trace has a gap (records dropped,
// overwritten or lost, the tracer off, a filter set), the rules that the gap makes undecidable are relaxed;
// relaxations() states which and why. What is open at the start of a stretch has an unknown start, which is no
// violation. Each event is judged by the schedule as it was before the event; at a gap the schedule is forgotten.
#pragma once

#include "host/schedule/schedule.hpp"
#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace host::analyse {

enum class Rule : std::uint8_t {
    stamps_rise,
    interrupt_pairs,
    timer_pairs,
    lock_pairs,
    cycle_pairs,
    one_runs,
    dispatch_follows_schedule,
    blackouts,
    counts,
    checksums,
    foreign_order,
    account,
    residue,
    utilisation,
};

struct RuleRow {
    Rule rule;
    std::string_view name;
    std::string_view meaning;
};

inline constexpr auto kRules = std::to_array<RuleRow>({
    {Rule::stamps_rise, "stamps-rise", "stamps never fall within a chunk"},
    {Rule::interrupt_pairs, "interrupt-pairs",
     "interrupt_end closes the interrupt_start of the same vector, innermost first"},
    {Rule::timer_pairs, "timer-pairs", "timer_wakeup_end closes a timer_wakeup_start, and they do not nest"},
    {Rule::lock_pairs, "lock-pairs", "a mutex is unlocked by the task that owns it"},
    {Rule::cycle_pairs, "cycle-pairs", "task_begin_cycle and task_end_cycle alternate"},
    {Rule::one_runs, "one-runs", "the task that the processor switches to is the one dispatched, and only it acts"},
    {Rule::dispatch_follows_schedule, "dispatch-follows-schedule",
     "task_dispatch names the exec_shadow of the latest task_schedule"},
    {Rule::blackouts, "blackouts",
     "each gap has a blackout_start and a blackout_end, and the reported losses add up to the total"},
    {Rule::counts, "counts", "each chunk holds as many records as it announces, and the totals agree"},
    {Rule::checksums, "checksums", "each file has the length and the CRC-32C of the manifest"},
    {Rule::foreign_order, "foreign-order",
     "of a tlog file: START is the first of a process and END the last, blocks are of one process, pairs nest"},
    {Rule::account, "account",
     "what the machine committed, sent and sealed with a checksum is what was received and stored; see the account"},
    {Rule::residue, "residue", "the parts of each response time add up to it; if not, these tools are wrong"},
    {Rule::utilisation, "utilisation", "so do the uses of each processor to its time"},
});

[[nodiscard]] constexpr std::string_view rule_name(Rule rule) {
    return kRules[static_cast<std::size_t>(rule)].name;
}

struct Violation {
    Rule rule = Rule::counts;
    const trace::Event* event = nullptr; // null for a rule about a whole chunk or file; valid during the call
    std::string file;                    // set when event is null
    std::optional<std::uint16_t> task;   // the context of the task concerned, if there is one
    std::string text;
};

class StructureCheck {
  public:
    using Sink = std::function<void(const Violation&)>;

    explicit StructureCheck(Sink sink);

    // facts: those of the trace that the event comes from. schedule: its state before the event.
    void add(const trace::Event& event, const trace::TraceFacts& facts, const schedule::Schedule& schedule);

    // Checks the rules about whole chunks and files. Must be called once, after the last event.
    void finish(const trace::TraceFacts& facts);

    void violate(const Violation& violation);

    // Adds a sentence to relaxations().
    void relax(std::string reason) { m_relaxations.push_back(std::move(reason)); }

    [[nodiscard]] std::uint64_t violations(Rule rule) const { return m_violations[static_cast<std::size_t>(rule)]; }

    [[nodiscard]] std::uint64_t violations() const;

    [[nodiscard]] std::uint64_t events() const { return m_events; }

    // Returns sentences in the order in which they were added.
    [[nodiscard]] const std::vector<std::string>& relaxations() const { return m_relaxations; }

  private:
    struct Mutex {
        std::vector<std::uint16_t> attempts; // contexts that tried to lock and have not unlocked yet
        std::vector<std::uint16_t> seen;     // contexts that used it in this stretch, in ascending order

        // Adds the context; returns whether it is new.
        bool see(std::uint16_t context) {
            const auto place = std::ranges::lower_bound(seen, context);
            const bool is_new = place == seen.end() || *place != context;
            if (is_new) {
                seen.insert(place, context);
            }
            return is_new;
        }

        std::optional<std::uint16_t> owner; // if known
        bool created = false;               // created in this stretch, so no task can hold or await it unseen
    };

    // Holds what is known of one processor since the latest gap, in addition to the schedule.
    struct Cpu {
        std::vector<std::uint16_t> vectors_seen;
        std::optional<bool> timer_open;
    };

    // The losses that the trace of a processor reports, in all stretches.
    struct Losses {
        bool open = false; // a blackout has begun and not ended
        std::uint64_t reported = 0;
        bool saturated = false; // a blackout_end has the largest number that it can hold, so more records may be lost
    };

    using Families = std::bitset<tracer::kFamilies>;

    void begin_chunk(const trace::Event& event, const trace::TraceFacts& facts);
    void begin_after_hole(const trace::Event& event, const trace::TraceFacts& facts);
    void begin_stretch(std::uint16_t cpu);
    [[nodiscard]] bool begin(const trace::Event& event, const trace::TraceFacts& facts);
    void judge(const trace::Event& event, const schedule::Schedule::Processor& here);
    void relax_filtered(const trace::Event& event);
    // reason: a sentence, which is added to relaxations() unless all these families are relaxed already.
    void relax(Families families, std::string reason);

    [[nodiscard]] static Families only(tracer::Family family) { return 1U << static_cast<unsigned>(family); }

    [[nodiscard]] bool strict(tracer::Family family) const { return (m_relaxed & only(family)).none(); }

    void violate(Rule rule, const trace::Event& event, std::optional<std::uint16_t> task, std::string text);

    void check_interrupt(const trace::Event& event, const schedule::Schedule::Processor& here);
    // Checks a dispatch, a switch, or an operation on a mutex or semaphore.
    void check_schedule(const trace::Event& event, const schedule::Schedule::Processor& here);
    void check_blackout(const trace::Event& event);
    void check_losses(const trace::TraceFacts& facts);
    static void end_attempt(Mutex& mutex, std::uint16_t context);
    void check_lock(const trace::Event& event);
    void check_unlock(const trace::Event& event);
    void check_cycle(const trace::Event& event);
    void forget_task(std::uint16_t context);

    Sink m_sink;
    std::array<std::uint64_t, kRules.size()> m_violations{};
    Families m_relaxed;
    bool m_has_jobs = true; // records of jobs have come since the latest gap, or there was none: no filter hides them
    std::vector<std::string> m_relaxations;
    trace::NumberMap<Cpu> m_cpus;
    std::map<std::uint16_t, Losses> m_losses;
    std::map<std::uint32_t, Mutex> m_mutexes;
    trace::NumberMap<std::optional<bool>> m_in_job; // by context: whether its latest cycle has not ended, if known
    std::vector<std::optional<lib::Ticks>> m_last_stamps; // by chunk
    std::uint64_t m_events = 0;
};

static_assert(
    std::ranges::all_of(kRules, [](const RuleRow& row) { return &row == &kRules[static_cast<std::size_t>(row.rule)]; }),
    "in the order of the enumeration");

} // namespace host::analyse
