# SPDX-License-Identifier: MIT
"""ctf, read by babeltrace2, and by babeltrace 1, which is a reader of its own."""
import itertools
import re
import struct

from viewers import traces
from support.cases import case, counts, expect, expect_equal, sample

INSTRUCTION, BLOCK = 0x6E, 0x7E
LINE = re.compile(r"^\[(\d+)\] ([^:]+): \{ cpu_id = (\d+) \}(?:, \{ (?:(.*) )?\})?$")


def read(ctx, directory, program="babeltrace2"):
    """Every event that the program prints, in order: name, clock value (as it is in the stream), processor,
    fields."""
    text = ctx.run(program, "--clock-cycles", "--no-delta", directory).stdout
    found = []
    for line in text.splitlines():
        match = LINE.match(line)
        expect(match, f"babeltrace2 printed what is no event: {line}")
        cycles, name, cpu, fields = match.groups()
        found.append({"event": name, "cycles": int(cycles), "cpu": int(cpu), "fields": fields or ""})
    return found


def native(events):
    """Names as CTF has them: a typed event is called as the application declared it."""
    return [{**event, "event": event.get("name", event["event"])} for event in events]


def compare(ctx, trace, *, codes=(0,), program="babeltrace2"):
    directory = ctx.convert(trace, "ctf", codes=codes)
    found, events = read(ctx, directory, program), native(ctx.events(trace, codes=codes))
    expect_equal(counts(found), counts(events), "events by name")
    expect_equal([(one["event"], one["cycles"], one["cpu"]) for one in found],
                 [(one["event"], one["ticks"], one["cpu"]) for one in events], "events in order")
    return directory, found, events


def counter(ctx, directory):
    text = ctx.run("babeltrace2", directory, "--component=sink.utils.counter").stdout
    return {name: int(number) for number, name in re.findall(r"^\s*(\d+) (.+) messages?", text, re.M)}


@case
def recorded(ctx):
    """Every event of the recorded run by name, stamp and order; names of tasks and the user's fields; times to
    the ns."""
    directory, found, events = compare(ctx, traces.control())
    switches = [one["fields"] for one in found if one["event"] == "context_switch"]
    expect(any('"sensor"' in fields for fields in switches), f"no name of a task in {switches[:3]}")
    outputs = [one["fields"] for one in found if one["event"] == "control_output"]
    native_outputs = [one["fields"] for one in events if one["event"] == "control_output"]
    numbers = [tuple(map(float, re.fullmatch(r"error = (\S+), drive = (\S+)", text).groups())) for text in outputs]
    expect_equal(numbers, [(one["error"], one["drive"]) for one in native_outputs], "fields of control_output")
    texts = [one["fields"] for one in found if one["event"] == "formatted_event"]
    expect_equal(texts, [f'text = "{one["text"]}"' for one in events if one["event"] == "formatted_event"], "texts")

    khz = 999_999
    text = ctx.run("babeltrace2", directory, "--clock-seconds", "--no-delta").stdout.splitlines()
    for line, event in sample(list(zip(text, events)), 200):
        seconds, nanoseconds = re.match(r"\[(\d+)\.(\d{9})\]", line).groups()
        expected = event["ticks"] * 1_000_000 // khz
        # babeltrace2 reckons with a double.
        expect(abs(int(seconds) * 10**9 + int(nanoseconds) - expected) <= 1, f"{line}: expected {expected} ns")


@case
def generated(ctx):
    """Fifty thousand generated events, across many packets; the counter agrees."""
    trace = traces.synthetic(ctx, 50_000)
    directory, _, events = compare(ctx, trace)
    expect_equal(counter(ctx, directory)["Event"], len(events), "events that the counter saw")
    expect(counter(ctx, directory)["Packet beginning"] > 5, "everything in one packet")


@case
def babeltrace_1(ctx):
    """It prints every event of the recorded run, too, with the fields that babeltrace2 prints; and two processors'."""
    directory, found, _ = compare(ctx, traces.control(), program="babeltrace")
    both = ctx.convert(traces.two_processors(ctx, 3000), "ctf")
    # At one tick, each program has an order of the processors of its own.
    pairs = [(found, read(ctx, directory))]
    pairs.append([sorted(read(ctx, both, program), key=lambda one: (one["cycles"], one["cpu"]))
                  for program in ("babeltrace", "babeltrace2")])
    for one, two in itertools.chain(*(itertools.zip_longest(*pair) for pair in pairs)):
        expect_equal(one, two, "an event")


