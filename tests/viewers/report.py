# SPDX-License-Identifier: MIT
"""report: the page that `remora report` writes, opened in Chromium: what it holds equals what `remora sql` says, keys
and search move it, nothing is asked of the network, its policy refuses nothing of its own, names are text."""
import base64
import collections
import itertools
import json
import re
import struct
import zlib

from viewers import job_traces, sqlite, traces
from viewers.browser import Keys, chromium
from support.cases import case, expect, expect_equal
from support.context import ROOT


def report(ctx, trace, *options, codes=(0,), name="run.html"):
    path = ctx.dir / name
    ctx.remora("report", trace, "-o", path, *options, codes=codes)
    return path


def block_of(page):
    """The packed block, unpacked without the page's own code: directory, and columns by table, subject and name."""
    packed = re.search(r'<script type="application/x-remora-trace" class="trace">([^<]*)</script>',
                       page.read_text(encoding="utf-8")).group(1)
    data = zlib.decompress(base64.b64decode(packed, validate=True), wbits=-15)
    size, = struct.unpack_from("<I", data)
    directory = json.loads(data[4:4 + size])
    at, columns = 4 + size, {}
    for table in directory["tables"]:
        for name, length in table["columns"].items():
            columns[table["name"], table["of"], name] = varints(data[at:at + length])
            expect_equal(len(columns[table["name"], table["of"], name]), table["rows"], f"{table['name']}.{name}")
            at += length
    expect_equal(at, len(data), "bytes of the block")
    all_times = list(itertools.accumulate(columns["times", 0, "distance"]))
    for table in directory["tables"]:
        names = [name for name in table["columns"] if name in ("begin", "end", "start", "at")]
        times, place = [], 0
        for row in zip(*(columns[table["name"], table["of"], name] for name in names)):
            for reference in row:
                place += unzigzag(reference - 1) if reference else 0
                times.append(all_times[place] if reference else None)
        for number, name in enumerate(names):
            columns[table["name"], table["of"], name] = times[number::len(names)]
    return directory, columns


def varints(data):
    values, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            values.append(value)
            value = shift = 0
    return values


def unzigzag(value):
    return value >> 1 ^ -(value & 1)


ACTIVITIES = ("running", "ready", "blocked")


@case
def holds_the_rows_of_the_tables(ctx):
    """Each interval and job of `remora sql` is in the block, to the nanosecond, and nothing else."""
    directory, columns = block_of(report(ctx, traces.control()))
    khz = directory["clock"]["khz"]
    ns = lambda ticks: ticks * 1_000_000 // khz
    intervals, jobs = [], []
    for number, task in enumerate(directory["tasks"]):
        rows = (columns.get(("intervals", number, name), ()) for name in ("begin", "end", "what"))
        for begin, end, what in zip(*rows):
            intervals.append((task["name"], ACTIVITIES[what & 3], ns(begin), ns(end)))
        release = job = 0
        names = ("number", "release", "start", "deadline", "end", "state")
        for row in zip(*(columns.get(("jobs", number, name), ()) for name in names)):
            job += unzigzag(row[0])
            release += unzigzag(row[1])
            deadline = release + unzigzag(row[3] - 1) if row[3] else None
            moments = [None if ticks is None else ns(ticks) for ticks in (row[2], deadline, row[4])]
            jobs.append((task["name"], job, ns(release), *moments, row[5] >> 3 & 1))
    expected = [tuple(row.values()) for row in sqlite.sql(
        ctx, traces.control(), "select task, state, begin_ns, end_ns from intervals")]
    expect_same(intervals, expected, "intervals")
    expected = [tuple(row.values()) for row in sqlite.sql(
        ctx, traces.control(), "select task, job, release_ns, start_ns, deadline_ns, end_ns, missed from jobs")]
    expect_same([row[:4] + row[5:] for row in jobs], [row[:4] + row[5:] for row in expected], "jobs")
    # The table has a deadline as its distance from the record of it, in whole ns: up to one more or less.
    known = {row[:3]: row[4] for row in expected}
    wrong = [row for row in jobs if (row[4] is None) != (known[row[:3]] is None) or
             row[4] is not None and abs(row[4] - known[row[:3]]) > 1]
    expect_equal(wrong, [], "deadlines")


