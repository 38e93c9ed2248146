# SPDX-License-Identifier: MIT
"""Kernels with one error each. Each entry names the file, the text that is replaced (it must occur exactly once:
tests/structure/mutant_patterns.py), the case of the test kernel that shows it, and the rule that `remora check` must
report first."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    edits: tuple  # of (old, new)
    app: str
    rule: str


def mutant(name, file, app, rule, *edits):
    return Mutant(name, file, edits, app, rule)


QUEUE = "kernel/sched/ready_queue.hpp"
HARD = "kernel/sched/levels/hard_level.cpp"
SOFT = "kernel/sched/levels/soft_level.cpp"
GRUB = "kernel/sched/levels/grub.cpp"
HARD_HEADER = "kernel/sched/levels/hard_level.hpp"
SERVED = "kernel/sched/levels/served.cpp"
ROUND_ROBIN = "kernel/sched/levels/rr.cpp"
SCHEDULER = "kernel/sched/scheduler.cpp"
MUTEX = "kernel/sync/mutex.cpp"
CHAIN = "kernel/sched/chain.cpp"
SEMAPHORE = "kernel/sync/semaphore.cpp"

MUTANTS = [
    # --- order
    mutant("edf_order_reversed", HARD_HEADER, "t_edf_order", "edf-order",
           ("return job.deadline.value;", "return ~job.deadline.value;")),
    mutant("rm_order_reversed", HARD_HEADER, "t_rm_order", "rm-order",
           ("return job.relative_deadline_ns;", "return ~job.relative_deadline_ns;")),
    mutant("ties_reversed", QUEUE, "t_edf_ties", "edf-order",
           ("a.ready_rank < b.ready_rank", "a.ready_rank > b.ready_rank")),
    mutant("levels_searched_from_below", SCHEDULER, "t_level_order", "level-order",
           ("for (const ReadyQueue* const queue : ready_queues()) {",
            "for (std::size_t i = 0; i < ready_queues().size(); ++i) {\n        const ReadyQueue* const queue = "
            "ready_queues()[i < 3 ? 2 - i : i]; // RR, EDF, RM")),
    mutant("release_does_not_preempt", HARD, "t_edf_periodic", "level-order",
           ("    level.release(task, off);\n    schedule(off);\n", "    level.release(task, off);\n")),
    mutant("sleeping_owner_runs", SCHEDULER, "t_pi_owner_waits", "block-state",
           ("if (end.can_run() && !task->suspended) {", "if (!task->suspended) {")),
    # --- round robin
    mutant("slice_never_ends", ROUND_ROBIN, "control", "rr-slice",
           ("    trace_points::slice_ended(task);\n    move_to_end(task, off);\n", "    static_cast<void>(off);\n")),
    mutant("slice_of_double_length", ROUND_ROBIN, "control", "rr-slice",
           ("    share.left = share.slice;\n    trace_points", "    share.left = share.slice + share.slice;\n"
            "    trace_points")),
    mutant("slice_without_rotation", ROUND_ROBIN, "control", "rr-order",
           ("    move_to_end(task, off);\n", "    static_cast<void>(off);\n")),
    mutant("slice_of_the_job_before", ROUND_ROBIN, "t_rr_second_job", "rr-slice",
           ("    share.left = share.slice;\n}", "    static_cast<void>(share);\n}")),
    # --- jobs
    mutant("deadline_one_period_late", HARD, "t_edf_periodic", "edf-deadline",
           ("to_ticks({(job - promised.base) * promised.demand.period_ns + promised.latest_deadline_ns})",
            "to_ticks({(job - promised.base + 1) * promised.demand.period_ns + promised.latest_deadline_ns})")),
    mutant("deadline_four_nanoseconds_late", HARD, "t_rm_periodic", "rm-deadline",
           ("to_ticks({(job - promised.base) * promised.demand.period_ns + promised.latest_deadline_ns})",
            "to_ticks({(job - promised.base) * promised.demand.period_ns + promised.latest_deadline_ns + 4})")),
    mutant("release_drifts", HARD, "t_edf_periodic", "release-period",
           ("return promised.origin + to_ticks({(job - promised.base) * promised.demand.period_ns});",
            "return promised.origin + to_ticks({(job - promised.base) * (promised.demand.period_ns + 1)});")),
    mutant("inter_arrival_not_enforced", HARD, "t_sporadic_gap", "release-period",
           ("promised.put_off = std::max(not_long_ago(at), promised.earliest);",
            "promised.put_off = not_long_ago(at);")),
    mutant("early_activation_not_recorded", HARD, "t_sporadic_gap", "activation-violation",
           ("        trace_points::activation_violated(task);\n", "")),
    mutant("miss_not_recorded", HARD, "t_edf_overrun", "deadline-miss",
           ("        trace_points::task_deadline_missed(task);\n", "")),
    mutant("overrun_not_recorded", HARD, "t_edf_wcet_violation", "wcet-violation",
           ("        trace_points::task_wcet_violated(task);\n", "")),
    mutant("kept_activation_forgotten", SOFT, "t_cbs_saved", "skip-save",
           ("if (const auto at = m_saved.take(task)) {", "if (const auto at = m_saved.take(task); at && !at) {")),
    # --- constant bandwidth servers
    mutant("cbs_deadline_not_postponed", SOFT, "t_cbs_postponed", "cbs-exhaust",
           ("        own.deadline = own.deadline + own.period;\n", "")),
    mutant("cbs_not_charged", SOFT, "t_cbs_arrivals", "cbs-budget", ("        own.left = own.left - charged;\n", "")),
    mutant("cbs_arrival_always_renews", SOFT, "t_cbs_arrivals", "cbs-arrival",
           ("return own.deadline <= time ||", "return own.deadline <= time || own.left <= own.budget ||")),
    mutant("cbs_arrival_never_renews", SOFT, "t_cbs_arrivals", "cbs-arrival",
           ("Wide{own.left.value} * own.period.value >=", "Wide{0} >=")),
    # --- servers that reclaim
    mutant("grub_rate_of_one_active_server", GRUB, "t_grub_reclaims", "grub-rate",
           ("    if (own.contention == Contention::inactive) {\n        m_inactive -= own.bandwidth;\n",
            "    if (own.contention == Contention::inactive && m_active == 0) {\n"
            "        m_inactive -= own.bandwidth;\n")),
    mutant("grub_rate_of_a_full_processor", GRUB, "t_grub_reclaims", "grub-rate",
           ("load > kBandwidthMax ? kBandwidthMax : load - m_inactive",
            "load > 0 ? kBandwidthMax : load - m_inactive")),
    mutant("grub_charged_in_full", GRUB, "t_grub_reclaims", "grub-budget",
           ("Wide{elapsed.value} * m_active", "Wide{elapsed.value} * kBandwidthMax")),
    mutant("grub_active_until_deadline", GRUB, "t_grub_reclaims", "grub-zero-lag",
           ("own.deadline.value > lag ? own.deadline.value - lag : 0", "lag != 0 ? own.deadline.value : 0")),
    mutant("grub_inactive_at_once", GRUB, "t_grub_reclaims", "grub-zero-lag",
           ("    if (zero_lag <= now()) {", "    if (zero_lag > lib::Ticks{}) {")),
    # --- polling and deferrable servers
    mutant("polling_budget_kept", SERVED, "t_polling_loses", "server-replenish",
           ("        server.left = {};\n        trace_points::server_budget(server.id, server.left);\n", "")),
    mutant("budget_of_a_killed_request_kept", SERVED, "t_polling_killed", "server-replenish",
           ("    forfeit_if_polling(server(task));\n    --server", "    --server")),
    mutant("replenishment_one_tick_early_each_time", SERVED, "t_polling_loses", "server-replenish",
           ("to_ticks({server.period.value * server.periods})",
            "to_ticks({(server.period.value - 1) * server.periods})")),
    mutant("replenishment_early", SERVED, "t_polling_loses", "server-replenish",
           ("    server_timer_post(slot_of(server), next_replenishment(server), ",
            "    server_timer_post(slot_of(server), next_replenishment(server) - lib::Ticks{5'000}, ")),
    mutant("replenishment_of_half", SERVED, "t_deferrable_keeps", "server-replenish",
           ("    server.left = server.budget;\n", "    server.left = {server.budget.value / 2};\n")),
    mutant("served_beyond_the_budget", SERVED, "t_deferrable_keeps", "server-budget",
           ("    if (serving.front != nullptr) {\n        ++serving.exhausted;",
            "    if (serving.front != nullptr && serving.left != lib::Ticks{}) {\n        ++serving.exhausted;")),
    mutant("last_request_first", SERVED, "t_served_in_turn", "fifo-order",
           ("m_rank[task.pid.value] = ++m_last_rank;", "m_rank[task.pid.value] = ~++m_last_rank;")),
    # --- mutexes
    mutant("inheritance_not_followed", SCHEDULER, "t_mutex_inversion", "pi-inheritance",
           ("if (end.can_run() && !task->suspended) {", "if (end.can_run() && !task->suspended && &end == task) {")),
    mutant("inheritance_kept_after_unlock", MUTEX, "t_pi_returns", "pi-return",
           (" else if (awaited) {\n                schedule(off);\n            }",
            "\n    static_cast<void>(awaited);")),
    mutant("mutex_of_two", MUTEX, "t_mutex_inversion", "mutex-owner",
           ("return m_owner != nullptr ? this : nullptr;", "return nullptr;"),
           ("    ASSERT(m_owner == nullptr && task.blocked_on == nullptr);\n",
            "    if (m_owner != nullptr) {\n        m_owner->owned.remove(*this);\n    }\n")),
    mutant("ceiling_forbids_nothing", MUTEX, "t_pcp_forbids", "pc-grant",
           ("if (highest != nullptr && active", "if (highest == this && active")),
    mutant("ceiling_forbids_all", MUTEX, "t_pcp_allows", "pc-block",
           ("if (highest != nullptr && active_preemption_level(task, off) >= highest->m_ceiling) {",
            "if (highest != nullptr) {")),
    mutant("ceiling_of_the_last_user", "kernel/sync/ceilings.cpp", "t_pcp_forbids", "ceiling",
           ("ceiling = std::min(ceiling, preemption_level(task, off));",
            "ceiling = std::max(ceiling, preemption_level(task, off));")),
    mutant("srp_job_begins_at_the_ceiling", CHAIN, "t_srp_stops", "srp-start",
           ("task.level->preemption_level(task, off) >= top->ceiling()",
            "task.level->preemption_level(task, off) > top->ceiling()")),
    # --- semaphores
    mutant("wake_up_lost", SEMAPHORE, "control", "lost-wakeup",
           ("semaphore.m_id == 0 || semaphore.m_waiters.first() != nullptr)", "semaphore.m_id == 0)")),
    mutant("last_waiter_first", "kernel/sync/wait_queue.cpp", "t_semaphore_order", "wake-order",
           ("a.ready_key < b.ready_key", "a.ready_key > b.ready_key")),
    mutant("wait_takes_nothing", SEMAPHORE, "control", "semaphore-count",
           ("            --semaphore.m_count;\n            return true;\n", "            return true;\n")),
]

# Ten that each break another mechanism, in files that nothing else includes: quick enough for every run of the tests.
SLICE = ("sleeping_owner_runs", "slice_of_double_length", "deadline_one_period_late", "miss_not_recorded",
         "cbs_arrival_always_renews", "grub_charged_in_full", "last_request_first", "inheritance_kept_after_unlock",
         "srp_job_begins_at_the_ceiling", "last_waiter_first")
