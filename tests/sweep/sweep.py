#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make sweep`: searches the phases at which the tasks of an application respond the latest (docs/sweep.md).

    tests/sweep/sweep.py APP [--runs N] [--seed N] [--duration-ms N] [--json] [--document FILE]

Exit code: 0, every response was within its bound, and `remora check` has no objection to the worst runs; 2, it is not
so; 1, a run failed, or the arguments are not valid; 130, 143, 129: ended by SIGINT, SIGTERM, SIGHUP, after the results
so far were printed. KERNEL and REMORA come from the environment."""
import argparse
import json
import os
import pathlib
import re
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from sweep.campaign import Campaign  # noqa: E402
from sweep.runs import RunFailed, Runs, Stopped, cpu_seconds  # noqa: E402

VIOLATED = 2
SIGNALLED = 128
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def milliseconds(nanoseconds):
    return "" if nanoseconds is None else f"{nanoseconds / 1e6:.6f}"


def excess(overruns):
    return ", ".join(f"{label} by {milliseconds(longer)} ms" for label, longer in overruns.items())


def state(target):
    """In one cell of the table; an overrun of the declarations is no error of the analysis."""
    if target.worst is None:
        return "no job was complete"
    if target.exceeded:
        return "EXCEEDED"
    if target.judged.value is None:
        found = f"no bound: {target.judged.reason}"
    else:
        found = "met" if target.met else "below"
    if target.overruns and (target.bound.value is not None or target.measured.value is not None):
        return f"declared C exceeded ({excess(target.overruns)}); with measured times {found}"
    return found


def report(campaign, spent):
    return {
        "app": campaign.runs.app, "runs": campaign.count, "seed": campaign.seed, **spent,
        "tasks": [{
            "task": target.task.label, "level": target.task.level, "runs": target.runs,
            "worst_ns": target.worst and target.worst.response, "job": target.worst and target.worst.job,
            "bound_ns": target.bound.value, "ratio": target.ratio and round(target.ratio, 4),
            "measured_bound_ns": target.measured.value, "judged_bound_ns": target.judged.value,
            "state": state(target), "found_in_run": target.found_in,
            "overran_ns": target.overruns, "missed_a_deadline": campaign.misses(target),
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
    print(f"\n{rate(document)}, seed {document['seed']}")
    for task in document["tasks"]:
        if task["state"] == "EXCEEDED":
            times = "measured" if task["overran_ns"] else "declared"
            print(f"EXCEEDED: {task['task']} took {milliseconds(task['worst_ns'])} ms in job {task['job']}, the bound "
                  f"with {times} times is {milliseconds(task['judged_bound_ns'])} ms: an error of the analysis or of "
                  f"the kernel\n  {task['command']}")
        if task["check"]:
            print(f"{task['task']}: its worst run has decisions that the theory does not allow\n  {task['command']}\n"
                  f"{task['check']}")


def rate(document):
    return (f"{document['runs']} runs in {document['seconds']:.0f} s, {document['runs_a_second']:.1f} runs a second, "
            f"{document['cpu_seconds_a_run']:.2f} s of processor time a run")


def mark_of(app):
    return f"<!-- make sweep APP={app} -->"


def require_document(path, app):
    """Before the search: afterwards would be too late."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as failure:
        raise RunFailed(f"{path} cannot be read: {failure}") from None
    if not os.access(path, os.W_OK):
        raise RunFailed(f"{path} cannot be written")
    if mark_of(app) not in text:
        raise RunFailed(f"{path} has no line {mark_of(app)}")


def write_document(path, document):
    """Replaces the table between the marks of this application."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    mark = mark_of(document["app"])
    table = "\n".join([mark, *as_table(HEAD, rows(document)), "", f"{rate(document)}.", "<!-- end -->"])
    text = re.sub(re.escape(mark) + r".*?<!-- end -->", lambda _: table, text, flags=re.S)
    pathlib.Path(path).write_text(text, encoding="utf-8")


def show_progress(campaign):
    if sys.stderr.isatty():
        open_targets = sum(not target.done for target in campaign.targets)
        print(f"\r{campaign.count} of {campaign.budget} runs, {open_targets} tasks to be searched ", end="",
              file=sys.stderr)


class Interrupted(Exception):
    def __init__(self, number):
        super().__init__()
        self.number = number


def interrupt_on_signals(runs):
    """Guests are ended within the handler: what waits for them then returns."""
    def handle(number, _):
        for other in SIGNALS:
            signal.signal(other, signal.SIG_IGN)
        runs.stop()
        raise Interrupted(number)

    for number in SIGNALS:
        signal.signal(number, handle)


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is less than 1")
    return number


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("app")
    parser.add_argument("--runs", type=positive, default=1000)
    parser.add_argument("--seed", type=int, default=1, help="of the workload and of the search")
    parser.add_argument("--duration-ms", type=int, default=0, help="of the workload, if the application offers it")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--document", help="write the table there")
    return parser.parse_args()


def search(runs, options):
    """Returns the campaign, None if there was not even the first run, and the signal that ended it, or 0."""
    campaign = None
    try:
        interrupt_on_signals(runs)
        campaign = Campaign(runs, options.runs, options.seed)
        campaign.run(show_progress)
    except Interrupted as stop:
        return campaign, stop.number
    return campaign, 0


def main():
    options = arguments()
    if options.document:
        require_document(options.document, options.app)
    begin, cpu = time.monotonic(), cpu_seconds()
    with Runs(options.app, seed=options.seed, duration_ms=options.duration_ms) as runs:
        campaign, interrupted = search(runs, options)
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)  # until the directory is removed
    for number in SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    if campaign is None:
        raise RunFailed("interrupted before the end of the first run")
    seconds = time.monotonic() - begin
    document = report(campaign, {
        "seconds": round(seconds, 1), "runs_a_second": round(campaign.count / seconds, 2), "interrupted": interrupted,
        "cpu_seconds_a_run": round((cpu_seconds() - cpu) / campaign.count, 3)})
    if options.json:
        print(json.dumps(document, indent=2))
    else:
        print_text(document)
    if interrupted:
        print(f"sweep: interrupted after {campaign.count} of {options.runs} runs; the worst runs are not checked",
              file=sys.stderr)
        return SIGNALLED + interrupted
    if options.document:
        write_document(options.document, document)
    return VIOLATED if campaign.objections or any(target.exceeded for target in campaign.targets) else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (RunFailed, Stopped) as failure:
        sys.exit(f"sweep: {failure}")
