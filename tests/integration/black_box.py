# SPDX-License-Identifier: MIT
"""The black box: the trace in the machine's memory is the one that the machine exports, read while it runs, from a part
of the memory, from a core, and after the machine was killed."""
import json
import os
import re
import shutil
import signal
import subprocess

from support.cases import case, expect
from support.context import REMORA, ROOT
from support.guests import OK

RAM_BYTES = 128 << 20
DESCRIPTOR = 0x2000000
ARENA_END = 0x3C00000


def ram_file(ctx, name="ram"):
    path = ctx.dir / name
    with open(path, "wb") as file:
        file.truncate(RAM_BYTES)
    return path


def events(ctx, source, command="attach"):
    """The events as `remora print --json` shows them, and nothing is reported."""
    outcome = ctx.remora(command, source, "--json")
    expect(outcome.stderr == "", f"{source}: {outcome.stderr}")
    lines = outcome.stdout.splitlines()
    expect(lines, f"{source}: no events")
    return lines


def same(what, got, expected):
    for number, (one, other) in enumerate(zip(got, expected), 1):
        expect(one == other, f"{what}: event {number} is\n  {one}\nnot\n  {other}")
    expect(len(got) == len(expected), f"{what}: {len(got)} events, not {len(expected)}")


def without_places(lines):
    """A follower reads a chunk in parts: a record's number is that in its part, and the time begins with the first
    record, not with the first heartbeat of a compact chunk. The stamps (ticks) are the same."""
    return [{key: value for key, value in json.loads(line).items() if key not in ("record", "time_ns")}
            for line in lines]


def follower(ram, out, command="attach", err=subprocess.STDOUT):
    follow = [] if command == "top" else ["--follow"]
    return subprocess.Popen([str(ROOT / REMORA), command, str(ram), *follow, "--json", "--idle-timeout", "60"],
                            stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=ROOT)


@case
def memory_holds_what_is_exported(ctx):
    """Plain chunks and compact ones: the memory after the run, the exported files, and what `attach --follow` showed
    from before the first instruction to the end of the run are the same events."""
    for name, words in (("plain", {}), ("compact", {"compact": "A"})):
        ram = ram_file(ctx, f"{name}.ram")
        image = ctx.make_ramdisk()
        with open(ctx.dir / f"{name}.followed", "w+", encoding="utf-8") as out:
            process = follower(ram, out)
            try:
                ctx.boot("control", sink="disk", ramdisk=image, ram=ram, nic="none", **words).expect_code(OK)
                code = process.wait(30)
            finally:
                process.kill()
                process.wait()
            out.seek(0)
            followed = out.read().splitlines()
        expect(code == 0, f"attach --follow ended with {code}: {followed[-3:]}")
        _, directory = ctx.disk_files(image)
        ctx.adopt(directory)
        exported = events(ctx, directory, "print")
        same(f"{name}, memory", events(ctx, ram), exported)
        same(f"{name}, followed", without_places(followed), without_places(exported))
        for command in ("summary", "schedule", "verify", "check", "count"):
            ctx.remora(command, ram, codes=(6,) if command == "verify" else (0,))
        tables = ctx.remora("sql", ram, "select count(*) from events").stdout
        expect(str(len(exported)) in tables, f"sql counts {tables}, not {len(exported)}")
        image.unlink()
        shutil.rmtree(directory)


@case(timeout_s=180)
def slow_follower_says_what_it_missed(ctx):
    """STREAM=ON empties chunks and uses them anew. Followers that are stopped meanwhile miss records, in the middle of
    what they show: what is shown and what is said to be missing are together what the machine recorded."""
    ram = ram_file(ctx)
    names = ("attach", "summary", "top")
    followers = {name: follower(ram, open(ctx.dir / name, "wb"), name, open(ctx.dir / f"{name}.err", "wb"))
                 for name in names}
    stopped = []

    def stop_followers(_monitor):
        if not stopped and (ctx.dir / "attach").stat().st_size > 100_000:
            stopped.extend(followers.values())
            for process in stopped:
                process.send_signal(signal.SIGSTOP)
    try:
        with ctx.collector() as session:
            ctx.boot("control", sink="udp", stream="on", duration_ms=9000, ram=ram,
                     meanwhile=stop_followers).expect_code(OK)
        expect(stopped, "the followers show nothing")
        for process in stopped:
            process.send_signal(signal.SIGCONT)
        codes = [process.wait(60) for process in followers.values()]
    finally:
        for process in followers.values():
            process.kill()
            process.wait()
    expect(codes == [2, 2, 2], f"exit codes {codes}")
    whole = json.loads(ctx.remora("summary", session, "--json").stdout)["records"]
    summary = json.loads((ctx.dir / "summary").read_text())
    records = summary["records"]
    expect(records["missing"] > 0 and records["committed"] + records["missing"] == whole["committed"],
           f"{records} of {whole}")
    expect(summary["verdict"] == f"incomplete: {records['missing']} records are missing", summary["verdict"])
    for name in names:
        said = (ctx.dir / f"{name}.err").read_text()
        expect(re.search(r"W-GAP \d+ records in front of this part[^\n]*\n.*W-GAP \d+ records in all", said), said)
    missing = int(re.search(r"W-GAP (\d+) records in all", said)[1])
    shown = json.loads((ctx.dir / "top").read_text().splitlines()[-1])["overwritten"]
    expect(shown == missing, f"top shows {shown} overwritten records, and says that {missing} are missing")


