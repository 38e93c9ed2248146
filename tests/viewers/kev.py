# SPDX-License-Identifier: MIT
"""kev, read by a reader of its own: written from the published description of the format, without a look at ours.
Header `TRACE_key::value...`, slots of four 32-bit words; bits 31..30 of the first say simple, begin, middle,
end; 29..24 the processor, 14..10 the class, 9..0 the event. TIME (class 1, event 1) holds the high half of its
processor's clock."""
import re
import struct

from viewers import traces
from viewers.csv_format import rows_of
from support.cases import case, expect, expect_equal
from support.context import BUILD, ROOT

SIMPLE, BEGIN, MIDDLE, END = range(4)
CONTROL, TIME, BUFFER = 1, 1, 2
WAIT_OBJECT = 0xD2
KEYS = ("FILE_NAME DATE VER_MAJOR VER_MINOR LITTLE_ENDIAN ENCODING BOOT_DATE CYCLES_PER_SEC CPU_NUM SYSNAME NODENAME "
        "SYS_RELEASE SYS_VERSION MACHINE SYSPAGE_LEN").split()


def read_header(data):
    """The keys with their values, in order, and what follows the header and the system page."""
    begin, end = b"TRACE_HEADER_BEGIN::", b"TRACE_HEADER_END::"
    expect(data.startswith(begin), "no header")
    text, rest = data[len(begin):].split(end, 1)
    parts = re.split(r"TRACE_([A-Z0-9_]+)::", text.decode("latin-1"))
    keys = dict(zip(parts[1::2], parts[2::2]))
    return keys, rest[int(keys["SYSPAGE_LEN"]):]


def read_slots(keys, body):
    expect_equal(len(body) % 16, 0, "bytes after the last slot")
    order = "<" if keys.get("LITTLE_ENDIAN") == "TRUE" else ">"
    for header, stamp, first, second in struct.iter_unpack(order + "4I", body):
        yield header >> 30, header >> 24 & 63, header >> 10 & 31, header & 1023, stamp, [first, second]


def read_events(path):
    """(ticks, cpu, class, event, words) of each event, control events left out, in the order of completion."""
    keys, body = read_header(path.read_bytes())
    high, newest, opened, events, sequence = {}, {}, {}, [], None
    for kind, cpu, group, event, stamp, words in read_slots(keys, body):
        if (group, event) == (CONTROL, BUFFER):
            expect(sequence is None or words[0] == (sequence + 1) % 2048, f"buffer {words[0]} follows {sequence}")
            sequence = words[0]
            continue
        if (group, event) == (CONTROL, TIME):
            high[cpu] = words[0]
            continue
        key = (cpu, group, event, stamp)
        ticks = high[cpu] << 32 | stamp
        if kind in (SIMPLE, BEGIN):
            expect(ticks > newest.get(cpu, -1), f"stamp {ticks:#x} of processor {cpu} does not rise")
            newest[cpu] = ticks
        if kind == SIMPLE:
            events.append((ticks, cpu, group, event, words))
        elif kind == BEGIN:
            expect(key not in opened, "begun twice")
            opened[key] = (ticks, words)
        else:
            expect(key in opened, "continued, but never begun")
            opened[key][1].extend(words)
            if kind == END:
                ticks, joined = opened.pop(key)
                events.append((ticks, cpu, group, event, joined))
    expect(not opened, f"{len(opened)} events never end")
    return keys, events


def is_metadata(group, event):
    """Names and the like: thread names, what the next wait is for, and user events of the metadata family (low digit
    0xC)."""
    return (group, event) in ((4, 320), (6, WAIT_OBJECT)) or (group == 6 and event & 0x0F == 0x0C)


def compare(ctx, trace, codes=(0,)):
    path = ctx.convert(trace, "kev", codes=codes)
    keys, events = read_events(path)
    expect_equal([key for key in keys if key in KEYS], KEYS, "keys of the header, in order")
    expect_equal(keys["SYSNAME"], "Remora", "SYSNAME")
    found = [event for event in events if not is_metadata(event[2], event[3])]
    rows = rows_of(ctx.convert(path, "csv", codes=codes))
    expect_equal(len(found), len(rows), "events")
    # Time order; what is equal stays as it was written.
    for event, row in zip(sorted(found, key=lambda entry: entry[0]), rows):
        ticks, cpu, group, number, words = event
        expect_equal((ticks, cpu, group, number), (int(row["ticks"]), int(row["cpu"]), int(row["family"]),
                                                   int(row["code"], 16)), "an event")
        expected = [int(word, 16) for word in row["words"].split()]
        expect_equal(words[:len(expected)], expected, "its words")
        expect(len(words) - len(expected) in (0, 1) and not any(words[len(expected):]), "padding is at most one zero")
    # The original trace has the same events at the same ticks, apart from stamps that were taken (+1 each).
    original = rows_of(ctx.convert(trace, "csv", codes=codes))
    expect_equal([row["event"] for row in rows], [row["event"] for row in original], "events by name")
    raised = [int(row["ticks"]) - int(expected["ticks"]) for row, expected in zip(rows, original)]
    expect(all(0 <= ticks < 64 for ticks in raised), f"ticks differ by {min(raised)} to {max(raised)}")
    return keys, raised


@case
def recorded(ctx):
    """Every event of the recorded run: processor, class, number, 64-bit time, data."""
    compare(ctx, traces.control())


@case
def generated(ctx):
    """A generated trace over many turns' worth of buffers; no stamp needs to be raised there."""
    _, raised = compare(ctx, traces.synthetic(ctx, 20000))
    expect_equal(max(raised), 0, "raised stamps")


