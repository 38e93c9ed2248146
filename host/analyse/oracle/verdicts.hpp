// SPDX-License-Identifier: MIT
// The rules by which `remora check` judges a trace, and the verdicts of the theories by these rules.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/names.hpp"
#include "tracer/names/hooks.hpp"
#include "tracer/record/event_table.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace host::analyse::oracle {

// kRules, below, is the only list of the rules, with the meaning and the source of each: the command's --rules, its
// summary and the tests derive from it.
enum class Rule : std::uint8_t {
    level_order,
    edf_order,
    rm_order,
    rr_order,
    fifo_order,
    block_state,
    server_budget,
    shadow_chain,
    pi_inheritance,
    pi_return,
    mutex_owner,
    pc_grant,
    pc_block,
    srp_start,
    srp_block,
    ceiling,
    release_period,
    edf_deadline,
    rm_deadline,
    deadline_miss,
    wcet_violation,
    activation_violation,
    skip_save,
    rr_slice,
    cbs_arrival,
    cbs_exhaust,
    cbs_budget,
    cbs_isolation,
    grub_rate,
    grub_zero_lag,
    grub_budget,
    server_replenish,
    lost_wakeup,
    wake_order,
    semaphore_count,
    record_order,
    release_cause,
    clock_advance,
    one_processor,
    work_conservation,
    policy_order,
};

// States what a rule judges: the summary counts checks by subject.
enum class Subject : std::uint8_t {
    dispatch,
    deadline,
    budget,
    inheritance,
    wakeup,
};

inline constexpr std::array<std::string_view, 5> kSubjectNames = {"dispatches", "deadlines", "budgets", "inheritances",
                                                                  "wake-ups"};

struct RuleRow {
    Rule rule;
    std::string_view name;
    Subject subject;
    std::uint32_t needs; // the families of events without which the rule cannot be decided, as bits
    std::string_view meaning;
    std::string_view source;
};

namespace detail {

consteval std::uint32_t families(auto... family) {
    return ((1U << static_cast<unsigned>(family)) | ...);
}

// Events of these families determine which tasks are ready.
inline constexpr std::uint32_t kReady = families(tracer::Family::task, tracer::Family::job, tracer::Family::mutex,
                                                 tracer::Family::attribute, tracer::Family::server);
inline constexpr std::uint32_t kMutex = families(tracer::Family::task, tracer::Family::job, tracer::Family::mutex);
inline constexpr std::uint32_t kJob = families(tracer::Family::task, tracer::Family::job, tracer::Family::attribute);
inline constexpr std::uint32_t kServer = families(tracer::Family::task, tracer::Family::job, tracer::Family::server);

// Events of these families state which tasks are ready and which one runs, in any kernel.
inline constexpr std::uint32_t kStates =
    families(tracer::Family::task, tracer::Family::attribute, tracer::Family::interrupt);

// Events of these families are written together, or with interrupts off.
inline constexpr std::uint32_t kRecords = kReady | families(tracer::Family::interrupt, tracer::Family::timer);

inline constexpr std::string_view kLiuLayland = "Liu, Layland 1973";
inline constexpr std::string_view kContract = "the kernel's own contract (docs/schedule-oracle.md)";
inline constexpr std::string_view kInheritance = "Sha, Rajkumar, Lehoczky 1990";
inline constexpr std::string_view kStack = "Baker 1991";
inline constexpr std::string_view kCbs = "Abeni, Buttazzo 1998";
inline constexpr std::string_view kGrub = "Lipari, Baruah 2000";
inline constexpr std::string_view kDeferrable = "Strosnider, Lehoczky, Sha 1995";
inline constexpr std::string_view kDijkstra = "Dijkstra 1965";
inline constexpr std::string_view kAnyKernel = "any kernel (docs/schedule-oracle.md)";

} // namespace detail

