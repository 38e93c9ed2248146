# SPDX-License-Identifier: MIT
"""The Python module (docs/python.md), imported by the interpreter that it is built for: its tables are those of
`remora sql`, its arrays are no copies, and what is missing is said at once."""
import itertools
import json
import os
import re
import shutil

from viewers import foreign, traces
from support.cases import case, expect, expect_equal
from support.context import BUILD, ROOT

PYTHON = os.environ.get("PYTHON", "/usr/bin/python3")
TABLES = ("tasks", "chunks", "meta", "jobs", "shares", "preemptions", "intervals", "interrupts", "losses", "holds",
          "utilisation")
EVENTS = "ticks, time_ns, cpu, chunk, record, code, event, state, par1, par2, context, task"
# Prints the rows of all tables, with null for what is not known, and what the module says about the trace.
ROWS = """
import json, sys, warnings
import numpy as np
import remora

def values(column):
    return column.tolist() if isinstance(column, np.ndarray) else list(column)

with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    trace = remora.open(sys.argv[1])
said = {key: getattr(trace, key) for key in ("complete", "verdict", "problems", "accounts", "names", "kind", "build")}
rows = {name: {column: values(table[column]) for column in table.columns} for name, table in trace.tables.items()}
print(json.dumps({**said, "warnings": [str(one.message) for one in warned], "shown": repr(trace), "tables": rows}))
"""
# Each line is an assertion about the recorded trace.
MEMORY = """
import gc, sys
import numpy as np
import remora
trace = remora.open(sys.argv[1])
events = trace.events
ticks = events.ticks
assert ticks.base is events and not ticks.flags.owndata and not ticks.flags.writeable
assert np.shares_memory(ticks, events["ticks"]) and ticks.dtype == np.uint64
assert events.event.codes.base is events and np.shares_memory(events.event.codes, events.event.codes)
context = events.context
assert isinstance(context, np.ma.MaskedArray) and context.mask.any() and (context.data[context.mask] == 65535).all()
assert np.shares_memory(context.data, events.context.data) and np.shares_memory(context.mask, events.context.mask)
jobs = trace.jobs
unknown = jobs.deadline_ns
assert (np.ma.getdata(unknown)[np.ma.getmaskarray(unknown)] == remora.UNKNOWN).all()
total = int(ticks.sum())
del trace, events, jobs, context, unknown
gc.collect()
assert int(ticks.sum()) == total
"""
TEXTS = """
import sys
import numpy as np
import remora
events = remora.open(sys.argv[1], schedule=False).events
texts = events.event
assert len(texts) == len(events) and texts[0] == list(texts)[0] == texts.words[texts.codes[0]]
assert texts[-1] == texts[len(texts) - 1] and texts[1:3].tolist() == list(texts)[1:3]
chosen = texts == "context_switch"
assert chosen.sum() == list(texts).count("context_switch") > 0 and ((texts != "context_switch") == ~chosen).all()
assert not (texts == "no such event").any() and (texts.isin(["context_switch", "no such"]) == chosen).all()
unknown = events.task == None
assert unknown.any() and (unknown == (events.task.codes == -1)).all() and events.task[int(np.argmax(unknown))] is None
assert set(events.task[chosen]) == set(np.asarray(events.task)[chosen])
for use in (lambda: texts[len(texts)], lambda: hash(texts), lambda: texts == 7):
    try:
        use()
    except (IndexError, TypeError):
        continue
    raise AssertionError(use)
"""
ERRORS = """
import sys
import remora
def error_of(use, kind):
    try:
        use()
    except kind as error:
        return str(error)
    raise AssertionError("no error")
trace = remora.open(sys.argv[1], schedule=False)
print(error_of(lambda: remora.open("no such file"), remora.TraceError))
print(error_of(lambda: remora.open("/etc/passwd"), remora.TraceError))
print(error_of(lambda: remora.open(sys.argv[1], kind="kevs"), ValueError))
print(error_of(lambda: remora.open(sys.argv[1], khz=3), ValueError))
print(error_of(lambda: trace.jobs, AttributeError))
print(error_of(lambda: trace.event, AttributeError))
print(error_of(lambda: trace.events.tiks, AttributeError))
print(error_of(lambda: trace.events["tiks"], KeyError))
sys.modules["pandas"] = None
print(error_of(lambda: trace.events.to_pandas(), ImportError))
"""
FRAME = """
import sys
import remora
try:
    import pandas
except ImportError:
    sys.exit()
trace = remora.open(sys.argv[1])
frame = trace.events.to_pandas()
assert list(frame.columns) == trace.events.columns and len(frame) == len(trace.events)
assert frame.ticks.tolist() == trace.events.ticks.tolist()
assert frame.task.isna().sum() == (trace.events.task == None).sum()
assert frame.context.isna().tolist() == trace.events.context.mask.tolist()
assert frame.event.tolist() == list(trace.events.event)
jobs = trace.jobs.to_pandas()
assert jobs.groupby("task", observed=True).response_ns.max()["control"] == max(
    trace.jobs.response_ns[trace.jobs.task == "control"])
"""
# Runs the examples of a document, which share their variables. What a block shows ends where the block ends.
EXAMPLES = """
import doctest, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
blocks = re.findall(r"^```python\\n(.*?)^```$", text, re.S | re.M)
runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
variables = {}
for number, block in enumerate(blocks, 1):
    examples = doctest.DocTestParser().get_examples(block)
    assert examples, f"block {number} shows no example"
    test = doctest.DocTest(examples, variables, f"block {number}", sys.argv[1], 0, block)
    runner.run(test, clear_globs=False)
    variables.update(test.globs)
sys.exit(runner.summarize().failed or not blocks)
"""


