# SPDX-License-Identifier: MIT
"""Traces of a kernel that set its clock back: both times, and what the summary says."""
import json
import random

from viewers import traces
from support.cases import case, expect, expect_equal

CLOCK_COMPENSATED, COMPENSATION_COUNT = 0x80BE, 0xAE
REMOVED = (1 << 32) - 50_000  # so that the sum crosses from one half of the record to the other


def compensated(ctx):
    """A trace with 2000 settings, and what each of its records is stamped by machine and kernel."""
    rng = random.Random(1)
    stamp, removed, last = (1 << 33) + 10_000, 0, 0
    data, expected = b"", []

    def put(code, par1, par2, lag):
        nonlocal data, last
        data += traces.record(code, stamp, par1, par2)
        last = max(last, stamp - lag)
        expected.append((stamp, last))

    for number in range(2000):
        for _ in range(rng.randrange(3)):
            stamp += rng.randrange(1, 90)
            put(traces.USER_EVENT_0, number, 0, removed)
        stamp += 700
        removed += REMOVED if number == 0 else rng.randrange(1, 700)
        put(CLOCK_COMPENSATED, removed >> 32, removed & 0xFFFFFFFF, removed)
    stamp += 5
    put(COMPENSATION_COUNT, 0, 2000, removed)
    put(COMPENSATION_COUNT, 3, 7, removed)
    return traces.store(ctx, "compensated.dat", traces.chunk(data)), expected, removed


@case
def both_times(ctx):
    """The kernel's time is the stamp less what was removed, and never falls; the machine's is the stamp."""
    path, expected, _ = compensated(ctx)
    expect_equal([event["ticks"] for event in ctx.events(path)], [kernel for _, kernel in expected], "kernel's clock")
    machine = ctx.remora("print", path, "--json", "--machine-clock").stdout.splitlines()
    expect_equal([json.loads(line)["ticks"] for line in machine], [stamp for stamp, _ in expected], "stamps")
    expect(any(stamp != kernel for stamp, kernel in expected), "nothing was removed")


@case
def stated_by_the_summary(ctx):
    """What was removed, and how often each guard held."""
    path, _, removed = compensated(ctx)
    stated = json.loads(ctx.remora("summary", path, "--json").stdout)["compensation"]
    expect_equal((stated["removed_ticks"], stated["settings"]), (removed, 2000), "removed")
    expect_equal((stated["steps"]["compensated"], stated["steps"]["near_zero"]), (2000, 7), "steps")
    expect("near_zero 7" in ctx.remora("summary", path).stdout, "the text names no guard")
    plain = json.loads(ctx.remora("summary", traces.control(), "--json").stdout)
    expect_equal(plain["compensation"], None, "a clock that was never set back")


@case
def stamps_survive(ctx):
    """dat and compact keep the machine's stamps: read back, both clocks are as before."""
    path, expected, _ = compensated(ctx)
    for form in ("dat", "compact"):
        again = ctx.convert(path, form, name=f"again.{form}")
        expect_equal([event["ticks"] for event in ctx.events(again)], [kernel for _, kernel in expected], form)
        machine = ctx.remora("print", again, "--json", "--machine-clock").stdout.splitlines()
        expect_equal([json.loads(line)["ticks"] for line in machine], [stamp for stamp, _ in expected], f"{form}, raw")


@case
def never_falls(ctx):
    """At the first setting the clock stops, after long runs of plain records, too; one that was set back before
    the trace begins goes to where it is."""
    for plain in (1, 2, 63, 64, 65, 200):
        stamps = [10_000 + 10 * number for number in range(plain)]
        last = stamps[-1]
        data = b"".join(traces.record(traces.USER_EVENT_0, stamp, 0, 0) for stamp in stamps)
        lag = min(50, last + 20 - stamps[0])
        data += traces.record(CLOCK_COMPENSATED, last + 20, 0, lag)
        data += b"".join(traces.record(traces.USER_EVENT_0, last + after, 0, 0) for after in (21, 40, 100))
        path = traces.store(ctx, f"plain{plain}.dat", traces.chunk(data))
        ticks = [event["ticks"] for event in ctx.events(path)]
        expect_equal(ticks, sorted(ticks), f"{plain} records before the setting")
        expect_equal(ticks[-1], last + 100 - lag, "the last")
    data = traces.record(traces.USER_EVENT_0, 1_000_000, 0, 0) + traces.record(CLOCK_COMPENSATED, 1_000_010, 0, 500_000)
    data += traces.record(traces.USER_EVENT_0, 1_000_020, 0, 0)
    ticks = [event["ticks"] for event in ctx.events(traces.store(ctx, "mid.dat", traces.chunk(data)))]
    expect_equal(ticks, [1_000_000, 500_010, 500_020], "a chunk from the middle of a run")


