# SPDX-License-Identifier: MIT
"""Kernels with one thing wrong. Each names the file, the words that are replaced (they must occur exactly once), the
case that shows it, and the rules of `remora check` of which one must be named first. `kernel`: test (the cases) or
apps (the applications)."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    old: str
    new: str
    app: str
    rules: tuple
    kernel: str = "test"


MUTANTS = [
    Mutant("edf_order_reversed", "kernel/ready_queue.hpp", "a.ready_key < b.ready_key", "a.ready_key > b.ready_key",
           "t_edf_order", ("edf-order",)),
    Mutant("ties_reversed", "kernel/ready_queue.hpp", "a.ready_rank < b.ready_rank", "a.ready_rank > b.ready_rank",
           "t_edf_ties", ("edf-order",)),
    Mutant("deadline_one_period_late", "kernel/levels/hard_level.cpp",
           "to_ticks({(job - promised.base) * promised.demand.period_ns + promised.latest_deadline_ns})",
           "to_ticks({(job - promised.base + 1) * promised.demand.period_ns + promised.latest_deadline_ns})",
           "control", ("edf-deadline",), "apps"),
    Mutant("release_drifts", "kernel/levels/hard_level.cpp",
           "return promised.origin + to_ticks({(job - promised.base) * promised.demand.period_ns});",
           "return promised.origin + to_ticks({(job - promised.base) * (promised.demand.period_ns + 1'000)});",
           "control", ("release-period",), "apps"),
    Mutant("miss_not_told", "kernel/levels/hard_level.cpp", "        trace_points::task_deadline_missed(task);\n", "",
           "t_edf_deadline_miss", ("deadline-miss",)),
    Mutant("overrun_not_told", "kernel/levels/hard_level.cpp", "        trace_points::task_wcet_violated(task);\n", "",
           "t_edf_wcet_violation", ("wcet-violation",)),
    Mutant("slice_never_ends", "kernel/levels/rr.cpp",
           "    trace_points::slice_ended(task);\n    move_to_end(task);\n", "", "control", ("rr-slice",), "apps"),
    Mutant("slice_without_rotation", "kernel/levels/rr.cpp", "    move_to_end(task);\n", "", "control", ("rr-order",),
           "apps"),
    Mutant("inheritance_not_followed", "kernel/scheduler.cpp", "if (end.can_run() && !task->suspended) {",
           "if (end.can_run() && !task->suspended && &end == task) {", "control", ("pi-inheritance",), "apps"),
    Mutant("wake_up_lost", "kernel/sync/semaphore.cpp", "    if (waiter == nullptr) {",
           "    if (waiter == nullptr || semaphore.m_count == 0) {", "control", ("lost-wakeup",), "apps"),
    Mutant("last_waiter_first", "kernel/sync/wait_queue.cpp", "a.ready_key < b.ready_key", "a.ready_key > b.ready_key",
           "t_semaphore_order", ("wake-order",)),
    Mutant("wait_takes_nothing", "kernel/sync/semaphore.cpp", "    if (m_count > 0) {\n        --m_count;\n",
           "    if (m_count > 0) {\n", "control", ("semaphore-count",), "apps"),
    Mutant("levels_searched_from_below", "kernel/scheduler.cpp", "for (Level* const level : levels()) {",
           "for (std::size_t i = 0; i < levels().size(); ++i) {\n        Level* const level = "
           "levels()[i < 3 ? 2 - i : i]; // RR, EDF, RM",
           "t_level_order", ("level-order",)),
]
