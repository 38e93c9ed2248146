# SPDX-License-Identifier: MIT
"""report: rows of several processors, groups of rows, what the head and the strip above the timeline say of a trace
that is not whole or has no exact clock, the figures of a part, the picture that is saved, and paper."""
import base64
import bisect
import re

from viewers import sqlite, traces
from viewers.browser import chromium
from viewers.report import report
from support.cases import case, expect, expect_equal
from support.context import ROOT


def groups(page):
    """By the heading: the labels of the rows below it."""
    return dict(page.run("""return report.rows.heads.map((head, i) => {
        const next = report.rows.heads[i + 1] || {y: Infinity};
        return [head.text, report.rows.shown.filter((row) => row.y > head.y && row.y < next.y).map((row) => row.label)];
    })"""))


@case
def each_processor_has_a_row_and_tasks_show_where_they_ran(ctx):
    """Two processors: a row each, its interrupts, tasks by processor; a task that moved says how often, and losses of
    one processor are not drawn on the other."""
    trace = traces.migrating(ctx)
    with chromium(ctx) as page:
        page.open(report(ctx, trace, codes=(0, 2)), "#by=processor").painted()
        found = groups(page)
        expect_equal(found["Processor 0"], ["processor 0", "settled", "idle"], "rows of processor 0")
        expect_equal(found["Processor 1"], ["processor 1", "nomad", "idle"], "rows of processor 1")
        ran = sqlite.sql(ctx, trace, "select task, context, cpu, sum(duration_ns) as ns from intervals "
                         "where state = 'running' group by task, context, cpu order by context, cpu", codes=(0, 2))
        shown = page.run("""const {trace, view} = report;
            return trace.tasks.filter((task) => task.count > 0).flatMap((task) =>
                [...trace.sharesOfProcessors(task)].map(([cpu, ticks]) =>
                    [task.name, task.context, cpu, view.times.ns(ticks)]))
            .sort((a, b) => a[1] - b[1] || a[2] - b[2])""")
        expect_equal([row[:3] for row in shown], [[row["task"], row["context"], row["cpu"]] for row in ran], "shares")
        expect(all(abs(one[3] - row["ns"]) < 100 for one, row in zip(shown, ran)), f"{shown} {ran}")
        page.run("report.view.pick(report.rows.all.find((row) => row.label === 'nomad').key, null)")
        page.painted()
        text = page.text("#side")
        expect(re.search(r"migrations7[89]", text) and "on processor 1" in text, text)
        page.run("report.view.show(0, report.trace.last / 16)")
        page.painted()
        page.driver.save_screenshot(str(ctx.dir / "processors.png"))
        picture = page.run("return svgOf(report.timeline)")
        expect_equal(picture.count(">1</text>") > 2 and picture.count(">0</text>") > 2, True, "numbers of processors")
        lost = page.run("const at = report.trace.losses[0].begin[0] + 1; return report.trace.lostAt(at)")
        expect_equal(lost, [[1, 9]], "lost records")
        expect_equal(page.run("return document.querySelectorAll('#overview .lost').length"), 1, "bands of the strip")
        expect_equal(page.complaints(), [], "complaints")


@case
def groups_fold_and_change(ctx):
    """g changes what tasks are grouped by, z and a click fold a group; the address has both, a search unfolds."""
    path = report(ctx, traces.control())
    with chromium(ctx) as page:
        page.open(path).painted()
        by_level = groups(page)
        expect(["sensor" in by_level["Level EDF"], "load-a" in by_level["Level RR"]] == [True, True], f"{by_level}")
        page.press("g")
        by_processor = groups(page)
        expect("sensor" in by_processor["Processor 0"] and "load-a" in by_processor["Processor 0"], f"{by_processor}")
        page.press("g")
        expect(len(groups(page)["Tasks"]) == len(page.run("return report.trace.tasks")), f"{groups(page)}")
        page.press("g")
        expect_equal(groups(page), by_level, "groups after g three times")
        page.run("report.view.pick(report.rows.all.find((row) => row.label === 'sensor').key, null)")
        page.press("z")
        count = len(by_level["Level EDF"])
        expect_equal(groups(page)["Level EDF"], [], "rows of the folded group")
        expect(f"Level EDF ({count})" in page.texts(".group"), page.texts(".group"))
        page.run("Array.from(document.querySelectorAll('.group')).find((one) => one.textContent === 'Level RR')"
                 ".click()")
        address = page.run("return report.view.address()")
        expect("fold=leveledf.levelrr" in address, address)
        page.open(path, address).painted()
        expect_equal((groups(page)["Level EDF"], groups(page)["Level RR"]), ([], []), "folded by the address")
        page.press("n")
        expect("late" in groups(page)["Level EDF"], "the group of the miss stays folded")
        page.press("H")
        expect_equal(groups(page), by_level, "all rows")


