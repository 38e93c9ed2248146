# SPDX-License-Identifier: MIT
"""`remora report` on runs of the lessons: the page in Chromium beside what `remora sql` says of the same trace. What
the stored traces of tests/viewers do not have: servers, jobs that overlap, jobs that are ended."""
import json

from support.cases import case, expect, expect_equal
from viewers import browser


def run_of(ctx, application):
    _, directory = ctx.traced(application, nic="none")
    ctx.adopt(directory)
    return directory


def page_of(ctx, page, trace, *options, address=""):
    path = ctx.dir / "run.html"
    ctx.remora("report", trace, "-o", path, *options)
    return page.open(path, address)


def rows_of(ctx, trace, question):
    return json.loads(ctx.remora("sql", trace, question, "--json").stdout)["rows"]


BUDGET = """
const {trace} = report;
const found = [];
for (const curve of trace.budgets) {
    for (let i = 0; i + 1 < curve.at.length; ++i) {
        const points = budgetPoints(curve, i, true, trace);
        for (let n = 0; n + 1 < points.length; ++n) {
            const [[from, before], [to, after]] = [points[n], points[n + 1]];
            const runs = (at) => curve.served.some((number) => runsOf(trace.tasks[number], at, at + 1).length > 0);
            found.push([to - from, before - after, runs(Math.floor((from + to) / 2))]);
        }
    }
}
return found;
"""


@case
def report_a_budget_falls_only_while_its_tasks_run(ctx):
    trace = run_of(ctx, "servers")
    with browser.chromium(ctx) as page:
        steps = page_of(ctx, page, trace).run(BUDGET)
        falls = [runs for length, fall, runs in steps if fall > 1 and length > 1]
        level = [runs for length, fall, runs in steps if fall == 0 and length > 1000]
        expect(len(falls) > 20 and all(falls), f"a budget falls while nothing runs: {steps[:20]}")
        expect(len(level) > 10 and not any(level), f"a budget stays while its task runs: {steps[:20]}")
        _check_figures(ctx, page, trace)


def _check_figures(ctx, page, trace):
    """Of each task: the jobs that are complete, their worst response."""
    shown = page.run("""
        const {trace} = report;
        return trace.tasks.map((task) => {
            const figures = figuresOf(trace, task, -1, trace.last + 1);
            return [task.context, task.name, figures.responses.length, figures.worst.response
                ? report.view.times.ns(figures.worst.response.value) : null];
        });""")
    rows = rows_of(ctx, trace, "select context, task, count(*) jobs, max(response_ns) worst from jobs "
                               "where outcome = 'completed' and response_ns is not null group by context, task")
    expected = {(row["context"], row["task"]): (row["jobs"], row["worst"]) for row in rows}
    found = {(context, name): (jobs, worst) for context, name, jobs, worst in shown if jobs > 0}
    expect_equal(set(found), set(expected), "tasks with complete jobs")
    for key, (jobs, worst) in expected.items():
        expect(found[key][0] == jobs and abs(found[key][1] - worst) <= 1, f"{key}: {found[key]}, not {jobs}, {worst}")


@case
def report_of_jobs_that_overlap_the_first_is_picked(ctx):
    """A job that is late is still open when the next one is released, and is the one that is under the pointer."""
    trace = run_of(ctx, "overload")
    late = rows_of(ctx, trace, "select a.job, a.context, b.release_ns + 1000 at from jobs a join jobs b on "
                               "a.context = b.context and b.job = a.job + 1 where a.end_ns > b.release_ns + 2000 "
                               "and a.task = 'fast' order by a.job limit 1")
    expect(late, "no jobs overlap")
    with browser.chromium(ctx) as page:
        number = page_of(ctx, page, trace).run("""
            const task = report.trace.tasks.find((one) => one.context === arguments[0]);
            return task.jobs.number[task.jobAt(report.view.times.ticksOfNs(arguments[1]))];""",
            late[0]["context"], late[0]["at"])
        expect_equal(number, late[0]["job"], "the job under the pointer")
        _check_figures(ctx, page, trace)
        marks = page.run("return [...document.querySelectorAll('#overview path.miss')].map((mark) => "
                         "Number(/translate\\(([-\\d.]+)/.exec(mark.getAttribute('transform'))[1]))")
        caps = page.run("const {trace} = report; const scale = d3.scaleLinear([0, trace.last], [LABELS_WIDTH, "
                        "document.getElementById('rows').clientWidth]);"
                        "return allMisses(report.view).map((miss) => scale(miss.at))")
        far = [cap for cap in caps if min(abs(cap - mark) for mark in marks) > 3]
        expect(caps and not far, f"misses that the strip has elsewhere: {far} of {caps}, {marks}")
        _check_part(ctx, page, trace)
        _check_address(ctx, page)


def _check_part(ctx, page, trace):
    """A page of a part opens with it, and its figures are of it."""
    page_of(ctx, page, trace, "--from", "40ms", "--to", "60ms")
    begin, end = (at / page.run("return report.trace.khz") for at in page.span())
    expect(39 < begin < 40 and 60 < end < 61, f"a part from 40 to 60 ms opens with {begin} to {end} ms")
    busy = rows_of(ctx, trace, "select sum(min(end_ns, 60000000) - max(begin_ns, 40000000)) busy from intervals "
                               "where state = 'running' and task = 'fast' and end_ns > 40000000 and "
                               "begin_ns < 60000000")[0]["busy"]
    load = page.run("const {trace} = report; const task = trace.tasks.find((one) => one.name === 'fast' && one.count);"
                    "return figuresOf(trace, task, ...trace.part).load")
    expect(abs(load - busy / 20e6) < 1e-4, f"load {load}, not {busy / 20e6}")


def _check_address(ctx, page):
    """What makes no sense in the address is ignored."""
    for address in (f"#a={'9' * 400}", f"#t={'9' * 400}-{'9' * 401}", "#t=5-5", "#t=9-5", "#job=1.2.3&row=__proto__"):
        page.open(ctx.dir / "run.html", address)
        span = page.span()
        expect(all(isinstance(at, (int, float)) for at in span) and span[0] < span[1], f"{address}: {span}")
        expect_equal(page.complaints(), [], address)