def expect_same(found, expected, what):
    """Equal but for the order; says which rows are not."""
    found, expected = collections.Counter(found), collections.Counter(expected)
    expect(found == expected, f"{what}: too many {list((found - expected))[:3]}, missing {list(expected - found)[:3]}")
    expect(found, f"no {what}")


@case
def shows_what_the_tables_say(ctx):
    """Rows, intervals, jobs, misses, handlers, holds in the page's own arrays; no request, no refusal of the policy."""
    def count(statement):
        return sqlite.sql(ctx, traces.control(), f"select count(*) as n from {statement}")[0]["n"]

    with chromium(ctx) as page:
        path = report(ctx, traces.control())
        page.open(path).painted()
        sums = page.run("""const {tasks, handlers, holds} = report.trace;
            const sum = (list, of) => list.reduce((total, one) => total + of(one), 0);
            return {intervals: sum(tasks, (t) => t.count), jobs: sum(tasks, (t) => t.jobs.count),
                    misses: sum(tasks, (t) => t.missed.length), interrupts: sum(handlers, (h) => h.count),
                    holds: sum(holds, (h) => h.count)}""")
        expect_equal(sums, {"intervals": count("intervals"), "jobs": count("jobs"),
                            "misses": count("jobs where missed"), "interrupts": count("interrupts"),
                            "holds": count("holds")}, "sums")
        names = [row["task"] for row in sqlite.sql(ctx, traces.control(), "select distinct task from intervals")]
        labels = page.texts(".label .name")
        expect(set(names) <= set(labels), f"rows {labels} for tasks {names}")
        expect_equal([url for url in page.requests() if not url.startswith(f"file://{path}")], [], "requests")
        expect_equal(page.complaints(), [], "complaints")
        expect("1 missed" in page.text("#head"), page.text("#head"))
        expect_equal(page.text("#banners"), "", "banners under a clock that counts instructions")


@case
def its_policy_allows_its_own_scripts_alone(ctx):
    """Without the policy's exceptions nothing would run; with them nothing else does."""
    path = report(ctx, traces.control())
    text = path.read_text(encoding="utf-8")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text).group(1)
    expect(policy.startswith("default-src 'none'; script-src 'sha256-"), policy)
    expect("unsafe" not in policy and "http" not in policy, policy)
    changed = ctx.dir / "changed.html"
    changed.write_text(text.replace("</body>", "<script>document.body.dataset.changed = 1</script></body>"),
                       encoding="utf-8")
    with chromium(ctx) as page:
        page.open(changed)
        expect_equal(page.run("return document.body.dataset.changed || null"), None, "a script that was added")
        expect(any("Content Security Policy" in one for one in page.complaints()), "no refusal was reported")


HOSTILE = "</script><img src=x onerror=alert(1)>"


def hostile_trace(ctx):
    """A task, a mutex and a typed event of that name."""
    data = b"".join(traces.record(code, 10_000 + 2400 * i, *rest) for i, (code, *rest) in enumerate([
        (traces.CONTEXT_SWITCH, 2), (traces.MUTEX_ACQUIRE, 2, 5), (traces.JOB_RELEASE, 2, 10_000),
        (traces.MUTEX_UNLOCK, 2, 5), (traces.CONTEXT_SWITCH, 1), (traces.CONTEXT_SWITCH, 2)]))
    data += traces.typed(40_000, 9, b"\x05")
    return traces.store(ctx, "hostile.dat", traces.chunk(
        data, tasks={1: "idle", 2: HOSTILE}, mutexes={5: HOSTILE}, declarations=[(9, HOSTILE, [(1, 0, "x", "<b>")])]))


@case
def a_hostile_name_is_text(ctx):
    """Names of tasks, mutexes and events that look like HTML appear as they are, and no element comes of them."""
    path = report(ctx, hostile_trace(ctx))
    expect(HOSTILE not in path.read_text(encoding="utf-8"), "the name is in the page's text")
    with chromium(ctx) as page:
        page.open(path).painted()
        page.press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_DOWN)
        labels = page.texts(".label .name")
        expect(labels.count(HOSTILE) == 2 and f"{HOSTILE}.x" in labels, f"labels {labels}")
        made = page.run("return document.images.length + document.querySelectorAll('b:not(.chip b)').length")
        expect_equal(made, 0,
                     "elements that came of a name")
        svg = page.run("return svgOf(report.timeline)")
        expect("<img" not in svg and "&lt;/script" in svg, "the SVG")
        expect_equal(page.complaints(), [], "complaints")