@case
def tasks_are_grouped_by_the_phase_in_which_they_ran(ctx):
    """Of a run that marks phases: each task of one phase under it, those of several apart; g gets there, and a run
    without phases passes it over."""
    trace = ROOT / "tests/viewers/data/inversion.dat"
    starts = [event["time_ns"] for event in ctx.events(trace) if event["event"] == "user_event_0"]
    ran = sqlite.sql(ctx, trace, "select task, context, min(begin_ns) as first, max(begin_ns) as last from intervals "
                     "where state = 'running' group by task, context")
    expected = {}
    for row in ran:
        phases = {bisect.bisect_right(starts, row[end]) for end in ("first", "last")}
        group = "Several phases" if len(phases) > 1 else f"Phase {phases.pop()}"
        expected.setdefault(group, []).append(row["task"])
    expect({"Phase 1", "Phase 2"} <= expected.keys(), f"{expected}")
    with chromium(ctx) as page:
        page.open(report(ctx, trace)).painted()
        page.press("g")
        found = groups(page)
        expect_equal({group: sorted(found[group]) for group in expected},
                     {group: sorted(tasks) for group, tasks in expected.items()}, "tasks by phase")
        expect("by=phase" in page.run("return report.view.address()"), "the address does not say it")
        page.driver.save_screenshot(str(ctx.dir / "phases.png"))


@case
def a_frame_of_a_long_trace_is_columns(ctx):
    """Zoomed out over 20,000 records, a frame draws columns of pixels, not intervals: few shapes."""
    with chromium(ctx) as page:
        page.open(report(ctx, traces.synthetic(ctx, 20_000), codes=(0, 2))).painted()
        rows = page.run("return report.rows.all.filter((row) => row.key !== 'marks' && !row.shade).length")
        expect_equal(rows, 0, "rows that cannot be drawn as columns")
        shapes = page.run("""const {timeline} = report;
            let shapes = 0;
            for (const name of ["rect", "hatch", "line", "polygon", "text"]) {
                timeline.surface[name] = function (...words) {
                    ++shapes;
                    return Object.getPrototypeOf(this)[name].apply(this, words);
                };
            }
            timeline.paint();
            return shapes""")
        expect(10 < shapes < 2000, f"{shapes} shapes in a frame")


@case
def a_banner_says_that_times_are_not_exact(ctx):
    """Under a clock that does not count instructions, and of a trace that does not state its clock."""
    data = bytearray((traces.control() / "0trace.dat").read_bytes())
    with chromium(ctx) as page:
        for mode, words in ((1, "Times show the host"), (3, "Times show the host"),
                            (0, "not known whether times show the host")):
            changed = traces.store(ctx, f"mode{mode}.dat", bytes(with_clock_mode(data, mode)))
            whole = ctx.convert(changed, "dat", "--salvage", name=f"whole{mode}.dat", codes=(0, 2))
            page.open(report(ctx, whole, codes=(0, 2))).painted()
            facts = page.run("return report.trace.facts.clock")
            expect(not facts["exact"], f"{facts}")
            banner = page.run("const p = document.querySelector('#banners p');"
                              "return [p.textContent, getComputedStyle(p).backgroundColor]")
            expect(words in banner[0] and banner[1] == "rgb(179, 20, 29)", f"{facts}: {banner}")


def with_clock_mode(data, mode):
    """The chunk_begin of the first chunk with another clock mode: byte 7 of its fields, which follow their length."""
    changed = bytearray(data)
    # A slot of 16 bytes has 2 bytes of the payload at 2, and 4 at 12.
    byte = 2 + 7
    slot, rest = divmod(byte, 6)
    offset = 16 * slot + (2 + rest if rest < 2 else 12 + rest - 2)
    changed[offset] = mode
    return changed


