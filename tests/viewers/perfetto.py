# SPDX-License-Identifier: MIT
"""perfetto, read by protoc with the published field numbers."""
import collections

from viewers import protobuf_text
from viewers import traces
from support.cases import case, counts, expect, expect_equal, sample
from viewers.protobuf_text import one

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
CLEARED, NEEDS = 1, 2
UNKNOWN_TID = 0x10001
INSTRUCTION, PANIC = 0x6E, 0x0E
DRAWN = {"context_switch", "interrupt_start", "interrupt_end", "server_budget"}


def decode(ctx, path):
    """All packets. protoc reads standard input, so a shell leads the file to it."""
    text = ctx.run("sh", "-c", f"protoc --proto_path=tests/viewers --decode=remora.viewers.Trace "
                               f"tests/viewers/perfetto_trace.proto < '{path}'").stdout
    return protobuf_text.parse(text).get("packet", [])


def value_of(note):
    """As a reader shows it: a number, text, or an address in hexadecimal."""
    if "pointer_value" in note:
        expect(not {"uint_value", "string_value"} & note.keys(), f"two values: {note}")
        return hex(one(note, "pointer_value"))
    return one(note, "uint_value", one(note, "string_value"))


class View:
    """What is in the packets, and the rules that any reader may rely on."""

    def __init__(self, packets):
        self.switches, self.wakings, self.irqs = [], [], []  # (cpu, time, ...)
        self.lost_bundles, self.dropped_packets = 0, 0
        self.instants, self.slices, self.counters = [], [], []
        self.flows_from, self.flows_to = [], []
        self.threads, self.tracks = {}, {}
        self.event_names, self.annotation_names = {}, {}
        self.cleared = False
        for packet in packets:
            expect(one(packet, "trusted_packet_sequence_id") in (1, 2), "a packet without a sequence")
            for bundle in packet.get("ftrace_events", []):
                self.take_bundle(bundle)
            for tree in packet.get("process_tree", []):
                for thread in tree.get("threads", []):
                    self.threads[one(thread, "tid")] = one(thread, "name")
            for track in packet.get("track_descriptor", []):
                self.tracks[one(track, "uuid")] = track
            self.take_state(packet)
            for event in packet.get("track_event", []):
                self.take_event(one(packet, "timestamp"), event)

    def take_bundle(self, bundle):
        cpu = one(bundle, "cpu")
        self.lost_bundles += one(bundle, "lost_events", False)
        for event in bundle.get("event", []):
            entry, leave = one(event, "irq_handler_entry"), one(event, "irq_handler_exit")
            expect((entry is None) != (leave is None), "an ftrace event that is neither entry nor exit")
            self.irqs.append((cpu, one(event, "timestamp"), "entry" if entry else "exit", one(entry or leave, "irq"),
                              one(entry, "name") if entry else None))
        sched = one(bundle, "compact_sched", {})
        names = sched.get("intern_table", [])
        for kind, into, fields in (
                ("switch", self.switches, ("switch_next_pid", "switch_prev_state", "switch_next_prio")),
                ("waking", self.wakings, ("waking_pid", "waking_target_cpu", "waking_prio"))):
            index = "switch_next_comm_index" if kind == "switch" else "waking_comm_index"
            columns = [sched.get(field, []) for field in (*fields, index)]
            time = 0
            for number, step in enumerate(sched.get(f"{kind}_timestamp", [])):
                time += step
                row = [column[number] for column in columns]
                into.append((cpu, time, *row[:-1], names[row[-1]]))
            expect(len({len(column) for column in columns}) == 1, "columns of different length")

    def take_state(self, packet):
        flags = one(packet, "sequence_flags", 0)
        self.dropped_packets += one(packet, "previous_packet_dropped", False)
        if one(packet, "previous_packet_dropped", False):
            expect(flags & CLEARED, "a loss without a new beginning")
        if flags & CLEARED:
            self.cleared = True
            self.event_names, self.annotation_names = {}, {}
        expect(len(packet.get("interned_data", [])) <= 1, "readers take the interned data of a packet once")
        for data in packet.get("interned_data", []):
            for field, table in (("event_names", self.event_names),
                                 ("debug_annotation_names", self.annotation_names)):
                for entry in data.get(field, []):
                    table[one(entry, "iid")] = one(entry, "name")

    def take_event(self, time, event):
        expect(self.cleared, "a track event before the sequence begins")
        track = one(event, "track_uuid")
        expect(track in self.tracks, f"an event on track {track:x}, which is not described")
        name = one(event, "name")
        if "name_iid" in event:
            name = self.event_names[one(event, "name_iid")]
        values = {self.annotation_names[one(note, "name_iid")]: value_of(note)
                  for note in event.get("debug_annotations", [])}
        kind = one(event, "type")
        self.flows_from += event.get("flow_ids", [])
        self.flows_to += event.get("terminating_flow_ids", [])
        if kind == INSTANT:
            self.instants.append((time, name, track, values))
        elif kind == COUNTER:
            self.counters.append((time, track, one(event, "counter_value")))
        else:
            self.slices.append((time, kind == BEGIN, track, name))

    def check(self):
        for rows in (self.switches, self.wakings, self.irqs):
            last = collections.defaultdict(int)
            for row in rows:
                expect(row[1] >= last[row[0]], f"time falls on cpu {row[0]}: {row}")
                last[row[0]] = row[1]
        nested = collections.defaultdict(list)
        for cpu, _, kind, vector, _ in self.irqs:
            if kind == "entry":
                nested[cpu].append(vector)
            else:
                expect(nested[cpu] and nested[cpu].pop() == vector, f"vector {vector} ends without its begin")
        expect(not any(nested.values()), f"interrupts that never end: {dict(nested)}")
        depth = collections.Counter()
        for time, begins, track, name in self.slices:
            depth[track] += 1 if begins else -1
            expect(depth[track] in (0, 1), f"slices overlap on track {track:x} at {time}: {name}")
        expect(not any(depth.values()), "slices that never end")
        expect(len(set(self.flows_from)) == len(self.flows_from), "a flow begins twice")
        expect(set(self.flows_to) <= set(self.flows_from), "a flow ends that never began")


