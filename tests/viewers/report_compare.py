# SPDX-License-Identifier: MIT
"""report: pages that compare two traces, or two phases of one, in Chromium. What they show equals `remora diff --json`;
the runs are aligned on a release; what was chosen is in the address.

inversion.dat is a run of the application `inversion` under an instruction clock, inversion_shifted.dat the same with
its middle task released 14 ms later, so that no deadline is missed."""
import json
import pathlib

from viewers import job_traces, traces
from viewers.browser import chromium
from viewers.report import HOSTILE, report
from support.cases import case, expect, expect_equal

DATA = pathlib.Path("tests/viewers/data")  # pictures show the paths
BEFORE = DATA / "inversion.dat"
AFTER = DATA / "inversion_shifted.dat"
DIFFERENT = 7
FIGURES = ("jobs", "missed", "mean_response_ns", "worst_response_ns", "blocking_ns")


def diff(ctx, a, b, *options, codes=(DIFFERENT,)):
    return json.loads(ctx.remora("diff", a, b, "--json", *options, codes=codes).stdout)


def ms(ns):
    return f"{ns / 1e6:.3f}"


def without_version(found):
    return {key: value for key, value in found.items() if key != "version"}


# Where a job of a run is released on the screen: (number of the run, name of the task, number of the job).
RELEASE = """const [number, name, job] = arguments;
    const run = report.view.runs[number];
    return report.timeline.scale().x(run.shown(run.job(name, job).release))"""


def released_at(page, name, job):
    return [page.run(RELEASE, number, name, job) for number in (0, 1)]


def expect_aligned(page, name, job):
    a, b = released_at(page, name, job)
    expect(abs(a - b) < 0.01, f"job {job} of {name}: {a} and {b} pixels")