inline constexpr auto kRules = std::to_array<RuleRow>({
    {Rule::level_order, "level-order", Subject::dispatch, detail::kReady,
     "no place of an earlier level was passed over that had a task to run", detail::kContract},
    {Rule::edf_order, "edf-order", Subject::dispatch, detail::kReady,
     "the place with the earliest absolute deadline is used; of equal ones the first in the queue",
     detail::kLiuLayland},
    {Rule::rm_order, "rm-order", Subject::dispatch, detail::kReady,
     "the place with the shortest relative deadline (server: period) is used; of equal ones the first in the queue",
     "Liu, Layland 1973; Leung, Whitehead 1982"},
    {Rule::rr_order, "rr-order", Subject::dispatch, detail::kReady, "the first of the round robin is used",
     detail::kContract},
    {Rule::fifo_order, "fifo-order", Subject::dispatch, detail::kReady,
     "the first in the queue is used (background, tasks without a slice, requests of one server)", detail::kContract},
    {Rule::block_state, "block-state", Subject::dispatch, detail::kReady,
     "only a task that is ready runs, and only a place in a ready queue is used", detail::kContract},
    {Rule::server_budget, "server-budget", Subject::budget, detail::kServer,
     "a polling or deferrable server serves only while it has budget, and is charged what ran in its place",
     detail::kDeferrable},
    {Rule::shadow_chain, "shadow-chain", Subject::inheritance, detail::kReady,
     "exec_shadow is the end of the chain of mutex owners that starts at exec", detail::kInheritance},
    {Rule::pi_inheritance, "pi-inheritance", Subject::inheritance, detail::kReady,
     "a blocked task of higher urgency lends its place to the task that blocks it", detail::kInheritance},
    {Rule::pi_return, "pi-return", Subject::inheritance, detail::kReady,
     "once the mutex is free its former owner runs in its own place again", detail::kInheritance},
    {Rule::mutex_owner, "mutex-owner", Subject::inheritance, detail::kMutex,
     "only a free mutex is acquired, and its owner alone unlocks it", detail::kContract},
    {Rule::pc_grant, "pc-grant", Subject::inheritance, detail::kReady,
     "a ceiling mutex is granted only above the ceilings of all that others hold", detail::kInheritance},
    {Rule::pc_block, "pc-block", Subject::inheritance, detail::kReady,
     "a ceiling mutex is refused only then, and the held one with the highest ceiling blocks", detail::kInheritance},
    {Rule::srp_start, "srp-start", Subject::inheritance, detail::kReady,
     "a job begins only above the ceilings of the stack mutexes that others hold", detail::kStack},
    {Rule::srp_block, "srp-block", Subject::inheritance, detail::kReady, "locking a stack mutex never blocks",
     detail::kStack},
    {Rule::ceiling, "ceiling", Subject::inheritance, detail::kReady,
     "the ceiling of a mutex is at least the preemption level of whoever locks it", detail::kInheritance},
    {Rule::release_period, "release-period", Subject::deadline, detail::kJob,
     "periodic: release k at origin + k T; sporadic: releases at least T apart", detail::kLiuLayland},
    {Rule::edf_deadline, "edf-deadline", Subject::deadline, detail::kJob | detail::kServer,
     "an EDF job is due at its release + D; a job of a CBS or GRUB task at its server's deadline", detail::kLiuLayland},
    {Rule::rm_deadline, "rm-deadline", Subject::deadline, detail::kJob,
     "a fixed-priority job is due at its release + D", detail::kLiuLayland},
    {Rule::deadline_miss, "deadline-miss", Subject::deadline, detail::kJob,
     "a miss is reported exactly for each job that is incomplete at its deadline", detail::kLiuLayland},
    {Rule::wcet_violation, "wcet-violation", Subject::budget, detail::kJob,
     "an overrun is reported exactly once for each job that ran longer than its declared worst case",
     detail::kContract},
    {Rule::activation_violation, "activation-violation", Subject::deadline, detail::kJob,
     "an early activation of a sporadic task is reported exactly then", detail::kContract},
    {Rule::skip_save, "skip-save", Subject::deadline, detail::kJob,
     "an activation is dropped or kept only if the task is busy, and a kept one is served", detail::kContract},
    {Rule::rr_slice, "rr-slice", Subject::budget, detail::kJob,
     "a place of the round robin is used for its slice, no less and no more, before it goes to the end",
     detail::kContract},
    {Rule::cbs_arrival, "cbs-arrival", Subject::budget, detail::kServer,
     "work for an idle server at t: d = t + T and c = Q if c T >= (d - t) Q or d <= t, else both are kept",
     detail::kCbs},
    {Rule::cbs_exhaust, "cbs-exhaust", Subject::budget, detail::kServer,
     "budget used up: c = Q and d grows by T, not sooner and not later", detail::kCbs},
    {Rule::cbs_budget, "cbs-budget", Subject::budget, detail::kServer, "a CBS is charged what ran in its place",
     detail::kCbs},
    {Rule::cbs_isolation, "cbs-isolation", Subject::budget, detail::kServer,
     "from any new deadline t + T on, a CBS uses at most Q / T of the time up to its deadline", detail::kCbs},
    {Rule::grub_rate, "grub-rate", Subject::budget, detail::kServer,
     "the active bandwidth is the sum over reservations, CBS, and active GRUB servers", detail::kGrub},
    {Rule::grub_zero_lag, "grub-zero-lag", Subject::budget, detail::kServer,
     "a GRUB server without work gives its bandwidth back at d - c T / Q", detail::kGrub},
    {Rule::grub_budget, "grub-budget", Subject::budget, detail::kServer,
     "a GRUB server is charged the time that ran in its place times the active bandwidth", detail::kGrub},
    {Rule::server_replenish, "server-replenish", Subject::budget, detail::kServer,
     "budget Q at origin + k T; a polling server without requests loses it, a deferrable one keeps it",
     detail::kDeferrable},
    {Rule::lost_wakeup, "lost-wakeup", Subject::wakeup, detail::kMutex, "a post with waiters wakes one of them at once",
     detail::kDijkstra},
    {Rule::wake_order, "wake-order", Subject::wakeup, detail::kReady,
     "of several waiters the one is woken whose turn it is (WakeOrder: first come, or most urgent)", detail::kContract},
    {Rule::semaphore_count, "semaphore-count", Subject::wakeup, detail::kMutex,
     "a wait blocks exactly if no unit is left", detail::kDijkstra},
    {Rule::record_order, "record-order", Subject::dispatch, detail::kRecords,
     "what the kernel records in one go comes in one piece, and what begins ends", detail::kContract},
    {Rule::release_cause, "release-cause", Subject::deadline, detail::kJob,
     "each job comes from an activation or from the timer of its task", detail::kContract},
    {Rule::clock_advance, "clock-advance", Subject::dispatch, detail::kReady,
     "each record has a later stamp than the one before, if the clock counts instructions", detail::kContract},
    {Rule::one_processor, "one-processor", Subject::dispatch, 0, "a task runs on one processor at a time",
     detail::kContract},
    {Rule::work_conservation, "work-conservation", Subject::dispatch, detail::kStates,
     "no processor idles while a task is ready (a kernel that states its hooks)", detail::kAnyKernel},
    {Rule::policy_order, "policy-order", Subject::dispatch, detail::kStates,
     "of the tasks that are ready the one runs that comes first in the order of --policy", detail::kAnyKernel},
});