@case
def keys_are_enough(ctx):
    """Zoom, move, rows, misses, cursors, pin, hide, search by the keyboard; the address follows and shows the same."""
    with chromium(ctx) as page:
        path = report(ctx, traces.control())
        page.open(path).painted()
        whole = page.span()
        page.press("w", "w", "w")
        zoomed = page.span()
        expect(abs((zoomed[1] - zoomed[0]) / (whole[1] - whole[0]) - 0.75 ** 3) < 0.01, f"{whole} then {zoomed}")
        page.press("d")
        expect(page.span()[0] > zoomed[0], "d does not move right")
        page.press("n")
        picked = page.run("return [report.trace.tasks[report.view.job.task].name, report.view.job.index]")
        expect_equal(picked[0], "late", "the task that missed its deadline")
        expect("MISSED" in page.text("#side"), page.text("#side"))
        page.press("[")
        page.press("d", "]")
        expect("B \u2212 A =" in page.text("#cursors"), page.text("#cursors"))
        page.press("p")
        expect_equal(page.text(".group"), "Pinned", "the first group")
        hidden = page.run("return report.view.row")
        rows = len(page.texts(".label"))
        page.press(Keys.ARROW_DOWN, "h")
        expect_equal(len(page.texts(".label")), rows - 1, "rows after h")
        page.type_search("sensor")
        expect_equal(page.run("return report.rows.byKey.get(report.view.row).label"), "sensor", "the row found")
        address = page.run("return report.view.address()")
        expect(all(word in address for word in ("t=", "row=", "a=", "b=", f"pin={hidden}", "hide=")), address)
        page.open(path, address).painted()
        expect_equal(page.run("return report.view.address()"), address, "the address after it was opened")
        page.press("H", "0")
        expect_equal(page.span(), whole, "the whole trace")


@case
def an_address_names_a_job(ctx):
    """By the name of its task, a slash in it included, and its number; one that does not exist is no job."""
    jobs = job_traces.periodic(2, 4000, 1000, count=8, late=())
    path = report(ctx, job_traces.store(ctx, "named.dat", jobs, {2: "a/b c"}))
    job = "const {job} = report.view; return job && report.trace.tasks[job.task].jobs.number[job.index]"
    with chromium(ctx) as page:
        page.open(path, "#job=a%2Fb%20c%2F5").painted()
        expect_equal(page.run(job), 5, "the job picked")
        expect_equal(page.run("return report.rows.byKey.get(report.view.row).label"), "a/b c", "its row")
        expect("job 5" in page.text("#side"), page.text("#side"))
        for address in ("#job=a%2Fb%20c%2F50", "#job=b%20c%2F5", "#job=%2F5", "#job=a%2Fb%20c"):
            page.open(path, address).painted()
            expect_equal(page.run(job), None, f"the job of {address}")


@case
def n_is_the_first_miss_in_sight(ctx):
    """With nothing picked: of the whole trace the first one, backwards the last one; of a part those that are in it."""
    jobs = job_traces.periodic(2, 4000, 1000, count=8, late=(2, 5, 6, 8))
    path = report(ctx, job_traces.store(ctx, "late.dat", jobs, {2: "worker"}))
    number = "return report.trace.tasks[report.view.job.task].jobs.number[report.view.job.index]"
    part = "report.view.show(14000 * report.trace.khz / 1000, 24000 * report.trace.khz / 1000)"
    with chromium(ctx) as page:
        for key, prepare, miss in (("n", "", 2), ("N", "", 8), ("n", part, 5), ("N", part, 6)):
            page.open(path).painted()
            page.run(prepare)
            page.press(key)
            expect_equal(page.run(number), miss, f"the job after {key}, {prepare or 'the whole trace in sight'}")
        page.press("n")
        expect_equal(page.run(number), 8, "the next one")
        page.press("n")
        expect_equal(page.run(number), 2, "after the last one")