def compare(ctx, trace, codes=(0,)):
    view = View(decode(ctx, ctx.convert(trace, "perfetto", codes=codes)))
    view.check()
    events = ctx.events(trace, codes=codes)
    # A typed event has the name that the application declared, as everywhere.
    by_name = counts([{"event": event.get("name", event["event"])} for event in events])
    gaps = by_name["blackout_start"] + by_name["blackout_end"]
    known = [row for row in view.switches if row[2] != UNKNOWN_TID]
    found = collections.Counter(name for _, name, _, _ in view.instants if not name.startswith("lost "))
    kinds = collections.Counter(row[2] for row in view.irqs)
    found.update({"context_switch": len(known), "interrupt_start": kinds["entry"], "server_budget": len(view.counters)})
    found["interrupt_end"] += kinds["exit"]
    if not gaps:
        expect_equal({name: found[name] for name in by_name}, dict(by_name), "events by name")
        expect_equal([row[1] for row in view.switches],
                     [event["time_ns"] for event in events if event["event"] == "context_switch"][-len(known):],
                     "times of switches")
    expected = collections.Counter((event["event"], event["time_ns"]) for event in events
                                   if event["event"] not in DRAWN and "name" not in event)
    shown = {(name, time) for time, name, _, _ in view.instants}
    for key in sample(sorted(expected), 200):
        expect(key in shown, f"no instant for {key}")
    return view, events