@case
def follower_says_that_the_machine_was_reset(ctx):
    """system_reset in the middle of the run: what was seen is shown, and that its end was not."""
    ram = ram_file(ctx)
    with open(ctx.dir / "shown", "wb") as out, open(ctx.dir / "said", "wb") as err:
        process = follower(ram, out, err=err)
    resets = []

    def reset(monitor):
        if not resets and (ctx.dir / "shown").stat().st_size > 100_000:
            resets.append(monitor.do("system_reset"))
        elif process.poll() is not None:
            monitor.do("quit")
    try:
        ctx.boot("control", clock="tcg", nic="none", ram=ram, duration_ms=60_000, meanwhile=reset,
                 devices=["-action", "reboot=reset"])
        code = process.wait(30)
    finally:
        process.kill()
        process.wait()
    said = (ctx.dir / "said").read_text()
    expect(code == 2 and "E-BOOT the machine was reset or started anew" in said, f"exit code {code}: {said}")


@case
def saved_memory_and_core_hold_the_same(ctx):
    """pmemsave of the part from the descriptor on, dump-guest-memory, and the file of the RAM, of a machine that was
    stopped in the middle of its run."""
    ram = ram_file(ctx)
    files = {"saved": ctx.dir / "saved", "core": ctx.dir / "core", "ram": ctx.dir / "ram.copy"}

    def save(monitor):
        if files["ram"].exists() or int(count(ctx, ram)) < 500:
            return
        done = monitor.do("stop")
        done = done and monitor.do("pmemsave", val=DESCRIPTOR - 0x5000, size=ARENA_END - DESCRIPTOR + 0x5000,
                                   filename=str(files["saved"]))
        done = done and monitor.do("dump-guest-memory", paging=False, protocol=f"file:{files['core']}")
        expect(done, "QEMU did not save its memory")
        shutil.copyfile(ram, files["ram"])
        monitor.do("quit")
    ctx.boot("control", clock="tcg", nic="none", ram=ram, duration_ms=60_000, meanwhile=save)
    shown = {name: events(ctx, path) for name, path in files.items()}
    expect(len(shown["ram"]) >= 500, f"only {len(shown['ram'])} events")
    same("pmemsave", shown["saved"], shown["ram"])
    same("core", shown["core"], shown["ram"])


def count(ctx, ram):
    """Events in the memory now; 0 before the kernel has started."""
    outcome = ctx.remora("count", ram, "--from", "memory", "--json", codes=None)
    return json.loads(outcome.stdout)["events"] if outcome.returncode == 0 and outcome.stdout else 0


@case
def killed_machine_leaves_its_trace(ctx):
    """SIGKILL in the middle of the run: whatever was seen of the run before is in the memory after it, and more."""
    ram = ram_file(ctx)
    before = []

    def look(_monitor):
        while count(ctx, ram) < 2000:
            expect(ctx.left_s() > 0, "the machine records nothing")
        before.extend(ctx.remora("attach", ram, "--json").stdout.splitlines())
    outcome = ctx.boot("control", clock="tcg", nic="none", ram=ram, duration_ms=60_000, meanwhile=look, until="running")
    expect(outcome.code is None, f"the machine ended by itself; {outcome}")
    after = events(ctx, ram)
    expect(len(before) >= 2000, f"{len(before)} events were seen live")
    same("the part that was seen live", after[:len(before)], before)
    expect(os.stat(ram).st_blocks * 512 < RAM_BYTES // 2, "the file of the memory is not sparse")


@case
def reader_costs_the_machine_nothing(ctx):
    """The clock counts instructions: with a follower and without one the machine exports the same bytes."""
    exported = []
    for name in ("alone", "followed"):
        ram = ram_file(ctx, f"{name}.ram")
        image = ctx.make_ramdisk()
        process = follower(ram, subprocess.DEVNULL) if name == "followed" else None
        try:
            ctx.boot("control", sink="disk", ramdisk=image, ram=ram, nic="none").expect_code(OK)
            expect(process is None or process.wait(30) == 0, "attach --follow failed")
        finally:
            if process is not None:
                process.kill()
                process.wait()
        files, directory = ctx.disk_files(image)
        exported.append(files)
        image.unlink()
        shutil.rmtree(directory)
    expect(exported[0] == exported[1], "a run that is followed is another run")


@case
def top_shows_what_the_machine_did(ctx):
    """Looks at a machine that runs: the last one, added up part by part, is that of the whole memory."""
    ram = ram_file(ctx)
    with open(ctx.dir / "looks", "w+", encoding="utf-8") as out:
        process = subprocess.Popen([str(ROOT / REMORA), "top", str(ram), "--json", "--interval", "0.1",
                                    "--idle-timeout", "60"], stdout=out, stdin=subprocess.DEVNULL, cwd=ROOT)
        try:
            ctx.boot("control", clock="tcg", nic="none", ram=ram, duration_ms=1500).expect_code(OK)
            code = process.wait(30)
        finally:
            process.kill()
            process.wait()
        out.seek(0)
        looks = [json.loads(line) for line in out.read().splitlines()]
    expect(code == 0, f"top ended with {code}")
    expect(len(looks) >= 2, f"{len(looks)} looks")
    totals = [look["events_total"] for look in looks]
    expect(totals == sorted(totals) and totals[-1] == sum(look["events"] for look in looks), f"events {totals}")
    whole = json.loads(ctx.remora("top", ram, "--once", "--json").stdout)

    def figures(look):
        return sorted((task["name"], task["cpu_time_ns"], task["jobs"], task["dispatches"], task["missed"])
                      for task in look["tasks"])
    expect(figures(looks[-1]) == figures(whole), f"the last look is {figures(looks[-1])}, not {figures(whole)}")
    expect(looks[-1]["events_total"] == whole["events_total"], f"{totals[-1]} events, not {whole['events_total']}")
    shown = ctx.remora("top", ram, "--once").stdout
    expect("control" in shown and "lost: dropped" in shown, shown)
    expect(max(map(len, shown.splitlines())) <= 80, shown)
