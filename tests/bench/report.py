#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make bench-report: what `remora report` costs on a long trace, and how its page opens, pans and zooms in headless
Chromium.

The trace is that of `make bench-sql`, with stamps that differ from one repetition to the next, so that deflate does not
find the same run again and again. Prints lines FIGURE and GOAL.
Usage: report.py REMORA [INTERVALS]
"""
import array
import math
import os
import pathlib
import random
import resource
import statistics
import sys
import tempfile
import time
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import subprocess  # noqa: E402

import sql  # noqa: E402
from viewers import browser  # noqa: E402

INTERVALS = 1_000_000
OPEN_S_MAX = 3
FRAME_MS_MAX = 1000 / 60 + 0.5  # what the frame clock of 60 Hz gives, and its own jitter
BYTES_MAX = 8
ROUNDS = 3

# Each frame moves or zooms; the times between frames, and what drawing each of them took of the page's thread, in ms.
FRAMES = """
const [step, done] = arguments;
const {view, trace, timeline} = report;
const times = [];
const draws = [];
timeline.paint = function () {
    const begun = performance.now();
    Object.getPrototypeOf(this).paint.call(this);
    draws.push(performance.now() - begun);
};
let last = null;
let n = 0;
function frame(now) {
    if (last !== null) {
        times.push(now - last);
    }
    last = now;
    if (n++ === 120) {
        delete timeline.paint;
        done([times, draws]);
        return;
    }
    const length = view.to - view.from;
    if (step === "pan") {
        const by = length * 0.01 * (n <= 60 ? 1 : -1);
        view.show(view.from + by, view.to + by);
    } else {
        const factor = n <= 60 ? 0.9 : 1 / 0.9;
        const at = view.from + length * 0.4;
        view.show(at - (at - view.from) * factor, at + (view.to - at) * factor);
    }
    requestAnimationFrame(frame);
}
requestAnimationFrame(frame);
"""


# Bytes of all typed arrays that the trace holds.
ARRAYS = """
const seen = new Set();
const bytesOf = (value) => {
    if (value === null || typeof value !== "object" || seen.has(value)) {
        return 0;
    }
    seen.add(value);
    if (ArrayBuffer.isView(value)) {
        const isNew = !seen.has(value.buffer);
        seen.add(value.buffer);
        return isNew ? value.buffer.byteLength : 0;
    }
    return Object.values(value).reduce((sum, one) => sum + bytesOf(one), 0);
};
return bytesOf(report.trace);
"""


def blur(path):
    """Each stamp later by a random part of the time to the next one."""
    chance = random.Random(1)
    data = bytearray(pathlib.Path(path).read_bytes())
    words = array.array("I", bytes(data))
    for at in range(0, len(words) - 4, 4):
        gap = words[at + 6] - words[at + 2]
        is_part = words[at] & 0xF000  # of a long event, whose slots have one stamp
        if at // 4 > 200 and gap > 1 and not is_part and words[at + 5] == words[at + 1]:
            words[at + 2] += chance.randrange(min(gap, 2000))
    pathlib.Path(path).write_bytes(words.tobytes())


def trace_of(scratch, remora, intervals):
    """A trace with at least so many intervals; how many it has."""
    path = os.path.join(scratch, "0trace.dat")
    count = lambda: int(subprocess.run([remora, "sql", path, "select count(*) from intervals", "--csv"], check=True,
                                       capture_output=True, text=True).stdout.split()[-1])
    records = sql.long_trace(path, 1)
    sql.long_trace(path, int(records * (intervals / count() + 1)))
    blur(path)
    return path, count()


def thread_s(page):
    """Of the page's main thread, as the processor counts it: what else the machine does is no part of it."""
    metrics = page.driver.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")


def percentile(values, share):
    """By the nearest rank."""
    return sorted(values)[max(math.ceil(share * len(values)) - 1, 0)]


def goal(name, value, limit, unit):
    verdict = "met" if value <= limit else "missed"
    print(f"GOAL report.{name} {value:.2f} <={limit:.2f} {verdict}  {unit}", flush=True)


def main():
    remora = os.path.abspath(sys.argv[1])
    wanted = int(sys.argv[2]) if len(sys.argv) > 2 else INTERVALS
    with tempfile.TemporaryDirectory() as scratch:
        path, intervals = trace_of(scratch, remora, wanted)
        page_path = os.path.join(scratch, "run.html")
        begun, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([remora, "report", path, "-o", page_path], check=False, stderr=subprocess.DEVNULL)
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        print(f"FIGURE report.write {time.monotonic() - begun:.2f} s for {intervals} intervals, of the processor "
              f"{spent.ru_utime + spent.ru_stime - used.ru_utime - used.ru_stime:.2f} s, load {os.getloadavg()[0]:.1f}")
        goal("bytes", os.path.getsize(page_path) / intervals, BYTES_MAX, "bytes an interval")
        with browser.chromium(types.SimpleNamespace(dir=pathlib.Path(scratch))) as page:
            page.driver.set_script_timeout(600)  # a loaded machine draws slowly
            page.driver.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
            opens = []
            for _ in range(ROUNDS):
                page.open(page_path)
                opens.append(page.run("return performance.now()") / 1000)
            heap = page.run("return performance.memory ? performance.memory.usedJSHeapSize : 0")
            arrays = page.run(ARRAYS)
            print(f"FIGURE report.memory {heap / 1e6:.0f} MB of script, {arrays / 1e6:.0f} MB of arrays")
            print(f"FIGURE report.unpack {page.run('return report.openMs') / 1000:.2f} s of that in the page's script")
            goal("open", min(opens), OPEN_S_MAX, "s from navigation to the first picture")
            for share in (1, 0.1, 0.001):
                for step in ("pan", "zoom"):
                    page.run("const {view, trace} = report; view.show(0, trace.last * arguments[0])", share)
                    used = thread_s(page)
                    times, draws = page.driver.execute_async_script(FRAMES, step)
                    used = (thread_s(page) - used) / len(times) * 1000
                    goal(f"{step}.{share:g}", statistics.median(times), FRAME_MS_MAX,
                         f"ms between frames (median); worst {max(times):.0f}; {used:.1f} ms of the thread; "
                         f"drawing: median "
                         f"{statistics.median(draws):.1f} ms, 95th percentile {percentile(draws, 0.95):.1f}")


if __name__ == "__main__":
    main()
