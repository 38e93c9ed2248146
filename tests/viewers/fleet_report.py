# SPDX-License-Identifier: MIT
"""fleet_report: the page that `remora fleet report` writes, opened in Chromium: what it shows equals what the questions
of `remora fleet` answer, filters and brush choose a part of it, its links open reports of runs, names are text."""
import json
import os
import random
import re
import sqlite3

from support import fleet_sessions
from support.cases import case, expect, expect_equal
from support.context import ROOT
from support.fleet_page import asked, block_of, page_of, rows_of
from viewers import job_traces, report, traces
from viewers.browser import chromium

BEGIN = 1_795_600_800  # 2026-11-25 10:00 UTC
DAY, HOUR = 86_400, 3600
NODES = [("north", "pi-1"), ("north", "pi-2"), ("south", "pi-1"), ("south", "pi-2"), ("south", "pi-3")]


def store(ctx, nodes=NODES, runs=2):
    """A store in a directory: runs of each node, days apart, each node an hour later than the one before."""
    boot = 0
    for number, (site, node) in enumerate(nodes):
        for run in range(runs):
            boot += 1
            fleet_sessions.write_session(ctx.dir / "sessions" / site / node / f"{boot}", boot,
                                         started=BEGIN + run * DAY + number * HOUR)
    ctx.remora("load", "--from", ctx.dir / "sessions", "--to", ctx.dir / "fleet", "--until-empty")
    return ctx.dir / "fleet"


def sums_of(block, key):
    """Jobs, misses by what key(row) says."""
    sums = {}
    for row in rows_of(block["counts"]):
        jobs, missed = sums.get(key(row), (0, 0))
        sums[key(row)] = (jobs + row["jobs"], missed + row["missed"])
    return sums


def cells(page, section):
    """Texts of the table in a section, by line."""
    return page.run("""return Array.from(document.querySelectorAll(`#${arguments[0]} tbody tr`),
        (line) => Array.from(line.cells, (cell) => cell.textContent))""", section)


def drag(page, selector, from_share, to_share):
    """With the mouse, across an element."""
    left, top, width, height = page.run("""const box = document.querySelector(arguments[0]).getBoundingClientRect();
        return [box.left, box.top, box.width, box.height]""", selector)
    y = top + height / 2
    for kind, share in (("mouseMoved", from_share), ("mousePressed", from_share), ("mouseMoved", to_share),
                        ("mouseReleased", to_share)):
        page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
            "type": kind, "x": left + share * width, "y": y, "button": "left", "buttons": 1, "clickCount": 1})
    page.painted()


