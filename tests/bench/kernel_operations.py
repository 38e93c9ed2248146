#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make bench-kernel`: boots the bench kernels with a clock that counts instructions and prints two tables: the cost of
each operation of the kernel with 10, 100 and 1000 tasks, without the tracer and with it; the longest sections with
interrupts off, by the function that disables them. It ends with lines `GOAL id value wanted met|missed`.

   kernel_operations.py BUILD TASKS [DOCUMENT]

TASKS: how many tasks the kernels can hold. DOCUMENT: its tables of the same heads are replaced."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from support.guests import OK, GuestContext  # noqa: E402

COUNTS = (10, 100, 1000)
FIGURE = re.compile(r"figure (\w+) tasks (\d+) mean (\d+) worst (\d+) samples (\d+)")
SECTION = re.compile(r"section (\d+) longest (\d+) mean (\d+) count (\d+) (\S+):(\d+) (.*)")
SECTIONS_SHOWN = 8
TIMEOUT_S = 120
BASELINE = pathlib.Path(__file__).with_name("kernel_baseline.txt")
WAKE_MOST = 400       # instructions from a post to its waiter running
SECTION_MOST = 1500   # instructions with interrupts off


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


def kernels(build, tasks):
    """Of so many tasks: without the tracer, and with it."""
    return f"{build}/kernel-off-tasks{tasks}/kernel-bench.elf", f"{build}/kernel-tasks{tasks}/kernel-bench.elf"


def baseline():
    """{operation: (mean, ...)} as COUNTS, of the file that the table compares with."""
    lines = BASELINE.read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    return {name: tuple(map(int, means)) for name, *means in rows}


def table(head, rows):
    return [f"| {' | '.join(head)} |", "|---" * len(head) + "|", *(f"| {' | '.join(row)} |" for row in rows)]


def operations(plain, traced):
    """Mean / worst; in brackets the mean of the kernel that records. Last, what it was, and the factor."""
    rows = []
    before = baseline()
    for operation, by_count in plain.items():
        cells = []
        for count in COUNTS:
            mean, worst = by_count[count]
            cells.append(f"{mean} / {worst} ({traced[operation][count][0]})")
        factors = (f"{was / by_count[count][0]:.3g}" for was, count in zip(before[operation], COUNTS))
        rows.append([operation, *cells, f"{before[operation][0]}: {' / '.join(factors)}"])
    return table(["operation", *(f"{count} tasks" for count in COUNTS), "before: times more"], rows)


def sections(kernel):
    """The table, and the longest of all."""
    rows = []
    longest_of_all = 0
    for app in ("control", "b_kernel_10"):
        lines = boot(GuestContext("bench", f"sections_{app}", TIMEOUT_S), kernel, app)
        found = [match.groups() for match in map(SECTION.fullmatch, lines) if match]
        found.sort(key=lambda row: -int(row[1]))
        longest_of_all = max([longest_of_all, *(int(row[1]) for row in found)])
        rows += [[longest, mean, count, f"`{function}`, {file}", f"`{app}`"]
                 for _, longest, mean, count, file, _, function in found[:SECTIONS_SHOWN]]
    if not rows:
        sys.exit(f"{kernel} printed no section")
    return table(["longest", "mean", "times", "switched off in", "run"], rows), longest_of_all


def goal(name, value, most):
    print(f"GOAL {name} {value} <={most} {'met' if value <= most else 'missed'}")


# Rows of the table that compares: whose figure they show, of 10 tasks, and a part of it.
COMPARED = {"wake a waiting task and switch to it": ("semaphore_post_to_waiter_running", 1),
            "switch by itself, one way": ("context_switch_there_and_back", 2),
            "semaphore: post without waiter": ("semaphore_post_without_waiter", 1),
            "semaphore: wait, a unit is available": ("semaphore_wait_unit_there", 1),
            "mutex: lock, uncontended": ("lock_uncontended", 1),
            "enter and leave the kernel": ("interrupt_in_all", 1),
            "interrupt to another task running": ("interrupt_to_driver_task", 1)}


def compare(document, plain):
    """Our column of the table of other kernels."""
    text = document.read_text(encoding="utf-8")
    for label, (operation, parts) in COMPARED.items():
        mean = plain[operation][COUNTS[0]][0]
        text, found = re.subn(rf"(\| {re.escape(label)} \| )\d+", rf"\g<1>{round(mean / parts)}", text)
        if found != 1:
            sys.exit(f"error: {document}: not one row {label}")
    document.write_text(text, encoding="utf-8")


def replace(document, lines):
    """The table of that head in the document."""
    text = document.read_text(encoding="utf-8")
    pattern = re.escape("\n".join(lines[:2])) + r"\n(\|.*\n)+"
    if len(re.findall(pattern, text)) != 1:
        sys.exit(f"error: {document}: not one table of the head {lines[0]}")
    document.write_text(re.sub(pattern, lambda _: "\n".join(lines) + "\n", text), encoding="utf-8")


def main():
    build, tasks, *document = sys.argv[1:]
    plain, traced = (figures(kernel, COUNTS) for kernel in kernels(build, tasks))
    off, longest = sections(f"{build}/kernel-off-sections/kernel-bench.elf")
    for lines in (operations(plain, traced), off):
        print("\n".join(lines) + "\n")
        for path in document:
            replace(pathlib.Path(path), lines)
    for path in document:
        compare(pathlib.Path(path), plain)
    for operation, by_count in plain.items():
        for count in COUNTS:
            print(f"FIGURE {operation}_{count} {by_count[count][0]} worst {by_count[count][1]}")
    goal("P14.wake", plain["semaphore_post_to_waiter_running"][COUNTS[0]][0], WAKE_MOST)
    goal("P14.interrupts_off", longest, SECTION_MOST)


if __name__ == "__main__":
    main()