@case
def gaps_hold_the_clock(ctx):
    """Settings that got lost in a gap leave no jump: the clock waits for the next record of it and continues there;
    one that says what is known already is no setting."""
    stamp, removed, data = 1_000_000, 0, traces.record(traces.USER_EVENT_0, 990_000, 500)
    for number in range(100):
        stamp, removed = stamp + 301, removed + 300
        data += traces.record(traces.USER_EVENT_0, stamp - 100, number)
        data += traces.record(CLOCK_COMPENSATED, stamp, 0, removed)
    data += traces.record(traces.BLACKOUT_START, stamp + 10)
    before = stamp - 100 - (removed - 300)  # of the last event before it: the clock has not moved since
    stamp, removed = stamp + 2000 * 301, removed + 2000 * 300
    data += traces.record(traces.BLACKOUT_END, stamp + 10, 0, 4000)
    data += traces.record(traces.USER_EVENT_0, stamp + 20, 777)
    data += traces.record(CLOCK_COMPENSATED, stamp + 30, 0, removed)
    expected = []
    for number in range(3000):
        stamp, removed = stamp + 301, removed + 300
        data += traces.record(CLOCK_COMPENSATED, stamp + 30, 0, removed)
        if number % 500 == 0:
            data += traces.record(traces.USER_EVENT_0, stamp + 40, 1000 + number)
            expected.append(stamp + 40 - removed)
    data += traces.record(CLOCK_COMPENSATED, stamp + 50, 0, removed)
    path = traces.store(ctx, "gap.dat", traces.chunk(data, dropped=4000))
    events = ctx.events(path)
    expect_equal([event["ticks"] for event in events], sorted(event["ticks"] for event in events), "the clock falls")
    found = {event["par1"]: event["ticks"] for event in events if event["event"] == "user_event_0"}
    expect_equal(found[777], before, "an event between the gap and the next record of the clock")
    expect_equal([found[1000 + number] for number in range(0, 3000, 500)], expected, "after the gap")
    stated = json.loads(ctx.remora("summary", path, "--json").stdout)["compensation"]
    expect_equal(stated["settings"], 3101, "settings")


@case
def gaps_of_other_processors(ctx):
    """A processor whose clock was never set back has nothing to wait for after a gap."""
    first = b"".join(traces.record(CLOCK_COMPENSATED, 1_000_000 + 400 * number, 0, 300 * number)
                     for number in range(1, 100))
    second = traces.record(traces.USER_EVENT_0, 1_000_100, 1) + traces.record(traces.BLACKOUT_START, 1_050_000)
    second += traces.record(traces.BLACKOUT_END, 1_060_000, 0, 5)
    second += b"".join(traces.record(traces.USER_EVENT_0, 1_061_000 + 1000 * number, 2) for number in range(20))
    path = traces.store(ctx, "two.dat", traces.chunk(traces.record(traces.USER_EVENT_0, 900_000) + first) +
                        traces.chunk(second, cpu=1, number=1, dropped=5))
    found = [event["ticks"] for event in ctx.events(path) if event["cpu"] == 1 and event["par1"] == 2]
    expect_equal(found, [1_061_000 + 1000 * number for number in range(20)], "the other processor's clock")


@case
def overwritten_settings(ctx):
    """A cyclic chunk whose beginning is lost begins at the kernel's time all the same: the next record states it. The
    trace verifies, and no time is negative."""
    data = b"".join(traces.record(traces.USER_EVENT_0, 5_000_000 + 1000 * number, number) for number in range(50))
    data += traces.record(CLOCK_COMPENSATED, 5_050_000, 0, 3_000_000)
    data += b"".join(traces.record(traces.USER_EVENT_0, 5_051_000 + 1000 * number, number) for number in range(50))
    path = traces.store(ctx, "cyclic.dat", traces.chunk(data, overwritten=1000))
    events = [event for event in ctx.events(path) if event["event"] == "user_event_0"]
    expect_equal([event["ticks"] for event in events],
                 [begin + 1000 * number for begin in (2_000_000, 2_051_000) for number in range(50)],
                 "kernel's clock")
    expect_equal(events[0]["time_ns"], 0, "the trace begins with its first event")
    ctx.remora("verify", path, codes=(6,))
    machine = ctx.remora("print", path, "--json", "--machine-clock").stdout.splitlines()
    expect_equal(json.loads(machine[0])["ticks"], 5_000_000, "the machine's clock")