@case(timeout_s=300)
def recorded(ctx):
    """The recorded run: every event, tasks and interrupts by name, jobs, waits and arrows."""
    view, events = compare(ctx, traces.control())
    names = set(view.threads.values())
    expect({"idle"} <= {row[-1] for row in view.switches}, "the idle task is nowhere")
    woken = {row[-1] for row in view.wakings}
    expect("sensor" in woken and "idle" not in woken, f"tasks that are woken, the idle task never: {woken}")
    expect(len(names) >= 4, f"only {names} are named")
    jobs = [row for row in view.slices if row[3] == "job"]
    expect_equal(len(jobs), sum(event["event"] == "job_release" for event in events), "jobs")
    expect(view.flows_to, "no arrow leads anywhere")


@case
def every_column(ctx):
    """A schedule computed by hand, on processor 3, of which a tick is half a nanosecond: the state in which each task
    was left (0 ready, 1 waiting, 2 waiting for a mutex, 16 ended), priorities, processors, names, and a budget."""
    steps = [(0, traces.CONTEXT_SWITCH, 1, 0), (1000, traces.INTERRUPT_START, 240, 0),
             (1100, traces.JOB_RELEASE, 2, 2200), (1200, traces.INTERRUPT_END, 240, 0),
             (1400, traces.CONTEXT_SWITCH, 2, 0), (1600, traces.MUTEX_BLOCK, 2, 5), (1700, traces.CONTEXT_SWITCH, 1, 0),
             (1800, traces.SERVER_BUDGET, 7, 600), (1900, traces.CONTEXT_SWITCH, 2, 0),
             (2000, traces.MUTEX_ACQUIRE, 2, 5), (2100, traces.TASK_BLOCK, 2, 1 << 16 | 7),
             (2200, traces.CONTEXT_SWITCH, 1, 0), (3000, traces.TASK_UNBLOCK, 2, 1 << 16 | 7),
             (3100, traces.CONTEXT_SWITCH, 2, 0), (3500, traces.CONTEXT_SWITCH, 1, 0),
             (3600, traces.CONTEXT_SWITCH, 2, 0), (4000, traces.TASK_END, 2, 2), (4100, traces.CONTEXT_SWITCH, 1, 0)]
    records = b"".join(traces.record(code, 2 * (time + 1000), par1, par2) for time, code, par1, par2 in steps)
    data = traces.chunk(records, cpu=3, tasks={1: "idle", 2: "worker"}, vectors={240: "timer"}, khz=2_000_000)
    packets = decode(ctx, ctx.convert(traces.store(ctx, "columns.dat", data), "perfetto"))
    clocks = [[(one(clock, "clock_id"), one(clock, "timestamp")) for clock in snapshot["clocks"]]
              for packet in packets for snapshot in packet.get("clock_snapshot", [])]
    expect_equal(clocks, [[(6, 0), (9, 2000)]], "the ticks of the machine's counter (9) at the start of the trace (6)")
    view = View(packets)
    view.check()
    idle, worker = (120, "idle"), (0, "worker")
    expect_equal(view.switches, [(3, time, tid, left, *task) for time, tid, left, task in (
        (0, 0, 0, idle), (1400, 2, 0, worker), (1700, 0, 2, idle), (1900, 2, 0, worker), (2200, 0, 1, idle),
        (3100, 2, 0, worker), (3500, 0, 0, idle), (3600, 2, 0, worker), (4100, 0, 16, idle))], "switches")
    # That the mutex was free shows when the task runs again.
    expect_equal(view.wakings, [(3, time, 2, 3, *worker) for time in (1100, 1900, 3000)], "tasks that are woken")
    expect_equal(view.irqs, [(3, 1000, "entry", 240, "timer"), (3, 1200, "exit", 240, None)], "interrupts")
    expect_equal([(time, value) for time, _, value in view.counters], [(1800, 300)], "budgets in nanoseconds")


@case
def generated(ctx):
    """A generated trace of 20000 records, which takes several bundles."""
    view, _ = compare(ctx, traces.synthetic(ctx, 20000))
    expect_equal(view.lost_bundles, 0, "losses of a trace without any")


