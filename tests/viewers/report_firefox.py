# SPDX-License-Identifier: MIT
"""report in Firefox: the same page from file://, with the same rows, intervals, jobs and misses as `remora sql`; keys
and the wheel move it, a hostile name is text, nothing is asked of the network and nothing is refused."""
from viewers import report_compare, sqlite, traces
from viewers.firefox import firefox
from viewers.report import HOSTILE, hostile_trace, report
from support.cases import case, expect, expect_equal


@case
def shows_what_the_tables_say(ctx):
    """Rows, intervals, jobs and misses; n picks the late job, w and the wheel zoom, the address shows the same."""
    def count(statement):
        return sqlite.sql(ctx, traces.control(), f"select count(*) as n from {statement}")[0]["n"]

    path = report(ctx, traces.control())
    with firefox(ctx) as page:
        page.open(path).painted()
        sums = page.run("""const {tasks, handlers} = report.trace;
            const sum = (list, of) => list.reduce((total, one) => total + of(one), 0);
            return {intervals: sum(tasks, (t) => t.count), jobs: sum(tasks, (t) => t.jobs.count),
                    misses: sum(tasks, (t) => t.missed.length), interrupts: sum(handlers, (h) => h.count)}""")
        expect_equal(sums, {"intervals": count("intervals"), "jobs": count("jobs"),
                            "misses": count("jobs where missed"), "interrupts": count("interrupts")}, "sums")
        names = [row["task"] for row in sqlite.sql(ctx, traces.control(), "select distinct task from intervals")]
        expect(set(names) <= set(page.texts(".label .name")), f"rows for tasks {names}")
        painted = page.run("""const {canvas, context} = report.timeline.surface;
            const {data} = context.getImageData(0, 0, canvas.width, canvas.height);
            return new Set(new Uint32Array(data.buffer)).size""")
        expect(painted > 8, f"{painted} colours on the canvas")

        whole = page.span()
        page.press("w")
        zoomed = page.span()
        expect(abs((zoomed[1] - zoomed[0]) / (whole[1] - whole[0]) - 0.75) < 0.01, f"{whole} then {zoomed}")
        before = page.run("return report.timeline.scale().time(600)")
        page.wheel_at("#rows", 600, 100, -300)
        page.painted()
        span = page.span()
        expect(span[1] - span[0] < 0.9 * (zoomed[1] - zoomed[0]), f"the wheel: {zoomed} then {span}")
        after = page.run("return report.timeline.scale().time(600)")
        expect(abs(after - before) < (span[1] - span[0]) / 200, f"the time below the pointer: {before} {after}")
        page.press("n")
        expect_equal(page.run("return report.trace.tasks[report.view.job.task].name"), "late", "the late task")
        page.painted()
        expect("Why late?" in page.text("#side"), page.text("#side"))
        page.screenshot(ctx.dir / "firefox.png")
        address = page.run("return report.view.address()")
        page.open(path, address).painted()
        expect_equal(page.run("return report.view.address()"), address, "the address after it was opened")
        expect_equal(page.requests(), [], "requests")
        expect_equal(page.complaints(), [], "complaints")


@case
def compares_two_runs(ctx):
    """A row of each run for each task, aligned on the first release; V goes to what differs; as `remora diff` says."""
    expected = report_compare.diff(ctx, report_compare.BEFORE, report_compare.AFTER)
    with firefox(ctx) as page:
        page.open(report(ctx, report_compare.BEFORE, report_compare.AFTER)).painted()
        expect_equal(page.run("return report.comparison.pair.diff"), expected, "what is compared")
        marks = page.run("return report.rows.all.map((row) => row.mark)")
        expect_equal(marks, ["\u2212", "+"] * (len(marks) // 2), "whose the rows are")
        report_compare.expect_aligned(page, "main", 1)
        page.press("V")
        text = page.text("#side")
        expect(f"decision {expected['first_difference']['decisions'][0]['decision']} differs" in text, text)
        page.screenshot(ctx.dir / "firefox.png")
        expect_equal(page.requests(), [], "requests")
        expect_equal(page.complaints(), [], "complaints")


@case
def shows_a_hostile_name_as_text(ctx):
    """Names that look like HTML are labels, and no element comes of them."""
    with firefox(ctx) as page:
        page.open(report(ctx, hostile_trace(ctx))).painted()
        labels = page.texts(".label .name")
        expect(labels.count(HOSTILE) == 2 and f"{HOSTILE}.x" in labels, f"labels {labels}")
        expect_equal(page.run("return document.images.length + document.querySelectorAll('b:not(.chip b)').length"), 0,
                     "elements that came of a name")
        expect_equal(page.requests(), [], "requests")
        expect_equal(page.complaints(), [], "complaints")


@case
def refuses_a_script_that_was_added(ctx):
    """The policy holds in Firefox, too; and this case sees that a refusal is reported, so that none is one."""
    path = ctx.dir / "changed.html"
    path.write_text(report(ctx, traces.control()).read_text(encoding="utf-8").replace(
        "</body>", "<script>document.body.dataset.changed = 1</script><img src='http://127.0.0.1:9/x'></body>"),
        encoding="utf-8")
    with firefox(ctx) as page:
        page.open(path)
        expect_equal(page.run("return document.body.dataset.changed || null"), None, "a script that was added")
        expect(any("Content-Security-Policy" in one for one in page.complaints()), f"{page.complaints()}")