@case
def gaps(ctx):
    """Each gap shows as so many discarded events between the events around it."""
    directory, _, events = compare(ctx, traces.lossy(ctx))
    warnings = ctx.run("babeltrace2", directory, "--clock-gmt", "--no-delta").stderr
    found = re.findall(r"Tracer discarded (\d+) events between \[00:00:(\d+\.\d+)\] and \[00:00:(\d+\.\d+)\]", warnings)
    ends = [event for event in events if event["event"] == "blackout_end"]
    starts = [event for event in events if event["event"] == "blackout_start"]
    def nanoseconds(ticks):
        return ticks * 1_000_000 // traces.KHZ
    expect_equal([(int(one[0]), *(int(time.replace(".", "")) for time in one[1:])) for one in found],
                 [(end["par2"], nanoseconds(start["ticks"]), nanoseconds(end["ticks"]))
                  for start, end in zip(starts, ends)], "discarded events")


@case
def loss_without_a_gap(ctx):
    """Records that a chunk counts as dropped, and for which there is no gap in the trace, are reported at the end."""
    records = b"".join(traces.record(traces.USER_EVENT_0, 1000 + i, i, i) for i in range(4))
    trace = traces.store(ctx, "dropped.dat", traces.chunk(records, dropped=11))
    directory, _, _ = compare(ctx, trace)
    warnings = ctx.run("babeltrace2", directory, "--no-delta").stderr
    expect("Tracer discarded 11 events" in warnings, f"no word of 11 discarded events: {warnings}")


@case
def two_processors(ctx):
    """One stream for each; merged in the order of time."""
    pieces = [traces.synthetic(ctx, 3000, cpu=cpu, seed=cpu).read_bytes() for cpu in (0, 1)]
    directory, found, _ = compare(ctx, traces.session(ctx, *pieces))
    expect_equal({one["cpu"] for one in found}, {0, 1}, "processors")
    expect_equal(sorted(path.name for path in directory.iterdir()), ["metadata", "stream_0", "stream_1"], "files")


@case
def far_apart(ctx):
    """Two events 48 hours apart keep their stamps."""
    day = 86_400 * traces.KHZ * 1000
    records = b"".join(traces.record(traces.USER_EVENT_0, stamp, 1, 2) for stamp in (1000, 2 * day, 2 * day + 1))
    compare(ctx, traces.store(ctx, "far.dat", traces.chunk(records)))


@case
def few_events(ctx):
    """One event; only losses: a trace that opens. Nothing at all: the metadata is there."""
    one = traces.store(ctx, "one.dat", traces.chunk(traces.record(traces.USER_EVENT_0, 5, 1, 2)))
    compare(ctx, one)
    loss = traces.record(traces.BLACKOUT_START, 100) + traces.record(traces.BLACKOUT_END, 200, 0, 5)
    directory, _, _ = compare(ctx, traces.store(ctx, "loss.dat", traces.chunk(loss, dropped=5)))
    warnings = ctx.run("babeltrace2", directory, "--no-delta").stderr
    expect("discarded 5 events" in warnings, f"no word of the loss: {warnings}")
    none = traces.store(ctx, "none.dat", traces.chunk(b""))
    directory = ctx.convert(none, "ctf", codes=(0, 3))
    expect((directory / "metadata").read_text(encoding="utf-8").startswith("/* CTF 1.8 */"), "no metadata")


@case
def numbers_of_two_parts(ctx):
    """Each part of a number is a field of its own, with its word if it has words: the low one comes first."""
    flows = ["next", "jump", "call", "return", "resumed"]
    blocks = [(flow, count) for flow in range(len(flows)) for count in (0, 1, 0x5A3, 0xFFF)]
    records = b"".join(traces.record(BLOCK, 1000 + at, flow << 12 | count, 0x2000)
                       for at, (flow, count) in enumerate(blocks))
    records += traces.record(traces.TASK_BLOCK, 2000, 3, 1 << 16 | 7) + traces.record(INSTRUCTION, 2001, 2, 0x3000)
    _, found, _ = compare(ctx, traces.store(ctx, "parts.dat", traces.chunk(records)))
    expect_equal([one["fields"] for one in found],
                 [f'instructions = {count}, flow = ( "{flows[flow]}" : container = {flow} ), address = 0x2000'
                  for flow, count in blocks] +
                 ['context = 3, object = 7, wait = ( "semaphore" : container = 1 )',
                  'flow = ( "call" : container = 2 ), address = 0x3000'], "fields")