// Returns the event without which a kernel that states its hooks is not judged by the rule; empty: there is none.
[[nodiscard]] std::string_view hook_of(Rule rule);

// Returns whether a rule holds for any number of processors.
[[nodiscard]] constexpr bool holds_for_many(Rule rule) {
    return rule == Rule::one_processor || rule == Rule::work_conservation || rule == Rule::policy_order ||
           rule == Rule::block_state;
}

[[nodiscard]] constexpr const RuleRow& row_of(Rule rule) {
    return kRules[static_cast<std::size_t>(rule)];
}

static_assert(
    std::ranges::all_of(kRules, [](const RuleRow& row) { return &row == &kRules[static_cast<std::size_t>(row.rule)]; }),
    "in the order of the enumeration");

struct Finding {
    Rule rule = Rule::level_order;
    const trace::Event* event = nullptr; // the event at which it was found; never null, valid during the call
    std::optional<std::uint16_t> task;   // the context of the task concerned
    std::string text;
};

struct Tally {
    std::uint64_t checked = 0; // decided, whether right or wrong
    std::uint64_t undecided = 0;
    std::uint64_t violations = 0;
};

// Collects the judgements of the theories: for each rule the counts of what was checked, what could not be decided and
// what is wrong, and the relaxations. A rule whose events may be missing from the trace always counts as undecided.
class Verdicts {
  public:
    using Sink = std::function<void(const Finding&)>;

