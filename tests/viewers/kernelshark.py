# SPDX-License-Identifier: MIT
"""kernelshark: a trace.dat file, read by trace-cmd, and drawn by KernelShark under a virtual screen."""
import re
import subprocess

from viewers import traces
from viewers.ctf import native
from support.cases import case, counts, expect, expect_equal
from support.context import INHERITED, ROOT

LINE = re.compile(r"^\s*(.*)-(\d+)\s+\[(\d+)\]\s+(\d+)\.(\d{9}): (\w+): *(.*)$")
KERNEL = {"sched_switch", "sched_waking", "sched_pi_setprio", "irq_handler_entry", "irq_handler_exit"}


def report(ctx, path):
    """Every event that trace-cmd prints, in order, and its words about losses: (processor, number)."""
    text = ctx.run("trace-cmd", "report", "-t", path).stdout
    found, lost = [], []
    for line in text.splitlines():
        if re.match(r"cpus=\d+$|CPU \d+ is empty|trace-cmd", line):
            continue
        if match := re.match(r"CPU:(\d+) \[(\d+) EVENTS DROPPED\]", line):
            lost.append((int(match.group(1)), int(match.group(2))))
            continue
        match = LINE.match(line)
        expect(match, f"trace-cmd printed what is no event: {line}")
        task, tid, cpu, seconds, nanoseconds, name, words = match.groups()
        found.append({"event": name, "task": task, "tid": int(tid), "cpu": int(cpu), "words": words,
                      "time_ns": int(seconds) * 10**9 + int(nanoseconds)})
    return found, lost


def read(ctx, trace, *, codes=(0,)):
    path = ctx.convert(trace, "kernelshark", name="trace.dat", codes=codes)
    return path, *report(ctx, path)


def ours(found):
    return [one for one in found if one["event"] not in KERNEL]


def expect_all_events(ctx, trace, found):
    """Beside the kernel's events that a viewer wants, all our own are there, in order and at their times."""
    expect_equal([(one["event"], one["time_ns"], one["cpu"]) for one in ours(found)],
                 [(one["event"], one["time_ns"], one["cpu"]) for one in native(ctx.events(trace))], "events in order")


def compare(ctx, trace):
    path, found, lost = read(ctx, trace)
    expect_all_events(ctx, trace, found)
    return path, found, lost


@case
def recorded(ctx):
    """Every event of the recorded run, with its time to the nanosecond, its parameters and their names."""
    _, found, lost = compare(ctx, traces.control())
    events = ctx.events(traces.control())
    expect_equal(lost, [], "losses")
    switches = [one for one in found if one["event"] == "sched_switch"]
    expect(len(switches) > 100, f"switches: {len(switches)}")
    for one in switches:
        expect(re.fullmatch(r".+:\d+ \[\d+\] [RSDX] ==> .+:\d+ \[\d+\]", one["words"]), f"a switch: {one['words']}")
    blocks = [one["words"] for one in found if one["event"] == "task_block"]
    expect_equal(blocks[:2], ["context=2 (main) wait=0 (delay)", "context=9 (consumer) wait=1 (semaphore)"], "blocks")
    outputs = [one["words"] for one in found if one["event"] == "control_output"]
    fields = [event["fields"] for event in events if event.get("name") == "control_output"]
    expect_equal(outputs, [f"error={one['error']}mrad drive={one['drive']}mV" for one in fields], "control_output")
    texts = [one["words"] for one in found if one["event"] == "formatted_event"]
    expect_equal(texts, [event["text"] for event in events if event["event"] == "formatted_event"], "texts")


@case
def running_task(ctx):
    """The thread of each line is the one that the last switch gave the processor to."""
    _, found, _ = read(ctx, traces.control())
    running = None
    for one in found:
        if running is not None and one["event"] not in ("context_switch", "sched_switch"):
            expect_equal(one["tid"], running, f"thread of {one}")
        if one["event"] == "sched_switch":
            running = int(re.search(r"==> .*:(\d+) \[", one["words"]).group(1))
    expect(running is not None, "no switch")


@case
def generated(ctx):
    """Fifty thousand generated events, across many pages."""
    compare(ctx, traces.synthetic(ctx, 50_000))


@case
def gaps(ctx):
    """The missed events of each gap, with their number; those without a gap at the end."""
    _, _, lost = compare(ctx, traces.lossy(ctx))
    expect_equal(lost, [(0, number) for number in traces.LOST], "losses")
    records = b"".join(traces.record(traces.USER_EVENT_0, 1000 + i, i, i) for i in range(4))
    trace = traces.store(ctx, "dropped.dat", traces.chunk(records, dropped=11))
    _, found, lost = read(ctx, trace)
    expect_equal((lost, found[-1]["event"]), ([(0, 11)], "lost"), "losses without a gap")


@case
def two_processors(ctx):
    """Both processors, merged in the order of time."""
    _, found, _ = read(ctx, traces.two_processors(ctx, 3000))
    events = ctx.events(ctx.dir / "session")
    expect_equal({cpu: counts([one for one in ours(found) if one["cpu"] == cpu]) for cpu in (0, 1)},
                 {cpu: counts([one for one in events if one["cpu"] == cpu]) for cpu in (0, 1)}, "events by processor")