@case
def a_job_shows_where_its_time_went(ctx):
    """The shares of each job add up to its response time; those of the late one are sentences with its culprits."""
    with chromium(ctx) as page:
        page.open(report(ctx, traces.control().relative_to(ROOT))).painted()
        sums = page.run("""return report.trace.tasks.flatMap((task) => Array.from(task.jobs.release, (release, i) => [
            task.jobs.unaccounted[i], d3.sum(sharesOf(report.trace, task, i), (share) => share.ticks),
            task.jobs.end[i] - release]))""")
        known = [(total, response) for unaccounted, total, response in sums if unaccounted == 0]
        expect(len(known) > 100, f"{len(known)} jobs of which the parts are known")
        expect_equal([pair for pair in known if pair[0] != pair[1]], [], "jobs with a residue")
        page.press("n")
        shown = page.text("#side")
        for words in ("Why late?", "execution C", "it ran", "ready, but", "to the tick", "remora print"):
            expect(words in shown, f"{words} is not in {shown}")
        said = ctx.remora("why", traces.control(), "--task", "late", "--first-miss").stdout
        expect_equal([text.lower() for text in page.texts(".cause")],
                     [line.lower() for line in said.splitlines() if line.startswith(("cause:", "without"))], "cause")
        shares = page.texts(".share span:last-child")
        expect(len(shares) >= 3, f"shares {shares}")
        page.painted().driver.save_screenshot(str(ctx.dir / "report.png"))
    ctx.picture(ctx.dir / "report.png", "report_control")


@case
def latencies_are_those_of_the_summary(ctx):
    """Each leg of each pair, and in the figures of a picked task. The raises: 100 ticks before each entry."""
    entries = [event for event in ctx.events(traces.control()) if event["event"] == "interrupt_start"]
    raises = ctx.dir / "raises.csv"
    raises.write_text("vector,raised,taken,stamped\n" + "".join(
        f"{event['par1']},{event['ticks'] - 100},{event['ticks'] - 50},{event['ticks']}\n" for event in entries))
    page_file = report(ctx, traces.control(), "--raises", raises)
    found = block_of(page_file)[0]["latencies"]
    expect_equal(found["missing"], None, "why no raise is known")
    summary = json.loads(ctx.remora("summary", "--json", traces.control(), "--raises", raises).stdout)
    legs = [(pair["vector"], pair["context"], leg["name"], leg["count"]) for pair in found["pairs"]
            for leg in pair["legs"]]
    expect_equal(legs, [(pair["vector"], pair["context"], key.replace("_", " "), pair[key]["count"])
                        for pair in summary["latencies"]
                        for key in ("raise_to_entry", "entry_to_ready", "ready_to_first")], "legs")
    expect(len(legs) > 9 and all(leg["least"] == leg["greatest"] == 100 for pair in found["pairs"]
                                 for leg in pair["legs"] if leg["name"] == "raise to entry"), f"{found['pairs']}")
    with chromium(ctx) as page:
        page.open(page_file).painted()
        page.run("report.view.pick(`task${report.trace.tasks.find((task) => task.name === 'sensor').number}`, null)")
        page.press("f")
        expect_equal(page.texts(".latencies td:nth-child(2)"), ["raise to entry", "entry to ready", "ready to first"],
                     "legs of sensor")