def python(ctx, script, *arguments, codes=(0,), folder=None):
    module = folder or ROOT / BUILD / "python"
    (ctx.dir / "script.py").write_text(script, encoding="utf-8")
    return ctx.run(PYTHON, "-I", "-c", f"import sys; sys.path.insert(0, {str(module)!r}); sys.argv[0:1] = []; "
                   f"exec(compile(open(sys.argv[0]).read(), sys.argv[0], 'exec'))", ctx.dir / "script.py", *arguments,
                   codes=codes)


def read(ctx, trace):
    return json.loads(python(ctx, ROWS, trace).stdout)


def sql(ctx, trace, statement):
    return json.loads(ctx.remora("sql", trace, statement, "--json", codes=(0, 2)).stdout)["rows"]


def rows_of(table, columns):
    """The module's columns as the rows of a query."""
    return [dict(zip(columns, row)) for row in zip(*(table[name] for name in columns))]


def expect_rows(found, expected, what):
    """Of fractions SQL shows fewer digits."""
    def rounded(rows):
        return [{name: round(value, 12) if isinstance(value, float) else value for name, value in row.items()}
                for row in rows]
    for shown, wanted in itertools.zip_longest(rounded(found), rounded(expected)):
        expect_equal(shown, wanted, f"a row of {what}")


def expect_as_in_sql(ctx, trace, found):
    for table in TABLES:
        shown = rows_of(found["tables"][table], list(found["tables"][table]))
        expected = sql(ctx, trace, f"select * from {table}")
        expect_rows(sorted(shown, key=json.dumps), sorted(expected, key=json.dumps), table)
    expect_rows(rows_of(found["tables"]["events"], EVENTS.split(", ")), sql(ctx, trace, f"select {EVENTS} from events"),
                "events")


@case
def tables_are_those_of_sql(ctx):
    """Of the recorded trace, and of another system's."""
    found = read(ctx, traces.control())
    expect_as_in_sql(ctx, traces.control(), found)
    expect(found["complete"] is True and not found["problems"] and not found["warnings"], f"{found['verdict']}")
    expect_equal(found["build"]["application"], "control", "the application")
    expect(found["shown"].endswith(f"events; {found['verdict']}>"), found["shown"])
    names = {row["context"]: row["name"] for row in sql(ctx, traces.control(), "select context, name from tasks")}
    expect_equal({int(context): name for context, name in found["names"]["task"].items()}, names, "names of tasks")
    for trace in (foreign.kev(ctx), foreign.tlog(ctx)):
        expect_as_in_sql(ctx, trace, read(ctx, trace))


