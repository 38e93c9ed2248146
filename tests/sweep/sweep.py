#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make sweep`: searches the phases at which the tasks of an application respond the latest (docs/sweep.md).

    tests/sweep/sweep.py APP [--runs N] [--seed N] [--duration-ms N] [--json] [--document FILE]

Exit code: 0, every response was within its bound, and `remora check` has no objection to the worst runs; 2, it is not
so; 1, a run failed. KERNEL and REMORA come from the
environment."""
import argparse
import json
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from sweep.campaign import Campaign  # noqa: E402
from sweep.runs import RunFailed, Runs, cpu_seconds  # noqa: E402

VIOLATED = 2


def milliseconds(nanoseconds):
    return "" if nanoseconds is None else f"{nanoseconds / 1e6:.6f}"


def state(target):
    if target.worst is None:
        return "no job was complete"
    if target.exceeded:
        return "EXCEEDED"
    if target.bound.value is None:
        return f"no bound: {target.bound.reason}"
    return "met" if target.met else "below"


def report(campaign, spent):
    return {
        "app": campaign.runs.app, "runs": campaign.count, "seed": campaign.seed, **spent,
        "tasks": [{
            "task": target.task.label, "level": target.task.level, "runs": target.runs,
            "worst_ns": target.worst and target.worst.response, "job": target.worst and target.worst.job,
            "bound_ns": target.bound.value, "ratio": target.ratio and round(target.ratio, 4),
            "measured_bound_ns": target.measured.value, "state": state(target), "found_in_run": target.found_in,
            "overran": campaign.violations(target), "missed_a_deadline": campaign.misses(target),
            "check": campaign.objections.get(target.shifts, ""),
            "command": campaign.runs.command(target.shifts)} for target in campaign.targets]}


HEAD = ["task", "runs", "worst, ms", "bound, ms", "ratio", "with measured times, ms", "state", "shifts of the worst"]


def rows(document):
    for task in document["tasks"]:
        command = task["command"].split()
        shifts = " ".join(word for word in command if "SHIFT=" in word) or "none"
        yield [task["task"], str(task["runs"]), milliseconds(task["worst_ns"]), milliseconds(task["bound_ns"]),
               "" if task["ratio"] is None else f"{task['ratio']:.4f}", milliseconds(task["measured_bound_ns"]),
               task["state"], f"`{shifts}`" if shifts != "none" else shifts]


def as_table(head, lines):
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *lines)]


def print_text(document):
    lines = [HEAD, *rows(document)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
    print(f"\n{document['runs']} runs, {document['seconds']:.0f} s, {document['cpu_seconds_a_run']:.2f} CPU seconds a "
          f"run, seed {document['seed']}")
    for task in document["tasks"]:
        if task["state"] == "EXCEEDED":
            cause = (f"{', '.join(task['overran'])} ran longer than declared" if task["overran"] else
                     "an error of the analysis or of the kernel")
            print(f"EXCEEDED: {task['task']} took {milliseconds(task['worst_ns'])} ms in job {task['job']}, the bound "
                  f"is {milliseconds(task['bound_ns'])} ms: {cause}\n  {task['command']}")
        if task["check"]:
            print(f"{task['task']}: its worst run has decisions that the theory does not allow\n  {task['command']}\n"
                  f"{task['check']}")


def write_document(path, document):
    """Replaces the table between the marks of this application."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    mark = f"<!-- make sweep APP={document['app']} -->"
    if mark not in text:
        sys.exit(f"error: {path} has no line {mark}")
    table = "\n".join([mark, *as_table(HEAD, rows(document)), "", f"{document['runs']} runs.", "<!-- end -->"])
    text = re.sub(re.escape(mark) + r".*?<!-- end -->", lambda _: table, text, flags=re.S)
    pathlib.Path(path).write_text(text, encoding="utf-8")


def show_progress(campaign):
    if sys.stderr.isatty():
        open_targets = sum(not target.done for target in campaign.targets)
        print(f"\r{campaign.count} of {campaign.budget} runs, {open_targets} tasks to be searched ", end="",
              file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("app")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1, help="of the workload and of the search")
    parser.add_argument("--duration-ms", type=int, default=0, help="of the workload, if the application offers it")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--document", help="write the table there")
    options = parser.parse_args()
    begin, cpu = time.monotonic(), cpu_seconds()
    with Runs(options.app, seed=options.seed, duration_ms=options.duration_ms) as runs:
        campaign = Campaign(runs, options.runs, options.seed)
        campaign.run(show_progress)
    document = report(campaign, {"seconds": round(time.monotonic() - begin, 1),
                                 "cpu_seconds_a_run": round((cpu_seconds() - cpu) / campaign.count, 3)})
    if options.json:
        print(json.dumps(document, indent=2))
    else:
        print_text(document)
    if options.document:
        write_document(options.document, document)
    return VIOLATED if campaign.objections or any(target.exceeded for target in campaign.targets) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RunFailed as failure:
        sys.exit(f"sweep: {failure}")