@case
def figures_are_of_what_is_in_sight(ctx):
    """Jobs, misses and worst response times as the tables have them; a worst case is a link; a brush chooses jobs."""
    with chromium(ctx) as page:
        page.open(report(ctx, traces.control())).painted()
        page.press("f")
        rows = page.run("return Array.from(document.querySelectorAll('#side tr'), (row) => "
                        "Array.from(row.children, (cell) => cell.textContent)).slice(1)")
        found = {row[0]: (row[1], row[2]) for row in rows if row[1]}
        expected = {row["task"]: (str(row["n"]), str(row["misses"] or "")) for row in sqlite.sql(
            ctx, traces.control(), "select task, count(*) as n, sum(missed) as misses from jobs group by task")}
        expect_equal(found, expected, "jobs and misses")
        worst = sqlite.sql(ctx, traces.control(), "select job, response_ns from jobs where task = 'sensor' "
                           "order by response_ns desc limit 1")[0]
        text = next(row[4] for row in rows if row[0] == "sensor")
        expect_equal(text, f"{worst['response_ns'] / 1e6:.3g}\u202fms", "worst response of sensor")
        page.run("Array.from(document.querySelectorAll('#side tr')).find((row) => row.textContent.startsWith('sensor'))"
                 ".querySelector('.place').click()")
        expect_equal(page.run("return report.trace.tasks[report.view.job.task].jobs.number[report.view.job.index]"),
                     worst["job"], "the job that the link shows")
        chosen = page.run("""const {view, trace} = report;
            const task = trace.tasks.find((one) => one.name === "sensor");
            view.filter = {task: task.number, least: 1e6, greatest: 1e9};
            view.changed("filter");
            return Array.from(task.jobs.number).filter((_, i) => isChosen(view, task, i))""")
        expected = sqlite.sql(ctx, traces.control(),
                              "select job from jobs where task = 'sensor' and response_ns > 1000000")
        expect_equal(chosen, [row["job"] for row in expected], "jobs that the brush chose")


# What has text or can be clicked above the rows and beside them: where it is, and whether its text is cut.
BOXES = """
const all = [...document.querySelectorAll("#bar > *, #buttons button, .chip, nav button, #side p, #side dd")];
return all.filter((one) => one.offsetParent !== null && one.textContent + (one.placeholder || "") !== "").map((one) => {
    const {left, right, top, bottom} = one.getBoundingClientRect();
    const around = one.closest("#bar, #head, #side").getBoundingClientRect();
    return {what: `${one.id || one.className} ${one.textContent}`, left, right, top, bottom,
            isGroup: one.id === "buttons",
            isCut: one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0,
            isOut: left < around.left - 1 || right > around.right + 1};
})"""


@case
def nothing_is_covered_at_any_width(ctx):
    """With both cursors and a result of the search: no box above the rows, or beside them, is cut, covered or empty;
    the axis is as wide as the rows."""
    with chromium(ctx) as page:
        page.open(report(ctx, traces.control())).painted()
        page.type_search("control_output")
        page.press("n", "[", "d", "]")
        for width in (800, 900, 1280, 1920):
            page.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
            page.painted()
            boxes = page.run(BOXES)
            expect(len(boxes) > 20, f"{boxes}")
            wrong = [box["what"] for box in boxes if box["isCut"] or box["isOut"] or box["right"] - box["left"] < 8]
            expect_equal(wrong, [], f"cut or outside at {width}")
            single = [box for box in boxes if not box["isGroup"]]
            covered = [(a["what"], b["what"]) for a, b in itertools.combinations(single, 2)
                       if min(a["right"], b["right"]) - max(a["left"], b["left"]) > 1
                       and min(a["bottom"], b["bottom"]) - max(a["top"], b["top"]) > 1]
            expect_equal(covered, [], f"one over the other at {width}")
            sizes = page.run("return [document.documentElement.scrollWidth, report.timeline.axis.canvas.clientWidth, "
                             "report.timeline.box.clientWidth]")
            expect(sizes[0] <= width and sizes[1] == sizes[2], f"widths at {width}: {sizes}")
            page.driver.save_screenshot(str(ctx.dir / f"{width}.png"))


@case
def the_pointer_shows_what_is_below_it(ctx):
    """The tip of the processor names the task that runs, that of the events has their whole texts."""
    with chromium(ctx) as page:
        page.open(report(ctx, traces.control())).painted()
        row = ("const row = report.rows.byKey.get(arguments[0]);"
               "return row.y - report.timeline.box.scrollTop + row.height / 2")
        page.run("report.view.show(22e6, 40e6)")
        for key, at, words in (("cpu0", 35e6, "late runs"), ("task7", 35e6, "job")):
            page.painted().click_at("#rows", page.run("return report.timeline.scale().x(arguments[0])", at),
                                    page.run(row, key))
            expect(words in page.text("#tip"), f"{key}: {page.text('#tip')}")
        at, text = page.run("""const {trace, timeline} = report;
            timeline.scrollTo(report.rows.byKey.get("marks"));
            const i = d3.range(trace.marks.count).find((i) => trace.marks.at[i] > 22e6 && trace.marks.text[i] > 0);
            report.view.show(trace.marks.at[i] - 1e6, trace.marks.at[i] + 1e6);
            return [trace.marks.at[i], trace.markText(i)]""")
        page.painted().click_at("#rows", page.run("return report.timeline.scale().x(arguments[0])", at),
                                page.run(row, "marks"))
        expect(text in page.text("#tip"), f"{text}: {page.text('#tip')}")