@case
def hostile_names(ctx):
    """Quotes, comment ends, newlines, zero bytes and colours in names, units and texts of the trace."""
    bad = 'a"b\\c */ \n\x00\x1b[31m {}'
    fields = [(1, 0, bad, bad), (14, 40, "event", 'unit */ "'), (6, 3, "a b", ""), (6, 0, "a_b", "")]
    body = b"\x07" + traces.name('text "x" \n\x00') + struct.pack("<hh", -12, 3)
    records = traces.typed(1000, 9, body) + traces.record(traces.CONTEXT_SWITCH, 2000, 3)
    records += traces.record(0x43, 2001, 3, 4) + traces.record(0xEE, 2002, 5, 6)
    data = traces.chunk(records, tasks={1: bad, 2: bad, 3: bad}, mutexes={4: bad}, declarations=[(9, bad, fields)])
    directory = ctx.convert(traces.store(ctx, "hostile.dat", data), "ctf", codes=(0, 2))
    lines = ctx.run("babeltrace2", directory, "--clock-cycles", "--no-delta").stdout.splitlines()
    expect_equal(len(lines), 4, "events")
    expect("= 7, " in lines[0] and "-1.5" in lines[0], f"fields of the typed event: {lines[0]}")
    expect("context = ( " in lines[1] and "container = 3" in lines[1], f"name of the task: {lines[1]}")
    expect("set_mutex_unlock" in lines[2] and "unknown_ee" in lines[3], f"codes without a row: {lines[2:]}")


@case
def fields_that_differ_by_little(ctx):
    """Fields of one event whose names are equal once a reader has removed underscores, or once the characters that an
    identifier cannot have are replaced."""
    names = ["_x", "x", "__x", "a", "a", "a_4", "a b", "a_b"]
    fields = [(3, 0, field, "") for field in names]
    records = traces.typed(1000, 9, struct.pack(f"<{len(names)}I", *range(100, 100 + len(names))))
    data = traces.chunk(records, declarations=[(9, "twins", fields)])
    directory = ctx.convert(traces.store(ctx, "twins.dat", data), "ctf")
    for program in ("babeltrace2", "babeltrace"):
        found = re.findall(r"(\w*) = (\d+)", ctx.run(program, directory).stdout.split("twins")[1])
        values = [int(value) for name, value in found if 100 <= int(value) < 100 + len(names)]
        expect_equal(values, list(range(100, 100 + len(names))), f"values that {program} shows")
        shown = [name for name, value in found if 100 <= int(value) < 100 + len(names)]
        expect_equal(len(set(shown)), len(names), f"names that {program} shows: {shown}")


@case
def falling_stamps(ctx):
    """A stamp that falls is raised to the one before, and counted: readers give up on one that falls."""
    stamps = (1000, 5000, 3000, 6000)
    records = b"".join(traces.record(traces.USER_EVENT_0, stamp, 1, stamp) for stamp in stamps)
    trace = traces.store(ctx, "falling.dat", traces.chunk(records, announced=4))
    directory = ctx.convert(trace, "ctf", codes=None)
    found = read(ctx, directory)
    expect_equal(len(found), 4, "events")
    cycles = [one["cycles"] for one in found]
    expect(cycles == sorted(cycles), f"stamps fall: {cycles}")
    raised = int(re.search(r"stamps_raised = (\d+);", (directory / "metadata").read_text(encoding="utf-8")).group(1))
    expect_equal(raised, sum(one["cycles"] != int(re.search(r"par2 = (\d+)", one["fields"]).group(1))
                             for one in found), "stamps that were raised")


@case
def beyond_the_readers(ctx):
    """The last stamp that babeltrace2 takes, and the first one that it would refuse: that one is refused by us."""
    last = (1 << 63) // 10**9 * 10**9
    for stamp, codes in ((last, (0,)), (last + 1, (1,))):
        records = traces.record(traces.USER_EVENT_0, stamp - 5, 1, 2) + traces.record(traces.USER_EVENT_0, stamp, 1, 2)
        trace = traces.store(ctx, f"{stamp}.dat", traces.chunk(records, khz=1_000_000))
        output = ctx.dir / f"{stamp}.ctf"
        done = ctx.remora("convert", trace, "--to", "ctf", "-o", output, codes=codes)
        if codes == (0,):
            expect_equal(len(read(ctx, output)), 2, "events")
        else:
            expect("292 years" in done.stderr and not output.exists(), done.stderr)