    explicit Verdicts(Sink sink)
        : m_sink(std::move(sink)) {}

    // Sets the event to which the following judgements refer.
    void at(const trace::Event& event) { m_event = &event; }

    [[nodiscard]] bool blind(Rule rule) const {
        return (row_of(rule).needs & (m_missing | (m_expected & ~m_seen))) != 0 || (m_many && !holds_for_many(rule)) ||
               unhooked(rule);
    }

    // Must be called with what the trace states about the kernel's hooks.
    void set_hooks(const tracer::Hooks& hooks);

    [[nodiscard]] const tracer::Hooks& hooks() const { return m_hooks; }

    // Returns whether the kernel has no hook that the rule needs.
    [[nodiscard]] bool unhooked(Rule rule) const { return m_unhooked[static_cast<std::size_t>(rule)]; }

    // Must be called if a second processor records: the other rules are those of one.
    void begin_many() { m_many = true; }

    void pass(Rule rule) { ++(blind(rule) ? tally(rule).undecided : tally(rule).checked); }

    void undecided(Rule rule) { ++tally(rule).undecided; }

    void fail(Rule rule, std::optional<std::uint16_t> task, std::string text) {
        if (blind(rule)) {
            ++tally(rule).undecided;
            return;
        }
        ++tally(rule).checked;
        ++tally(rule).violations;
        m_sink(Finding{.rule = rule, .event = m_event, .task = task, .text = std::move(text)});
    }

    // text: a function that returns the sentence; it is only called if the rule does not hold.
    template <typename Text>
    void judge(Rule rule, bool holds, std::optional<std::uint16_t> task, Text&& text) {
        holds ? pass(rule) : fail(rule, task, text());
    }

    // Must be called if events of this family are missing from here on.
    void lose(tracer::Family family) { m_missing |= 1U << static_cast<unsigned>(family); }

    void lose_all() { m_missing = ~std::uint32_t{0}; }

    // Must be called where records may be missing: the record of a filter may be among them. So no family is relied on
    // until a record of it comes.
    void doubt() { m_seen = 0; }

    // Must be called where everything that the machine has recorded so far is known.
    void trust() { m_seen = ~std::uint32_t{0}; }

    void saw(tracer::Family family) { m_seen |= 1U << static_cast<unsigned>(family); }

    // Must be called with the names of each event: what has a name may have records. Of a family about which nothing is
    // known none can be hidden.
    void expect(const trace::Names& names) {
        if (names.version() != m_names_version) {
            note(names);
        }
    }

    // why: a sentence, which is reported once.
    void relax(std::string why);

    [[nodiscard]] const Tally& of(Rule rule) const { return m_tallies[static_cast<std::size_t>(rule)]; }

    [[nodiscard]] Tally of(Subject subject) const;
    [[nodiscard]] Tally total() const;

    [[nodiscard]] const std::vector<std::string>& relaxations() const { return m_relaxations; }

  private:
    void note(const trace::Names& names);

    [[nodiscard]] Tally& tally(Rule rule) { return m_tallies[static_cast<std::size_t>(rule)]; }

    Sink m_sink;
    const trace::Event* m_event = nullptr;
    std::uint32_t m_missing = 0;
    bool m_many = false;
    tracer::Hooks m_hooks;
    std::array<bool, kRules.size()> m_unhooked{};
    std::uint32_t m_seen = ~std::uint32_t{0}; // families of which there is a record since the latest hole
    // Every kernel has tasks, jobs, switches and interrupts.
    std::uint32_t m_expected = detail::kJob | detail::families(tracer::Family::interrupt, tracer::Family::timer);
    std::uint64_t m_names_version = ~std::uint64_t{0};
    std::array<Tally, kRules.size()> m_tallies{};
    std::vector<std::string> m_relaxations;
    std::unordered_set<std::string> m_reasons; // those in m_relaxations
};

} // namespace host::analyse::oracle