@case
def figures_of_a_part_agree_with_sql(ctx):
    """Load in windows, jitters and the brush of one task; the brush of the load moves the timeline."""
    with chromium(ctx) as page:
        page.open(report(ctx, traces.control())).painted()
        loads = page.run("""const {trace} = report;
            const task = trace.tasks.find((one) => one.name === "sensor");
            return loadOf([task], 0, trace.last, 1).map((one) => one.share * (one.end - one.begin))""")
        ran = sqlite.sql(ctx, traces.control(), "select sum(duration_ns) as ns from intervals "
                         "where task = 'sensor' and state = 'running'")[0]["ns"]
        khz = page.run("return report.trace.khz")
        expect(abs(sum(loads) / khz * 1e6 - ran) < 1000, f"{sum(loads)} ticks, {ran} ns")
        jitter = sqlite.sql(ctx, traces.control(),
                            "select max(jitter_ns) as ns from jobs where task = 'sensor'")[0]["ns"]
        worst = page.run("""const {trace, view} = report;
            const task = trace.tasks.find((one) => one.name === "sensor");
            return view.times.ns(figuresOf(trace, task, -1, trace.last).worst["release delay"].value)""")
        expect(abs(worst - jitter) <= 1, f"release delay {worst}, {jitter}")
        page.run("report.view.pick(report.rows.all.find((row) => row.label === 'sensor').key, null)")
        page.press("f")
        page.painted()
        left = page.run("const box = document.querySelector('.histogram:not(.load)').getBoundingClientRect();"
                        "return [box.left, box.top]")
        drag(page, left[0] + 120, left[0] + 286, left[1] + 30)
        chosen = page.run("""const {view, trace} = report;
            const task = trace.tasks[view.filter.task];
            return [view.filter.least, view.filter.greatest, chosenSpans(task, view.filter)[0].length]""")
        least, greatest = (round(ticks / khz * 1e6) for ticks in chosen[:2])
        expected = sqlite.sql(ctx, traces.control(), f"select count(*) as n from jobs where task = 'sensor' and "
                                                     f"response_ns between {least} and {greatest}")[0]["n"]
        expect(chosen[2] == expected > 0, f"{chosen}, expected {expected}")
        expect(f"{expected} of " in page.text("#side"), page.text("#side"))
        page.driver.save_screenshot(str(ctx.dir / "figures.png"))
        before = page.span()
        load = page.run("const plot = document.querySelector('.histogram.load'); plot.scrollIntoView();"
                        "const box = plot.getBoundingClientRect(); return [box.left, box.top]")
        drag(page, load[0] + 72, load[0] + 144, load[1] + 30)
        span = page.span()
        expect(abs((span[1] - span[0]) / (before[1] - before[0]) - 0.25) < 0.04, f"{before} then {span}")


def drag(page, begin, end, y):
    for kind, x in (("mouseMoved", begin), ("mousePressed", begin), ("mouseMoved", (begin + end) / 2),
                    ("mouseMoved", end), ("mouseReleased", end)):
        page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
            "type": kind, "x": x, "y": y, "button": "left", "buttons": 1, "clickCount": 1})


@case
def what_is_saved_is_a_picture_of_its_own(ctx):
    """The SVG is well-formed, has every row in sight by name, and a renderer draws it in several colours."""
    with chromium(ctx) as page:
        page.open(report(ctx, traces.control())).painted()
        page.press("n")
        path = ctx.dir / "timeline.svg"
        path.write_text(page.run("return svgOf(report.timeline)"), encoding="utf-8")
        labels = page.run("const {rows, timeline} = report;"
                          "return rows.shown.filter((row) => row.y < timeline.height).map((row) => row.label)")
        page.driver.get(f"file://{path}")
        page.driver.save_screenshot(str(ctx.dir / "timeline.png"))
    ctx.run("xmllint", "--noout", path)
    text = path.read_text(encoding="utf-8")
    expect(all(f">{label}<" in text for label in labels if len(label) < 20), f"{labels}")
    expect("href" not in text and "script" not in text, "it refers to something")
    colours = int(ctx.run("identify", "-format", "%k", ctx.dir / "timeline.png").stdout)
    expect(colours > 8, f"{colours} colours")


@case
def paper_has_every_row_once(ctx):
    """Printed, the rows are drawn anew for the paper: one page, all labels, and the canvas is left out."""
    with chromium(ctx) as page:
        page.open(report(ctx, traces.control()), "#t=0-100000000").painted()
        page.press("n")
        page.painted()
        labels = page.texts(".label .name")
        pdf = base64.b64decode(page.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
        (ctx.dir / "run.pdf").write_bytes(pdf)
        expect_equal(page.text("#paper"), "", "what was printed is left on the page")
    words = ctx.run("pdftotext", "-layout", ctx.dir / "run.pdf", "-").stdout
    expect(all(words.count(label) >= 1 for label in labels), f"{labels} in {words}")
    expect("Why late?" in words and "1 missed" in words and "copy" not in words, words)