@case
def edges(ctx):
    """48 hours between two events; one event; only a loss; names and texts that could break a line or a string."""
    compare(ctx, traces.far(ctx))
    years = b"".join(traces.record(traces.USER_EVENT_0, stamp, 1, 2) for stamp in (1000, 1000 + (1 << 61), 1 << 62))
    compare(ctx, traces.store(ctx, "years.dat", traces.chunk(years)))
    compare(ctx, traces.store(ctx, "one.dat", traces.chunk(traces.record(traces.USER_EVENT_0, 5, 1, 2))))
    loss = traces.record(traces.BLACKOUT_START, 100) + traces.record(traces.BLACKOUT_END, 200, 0, 5)
    _, _, lost = compare(ctx, traces.store(ctx, "loss.dat", traces.chunk(loss, dropped=5)))
    expect_equal(lost, [(0, 5)], "losses")

    bad = 'a"b\\c */ \n\x00\x1b[31m {} %s'
    records = traces.typed(1000, 9, b"\x07" + traces.name('"x"\n\x00' + "y" * 30))
    records += traces.record(traces.CONTEXT_SWITCH, 2000, 3) + traces.record(traces.MUTEX_LOCK, 2001, 3, 4)
    data = traces.chunk(records, tasks={1: bad, 3: bad}, mutexes={4: bad},
                        declarations=[(9, bad, [(1, 0, bad, bad), (14, 40, "text", "")])])
    _, found, _ = read(ctx, traces.store(ctx, "hostile.dat", data), codes=(0, 2))
    expect_equal(len(ours(found)), 3, "events with hostile names")
    expect("a_b__c" in [one for one in found if one["event"] == "set_mutex_lock"][0]["words"], f"names: {found}")


@case
def nothing(ctx):
    """A trace without events: trace-cmd opens the file and finds it empty."""
    path = ctx.convert(traces.store(ctx, "none.dat", traces.chunk(b"")), "kernelshark", codes=(0, 3))
    expect_equal(report(ctx, path), ([], []), "events")


# Waits for the main window (as root, KernelShark first asks for a key), makes the plots taller and the time shorter.
SCREEN = """
kernelshark --cpu 0 --pid 0,3,4,5,6,7,8 "$1" >"$2/kernelshark.log" 2>&1 & viewer=$!
for i in $(seq 120); do
    window=$(xwininfo -root -tree | awk '/"Kernel Shark [(]/ {print $1; exit}')
    [ -n "$window" ] && break
    xwininfo -root -tree | grep -q '"Kernel Shark"' || xdotool key Return
    sleep 0.5
done
sleep 4
xwininfo -root -tree >"$2/windows.txt"
for i in $(seq 10); do
    xdotool windowsize "$window" 1200 860
    sleep 1
    xwininfo -id "$window" | grep -q 'Width: 1200' && break
done
sleep 3
xdotool mousemove 600 346 mousedown 1 mousemove 600 400 mousemove 600 500 mousemove 600 620 mouseup 1
sleep 1
for i in 1 2 3 4 5; do xdotool mousemove 102 78 click 1; sleep 0.6; done
sleep 3
import -window root "$2/kernelshark.png"
kill $viewer
wait $viewer
exit 0
"""

def task_colours(ctx, picture):
    """Strong colours of some extent where the plots are: each task has its own, and nothing else there is coloured."""
    text = ctx.run("convert", picture, "-crop", "1030x420+140+140", "-depth", "8", "-format", "%c",
                   "histogram:info:-").stdout
    found = re.findall(r"(\d+): \(\s*(\d+),\s*(\d+),\s*(\d+)", text)
    return [rgb for number, *rgb in found
            if int(number) > 100 and max(map(int, rgb)) - min(map(int, rgb)) > 100]


@case(timeout_s=240)
def drawn(ctx):
    """KernelShark opens the recorded run and draws it."""
    path, _, _ = read(ctx, traces.control())
    picture = ctx.dir / "kernelshark.png"
    home = ctx.dir / "home"
    home.mkdir(mode=0o700)
    env = {**INHERITED, "HOME": str(home), "XDG_RUNTIME_DIR": str(home), "LIBGL_ALWAYS_SOFTWARE": "1"}
    subprocess.run(["xvfb-run", "-a", "-s", "-screen 0 1200x860x24", "bash", "-c", SCREEN, "bash", path, ctx.dir],
                   cwd=ROOT, env=env, timeout=ctx.left_s(), check=True, stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    windows = (ctx.dir / "windows.txt").read_text(encoding="utf-8")
    expect("Kernel Shark (" in windows, f"no window of KernelShark with a file: {windows[-1000:]}")
    ctx.picture(picture, "kernelshark_control")
    colours = task_colours(ctx, picture)
    expect(len(colours) >= 6, f"not the colours of six tasks: {colours}")
