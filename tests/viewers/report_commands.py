# SPDX-License-Identifier: MIT
"""report: the commands that its cards offer run as they are, in a shell, and give what the card says."""
import json
import os
import re
import shlex

from viewers import sqlite, traces
from viewers.browser import chromium
from viewers.report import block_of, report
from support.cases import case, expect, expect_equal
from support.context import REMORA, ROOT

PICK = """const {trace, timeline} = report;
    const task = trace.tasks.find((one) => one.name === arguments[0]);
    pickJob(timeline, task, arguments[1]);
    const {release, end, number} = task.jobs;
    const {times} = report.view;
    return [times.ns(release[arguments[1]]), times.ns(end[arguments[1]]), number[arguments[1]]]"""


def shell(ctx, command, codes=(0,)):
    """The output of a command as a person pastes it."""
    path = f"{(ROOT / REMORA).parent}:{os.environ['PATH']}"
    return ctx.run("bash", "-c", command, env={"PATH": path}, codes=codes).stdout


def offered(page):
    """By the name of the subcommand."""
    return {command.split()[1]: command for command in page.texts(".commands code")}


def check_job(ctx, page, name, index):
    release, end, number = page.run(PICK, name, index)
    page.painted()
    commands = offered(page)
    expect_equal(set(commands), {"why", "print", "sql", "goto"}, "commands")
    first, *story = shell(ctx, commands["why"]).splitlines()
    expect(first.startswith(f"{name} job {number}:"), first)
    lines = shell(ctx, commands["print"]).splitlines()
    times = [int(line.split()[0]) for line in lines]
    expect(release <= times[0] and times[-1] == end, f"{times[0]} to {times[-1]}, job {release} to {end}")
    expect("task_end_cycle" in lines[-1] and f"({name})" in lines[-1], lines[-1])
    rows = shell(ctx, commands["sql"]).splitlines()[1:]
    expected = sqlite.sql(ctx, traces.control(), f"select count(*) as n from intervals where task = '{name}' and "
                                                 f"begin_ns < {end} and end_ns > {release}")[0]["n"]
    expect_equal(len(rows), expected, "intervals of the job")
    expect(rows and all(row.split()[0] == name for row in rows), f"{rows}")
    marked = [line for line in shell(ctx, commands["goto"]).splitlines() if line.startswith(">")]
    expect(len(marked) == 1 and f" {end} ns" in marked[0] and "task_end_cycle" in marked[0], f"{marked}")
    return story


@case
def of_a_job_give_what_its_card_says(ctx):
    """why, print, sql and goto of two jobs, one of them late; of the task all of its events and its worst job."""
    with chromium(ctx) as page:
        page.open(report(ctx, traces.control().relative_to(ROOT))).painted()
        story = check_job(ctx, page, "late", 0)
        expect(any(line.startswith("cause: ") for line in story), f"{story}")
        check_job(ctx, page, "sensor", 3)
        page.run("report.view.pick(`task${report.trace.tasks.find((one) => one.name === 'sensor').number}`, null)")
        page.painted()
        commands = offered(page)
        events = shell(ctx, commands["print"]).splitlines()
        expect(len(events) > 100 and all("(sensor)" in line for line in events), f"{len(events)} events")
        worst = sqlite.sql(ctx, traces.control(), "select job from jobs where task = 'sensor' "
                                                  "order by response_ns desc limit 1")[0]["job"]
        expect(shell(ctx, commands["why"]).startswith(f"sensor job {worst}:"), commands["why"])


@case
def keep_the_options_of_the_trace(ctx):
    """A path with a space and a quote, another rate of the clock: the commands say both."""
    odd = ctx.dir / "it's a trace"
    odd.symlink_to(traces.control())
    with chromium(ctx) as page:
        page.open(report(ctx, odd, "--tsc-khz", "500000", "--from", "records")).painted()
        release, end, _ = page.run(PICK, "late", 0)
        page.painted()
        commands = offered(page)
        expect(all(shlex.split(command)[2] == str(odd) for command in commands.values()), f"{commands}")
        expect(all("--tsc-khz 500000" in command for command in commands.values()), f"{commands}")
        lines = shell(ctx, commands["print"]).splitlines()
        expect(int(lines[0].split()[0]) >= release and int(lines[-1].split()[0]) == end, lines[-1])
        expect(f" {end} ns" in shell(ctx, commands["goto"]), commands["goto"])
        expect(re.search(r"^late", shell(ctx, commands["sql"]), re.MULTILINE), commands["sql"])