@case
def the_pointer_zooms_where_it_is(ctx):
    """The time below the pointer stays; a click picks the job there."""
    with chromium(ctx) as page:
        page.open(report(ctx, traces.control())).painted()
        before = page.run("return report.timeline.scale().time(600)")
        whole = page.span()
        for _ in range(3):
            page.wheel_at("#rows", 600, 100, -200)
            page.painted()
        span = page.span()
        expect(span[1] - span[0] < 0.7 * (whole[1] - whole[0]), f"not zoomed: {whole} {span}")
        after = page.run("return report.timeline.scale().time(600)")
        expect(abs(after - before) < (span[1] - span[0]) / 200, f"the time below the pointer moved: {before} {after}")
        y = page.run("const task = report.trace.tasks.find((one) => one.name === 'sensor');"
                     "const row = report.rows.byKey.get(`task${task.number}`); return row.y + row.height / 2")
        page.click_at("#rows", 700, y)
        expect(page.text("#side h2").startswith("sensor, job "), page.text("#side h2"))


@case
def losses_are_bands_and_counted(ctx):
    """Where records are lost the page says how many; the header counts them."""
    with chromium(ctx) as page:
        page.open(report(ctx, traces.lossy(ctx), codes=(0, 2))).painted()
        losses = page.run("return report.trace.losses.map((one) => Array.from(one.records))")
        expect_equal(losses, [list(traces.LOST)], "losses")
        expect("10 records" in page.text("#head"), page.text("#head"))
        expect(page.run("return svgOf(report.timeline).includes(THEMES.light.lost)"), "no band")


@case
def a_part_has_an_overview_of_the_rest(ctx):
    """With a span of time only what is in it is there; of too many intervals the first ones, and a command for more."""
    whole = block_of(report(ctx, traces.control()))[0]
    part, columns = block_of(report(ctx, traces.control(), "--from", "5ms", "--to", "6ms", name="part.html"))
    count = lambda directory: sum(table["rows"] for table in directory["tables"] if table["name"] == "intervals")
    expected = sqlite.sql(ctx, traces.control(),
                          "select count(*) as n from intervals where end_ns >= 5000000 and begin_ns < 6000000")[0]["n"]
    expect_equal(count(part), expected, "intervals of the part")
    expect_equal(part["span"]["last"], whole["span"]["last"], "the end of the trace")
    expect(any(values for (name, _, column), values in columns.items() if (name, column) == ("overview", "running")),
           "no overview")
    done = ctx.remora("report", traces.control(), "-o", ctx.dir / "full.html", "--intervals-max", "50")
    expect("--from" in done.stderr and "50" in done.stderr, done.stderr)
    with chromium(ctx) as page:
        page.open(ctx.dir / "full.html").painted()
        expect("remora report" in page.text("#banners"), page.text("#banners"))
        # Those that were open when the limit was reached are there, too.
        stored = page.run("return report.trace.tasks.reduce((sum, task) => sum + task.count, 0)")
        expect(50 <= stored < 70, f"{stored} intervals")


@case
def refuses_what_it_cannot_write(ctx):
    """No output, a directory, a span that ends before it begins: usage errors, and no file."""
    ctx.remora("report", traces.control(), codes=(1,))
    ctx.remora("report", traces.control(), "-o", ctx.dir, codes=(1,))
    ctx.remora("report", traces.control(), "-o", ctx.dir / "no.html", "--from", "2ms", "--to", "1ms", codes=(1,))
    ctx.remora("report", ctx.dir / "missing", "-o", ctx.dir / "no.html", codes=(1,))
    expect(not (ctx.dir / "no.html").exists(), "something was left")
