#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make bench-kernel`: boots the bench kernels with a clock that counts instructions and prints one table: the cost of
each operation of the kernel with 10, 100 and 1000 tasks, without the tracer and with it; then the longest sections with
interrupts off, by the place in the source that disables them.

   kernel_operations.py BUILD TASKS TASKS_TRACED      how many tasks the kernels can hold"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from support.guests import OK, GuestContext  # noqa: E402

COUNTS = (10, 100, 1000)
COUNTS_TRACED = (10, 100)
FIGURE = re.compile(r"figure (\w+) tasks (\d+) mean (\d+) worst (\d+) samples (\d+)")
SECTION = re.compile(r"section (\d+) longest (\d+) mean (\d+) count (\d+) (\S+):(\d+) (.*)")
SECTIONS_SHOWN = 8
TIMEOUT_S = 120


def boot(ctx, kernel, words, ramdisk=None):
    """The marker lines of one run. words: the application and its options; the trace goes to the ramdisk, if any."""
    words = f"exit=debug app={words} sink={'disk' if ramdisk else 'none'} clock=icount nic=none"
    return ctx.boot(raw_words=words, kernel=kernel, nic="none", ramdisk=ramdisk).expect_code(OK).markers


def figures(kernel, counts):
    """{operation: {tasks: (mean, worst)}} in the order in which they were measured."""
    found = {}
    for count in counts:
        app = f"b_kernel_{count}"
        for line in boot(GuestContext("bench", app, TIMEOUT_S), kernel, app):
            match = FIGURE.fullmatch(line)
            if match:
                found.setdefault(match[1], {})[int(match[2])] = (int(match[3]), int(match[4]))
    if not found:
        sys.exit(f"{kernel} printed no figure")
    return found


def print_table(plain, traced):
    head = [f"{count} tasks" for count in COUNTS]
    print("Instructions, mean / worst; in brackets the mean of a kernel that records (TRACER=NEW).\n")
    print("| operation | " + " | ".join(head) + " |")
    print("|---|" + "---|" * len(COUNTS))
    for operation, by_count in plain.items():
        cells = []
        for count in COUNTS:
            mean, worst = by_count[count]
            with_trace = traced[operation].get(count)
            cells.append(f"{mean} / {worst}" + (f" ({with_trace[0]})" if with_trace else ""))
        print(f"| {operation} | " + " | ".join(cells) + " |")
    for operation, by_count in plain.items():
        for count in COUNTS:
            print(f"FIGURE {operation}_{count} {by_count[count][0]} worst {by_count[count][1]}")


def print_sections(kernel):
    print("\nLongest sections with interrupts off, in instructions (without the tracer):\n")
    print("| longest | mean | times | switched off at |")
    print("|---|---|---|---|")
    shown = 0
    for app in ("control", "b_kernel_10"):
        lines = boot(GuestContext("bench", f"sections_{app}", TIMEOUT_S), kernel, app)
        rows = [match.groups() for match in map(SECTION.fullmatch, lines) if match]
        rows.sort(key=lambda row: -int(row[1]))
        for _, longest, mean, count, file, line, function in rows[:SECTIONS_SHOWN]:
            print(f"| {longest} | {mean} | {count} | {app}: {file}:{line} `{function}` |")
            shown += 1
    if shown == 0:
        sys.exit(f"{kernel} printed no section")


def main():
    build, tasks, tasks_traced = sys.argv[1:]
    plain = figures(f"{build}/kernel-off-tasks{tasks}/kernel-bench.elf", COUNTS)
    traced = figures(f"{build}/kernel-tasks{tasks_traced}/kernel-bench.elf", COUNTS_TRACED)
    print_table(plain, traced)
    print_sections(f"{build}/kernel-off-sections/kernel-bench.elf")


if __name__ == "__main__":
    main()