@case
def addresses(ctx):
    """An address is shown in hexadecimal, whether an image could name its function or not; a number as a number."""
    records = traces.record(INSTRUCTION, 1000, 2, 0x101A3C) + traces.record(PANIC, 1010, 3, 0xE9)
    records += traces.record(traces.USER_EVENT_0, 1020, 17, 18) + traces.record(INSTRUCTION, 1030, 2, 0x101A3C)
    view, _ = compare(ctx, traces.store(ctx, "addresses.dat", traces.chunk(records)))
    steps = [values["address"] for _, name, _, values in view.instants if name == "instruction"]
    expect_equal(steps, ["0x101a3c"] * 2, "addresses")
    expect_equal([values["reason"] for _, name, _, values in view.instants if name == "panic"], ["0xe9"], "reasons")
    expect_equal([list(values.values()) for _, name, _, values in view.instants if name == "user_event_0"],
                 [[17, 18]], "numbers")


@case
def losses(ctx):
    """Gaps: the bundle and the sequence say so, and an instant says how many records."""
    view, _ = compare(ctx, traces.lossy(ctx), codes=None)
    texts = [name for _, name, _, _ in view.instants if name.startswith("lost ")]
    expect_equal(texts, [f"lost {number} records" for number in traces.LOST], "losses")
    expect_equal(view.lost_bundles, len(traces.LOST), "bundles that say that events are lost")
    expect_equal(view.dropped_packets, len(traces.LOST), "packets after a loss")


@case
def no_arrow_leads_across_a_gap(ctx):
    """A mutex passes from one task to another: an arrow, unless records between the two events are lost."""
    step = lambda at, code, *parameters: traces.record(code, 1_000_000 + at, *parameters)
    gap = step(20, traces.BLACKOUT_START) + step(30, traces.BLACKOUT_END, 0, 4)
    for between, arrows in ((b"", 2), (gap, 1)):
        records = step(1, traces.MUTEX_UNLOCK, 2, 5) + step(2, traces.MUTEX_ACQUIRE, 3, 5)
        records += step(10, traces.MUTEX_UNLOCK, 3, 5) + between + step(40, traces.MUTEX_ACQUIRE, 2, 5)
        data = traces.chunk(records, tasks={2: "first", 3: "second"}, dropped=4 if between else 0)
        path = ctx.convert(traces.store(ctx, f"arrows{arrows}.dat", data), "perfetto", codes=None)
        view = View(decode(ctx, path))
        view.check()
        expect_equal(len(view.flows_from), 2, "arrows that begin")
        expect_equal(view.flows_to, view.flows_from[:arrows], "arrows that end")


@case
def edges(ctx):
    """No event, one event, names that try to break out, two processors."""
    def view_of(name, data, codes=(0,)):
        view = View(decode(ctx, ctx.convert(traces.store(ctx, name, data), "perfetto", codes=codes)))
        view.check()
        return view
    expect_equal(view_of("none.dat", traces.chunk(b"", begin=5), codes=None).instants, [], "events of none")
    single = view_of("one.dat", traces.chunk(traces.record(traces.IPOINT, 77, 1, 2)))
    expect_equal([(time, name) for time, name, _, _ in single.instants], [(0, "ipoint")], "one event")
    hostile = b'a"\\\n\x00\xff\xc3*/'
    records = b"".join(traces.record(traces.CONTEXT_SWITCH, 1000 + i, 2 + i % 2) for i in range(10))
    view = view_of("hostile.dat", traces.chunk(records, tasks={2: hostile, 3: "ok"}))
    expect_equal(len(view.switches), 10, "switches with a hostile name")
    both = traces.session(ctx, *(traces.chunk(b"".join(traces.record(traces.CONTEXT_SWITCH,
                                                                        1000 + 10 * i + cpu, 2 + i % 2)
                                                     for i in range(50)), cpu=cpu, number=cpu) for cpu in (0, 1)))
    view = View(decode(ctx, ctx.convert(both, "perfetto")))
    view.check()
    expect_equal({row[0] for row in view.switches}, {0, 1}, "processors")
