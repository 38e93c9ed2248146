#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make experiment-clock`: the same load three ways, with a clock that counts instructions: freely, in single steps,
and in single steps with a compensated clock, for several triggers and steps; each instruction leaves a record. And with
a record for each four instructions, without and with a clock that is compensated for records. One table, one line
`GOAL <id> <figure> <goal> met|missed` for each claim, and a picture.

   clock_experiment.py KERNEL PICTURE.svg [DOCUMENT]    the kernel was built with COMPENSATION=ON; tables of the same
                                                        heads in DOCUMENT are replaced"""
import concurrent.futures
import csv
import dataclasses
import math
import os
import pathlib
import re
import sys

from kernel_operations import TIMEOUT_S, GuestContext, boot, replace, table

IN_STEPS = "itrace=instructions"
STEPPED = ("stepped_one", "stepped_two", "stepped")
SETTINGS = ((0, 1), (1, 2), (4, 5), (16, 17), (0, 2), (0, 3))  # trigger, step


@dataclasses.dataclass
class Run:
    """The output of the application."""
    name: str
    interrupts: int = 0
    clock: int = 0
    removed: int = 0
    misses: int = 0
    jobs: int = 0
    kept: int = 0        # records in the trace of the run
    dropped: int = 0     # after those, for lack of space
    in_handler: int = 0  # of those kept: from interrupt_start to interrupt_end of the timer
    worst_ns: dict = dataclasses.field(default_factory=dict)
    steps: dict = dataclasses.field(default_factory=dict)

    @property
    def real(self):
        return self.clock + self.removed

    @property
    def share(self):
        """Percent of the records inside the timer's handler."""
        return 100 * self.in_handler / self.kept


# Metadata is not counted. The end of the handler is counted by its own record.
RECORDS = """
select count(*), sum(depth > 0 or is_end) from (
    select is_end, sum(is_start - is_end) over (order by chunk, record) as depth from (
        select chunk, record, event = 'interrupt_start' and interrupt is 'timer' as is_start,
               event = 'interrupt_end' and interrupt is 'timer' as is_end from events))"""


def count_records(ctx, ramdisk):
    """How many records a trace holds, and how many of them are from inside the timer's handler."""
    _, session = ctx.disk_files(ramdisk)
    ctx.remora("adopt", session)
    kept, in_handler = list(csv.reader(ctx.remora("sql", session, RECORDS, "--csv").stdout.splitlines()))[1]
    return int(kept), int(in_handler)


def run(kernel, name, app, words=""):
    """What the application printed, and what its trace shows."""
    ctx = GuestContext("experiment", name.replace(", ", "_").replace(" ", "_"), TIMEOUT_S)
    ramdisk = ctx.make_ramdisk()
    found = read_lines(name, app, words, boot(ctx, kernel, f"{app} {words}", ramdisk))
    found.kept, found.in_handler = count_records(ctx, ramdisk)
    return found


def read_lines(name, app, words, lines):
    found = Run(name)
    for line in lines:
        if match := re.fullmatch(r"timer interrupts (\d+)", line):
            found.interrupts = int(match[1])
        elif match := re.fullmatch(r"task (\w+) worst response (\d+) ns of \d+ us, missed (\d+) of (\d+)", line):
            found.worst_ns[match[1]] = int(match[2])
            found.misses += int(match[3])
            found.jobs += int(match[4])
        elif match := re.fullmatch(r"steps (\w+) (\d+)", line):
            found.steps[match[1]] = int(match[2])
        elif match := re.fullmatch(r"clock ran (\d+) removed (\d+) ticks", line):
            found.clock, found.removed = int(match[1]), int(match[2])
        elif match := re.match(r"trace: \d+ records kept, (\d+) dropped", line):
            found.dropped = int(match[1])
    if not found.jobs or not found.clock:
        sys.exit(f"{app} {words} printed no result")
    return found


def guards(one):
    held = [f"{name} {count}" for name, count in one.steps.items() if count and name != "compensated"]
    return ", ".join(held) or "-"