@case
def lost(ctx):
    """The number of dropped records is in the file: in the header and as events."""
    keys, _ = compare(ctx, traces.lossy(ctx))
    expect_equal(int(keys["DROPPED"]), sum(traces.LOST), "dropped records")


@case
def rollover(ctx):
    """Idle gaps of 1.5 and 2.5 turns of the 32-bit stamp, and a stamp on each edge of a turn."""
    turn = 1 << 32
    stamps = [10 * turn - 1, 10 * turn, 10 * turn + 1, int(11.5 * turn), 14 * turn, 14 * turn + 1]
    data = b"".join(traces.record(traces.USER_EVENT_0, stamp, i, i) for i, stamp in enumerate(stamps))
    path = traces.store(ctx, "rollover.dat", traces.chunk(data))
    compare(ctx, path)
    _, events = read_events(ctx.dir / "rollover.kev")
    found = [ticks for ticks, _, group, event, _ in events if not is_metadata(group, event)]
    expect(all(0 <= there - was <= 2 for there, was in zip(found, stamps)), f"{found}, expected {stamps}")


# The forms in which the published utility prints the classes that a trace of ours has, by what its manual and users
# show of it.
PRINTED = [re.compile(r"t:0x[0-9a-f]{8} CPU:\d\d " + form) for form in (
    r"CONTROL: BUFFER sequence = \d+, num_events = \d+",
    r"CONTROL :TIME msb:0x[0-9a-f]{8} lsb\(offset\):0x[0-9a-f]{8}",
    r"THREAD  :(?=.{14}pid:)TH(CREATE|DESTROY) +pid:\d+ tid:\d+",
    r"THREAD  :(?=.{14}pid:)TH[A-Z_]+ +pid:\d+ tid:\d+ (priority:\d+ policy:\d+)?",
    r"PROCESS :PROCTHREAD_NAME pid:\d+ tid:\d+ name:.+",
    r"INT_ENTR:0x[0-9a-f]{8} \(-?\d+\)       IP:0x[0-9a-f]{8}",
    r"INT_EXIT:0x[0-9a-f]{8} \(-?\d+\)       inkernel:0x[0-9a-f]{8}",
    r"USREVENT:EVENT:\d+, d0:0x[0-9a-f]{8} d1:0x[0-9a-f]{8}",
    r'USREVENT:EVENT:\d+ STR:"[ -~]+"')]


@case
def printer(ctx):
    """traceprinter shows the header and one line per event in the published text, of a .kev file and of the trace that
    it came from alike."""
    trace = traces.control()
    path = ctx.convert(trace, "kev")
    keys, events = read_events(path)
    program = ROOT / BUILD / "host/traceprinter"
    printed = ctx.run(program, "-n", "-f", path).stdout.splitlines()
    begin = printed.index(" -- KERNEL EVENTS -- ") + 1
    expect_equal(printed[:3], ["TRACEPRINTER version 1.02", "TRACEPARSER LIBRARY version 1.02",
                               " -- HEADER FILE INFORMATION -- "], "the first lines")
    expect_equal(printed[3:begin - 2], [f"{'TRACE_' + key:>22}:: {keys[key].strip()}" for key in KEYS], "the header")
    lines = printed[begin:]
    expect_equal(lines, ctx.run(program, "-f", trace).stdout.splitlines()[begin:], "lines")
    for line in lines:
        expect(any(form.fullmatch(line) for form in PRINTED), f"a line in no published form: {line!r}")
    controls = [line for line in lines if " CONTROL" in line]
    expect_equal(len(lines) - len(controls), len(events), "lines of events")


@case
def published_printer(ctx):
    """Read as the published printer reads: the third and fourth word of a thread's state are its priority and policy,
    and a user event of more than two words is the text that it begins with."""
    _, events = read_events(ctx.convert(traces.control(), "kev"))
    waits = [(tuple(words[2:]), before[4]) for before, (_, _, group, event, words) in zip(events, events[1:])
             if (group, event) == (4, 17)]
    expect(waits, "no THSEM")
    for (priority, policy), (_, what) in waits:
        expect(253 <= priority <= 255 and policy in (1, 2, 4), f"priority {priority}, policy {policy}")
        expect_equal(what >> 16, 1, "kind of the object in front of THSEM")
    texts = [struct.pack(f"<{len(words)}I", *words).split(b"\0")[0].decode()
             for _, _, group, event, words in events if group == 6 and len(words) > 2]
    expect(all(text.isprintable() and len(text) > 2 for text in texts), f"not printable: {texts[:9]}")
    for text in ("control_output error=1000mrad drive=3000mV", "mutex_name 1 state", "task_parameters sensor"):
        expect(text in texts, f"no event says {text}: {sorted(set(texts))[:40]}")


@case
def sample(ctx):
    """The sample program of the library counts what this reader counts."""
    path = ctx.convert(traces.control(), "kev")
    _, events = read_events(path)
    text = ctx.run(ROOT / BUILD / "host/examples/traceparser_sample", path).stdout
    interrupts = sum(1 for _, _, group, event, _ in events if (group, event) == (3, 1))
    expect(f"\n{interrupts} interrupts\n" in text, f"expected {interrupts} interrupts: {text[-200:]}")
    for tid in {words[1] for _, _, group, event, words in events if (group, event) == (4, 1)}:
        times = sum(1 for _, _, group, event, words in events if (group, event) == (4, 1) and words[1] == tid)
        expect(f"thread {tid} became running {times} times\n" in text, f"thread {tid}, {times} times")