@case
def what_is_missing_is_said(ctx):
    """A chunk that lost records, a file that is cut, a session with a wrong byte, a file without metadata."""
    records = traces.machine_start(1000) + b"".join(
        traces.record(traces.CONTEXT_SWITCH, 2000 + 100 * i, 1 + i % 2) for i in range(20))
    records += traces.record(traces.BLACKOUT_START, 5000) + traces.record(traces.BLACKOUT_END, 6000, 0, 7)
    lossy = traces.store(ctx, "lossy.dat", traces.chunk(records, tasks={1: "a", 2: "b"}, dropped=7))
    found = read(ctx, lossy)
    expect(found["complete"] is False and found["accounts"]["dropped"] == 7, f"{found}")
    expect(len(found["warnings"]) == 1 and "dropped 7 records" in found["warnings"][0], f"{found['warnings']}")
    expect("dropped 7 records" in found["shown"], found["shown"])
    expect_equal(found["tables"]["losses"]["records"], [7], "losses")
    expect_as_in_sql(ctx, lossy, found)

    whole = traces.chunk(records, tasks={1: "a", 2: "b"})
    cut = traces.store(ctx, "cut.dat", whole[:-40])
    found = read(ctx, cut)
    expect(found["complete"] is False and found["problems"], f"{found['verdict']} {found['problems']}")
    expect(found["problems"][0] in found["warnings"][0], f"{found['warnings']}")

    session = ctx.dir / "session"
    shutil.copytree(traces.control(), session)
    image = session / "0trace.dat"
    data = bytearray(image.read_bytes())
    data[len(data) // 2] ^= 1
    image.write_bytes(data)
    found = read(ctx, session)
    expect(found["complete"] is False and len(found["warnings"]) == 1, f"{found['verdict']} {found['warnings']}")
    expect_equal(sum(found["accounts"][key] for key in ("missing", "skipped", "damaged_chunks")), 1, "what is damaged")
    expect_as_in_sql(ctx, session, found)
    image.unlink()
    done = python(ctx, ROWS, session, codes=(1,))
    expect("remora.TraceError: " in done.stderr and "0trace.dat" in done.stderr, done.stderr)

    bare = traces.store(ctx, "bare.dat", records[16:])
    found = read(ctx, bare)
    expect(found["complete"] is not True and "unknown" in found["verdict"], f"{found['complete']} {found['verdict']}")
    expect(set(found["tables"]["events"]["time_ns"]) == {None}, "times without a rate are known")


@case
def arrays_are_no_copies(ctx):
    python(ctx, MEMORY, traces.control())


@case
def texts_are_compared_and_chosen(ctx):
    python(ctx, TEXTS, traces.control())


@case
def a_frame_of_pandas_has_the_same_values(ctx):
    """Where pandas is installed."""
    python(ctx, FRAME, traces.control())


@case
def errors_name_what_is_wrong(ctx):
    lines = iter(python(ctx, ERRORS, traces.control()).stdout.splitlines())
    for wanted in ("no such file.* E-IO cannot be opened", "/etc/passwd.*no known trace format",
                   "kind is kevs; did you mean kev\\?; valid: detect, ", "khz is 3; valid: 1000 to ",
                   "jobs was not read: open the trace with schedule=True", "a trace has no event; did you mean events",
                   "events has no column tiks; did you mean ticks", "'events has no column tiks; did you mean ticks",
                   "to_pandas\\(\\) needs pandas.*python3-pandas"):
        line = next(lines)
        expect(re.search(wanted, line), f"{line!r} is not {wanted}")
    nothing = traces.store(ctx, "nothing.dat", bytes(160))
    done = python(ctx, ROWS, nothing, codes=(1,))
    expect("remora.TraceError: " in done.stderr and "E-NOTHING" in done.stderr, done.stderr)


@case
def examples_of_the_document_run(ctx):
    """Every block of docs/python.md, with what it shows."""
    (ctx.dir / "out").mkdir()
    (ctx.dir / "out/udp").symlink_to(traces.control())
    script = f"import os\nos.chdir({str(ctx.dir)!r})\n" + EXAMPLES
    done = python(ctx, script, ROOT / "docs/python.md", codes=None)
    expect(done.returncode == 0, done.stdout + done.stderr)