@case
def holds_what_the_questions_answer(ctx):
    """Nodes, misses of each node, task and hour, worst cases, accounts: as `remora fleet` prints them."""
    place = store(ctx)
    block = block_of(page_of(ctx, place, "--runs", "0"))
    names = block["names"]
    node = lambda row: (names["site"][row["node"]], names["node"][row["node"]])
    found = [(*node(row), row["runs"], row["events"], row["lost"], row["application"], row["state"])
             for row in rows_of(block["nodes"])]
    keys = ("site", "node", "runs", "events", "lost", "application", "state")
    expect_equal(found, [tuple(row[key] for key in keys) for row in asked(ctx, "nodes", place)], "nodes")
    size = block["counts"]["bucket_s"]
    expect(size <= HOUR, f"{size} s of a bucket")
    for by, key in (("node", node), ("task", lambda row: (names["task"][row["task"]],)),
                    ("hour", lambda row: ((block["counts"]["begin_s"] + size * row["bucket"]) // HOUR * HOUR,))):
        expected = {tuple(row[name] for name in {"node": ("site", "node"), "hour": ("time_s",)}.get(by, (by,))):
                    (row["jobs"], row["missed"]) for row in asked(ctx, "misses", place, "--by", by)}
        expect_equal(sums_of(block, key), expected, f"jobs and misses by {by}")
    expect(sum(block["counts"]["missed"]) > 0, "no misses")
    keys = ("boot", "job", "time_s", "response_ns", "deadline_ns", "lateness_ns", "missed", "outcome")
    found = [(*node(row), names["task"][row["task"]], *(row[key] for key in keys)) for row in rows_of(block["worst"])]
    expected = [tuple(row[key] for key in ("site", "node", "task", *keys)) for row in asked(ctx, "worst", place)]
    expect(len(found) > 20 and sorted(found, key=str) == sorted(expected, key=str), f"{found[:2]}\n{expected[:2]}")
    found = sorted((*node(row), row["boot"], row["state"], row["why"]) for row in rows_of(block["runs"]))
    keys = ("site", "node", "boot", "state", "why")
    expect_equal(found, sorted(tuple(row[key] for key in keys) for row in asked(ctx, "verify", place)), "accounts")
    percentiles = [(names["task"][row["task"]], row["p50_ns"]) for row in rows_of(block["percentiles"])]
    compared = json.loads(ctx.remora("fleet", "compare", place, "site=north", "site=south", "--json").stdout)["compare"]
    for task, p50 in percentiles:
        expect(any(p50 == value for row in compared if row["task"] == task for value in row.values()),
               f"{task}: {p50}, {compared}")


@case
def shows_it_without_a_network(ctx):
    """The tables on the page, the head; only the file itself is asked for, and the policy refuses nothing of it."""
    place = store(ctx)
    path = page_of(ctx, place, "--runs", "0")
    nodes, jobs = asked(ctx, "nodes", place), asked(ctx, "misses", place, "--by", "node")
    with chromium(ctx) as page:
        page.open(path).painted()
        by_node = {(row["site"], row["node"]): row for row in jobs}
        expected = [[f"{row['site']}/{row['node']}", str(row["runs"]), f"{row['events']:,}",
                     f"{by_node[row['site'], row['node']]['jobs']:,}", str(by_node[row["site"], row["node"]]["missed"])]
                    for row in nodes]
        expect_equal(sorted(row[:5] for row in cells(page, "nodes")), sorted(expected), "nodes")
        tasks = {row["task"]: [f"{row['jobs']:,}", str(row["missed"])] for row in asked(ctx, "misses", place, "--by",
                                                                                     "task")}
        expect_equal({row[0]: row[1:3] for row in cells(page, "tasks")}, tasks, "tasks")
        worst = asked(ctx, "worst", place)
        expect_equal(len(cells(page, "worst")), min(len(worst), 300), "worst cases")
        expect_equal(cells(page, "worst")[0][1], worst[0]["task"], "task of the worst case")
        chips = page.texts(".chip")
        for words in (f"nodes{len(nodes)}", f"runs{sum(row['runs'] for row in nodes)}",
                      f"events{sum(row['events'] for row in nodes):,}", f"jobs{sum(row['jobs'] for row in jobs):,}"):
            expect(words in chips, f"{words} is not in {chips}")
        expect(f"{sum(row['missed'] for row in jobs)} missed" in page.text("#head"), page.text("#head"))
        expect_equal([url for url in page.requests() if url != f"file://{path}"], [], "requests")
        expect_equal(page.complaints(), [], "complaints")
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', path.read_text()).group(1)
    expect(policy.startswith("default-src 'none'; script-src 'sha256-") and "unsafe" not in policy, policy)


@case
def a_node_filters_everything(ctx):
    """A click on a node: tasks, worst cases and runs are its own, the address shows the same; once more: all."""
    place = store(ctx)
    path = page_of(ctx, place, "--runs", "0")
    only = ("--site", "south", "--node", "pi-2")
    expected = {row["task"]: [f"{row['jobs']:,}", str(row["missed"])]
                for row in asked(ctx, "misses", place, "--by", "task", *only)}
    with chromium(ctx) as page:
        page.open(path).painted()
        click = "Array.from(document.querySelectorAll('#nodes tbody tr')).find((row) => row.cells[0].textContent === "
        page.run(f"{click} 'south/pi-2').click()")
        for _ in range(2):
            expect_equal({row[0]: row[1:3] for row in cells(page, "tasks")}, expected, "tasks of the node")
            expect_equal(len(cells(page, "worst")), len(asked(ctx, "worst", place, *only)), "its worst cases")
            expect_equal({row[0] for row in cells(page, "worst")}, {"south/pi-2"}, "nodes of the worst cases")
            expect_equal(sorted(row[1] for row in cells(page, "runs")),
                         sorted(row["boot"] for row in asked(ctx, "verify", place, *only)), "its runs")
            expect_equal(len(cells(page, "nodes")), len(NODES), "nodes")
            address = page.run("return location.hash")
            page.open(path, address).painted()
        page.run(f"{click} 'south/pi-2').click()")
        expect_equal({row[0] for row in cells(page, "worst")}, {f"{site}/{node}" for site, node in NODES}, "all nodes")
        page.run("const search = document.getElementById('search'); search.value = 'south pi-3';"
                 "search.dispatchEvent(new Event('input'))")
        expect_equal([row[0] for row in cells(page, "nodes")], ["south/pi-3"], "nodes found")


@case
def a_brush_is_a_span_of_time(ctx):
    """Drawn across the second half: the tables have what the questions answer with --since and --until."""
    place = store(ctx)
    path = page_of(ctx, place, "--runs", "0")
    with chromium(ctx) as page:
        page.open(path).painted()
        drag(page, "#chart .overlay", 0.5, 0.999)
        since, until = page.run("return fleet.filter.times()")
        expect(BEGIN < since <= BEGIN + DAY < until, f"from {since} to {until}")
        span = [f"--{name}={json_time(ctx, time)}" for name, time in (("since", since), ("until", until))]
        expected = {f"{row['site']}/{row['node']}": [f"{row['jobs']:,}", str(row["missed"])]
                    for row in asked(ctx, "misses", place, "--by", "node", *span)}
        expect_equal({row[0]: row[3:5] for row in cells(page, "nodes")}, expected, "nodes in this time")
        expect_equal(len(cells(page, "worst")), len(asked(ctx, "worst", place, *span)), "worst cases in this time")
        expect("2026-11-2" in page.text("#filters"), page.text("#filters"))
        page.run("document.getElementById('all').click()")
        expect_equal(page.run("return fleet.filter.span"), None, "the span after all is shown")


def json_time(ctx, time_s):
    return ctx.run("date", "-u", "-d", f"@{time_s}", "+%Y-%m-%dT%H:%M:%S").stdout.strip()


HOSTILE = "</script><img src=x onerror=alert(1)>"


@case
def a_hostile_name_is_text(ctx):
    """Of a task, a node and an application: shown as it is, and no element comes of it; nor a path."""
    place = store(ctx, NODES[:2], 1)
    with sqlite3.connect(place / "fleet.sqlite") as database:
        for table in ("task_minutes", "response_classes", "worst_jobs"):
            database.execute(f"UPDATE {table} SET task = ? WHERE task = 'late'", (HOSTILE,))
        for table in ("nodes", "listed", "chunks", "task_minutes", "response_classes", "worst_jobs"):
            database.execute(f"UPDATE {table} SET node = ? WHERE node = 'pi-1'", (f"../../{HOSTILE}",))
        database.execute("UPDATE nodes SET application = ?", (HOSTILE,))
    database.close()
    path = page_of(ctx, place)
    expect(HOSTILE not in path.read_text(encoding="utf-8"), "the name is in the page's text")
    with chromium(ctx) as page:
        page.open(path).painted()
        rows = cells(page, "nodes")
        expect(any(row[0] == f"north/../../{HOSTILE}" and row[10] == HOSTILE for row in rows), f"{rows}")
        expect(HOSTILE in [row[0] for row in cells(page, "tasks")], "tasks")
        expect_equal(page.run("return document.images.length"), 0, "elements that came of a name")
        links = page.run("return Array.from(document.querySelectorAll('#worst a'), (link) => link.href)")
        expect(links and all(f"{path}.runs/north.pi-2." in link for link in links), f"{links}")
        expect_equal(page.complaints(), [], "complaints")


@case
def links_open_the_reports_of_runs(ctx):
    """The first worst cases have one, of a span around the job, which is picked there; those of a page before go."""
    place = store(ctx)
    pages = ctx.dir / "fleet.html.runs"
    pages.mkdir()
    (pages / f"north.pi-1.{1:016x}.0-7.html").write_text("of an earlier page")
    (pages / "mine.html").write_text("not of a page")
    path = page_of(ctx, place, "--runs", "4")
    block = block_of(path)
    linked = [row for row in rows_of(block["worst"]) if row["page"]]
    expect_equal(len(linked), 4, "links")
    expect_equal(sorted(file.name for file in pages.iterdir()), sorted({row["page"] for row in linked} | {"mine.html"}),
                 "files")
    jobs = {(row["boot"], row["task"], row["job"]): row for row in asked(ctx, "worst", place)}
    with chromium(ctx) as page:
        page.open(path).painted()
        links = page.run("return Array.from(document.querySelectorAll('#worst a'), (link) => link.href)")
        expect_equal(len(links), 4, "links on the page")
        for row, link in zip(linked, links):
            task = block["names"]["task"][row["task"]]
            job = jobs[row["boot"], task, row["job"]]
            around = max(job["end_ns"] - job["release_ns"], 1000)
            span = report.block_of(pages / row["page"])[0]["span"]
            expect_equal((span["from_ns"], span["to_ns"]),
                         (max(job["release_ns"] - around, 0), job["end_ns"] + around), "span of the run's page")
            expect(link.startswith(f"file://{pages / row['page']}#job="), link)
        file, address = links[0].removeprefix("file://").split("#")
        page.open(file, f"#{address}").painted()
        picked = page.run("""const {task, index} = report.view.job;
            return [report.trace.tasks[task].name, report.trace.tasks[task].jobs.number[index], report.view.row]""")
        expect_equal(picked[:2], [block["names"]["task"][linked[0]["task"]], linked[0]["job"]], "the job picked")
        expect(picked[2].startswith("task"), picked[2])
        expect(f"job {linked[0]['job']}" in page.text("#side"), page.text("#side")[:200])
        expect_equal(page.complaints(), [], "complaints")
    elsewhere = block_of(page_of(ctx, place, "--runs", "2", "--sessions", ctx.dir / "sessions", name="other.html"))
    expect_equal(sum(1 for row in rows_of(elsewhere["worst"]) if row["page"]), 2, "links to reports of sessions")
    ctx.remora("fleet", "report", place, codes=(1,))


WORK = {"control": (2, 900, 5000), "sensor": (3, 240, 2000), "logger": (4, 2600, 20000)}  # context, response, deadline
WORSE = "north/pi-3"


def week(ctx):
    """Twelve nodes, a run each day: responses are spread; those of one node become longer from day to day."""
    chance = random.Random(7)
    boot = 0
    for site, node in [(site, f"pi-{number}") for site in ("north", "south", "west") for number in range(1, 5)]:
        (ctx.dir / "sessions" / site / node).mkdir(parents=True)
        for day in range(7):
            boot += 1
            jobs, at = [], 0
            for _ in range(60):
                for task, response, deadline in WORK.values():
                    factor = 1 + 0.35 * day * (f"{site}/{node}" == WORSE)
                    end = at + int(response * factor * chance.lognormvariate(0, 0.45))
                    jobs.append(job_traces.Job(task, at, at + 20, max(end, at + 40), at + deadline))
                    at = max(end, at + 40) + 500
            data = job_traces.records_of(jobs)
            tasks = {job_traces.IDLE: "idle", **{number: name for name, (number, *_) in WORK.items()}}
            session = traces.session(ctx, traces.chunk(data, tasks=tasks, boot_id=boot),
                                     directory=f"sessions/{site}/{node}/{boot}")
            started = BEGIN + day * DAY + chance.randrange(10 * HOUR)
            for file in session.iterdir():
                os.utime(file, (started, started))
    ctx.remora("load", "--from", ctx.dir / "sessions", "--to", ctx.dir / "fleet", "--until-empty")
    return ctx.dir / "fleet"


@case
def a_week_is_drawn(ctx):
    """Stacks in the order of their misses, the words under the pointer; the worst node comes first, by nodes, too."""
    place = week(ctx)
    path = page_of(ctx, place.relative_to(ROOT), "--runs", "6")
    by_task = asked(ctx, "misses", place, "--by", "task")
    with chromium(ctx, size="1400,1400") as page:
        page.open(path).painted()
        late = [row["task"] for row in sorted(by_task, key=lambda row: -row["missed"]) if row["missed"]]
        expect_equal(page.texts(".legend > span > span"), late, "legend")
        expect_equal(cells(page, "nodes")[0][0], WORSE, "the node with the most misses")
        worst = rows_of(block_of(path)["worst"])
        linked = {(row["boot"], row["task"], row["job"]) for row in worst if row["page"]}
        expected = [sorted(worst, key=lambda row: -row[key])[:2] for key in ("response_ns", "lateness_ns")]
        expect(linked >= {(row["boot"], row["task"], row["job"]) for row in sum(expected, [])}, f"{linked}, {expected}")
        bucket, jobs, missed = page.run("""const {all} = fleet.chart.drawn;
            const bucket = all.missed.indexOf(Math.max(...all.missed));
            return [bucket, all.jobs[bucket], all.missed[bucket]]""")
        x = page.run("return fleet.chart.xOf(arguments[0] + 0.5)", bucket)
        box = page.run("const box = document.getElementById('chart').getBoundingClientRect();"
                       "return [box.left, box.top]")
        page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", "x": box[0] + x,
                                                                 "y": box[1] + 60})
        page.painted()
        expect(f"{jobs} jobs, {missed} missed" in page.text("#tip"), page.text("#tip"))
        page.driver.save_screenshot(str(ctx.dir / "fleet.png"))
        page.run("""const by = document.querySelectorAll('#misses select')[1]; by.value = 'node';
            by.dispatchEvent(new Event('change'))""")
        expect_equal(page.texts(".legend > span > span")[0], WORSE, "the first stack by nodes")
        expect_equal(page.complaints(), [], "complaints")
    ctx.picture(ctx.dir / "fleet.png", "fleet")


MANY = {"nodes": 1000, "tasks": 8, "hours": 60}


def fill(place):
    """Rows of many nodes, as loaders would have derived them. Returns how many jobs they have."""
    nodes = [(f"site-{number % 10}", f"node-{number:04}") for number in range(MANY["nodes"])]
    jobs = 0
    with sqlite3.connect(place / "fleet.sqlite") as database:
        minutes, classes, worst = [], [], []
        for number, (site, node) in enumerate(nodes):
            run = (site, node, f"{number:016x}", BEGIN)
            for task in range(MANY["tasks"]):
                for hour in range(0, MANY["hours"], 2):
                    minutes.append((*run, 0, f"task-{task}", BEGIN + hour * HOUR, 1000 + hour,
                                    (number + hour) % 97 // 96, 1_000_000 + 1000 * number + hour))
                    jobs += 1000 + hour
                classes += [(*run, 0, f"task-{task}", 100_000 * (task + 1) * (16 + i) // 16, 100 + i)
                            for i in range(40)]
                worst += [(*run, 0, f"task-{task}", i, BEGIN, 0, 1000 + i, 900, 1000 + i, 100 + i, 1, "completed")
                          for i in range(3)]
        database.executemany("INSERT INTO nodes(site, node, boot, started_s, application, kernel, complete) VALUES "
                             "(?, ?, ?, ?, 'control', 'Remora', 1)",
                             [(*node, f"{number:016x}", BEGIN) for number, node in enumerate(nodes)])
        insert = lambda table, columns, rows: database.executemany(
            f"INSERT INTO {table}(site, node, boot, started_s, part, task, {columns}) VALUES "
            f"({', '.join('?' * len(rows[0]))})", rows)
        insert("task_minutes", "minute_s, jobs, missed, worst_ns", minutes)
        insert("response_classes", "class_ns, jobs", classes)
        insert("worst_jobs", "job, time_s, release_ns, end_ns, deadline_ns, response_ns, lateness_ns, missed, outcome",
               worst)
    database.close()
    return jobs


@case
def many_nodes_are_a_small_page(ctx):
    """Of a thousand nodes the page has some MB, says what it left out, and opens; no job is lost by that."""
    place = store(ctx, NODES[:1], 1)
    jobs = fill(place) + sum(row["jobs"] for row in asked(ctx, "misses", place, "--by", "day", "--node", "pi-1"))
    path = page_of(ctx, place, "--runs", "0")
    block = block_of(path)
    expect(path.stat().st_size < 4 << 20, f"{path.stat().st_size} bytes")
    expect_equal(sum(block["counts"]["jobs"]), jobs, "jobs")
    expect(len(block["counts"]["jobs"]) <= 200_000, f"{len(block['counts']['jobs'])} counts")
    expect(block["counts"]["bucket_s"] > HOUR, f"{block['counts']['bucket_s']} s of a bucket")
    expect({"misses", "worst"} <= {cut["where"] for cut in block["cuts"]}, f"{block['cuts']}")
    with chromium(ctx) as page:
        page.open(path).painted()
        expect_equal(len(cells(page, "nodes")), 300, "lines of nodes")
        expect("701 more" in page.text("#nodes .more"), page.text("#nodes .more"))
        expect_equal(page.complaints(), [], "complaints")
        page.driver.save_screenshot(str(ctx.dir / "many.png"))


@case
def an_empty_store_is_a_page(ctx):
    """Nothing is selected: the page says so, in each part."""
    path = page_of(ctx, store(ctx, NODES[:1], 1), "--site", "nowhere")
    with chromium(ctx) as page:
        page.open(path).painted()
        expect("No jobs are stored" in page.text("#chart"), page.text("#chart"))
        for section, words in (("nodes", "No node is stored"), ("tasks", "No jobs"), ("worst", "No job has ended"),
                               ("runs", "No run is stored")):
            expect(words in page.text(f"#{section}"), page.text(f"#{section}"))
        expect_equal(page.complaints(), [], "complaints")