@case
def of_a_violation_show_its_record(ctx):
    """A click on the header's violations lists them: each is a link to its time, and has the command for its record."""
    trace = violating(ctx)
    with chromium(ctx) as page:
        page.open(report(ctx, trace, codes=(0, 2))).painted()
        text = page.text("#violations")
        expect(re.match(r"\d+ violations? of \d+", text), text)
        page.run("document.getElementById('violations').click()")
        page.painted()
        shown = page.run("return report.trace.facts.oracle.shown")
        expect_equal(len(page.texts(".violations > li")), len(shown), "violations that are listed")
        page.run("document.querySelector('.violations button').click()")
        page.painted()
        expect_equal(page.run("return report.view.cursors[0]"), shown[0]["at"], "the cursor")
        span = page.span()
        expect(span[0] <= shown[0]["at"] <= span[1], f"{shown[0]['at']} is not in {span}")
        marked = [line for line in shell(ctx, page.texts(".violations code")[0], codes=(0, 2)).splitlines()
                  if line.startswith(">")]
        expect(len(marked) == 1 and f":{shown[0]['record']} " in marked[0], f"{marked}")
        page.driver.save_screenshot(str(ctx.dir / "violations.png"))


@case
def of_a_crash_show_how_the_run_ended(ctx):
    """A run that panicked: a banner and the panel say first what `remora why --crash` says, and where it was; nothing
    of the head is green; a job that is picked replaces the panel. As the second one of two runs it does too."""
    rows = [(traces.CONTEXT_SWITCH, 1), (traces.JOB_RELEASE, 2, 20_000), (traces.CONTEXT_SWITCH, 2),
            (traces.TASK_END_CYCLE, 2), (traces.CONTEXT_SWITCH, 3), (traces.PANIC, 3)]
    data = b"".join(traces.record(code, 20_000 + 2400 * i, *rest) for i, (code, *rest) in enumerate(rows))
    trace = traces.store(ctx, "panic.dat", traces.chunk(data, tasks={1: "idle", 2: "worker", 3: "culprit"}))
    expected = json.loads(ctx.remora("why", trace, "--crash", "--json").stdout)["crashes"]
    path = report(ctx, trace, codes=(0, 2))
    expect_equal(block_of(path)[0]["crashes"], expected, "crashes in the page")
    text = expected[0]["text"]
    expect("culprit" in text, f"{expected}")
    with chromium(ctx) as page:
        page.open(path).painted()
        banner = page.run("const p = document.querySelector('#banners p'); return [p.className, p.textContent]")
        expect(banner[0] == "bad" and text in banner[1], f"{banner}")
        expect_equal(page.run("return document.querySelectorAll('.chip.good').length"), 0, "green chips")
        expect_equal(page.text("nav .chosen"), "Crash", "the panel")
        expect(text in page.text("#side") and "worker" in page.text(".before"), page.text("#side"))
        page.run("document.querySelector('.crashed').click()")
        at = page.run("const {times, cursors} = report.view; return times.ns(cursors[0])")
        expect_equal(at, expected[0]["time_ns"], "the cursor")
        expect_equal(page.run("return report.rows.byKey.get(report.view.row).label"), "culprit", "the row")
        said = shell(ctx, offered(page)["why"], codes=(0, 2))
        expect(text in said, said)
        page.driver.save_screenshot(str(ctx.dir / "crash.png"))
        page.run("pickJob(report.timeline, report.trace.tasks.find((task) => task.jobs.count > 0), 0)")
        expect_equal(page.text("nav .chosen"), "Selection", "the panel after a job was picked")
        page.open(report(ctx, traces.control(), trace, codes=(0, 2), name="two.html")).painted()
        banner = page.run("const p = document.querySelector('#banners p'); return [p.className, p.textContent]")
        expect(banner[0] == "bad" and banner[1].startswith(f"+ {trace}: {text}"), f"{banner}")
        expect_equal(page.text("nav .chosen"), "Crash", "the panel of two runs")
        expect(page.run("return Math.max(...Array.from(document.querySelectorAll('nav button'), (one) => "
                        "one.getBoundingClientRect().right)) < innerWidth"), "a tab is cut")
        expect_equal(page.run("return document.querySelectorAll('#other .chip.good').length"), 0, "green chips of +")
        page.run("document.querySelector('.crashed').click()")
        at = page.run("const {runs, cursors} = report.view; return runs[1].times.ns(runs[1].own(cursors[0]))")
        expect_equal(at, expected[0]["time_ns"], "the cursor, in the time of the second run")


def violating(ctx):
    """The run of control with one mutex that is unlocked by another task than its owner. The conversion of what is
    damaged by its checksum is whole."""
    data = bytearray((traces.control() / "0trace.dat").read_bytes())
    at = find_unlock(data)
    data[at + 2:at + 4] = (1).to_bytes(2, "little")  # par1: idle
    changed = traces.store(ctx, "changed.dat", bytes(data))
    return ctx.convert(changed, "dat", "--salvage", name="violating.dat", codes=(0, 2))


def find_unlock(data):
    """The offset of a set_mutex_unlock in the middle of the trace."""
    for at in range(len(data) // 32 * 16, len(data), 16):
        if int.from_bytes(data[at:at + 2], "little") == traces.MUTEX_UNLOCK and data[at + 2] > 1:
            return at
    raise AssertionError("no set_mutex_unlock")