def table_of(runs):
    rows = []
    for one in runs:
        worst = ", ".join(f"{one.worst_ns[name] / 1000:.1f}" for name in ("fast", "medium", "slow"))
        records = f"{one.kept} of {one.kept + one.dropped}" if one.dropped else f"{one.kept}"
        rows.append([one.name, f"{one.interrupts}", records, f"{one.in_handler} = {one.share:.3g} %",
                     f"{one.misses} of {one.jobs}", worst, f"{one.clock} / {one.real}", guards(one)])
    return table(["run", "timer interrupts", "records", "in the timer's handler", "missed",
                  "worst response us: fast, medium, slow", "clock / machine", "guards held"], rows)


def goal(name, figure, text, met):
    print(f"GOAL {name} {figure} {text} {'met' if met else 'missed'}")
    return met


# --- the picture ---------------------------------------------------------------------------------------------------

WIDTH, HEIGHT, LEFT, TOP = 760, 300, 60, 40
COLOURS = {"freely": "#4c78a8", "in steps": "#e45756"}


def bars(offset, runs, title, value, below):
    """value(run) of each run, on a logarithmic scale: decades as lines; below(run) is a line under its name."""
    yield f'<text x="{LEFT}" y="{offset + 24}" class="head">{title}</text>'
    decades = len(str(max(map(value, runs))))
    height = HEIGHT - TOP - 60
    foot = offset + TOP + height

    def y(number):
        return foot - height * math.log10(max(number, 1)) / decades

    for decade in range(decades + 1):
        at = y(10 ** decade)
        yield f'<line x1="{LEFT}" y1="{at:.1f}" x2="{WIDTH - 20}" y2="{at:.1f}" class="grid"/>'
        yield f'<text x="{LEFT - 6}" y="{at + 4:.1f}" class="scale">{10 ** decade}</text>'
    wide = (WIDTH - LEFT - 20) / len(runs)
    for i, one in enumerate(runs):
        x = LEFT + i * wide + wide * 0.15
        at = y(value(one))
        colour = COLOURS.get(one.name, "#54a24b")
        yield f'<rect x="{x:.1f}" y="{at:.1f}" width="{wide * 0.7:.1f}" height="{foot - at:.1f}" fill="{colour}"/>'
        yield f'<text x="{x + wide * 0.35:.1f}" y="{at - 5:.1f}" class="mark">{value(one)}</text>'
        for line, text in enumerate((*one.name.split(", "), below(one))):
            yield f'<text x="{x + wide * 0.35:.1f}" y="{foot + 16 + 14 * line:.1f}" class="mark">{text}</text>'


