# SPDX-License-Identifier: MIT
"""The quantities of docs/metrics.md are the same wherever they are shown, to the tick: in `remora summary`, `remora
sql`, the SQLite file and `remora why`. What is drawn is compared in the viewers' suite: the page (report.py), and the
formats of others (agreement.py)."""
import collections
import json

from support.cases import CASES, Case, expect, expect_equal
from support.context import EFI, KERNEL, REMORA

from integration.whole_run import environment

APPS = ("control", "inversion", "overload", "rm_vs_edf", "servers")
PARTS = ("jitter", "execution", "interference", "blocking", "suspension")


def session_of(ctx, app):
    ctx.run("qemu/run.sh", KERNEL, EFI, REMORA,
            env=environment(ctx, APP=app, SINK="udp", BOOT="pvh", CLOCK="icount"))
    return ctx.dir / "out" / "udp"


def sql(ctx, trace, statement):
    return json.loads(ctx.remora("sql", trace, statement, "--json").stdout)["rows"]


def by_task(rows):
    return {row["context"]: row for row in rows}


def figures(values):
    """As a summary shows them."""
    return {"count": len(values), "least_ticks": min(values, default=0), "greatest_ticks": max(values, default=0),
            "mean_ticks": sum(values) // len(values) if values else 0}


def nearest_rank(values, percent):
    return sorted(values)[max(0, -(-percent * len(values) // 100) - 1)]


def summary_is_that_of_the_jobs(task, jobs):
    """Every figure of a task, computed anew from the rows of its complete jobs."""
    name = task["name"]
    responses = [job["response_ticks"] for job in jobs]
    shown = task["response"]
    expect_equal({key: shown[key] for key in figures([])}, figures(responses), f"responses of {name}")
    if not jobs:
        return
    for percent in (50, 90, 99):
        expect_equal(shown[f"percentile_{percent}_ticks"], nearest_rank(responses, percent), f"{percent} % of {name}")
    expect_equal(shown["absolute_jitter_ticks"], max(responses) - min(responses), f"absolute jitter of {name}")
    consecutive = [abs(after["response_ticks"] - before["response_ticks"]) for before, after in zip(jobs, jobs[1:])
                   if after["job"] == before["job"] + 1]
    expect_equal(shown["relative_jitter_ticks"], max(consecutive, default=0), f"relative jitter of {name}")
    starts = [job["start_ticks"] - job["release_ticks"] for job in jobs if job["start_ticks"] is not None]
    expect_equal(task["start_jitter_ticks"], max(starts) - min(starts), f"start jitter of {name}")
    known = [job for job in jobs if job["residue_ticks"] is not None]
    for part in (*PARTS, "gross"):
        values = [job[f"{part}_ticks"] for job in known]
        expect_equal({key: task[part][key] for key in figures([])}, figures(values), f"{part} of {name}")
    for count in ("preemptions", "migrations", "dispatches"):
        key = "job_dispatches" if count == "dispatches" else count
        expect_equal(task[key], sum(job[count] for job in known), f"{count} of {name}")


def missed_is_the_same(ctx, trace, summary, jobs):
    """How many jobs a task missed: summary, jobs, responses, misses, expectations and diff."""
    missed, of_context = collections.Counter(), collections.Counter()  # a name may have several contexts
    for job in jobs:
        missed[job["task"]] += job["missed"]
        of_context[job["context"]] += job["missed"]
        late = job["end_ticks"] is not None and job["deadline_ticks"] is not None \
            and job["end_ticks"] > job["deadline_ticks"]
        expect(job["missed"] or not late, f"{job} is late and not missed")
    shown = {task["context"]: task["missed"] for task in summary["tasks"] if task["context"] in of_context}
    expect_equal(shown, dict(of_context), "missed in the summary")
    for row in sql(ctx, trace, "select task, context, missed from responses"):
        expect_equal(row["missed"], of_context[row["context"]], f"missed of {row['task']} in responses")
    listed = sql(ctx, trace, "select context, count(distinct job) as n from misses group by context")
    expect_equal({row["context"]: row["n"] for row in listed}, {task: n for task, n in of_context.items() if n},
                 "misses")
    compared = json.loads(ctx.remora("diff", trace, trace, "--json").stdout)["tasks"]
    expect_equal({task["task"]: task["missed"] for task in compared}, {task: [n, n] for task, n in missed.items()},
                 "missed in diff")
    expected = ctx.dir / "missed.expect"
    expected.write_text("".join(f'missed "{task}" {n}\n' for task, n in missed.items()))
    shown = ctx.remora("check", trace, "--expect", expected, codes=(0, 2)).stdout
    expect(f"{len(missed)} of {len(missed)} expectations hold" in shown, shown)
    lines = ctx.remora("summary", trace).stdout.split("\ntasks ")[1].partition("\n\n")[0].splitlines()[1:]
    column, wanted = collections.Counter(), collections.Counter()
    for words in map(str.split, lines):
        column[words[0]] += int(words[-3].replace("-", "0"))
    for task, number in missed.items():
        wanted[task if len(task) <= 12 else task[:11] + "~"] += number
    expect_equal({task: column[task] for task in wanted}, dict(wanted), "missed on the screen")


def parts_and_shares_add_up(jobs, shares):
    sums = {}
    for share in shares:
        key = share["context"], share["job"], share["part"]
        sums[key] = sums.get(key, 0) + share["ticks"]
    for job in jobs:
        if job["residue_ticks"] is None:
            continue
        what = f"job {job['job']} of {job['task']}"
        expect_equal(job["residue_ticks"], 0, f"residue of {what}")
        expect_equal(sum(job[f"{part}_ticks"] for part in PARTS), job["response_ticks"], f"parts of {what}")
        for part in PARTS:
            expect_equal(sums.get((job["context"], job["job"], part), 0), job[f"{part}_ticks"], f"{part} of {what}")


def why_says_the_same(ctx, trace, jobs, shares):
    """The worst job of each task, the first that missed, the first and the last: times, parts, shares, counts."""
    by_number = {(job["context"], job["job"]): job for job in jobs}
    for task in sorted({job["task"] for job in jobs}):
        of_task = [job for job in jobs if job["task"] == task]
        for options in (("--worst",), ("--first-miss",), ("--job", of_task[0]["job"]), ("--job", of_task[-1]["job"])):
            shown = json.loads(ctx.remora("why", trace, "--task", task, *options, "--json").stdout)
            what = f"why of {task} {options}"
            expect_equal((shown["jobs"], shown["jobs_late"], shown["jobs_unknown"]),
                         (len(of_task), sum(job["missed"] for job in of_task),
                          sum(job["residue_ticks"] is None for job in of_task)), f"jobs in {what}")
            said = shown["job"]
            job = by_number[said["context"], said["job"]]
            facts = ("release_ticks", "release_ns", "deadline_ticks", "deadline_ns", "end_ticks", "end_ns")
            expect_equal([said[key] for key in facts], [job[key] for key in facts], what)
            expect_equal((said["missed"], said["known"]), (bool(job["missed"]), job["residue_ticks"] is not None), what)
            if options == ("--worst",):
                expect_equal(job["response_ticks"], max(one["response_ticks"] or 0 for one in of_task), what)
            if not said["known"]:
                continue
            expect_equal([said["response_ticks"], said["residue_ticks"], *(said["parts"][f"{p}_ticks"] for p in PARTS)],
                         [job["response_ticks"], 0, *(job[f"{p}_ticks"] for p in PARTS)], f"parts in {what}")
            expect_equal(sorted((share["part"], share["by"], share["time_ticks"]) for share in said["shares"]),
                         sorted((share["part"], share["culprit"], share["ticks"]) for share in shares
                                if (share["context"], share["job"]) == (job["context"], job["job"])),
                         f"shares in {what}")


def processors_are_divided(summary, uses):
    """All uses of a processor are its time, in the summary and in the table."""
    for processor in summary["processors"]:
        here = [use for use in uses if use["cpu"] == processor["cpu"]]
        expect_equal(sum(use["ran_ticks"] for use in here), processor["time_ticks"], "the time of a processor")
        expect(abs(sum(use["share"] for use in here) - 1) < 1e-9, "shares do not sum to 1")
        tasks = {use["context"]: use["ran_ticks"] for use in here if use["kind"] in ("task", "idle")}
        expect_equal({task["context"]: task["time_ticks"] for task in processor["tasks"] if task["time_ticks"]}, tasks,
                     "time of tasks")
        interrupts = sum(use["ran_ticks"] for use in here if use["kind"] == "interrupt")
        expect_equal(processor["interrupts"]["time_ticks"], interrupts, "time of interrupts")


def windows_add_up(ctx, trace, uses):
    """Windows of any length divide the same time."""
    for window_ns in (1_000_003, 50_000_000):
        rows = sql(ctx, trace, "select cpu, kind, context, vector, sum(ran_ticks) as ticks from "
                               f"utilisation({window_ns}) group by cpu, kind, context, vector order by 1, 2, 3, 4")
        whole = sorted(((use["cpu"], use["kind"], use["context"] or 0, use["vector"] or 0), use["ran_ticks"])
                       for use in uses)
        expect_equal(sorted(((row["cpu"], row["kind"], row["context"] or 0, row["vector"] or 0), row["ticks"])
                            for row in rows), whole, f"windows of {window_ns} ns")
        worst = sql(ctx, trace, "select max(abs(total - 1)) as off, max(ran_ns) as longest_ns from (select "
                                f"sum(share) as total, sum(ran_ns) as ran_ns from utilisation({window_ns}) "
                                "group by cpu, begin_ns)")
        expect(worst[0]["longest_ns"] <= window_ns, f"{worst[0]['longest_ns']} ns are in a window of {window_ns}")
        ends = sql(ctx, trace, f"select max(end_ns) as end_ns from utilisation({window_ns}) union all "
                               "select max(end_ns) from utilisation")
        expect_equal(ends[0], ends[1], f"the end of windows of {window_ns} ns")
        expect(worst[0]["off"] < 1e-9, f"shares of a window of {window_ns} ns sum to 1 but for {worst[0]['off']}")


def percentiles_need_a_percent(ctx, trace):
    """Of an unknown percent nothing is known; a text is none."""
    rows = sql(ctx, trace, "select percentile(job, null) as none, percentile(1, '50') as one from jobs")
    expect_equal(rows, [{"none": None, "one": 1}], "percentiles")
    done = ctx.remora("sql", trace, "select percentile(job, 'x') from jobs", codes=(1,))
    expect("percent from 0 to 100" in done.stderr, done.stderr)


def agreement(app):
    def body(ctx):
        trace = session_of(ctx, app)
        summary = json.loads(ctx.remora("summary", "--json", trace).stdout)
        jobs = sql(ctx, trace, "select * from jobs order by context, job")
        complete = [job for job in jobs if job["outcome"] == "completed"]
        expect(len(complete) > 3, f"only {len(complete)} complete jobs in {app}")
        for task in summary["tasks"]:
            summary_is_that_of_the_jobs(task, [job for job in complete if job["context"] == task["context"]])
        missed_is_the_same(ctx, trace, summary, jobs)
        shares = sql(ctx, trace, "select * from shares")
        parts_and_shares_add_up(jobs, shares)
        why_says_the_same(ctx, trace, jobs, shares)
        lost = sql(ctx, trace, "select context, job, count(*) as preemptions from preemptions group by context, job")
        counted = {(row["context"], row["job"]): row["preemptions"] for row in lost}
        for job in jobs:
            if job["preemptions"] is not None:
                expect_equal(counted.get((job["context"], job["job"]), 0), job["preemptions"], f"preemptions of {job}")
        percentiles_need_a_percent(ctx, trace)
        uses = sql(ctx, trace, "select * from utilisation")
        processors_are_divided(summary, uses)
        windows_add_up(ctx, trace, uses)
        database = ctx.convert(trace, "sqlite", name="trace.sqlite")
        kept = json.loads(ctx.run("sqlite3", "-readonly", "-json", database,
                                  "select * from jobs order by context, job").stdout)
        expect_equal(kept, jobs, "jobs in the file")
    return body


for name in APPS:
    CASES.append(Case(f"metrics_agree_{name}", agreement(name), timeout_s=120))
