# SPDX-License-Identifier: MIT
"""report: what the page draws. A surface that records what it is given takes the place of the canvas; each
operation is compared with what `remora sql` says of the trace: where, in which colour, with which words."""
from viewers import sqlite, traces
from viewers.browser import chromium
from viewers.report import report
from support.cases import case, expect, expect_equal

# Row (key), from, to in ns -> its operations, with x as ns.
DRAW = """
const [key, from, to] = arguments;
const {trace, rows, view} = report;
const {times} = view;
const ops = [];
const [begin, end] = [times.ticksOfNs(from), times.ticksOfNs(to)];
const surface = {
    left: 100, width: 1100, ratio: 1, theme: THEMES.light, view, columns: 1000,
    rect: (x, y, width, height, colour, opacity = 1) => ops.push({op: "rect", x, y, width, height, colour, opacity}),
    hatch: (x, y, width) => ops.push({op: "hatch", x, width}),
    line: (x, y1, x2, y2, colour) => ops.push({op: "line", x, colour}),
    polygon: (points, colour) => ops.push({op: "polygon", x: points[0], y: points[1], points, colour}),
    polyline: (points, colour) => ops.push({op: "polyline", points, colour}),
    text: (x, y, text) => ops.push({op: "text", x, text}),
    textWidth: (text) => 6 * text.length,
    shade: (y, height, layers) => ops.push({op: "shade", layers: layers.map(([shares, pixel]) =>
        [Array.from(shares), pixel])}),
};
const scale = new Scale(surface, begin, end);
const row = rows.byKey.get(key);
row.isShaded = row.shade !== undefined && row.shade(surface, 0, scale, trace);
row.paint(surface, 0, scale, trace);
const ns = (x) => times.about(scale.time(x));
return ops.map((one) => ({...one, at: ns(one.x || 0), end: ns((one.x || 0) + (one.width || 0)),
                          all: (one.points || []).map((value, i) => i % 2 === 0 ? ns(value) : value)}));
"""

COLOURS = """const task = report.trace.tasks.find((one) => one.name === arguments[0]);
    return {key: `task${task.number}`, own: taskColour(task.number), ...THEMES.light}"""


def near(found, expected, what, within=2):
    """Times in ns, in order."""
    found, expected = sorted(found), sorted(expected)
    expect(len(found) == len(expected) and all(abs(a - b) <= within for a, b in zip(found, expected)),
           f"{what}: drawn {found[:8]}, not {expected[:8]} ({len(found)}, {len(expected)})")


@case
def of_a_task_is_what_the_tables_say(ctx):
    """Running, ready, releases, deadlines, misses of each task, where they are and in their colours."""
    trace, first, last = traces.control(), 4_000_000, 64_000_000
    with chromium(ctx) as page:
        page.open(report(ctx, trace))
        total = {"miss": 0, "ready": 0}
        for name in ("sensor", "control", "telemetry", "late"):
            colours = page.run(COLOURS, name)
            ops = page.run(DRAW, colours["key"], first, last)
            inside = f"task = '{name}' and begin_ns >= {first} and end_ns <= {last}"
            within = lambda at: first <= at < last
            for state, drawn in (
                    ("running", [one for one in ops if one["op"] == "rect" and one["colour"] == colours["own"]
                                 and one["height"] > 10]),
                    ("ready", [one for one in ops if one["op"] == "hatch"])):
                rows = sqlite.sql(ctx, trace, f"select begin_ns, end_ns from intervals where {inside} and "
                                              f"state = '{state}'")
                whole = [one for one in drawn if one["at"] > first and one["end"] < last]
                near([one["at"] for one in whole], [row["begin_ns"] for row in rows], f"{name} {state}")
                wide = {round(one["at"]): one["end"] for one in whole}
                for row in rows:
                    if row["end_ns"] - row["begin_ns"] > (last - first) // 1000: # more than a pixel
                        expect(any(abs(at - row["begin_ns"]) <= 2 and abs(end - row["end_ns"]) <= 2
                                   for at, end in wide.items()), f"{name} {state} at {row}")
                total["ready"] += len(rows) if state == "ready" else 0
            jobs = sqlite.sql(ctx, trace, f"select release_ns, deadline_ns, missed from jobs where task = '{name}'")
            marks = [one for one in ops if one["op"] == "polygon"]
            up = [one["at"] for one in marks if one["colour"] == colours["text"] and one["y"] < 5]
            down = [one["at"] for one in marks if one["colour"] == colours["muted"] and one["y"] > 20]
            caps = [one["at"] + 5 * (last - first) / 1000 for one in marks if one["colour"] == colours["miss"]]
            near(up, [job["release_ns"] for job in jobs if within(job["release_ns"])], f"{name}: releases")
            near(down, [job["deadline_ns"] for job in jobs if within(job["deadline_ns"])], f"{name}: deadlines")
            missed = [job["deadline_ns"] for job in jobs if job["missed"] and within(job["deadline_ns"])]
            near(caps, missed, f"{name}: misses")
            total["miss"] += len(missed)
        expect(min(total.values()) > 0, f"nothing of it is in sight: {total}")