def slope(offset, points):
    """The slowdown of the clock against the density of the trace."""
    yield (f'<text x="{LEFT}" y="{offset + 24}" class="head">Slowdown of the clock against the density of the trace'
           f'</text>')
    height, width = HEIGHT - TOP - 60, WIDTH - LEFT - 60
    most_x, most_y = max(x for x, _ in points) * 1.05, max(y for _, y in points) * 1.1
    places = [(LEFT + width * x / most_x, offset + TOP + height * (1 - y / most_y)) for x, y in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    yield (f'<path d="M{LEFT},{offset + TOP} V{offset + TOP + height} H{LEFT + width}" class="axis"/>'
           f'<polyline points="{line}" class="line"/>')
    for (x, y), (density, factor) in zip(places, points):
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="#54a24b"/>'
        yield f'<text x="{x - 8:.1f}" y="{y - 8:.1f}" class="scale">{factor:.0f} x</text>'
        yield f'<text x="{x:.1f}" y="{offset + TOP + height + 16}" class="mark">{density:.0f}</text>'
    yield (f'<text x="{LEFT + width / 2:.1f}" y="{offset + TOP + height + 34}" class="mark">steps in 1000 ticks of the '
           f'compensated clock</text>')


def draw(path, runs, points):
    style = ("text{font:12px sans-serif;fill:#333}.head{font-size:15px;font-weight:bold}.mark{text-anchor:middle}"
             ".scale{text-anchor:end}.grid{stroke:#ddd}.axis{stroke:#333;fill:none}.line{stroke:#54a24b;fill:none;"
             "stroke-width:2}")
    body = "\n".join([
        *bars(0, runs, "Timer interrupts for the same work", lambda one: one.interrupts,
              lambda one: f"{one.misses} missed" if one.misses else "none missed"),
        *bars(HEIGHT, runs, "Records inside the timer's handler, and their share of all", lambda one: one.in_handler,
              lambda one: f"{one.share:.2g} %"),
        *slope(2 * HEIGHT, points)])
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {3 * HEIGHT}" width="{WIDTH}" '
                    f'height="{3 * HEIGHT}">\n<style>{style}</style>\n<rect width="100%" height="100%" fill="white"/>\n'
                    f'{body}\n</svg>\n', encoding="utf-8")


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    kernel = sys.argv[1]
    boots = [("freely", "stepped"), ("in steps", "stepped", IN_STEPS)]
    boots += [(f"trigger {trigger}, step {step}", "stepped",
               f"{IN_STEPS} clock_trigger={trigger} clock_step={step}") for trigger, step in SETTINGS]
    boots += [("records", "pointed"), ("records off the clock", "pointed", "clock_records=on")]
    boots += [(app, app, f"{IN_STEPS} clock_step=1") for app in STEPPED[:-1]]
    # The clock counts instructions: what else the machine does changes no figure.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(lambda words: run(kernel, *words), boots))
    runs, single = found[:len(SETTINGS) + 2], found[len(SETTINGS) + 4:]
    freely, steps, *compensated = runs
    records, off_clock = found[len(runs):len(runs) + 2]

    points = [(0.0, 1.0)]
    for one in single:
        points.append((1000 * sum(one.steps.values()) / one.clock, one.real / one.clock))
    dense = compensated[0]
    points.append((1000 * sum(dense.steps.values()) / dense.clock, dense.real / dense.clock))
    slopes = table(["steps in 1000 ticks", "machine / clock"],
                   [[f"{density:.0f}", f"{factor:.1f}"] for density, factor in points])
    for lines in (table_of([*runs, records, off_clock]), slopes):
        print("\n".join(lines) + "\n")
        for path in sys.argv[3:]:
            replace(pathlib.Path(path), lines)

    best = compensated[0]
    met = [
        goal("clock.compensated", f"{best.interrupts / freely.interrupts:.3f}", "0.9..1.1",
             abs(best.interrupts - freely.interrupts) <= 0.1 * freely.interrupts),
        goal("clock.in_steps", f"{steps.interrupts / freely.interrupts:.1f}", ">=5",
             steps.interrupts >= 5 * freely.interrupts),
        goal("clock.misses", f"{freely.misses}/{steps.misses}/{best.misses}", "0/some/0",
             freely.misses == 0 and steps.misses > 0 and best.misses == 0),
        goal("clock.in_handler", f"{freely.in_handler}/{steps.in_handler}/{best.in_handler}", "n/>=5n/0.9..1.1n",
             steps.in_handler >= 5 * freely.in_handler and
             abs(best.in_handler - freely.in_handler) <= 0.1 * freely.in_handler),
        goal("clock.records", f"{off_clock.interrupts / freely.interrupts:.3f}", "0.9..1.1",
             abs(off_clock.interrupts - freely.interrupts) <= 0.1 * freely.interrupts),
        goal("clock.records_misses", f"{records.misses}/{off_clock.misses}", "some/0",
             records.misses > 0 and off_clock.misses == 0),
        goal("clock.slope", f"{points[-1][1] / points[1][1]:.1f}", ">1",
             all(a[1] < b[1] for a, b in zip(points, points[1:]))),
    ]
    draw(pathlib.Path(sys.argv[2]), runs, points)
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