@case
def shows_both_runs_and_what_differs(ctx):
    """A row of each run for each task, paired by name; the first difference, the figures of the tasks and the jobs that
    changed most are those of `remora diff --json`; no request, no refusal of the policy."""
    expected = diff(ctx, BEFORE, AFTER)
    with chromium(ctx) as page:
        path = report(ctx, BEFORE, AFTER)
        page.open(path).painted()
        expect_equal(page.run("return report.comparison.pair.diff"), expected, "what is compared")
        rows = page.run("return report.rows.all.map((row) => [row.mark, row.label, row.group])")
        names = [row[1] for row in rows if row[2].startswith("Level")]
        expect(names and names[0::2] == names[1::2], f"rows of tasks {names}")
        expect_equal([row[0] for row in rows], ["\u2212", "+"] * (len(rows) // 2), "whose the rows are")
        expect_equal({name for name in names}, {task["task"] for task in expected["tasks"]}, "tasks")
        first = expected["first_difference"]
        expect_equal(page.text("#difference"),
                     f"decision {first['decisions'][0]['decision']} differs: {first['what']}", "the sentence")
        expect_equal(page.run("return report.comparison.firstDifference.decisions.map((decision, i) => "
                              "report.view.runs[i].own(report.comparison.timeOf(i, decision)))"),
                     [one["time_ns"] * page.run("return report.trace.khz") / 1e6 for one in first["decisions"]],
                     "where it is, in the time of each run")
        for task in expected["tasks"]:
            shown = page.run("""return Array.from(document.querySelectorAll(".changes")).filter(
                (table) => table.dataset.task === arguments[0]).flatMap((table) => Array.from(table.rows, (row) =>
                    Array.from(row.cells, (cell) => cell.textContent))).slice(1, 3)""", task["task"])
            if task["most_changed"]:
                cells = [[mark] + [str(task[name][i]) if name in ("jobs", "missed") else ms(task[name][i])
                                   for name in FIGURES] for i, mark in enumerate("\u2212+")]
                expect_equal(shown, cells, task["task"])
        most = next(task for task in expected["tasks"] if task["task"] == "bus_dist")["most_changed"]
        side = page.text("#side")
        before, after = map(ms, most["response_ns"])
        expect(f"job {most['job']} changed most: {before} \u2192 {after}" in side, side)
        expect(most["shares"][0]["share"] in side, side)
        expect_equal([url for url in page.requests() if not url.startswith(f"file://{path}")], [], "requests")
        expect_equal(page.complaints(), [], "complaints")


@case
def is_aligned_on_a_release(ctx):
    """At first on the first one; with l on the picked job, in whichever run it is; with L on the first one again.
    Without moving the first run. The address has it."""
    with chromium(ctx) as page:
        path = report(ctx, BEFORE, AFTER)
        page.open(path).painted()
        expect_aligned(page, "main", 1)
        whole = page.span()
        page.run("""const run = report.view.runs[arguments[0]];
            const {task, index} = run.job("comm", 1);
            pickJob(report.timeline, task, index, run.number)""", 1)
        page.run("report.side.choose('pick')")
        expect_equal(page.text("#side h2"), "comm, job 1", "the card")
        apart = released_at(page, "comm", 1)
        expect(abs(apart[0] - apart[1]) > 50, f"comm is released 14 ms later: {apart}")
        page.press("l")
        expect_aligned(page, "comm", 1)
        others = released_at(page, "bus_dist", 1)
        expect(abs(others[0] - others[1]) > 50, f"bus_dist is aligned, too: {others}")
        address = page.run("return report.view.address()")
        expect("align=1.comm" in address and ".b" in address, address)
        page.open(path, address).painted()
        expect_equal(page.run("return report.view.address()"), address, "the address after it was opened")
        expect_aligned(page, "comm", 1)
        page.press("L")
        expect_aligned(page, "main", 1)
        page.press("0")
        expect_equal(page.span(), whole, "the whole trace")


@case
def goes_to_what_differs(ctx):
    """By the keyboard: V shows the first difference, with its line in rows of both runs; the job that changed most is
    picked and aligned."""
    expected = diff(ctx, BEFORE, AFTER)
    with chromium(ctx) as page:
        page.open(report(ctx, BEFORE, AFTER)).painted()
        page.press("w", "w", "w", "w", "V")
        at = expected["first_difference"]["decisions"][0]["time_ns"] * page.run("return report.trace.khz") / 1e6
        begin, end = page.span()
        expect(abs(at - (begin + end) / 2) < (end - begin) / 100, f"{at} is not in the middle of {begin} to {end}")
        expect("another decision" in page.text("#found"), page.text("#found"))
        lines = page.run("return svgOf(report.timeline).split(THEMES.light.over).length")
        expect(lines > 8, f"{lines} pieces with the colour of the difference")
        page.run("Array.from(document.querySelectorAll('.most')).find((one) => one.closest('p')"
                 ".previousElementSibling.dataset.task === 'bus_dist').click()")
        expect_equal(page.run("const {job} = report.view; return [report.view.runOf(job).trace.tasks[job.task].name, "
                              "job.index]"), ["bus_dist", 0], "the job picked")
        expect_aligned(page, "bus_dist", 1)
        page.run("report.view.show(-1000, 60000 * report.trace.khz / 1000)")
        page.painted().driver.save_screenshot(str(ctx.dir / "compare.png"))
    ctx.picture(ctx.dir / "compare.png", "report_compare")


@case
def phases_of_a_run_are_compared(ctx):
    """With --compare, or by a choice in the page: the tasks of both phases under each other, aligned on their first
    release, with what `remora diff` finds between the phases. A trace without phases is refused."""
    with chromium(ctx) as page:
        path = report(ctx, BEFORE, "--compare", "1,2")
        page.open(path).painted()
        found = page.run("return report.comparison.pair.diff")
        expect_equal(found["traces"], ["phase 1", "phase 2"], "what is compared")
        tasks = {task["task"]: task for task in found["tasks"]}
        expect_equal((tasks["bus_dist"]["jobs"], tasks["bus_dist"]["missed"]), ([2, 2], [1, 0]), "jobs of bus_dist")
        expect("bus+" in found["first_difference"]["decisions"][1]["text"], f"{found['first_difference']}")
        names = page.run("return report.rows.all.filter((row) => row.task).map((row) => row.label)")
        expect_equal(sorted(names), sorted(2 * ["main", "idle", "bus_dist", "comm", "weather"]), "rows of tasks")
        for task in ("weather", "bus_dist"):
            expect_aligned(page, task, 1)
        page.run("const choice = document.getElementById('phase0'); choice.value = '-1'; "
                 "choice.dispatchEvent(new Event('change'))")
        expect_equal(page.run("return report.rows.all.some((row) => row.mark)"), False, "rows of two runs")
        expect("pair=none" in page.run("return report.view.address()"), "the address")
        plain = report(ctx, BEFORE, name="plain.html")
        page.open(plain, "#pair=1.0").painted()
        expect_equal(page.run("return report.comparison.pair.diff.traces"), ["phase 2", "phase 1"], "the other pair")
        expect_aligned(page, "weather", 1)
        expect_equal(page.complaints(), [], "complaints")
    for trace, arguments, words in ((traces.control(), ("--compare", "1,2"), "has no phases"),
                                    (BEFORE, ("--compare", "1,3"), "has the phases 1 to 2"),
                                    (BEFORE, ("--compare", "2,2"), "two different phases"),
                                    (BEFORE, ("--compare", "first"), "two different phases"),
                                    (BEFORE, (AFTER, "--compare", "1,2"), "leave it out, or OTHER"),
                                    (BEFORE, ("--compare", "1,2", "--from", "1ms"), "leave out --from")):
        done = ctx.remora("report", trace, *arguments, "-o", ctx.dir / "no.html", codes=(1,))
        expect(words in done.stderr and not (ctx.dir / "no.html").exists(), done.stderr)


def two_runs(ctx):
    """The same jobs by clocks of different rates, the second one a task short and with another more, whose name is
    hostile; it is released 1 ms later."""
    a = job_traces.periodic(2, 4000, 1000, count=3) + job_traces.periodic(3, 4000, 500, count=3, offset=2500)
    b = job_traces.periodic(2, 4000, 1500, count=3, offset=1000)
    b += job_traces.periodic(4, 4000, 500, count=3, offset=3000)
    return (job_traces.store(ctx, "a.dat", a, {2: "worker", 3: "helper"}),
            job_traces.store(ctx, "b.dat", b, {2: "worker", 4: HOSTILE}, khz=1_000_000))


@case
def runs_of_different_clocks_and_tasks(ctx):
    """Times of each run by its own rate, a task in only one run, a name like HTML, a run that is not complete, the same
    trace twice: each is said."""
    a, b = two_runs(ctx)
    expected = diff(ctx, a, b)
    with chromium(ctx) as page:
        page.open(report(ctx, a, b)).painted()
        expect_equal(page.run("return report.comparison.pair.diff"), expected, "what is compared")
        banners = page.text("#banners")
        expect("different rates" in banners and "2,400 MHz" in banners and "1,000 MHz" in banners, banners)
        expect_aligned(page, "worker", 1)
        expect_aligned(page, "worker", 3)
        side = page.text("#side")
        expect("Only in \u2212." in side and "Only in +." in side, side)
        labels = page.texts(".label .name")
        expect(labels.count("worker") == 2 and labels.count("helper") == 1 and labels.count(HOSTILE) == 1, f"{labels}")
        expect_equal(page.run("return document.images.length"), 0, "elements that came of a name")
        expect("img" not in page.run("return svgOf(report.timeline)").replace("&lt;img", ""), "the SVG")
        page.open(report(ctx, a, a)).painted()
        expect("nothing can differ" in page.text("#banners"), page.text("#banners"))
        expect("the same in the same order" in page.text("#side"), page.text("#side"))
        data = b.read_bytes()
        cut = traces.store(ctx, "cut.dat", data[:len(data) * 3 // 4 // 16 * 16])
        page.open(report(ctx, a, cut, codes=(2,))).painted()
        expect(f"+ {cut} is not complete" in page.text("#banners"), page.text("#banners"))
        expect_equal(page.complaints(), [], "complaints")
    ctx.remora("report", a, b, "-o", b, codes=(1,))
    expect_equal(b.read_bytes(), data, "the second trace")
    ctx.remora("report", a, ctx.dir / "absent.dat", "-o", ctx.dir / "no.html", codes=(1,))
    expect(not (ctx.dir / "no.html").exists(), "a page of one trace")


@case
def a_part_has_the_numbers_of_the_whole(ctx):
    """With --from and --to the decisions are those of `remora diff` with them, and jobs keep their numbers."""
    part = ("--from", "5ms", "--to", "40ms")
    a, b = two_runs(ctx)
    with chromium(ctx) as page:
        page.open(report(ctx, a, b, *part)).painted()
        expect_equal(page.run("return report.comparison.pair.diff"), diff(ctx, a, b, *part), "what is compared")
        shown = page.run("""return report.view.runs.map((run) => {
            const {task, index} = run.job("worker", 2);
            return task.jobs.number[index]; })""")
        expect_equal(shown, [2, 2], "the second job of worker")
        expect_equal(page.run("return report.view.runs.map((run) => run.job('worker', 1))[0]"), None, "the first job")
