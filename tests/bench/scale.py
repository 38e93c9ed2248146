#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make bench-scale`: how costs grow. Boots the bench kernels with a clock that counts instructions and prints a line
for each point of each curve:

    SCALE what.axis n value unit      axis: what there are n of

The instructions of a record against the number of tasks, of chunks and of families that are recorded; those of a
decision of the scheduler against the number of ready tasks. The kernel has one processor: there is no curve for them.

   scale.py BUILD TASKS     TASKS: how many tasks the kernels can hold"""
import re
import sys

from kernel_operations import COUNTS, TIMEOUT_S, boot, figures, kernels
from support.guests import GuestContext

POINT = re.compile(r"scale (\w+) (\d+) ([\d.]+)")
RECORDS = {"tasks": COUNTS, "chunks": (3, 10, 30, 100), "families": (2, 8, 16)}
DECISIONS = ("dispatch_unchanged", "activate", "semaphore_post_to_waiter_running", "job_end_to_next_task",
             "task_create", "task_kill")


def scale(what, count, value):
    print(f"SCALE {what} {count} {value} instructions", flush=True)


def main():
    build, tasks = sys.argv[1:]
    plain, traced = kernels(build, tasks)
    for what, counts in RECORDS.items():
        for count in counts:
            app = f"b_scale_{what}_{count}"
            found = [match for line in boot(GuestContext("bench", app, TIMEOUT_S), traced, app)
                     if (match := POINT.fullmatch(line))]
            if len(found) != 1:
                sys.exit(f"error: {app} printed {len(found)} figures")
            scale(f"record.{what}", found[0][2], found[0][3])
    by_operation = figures(plain, COUNTS)
    for operation in DECISIONS:
        for count in COUNTS:
            scale(f"{operation}.tasks", count, by_operation[operation][count][0])


if __name__ == "__main__":
    main()