@case
def of_mutexes_and_curves_is_what_the_tables_say(ctx):
    """Who holds a mutex, whom it holds up; a curve is high where its value is; zoomed out, shares of each column."""
    trace = traces.control()
    with chromium(ctx) as page:
        page.open(report(ctx, trace))
        ops = page.run(DRAW, page.run(COLOURS, "control")["key"], 5_000_000, 7_000_000)
        expect("mutex state \u00b7 held by telemetry" in [one["text"] for one in ops if one["op"] == "text"], f"{ops}")
        holds = sqlite.sql(ctx, trace, "select task, begin_ns from holds where mutex = 'state' and "
                                       "begin_ns between 1000000 and 30000000")
        key = page.run("return report.rows.all.find((row) => row.holds && row.label === 'state').key")
        drawn = {round(one["at"] - 5 * 29_000): one["text"] for one in page.run(DRAW, key, 1_000_000, 30_000_000)
                 if one["op"] == "text"}
        for hold in holds:
            owners = [text for at, text in drawn.items() if abs(at - hold["begin_ns"]) < 60]
            expect_equal(owners, [hold["task"]], f"owner at {hold['begin_ns']}")
        expect(len({hold["task"] for hold in holds}) > 1, f"one owner alone: {holds}")
        curve = page.run("const {curve, key} = report.rows.all.find((row) => row.curve && !row.curve.isTime);"
                         "return {key, at: Array.from(curve.at, (at) => report.view.times.about(at)), "
                         "value: Array.from(curve.value)}")
        line = next(one["all"] for one in page.run(DRAW, curve["key"], 0, 100_000_000) if one["op"] == "polyline")
        steps = [(at, -y) for at, y in zip(line[::2], line[1::2])]
        points = steps[::2]  # each value stays until the next one
        expect(all(begin[1] == end[1] for begin, end in zip(points, steps[1::2])), f"no steps: {steps[:9]}")
        values = [(at, value) for at, value in zip(curve["at"], curve["value"]) if at <= 100_000_000]
        order = sorted(range(len(values)), key=lambda i: values[i][1])
        expect(len(values) > 5 and values[order[0]][1] < values[order[-1]][1], f"{values[:9]}")
        heights = [points[i][1] for i in order]
        expect(heights == sorted(heights) and heights[0] < heights[-1], f"not in the order of the values: {points[:9]}")
        colours = page.run(COLOURS, "sensor")
        shades = [one for one in page.run(DRAW, colours["key"], 0, 10 ** 12) if one["op"] == "shade"]
        pixel = page.run("return pixelOf(arguments[0])", colours["own"])
        ran = next(shares for shares, its in shades[-1]["layers"] if its == pixel) if shades else []
        expect(not shades or sum(share > 0 for share in ran) > 0, "a task that ran is seen from afar")


@case
def of_the_words_is_what_the_tables_say(ctx):
    """Lengths of time, loads, culprits of a job, misses of the strip; no banner."""
    trace = traces.control()
    with chromium(ctx) as page:
        page.open(report(ctx, trace))
        khz = page.run("return report.trace.khz")
        for ticks in (khz // 1000 * 7, khz * 3, khz * 1000 * 2):
            shown = page.run("return report.view.times.length(arguments[0])", ticks).replace("\u202f", " ")
            number, unit = shown.replace(",", "").split()
            ns = float(number) * {"ns": 1, "\u00b5s": 1e3, "ms": 1e6, "s": 1e9}[unit]
            expect(abs(ns - ticks * 1e6 / khz) <= 1e-3 * 10 ** (len(str(int(ns))) - 3), f"{ticks} ticks are {shown}")
        last = page.run("return report.view.times.about(report.trace.last)")
        for name in ("sensor", "telemetry"):
            load = page.run("const {trace} = report; const task = trace.tasks.find((one) => one.name === arguments[0]);"
                            "return figuresOf(trace, task, 0, trace.last).load", name)
            ran = sqlite.sql(ctx, trace, f"select sum(end_ns - begin_ns) as ran from intervals where task = '{name}' "
                                         "and state = 'running'")[0]["ran"]
            expect(abs(load - ran / last) < 1e-3 * load, f"{name}: load {load}, not {ran / last}")
        most = "select job, context from shares where mutex = 'state' order by ticks desc limit 1"
        job = sqlite.sql(ctx, trace, most)[0]
        shares = sqlite.sql(ctx, trace, f"select who, holder, part, ticks from shares where context = {job['context']} "
                                        f"and job = {job['job']} and culprit = 'task'")
        sentences = " ".join(page.run("""
            const {trace} = report;
            const task = trace.tasks.find((one) => one.context === arguments[0]);
            const index = task.jobs.number.indexOf(arguments[1]);
            return sentencesOf(trace, sharesOf(trace, task, index)).map((one) => one.sentence);""",
                                      job["context"], job["job"]))
        for share in shares:
            word = f"{share['who']} ran" if share["who"] != share["holder"] else f"held by {share['holder']}"
            expect(word in sentences, f"{word}: not in {sentences}")
        missed = sqlite.sql(ctx, trace, "select deadline_ns from jobs where missed = 1")
        marks = page.run("return report.trace.tasks.flatMap((task) => Array.from(task.overview.misses, (n, i) => "
                         "n > 0 ? i : -1)).filter((i) => i >= 0)")
        bucket = page.run("return report.view.times.about(report.trace.facts.span.bucket)")
        expect_equal(sorted(marks), sorted({int(row["deadline_ns"] / bucket) for row in missed}), "misses of the strip")
        expect_equal(page.run("return document.querySelectorAll('#overview path.miss').length"), len(marks), "marks")
        expect("Times show" not in page.text("#banners"), "an exact clock needs no banner")
