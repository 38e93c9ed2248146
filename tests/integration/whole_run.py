# SPDX-License-Identifier: MIT
"""`make run` as a user types it, from the options to the last line."""
import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

from support.cases import CASES, Case, case, expect
from support.context import EFI, ENDED_BADLY, INHERITED, KERNEL, REMORA, ROOT, TEST_KERNEL
from support.guests import trace_files


def make_run(ctx, *options):
    return ctx.run("make", "run", "DEPS=skip", f"OUT={ctx.dir}/out", f"PORT={ctx.port}", *options, codes=None)


def environment(ctx, **changes):
    """What the Makefile exports to qemu/run.sh."""
    return {"APP": "control", "SINK": "both", "BOOT": "uefi", "ACCEL": "tcg", "CLOCK": "tcg", "NIC": "pci",
            "OUT": str(ctx.dir / "out"), "PORT": str(ctx.port), "SEED": "1", "TIMEOUT_S": "60", "TRACER": "NEW",
            **changes}


@case(timeout_s=180)
def run_through_uefi(ctx):
    """The firmware's way: network, one session, exit code 0, and the way on from there."""
    done = make_run(ctx, "BOOT=uefi")
    expect(done.returncode == 0, done.stdout + done.stderr)
    expect("as the theory says" in done.stdout and "clock      icount" in done.stdout, done.stdout)
    for words in ("guest: boot uefi", "guest: running control", "guest: result ok", "by udp, TRACER-V2.0, acknowledged",
                  f"remora print {ctx.dir}/out/udp"):
        expect(words in done.stdout, f"`{words}` is not in: {done.stdout}")
    ctx.remora("verify", ctx.dir / "out" / "udp")


def documented_run(options):
    def body(ctx):
        done = make_run(ctx, *options)
        expect(done.returncode == 0, done.stdout + done.stderr)
        sessions = [out for out in (ctx.dir / "out" / "udp", ctx.dir / "out" / "disk") if out.exists()]
        expect(bool(sessions) == ("TRACER=OFF" not in options), f"{sessions} of make run {options}")
        for session in sessions:
            ctx.check(session)
    return body


def documented_runs():
    """The options of each `make run` in README.md and docs, but that of the application that the reader writes."""
    texts = [path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]]
    commands = set(re.findall(r"make run((?: [A-Z_]+=\w+)*)", "\n".join(texts)))
    return [command.split() for command in sorted(commands) if "APP=beat" not in command]


def register_documented_runs():
    """`remora check` objects to nothing in what each of them leaves."""
    for options in documented_runs():
        name = "_".join(["documented_run", *options]).replace("=", "_").lower()
        CASES.append(Case(name, documented_run(options), timeout_s=300))


@case(timeout_s=180)
def run_to_both_sinks(ctx):
    """Both are reported; without PORT=n the run takes a free port if another checkout's collector has the usual one."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other, contextlib.suppress(OSError):
        other.bind(("127.0.0.1", 20000))  # fails if it is taken already, which is as good
        done = make_run(ctx, "BOOT=pvh", "SINK=both", "CLOCK=icount", "PORT=auto", "DURATION_MS=60")
    expect(done.returncode == 0, done.stdout + done.stderr)
    for words in ("by udp, TRACER-V2.0, acknowledged", "by disk", "note: control ran for 103 ms"):
        expect(words in done.stdout, f"`{words}` is not in: {done.stdout}")
    ctx.remora("verify", ctx.dir / "out" / "udp")
    ctx.remora("verify", ctx.dir / "out" / "disk")


@case
def run_finds_the_files_of_an_application_that_names_them(ctx):
    """FTrace_init_disk_writer("log.bin"): the files are 0log.bin, ..., and become a session all the same. The
    application is one of the test kernel, which the scripts know by a source of its own."""
    shutil.copytree(ROOT / "qemu", ctx.dir / "qemu")
    (ctx.dir / "apps").mkdir()
    (ctx.dir / "apps/disk.cpp").write_text('const kernel::App kDisk{"s_disk_name", "names its files"};')
    done = ctx.run(ctx.dir / "qemu/run.sh", TEST_KERNEL, EFI, REMORA, codes=None,
                   env=environment(ctx, APP="s_disk_name", SINK="disk", BOOT="pvh", CLOCK="icount", NIC="none"))
    expect(done.returncode == 0, done.stdout + done.stderr)
    expect("the files *log.bin of the ramdisk are *trace.dat" in done.stdout, done.stdout)
    ctx.remora("verify", ctx.dir / "out" / "disk")


@case
def run_into_a_directory_of_someone_else_is_refused(ctx):
    """Not empty, and no run was there before: nothing in it is touched. One that is empty, or of a run, is fine, even
    if that was killed."""
    out = ctx.dir / "out"
    out.mkdir()
    (out / "passwd").write_text("root")
    done = make_run(ctx)
    expect(done.returncode != 0 and "holds passwd and no earlier run" in done.stderr, done.stdout + done.stderr)
    expect("remedy: OUT=dir" in done.stderr, done.stderr)
    expect([entry.name for entry in out.iterdir()] == ["passwd"], f"{sorted(out.iterdir())}")
    (out / "passwd").unlink()
    # A run leaves these if it is killed while it makes them, or moves them.
    unfinished = ["ramdisk.img.new", "ram", "new/disk/0log.bin", "new/udp/0trace.dat", "new/udp/manifest.json.new",
                  "new/udp-0123456789abcdef-0/0trace.dat", "udp-0123456789abcdef-0/0trace.dat"]
    for left in ([], unfinished):
        for name in left:
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_text("")
        done = make_run(ctx, "BOOT=pvh", "CI=true")
        expect(done.returncode == 0, done.stdout + done.stderr)


@case
def run_on_a_terminal_waits_for_no_key(ctx):
    """As many lines as a terminal of five takes several screens for: no pager starts."""
    pager = ctx.dir / "pager"
    pager.write_text(f"#!/bin/sh\ntouch {ctx.dir}/paged\nexec cat\n")
    pager.chmod(0o755)
    run = f"stty rows 5 cols 80; PAGER={pager} make run DEPS=skip BOOT=pvh OUT={ctx.dir}/out PORT={ctx.port}"
    done = ctx.run("script", "-qec", run, "/dev/null")
    expect("as the theory says" in done.stdout, done.stdout)
    expect(not (ctx.dir / "paged").exists(), "a pager was started")
    summary = f"stty rows 5 cols 80; PAGER={pager} {REMORA} summary {ctx.dir}/out/udp"
    done = ctx.run("script", "-qec", summary, "/dev/null")
    expect((ctx.dir / "paged").exists(), f"the test cannot see a pager: {done.stdout}")


@case(timeout_s=180)
def run_into_a_directory_with_an_odd_name(ctx):
    """Commas and blanks mean something to QEMU and to the shell, not in a name."""
    out = ctx.dir / "a,b c"
    done = ctx.run("qemu/run.sh", KERNEL, EFI, REMORA, env=environment(ctx, OUT=str(out)))
    expect("guest: boot uefi" in done.stdout and "guest: result ok" in done.stdout, done.stdout)
    ctx.remora("verify", out / "udp")
    ctx.remora("verify", out / "disk")


@case(timeout_s=180)
def run_without_tracer(ctx):
    done = make_run(ctx, "BOOT=pvh", "TRACER=OFF")
    expect(done.returncode == 0, done.stdout + done.stderr)
    expect(not (ctx.dir / "out" / "udp").exists(), "a session without a tracer")


def earlier_session(ctx):
    """What an earlier run left: its session and its page. Returns a function that checks that it is there still."""
    out = ctx.dir / "out"
    (out / "udp").mkdir(parents=True)
    files = {out / ".lock": "", out / "udp/0trace.dat": "records", out / "udp/manifest.json": "{}",
             out / "run.html": "page"}
    for path, text in files.items():
        path.write_text(text)

    def check():
        found = {path: path.read_text() for path in files if path.exists()}
        expect(found == files, f"of the last session remain {found}")
    return check


@case
def run_whose_reader_leaves_keeps_the_last_session(ctx):
    """As in `make run | head -1`: no process is left, and nothing of the run."""
    check = earlier_session(ctx)
    done = ctx.run("bash", "-c", f"set -o pipefail; qemu/run.sh {KERNEL} {EFI} {REMORA} | head -1", codes=(141,),
                   env=environment(ctx, BOOT="pvh", SINK="udp", DURATION_MS="60000"))
    expect(not done.stderr, done.stderr)
    check()
    with open(ctx.dir / "out" / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    expect(not (ctx.dir / "out/new").exists(), "an empty session was left")


@case(timeout_s=180)
def run_that_exports_nothing_gives_one_error(ctx):
    """The loader finds no kernel: the cause, the log, and no word of a session; the last one stays."""
    check = earlier_session(ctx)
    broken = ctx.dir / "no_kernel.elf"
    broken.write_bytes(b"no kernel")
    done = ctx.run("qemu/run.sh", broken, EFI, REMORA, codes=None, env=environment(ctx))
    expect(done.returncode == 1, f"exit code {done.returncode}")
    expect(done.stderr.count("\n") == 1 and done.stderr.startswith("error: the guest says: loader failed"), done.stderr)
    expect("serial.log" in done.stderr, done.stderr)
    expect("==" not in done.stdout and "look further" not in done.stdout, done.stdout)
    expect(not (ctx.dir / "out" / "new").exists(), "an empty session was left")
    check()


@case(timeout_s=180)
def run_that_hangs_ends(ctx):
    """A guest that takes too long is stopped, and the message names the limit."""
    done = make_run(ctx, "BOOT=pvh", "SINK=none", "TIMEOUT_S=1", "DURATION_MS=60000")
    expect(done.returncode != 0, done.stdout)
    expect("did not end within 1 s" in done.stderr and done.stderr.count("error: ") == 1, done.stderr)


@case(timeout_s=240, alone=True)
def run_that_hangs_exports_its_trace(ctx):
    """A hang that no watchdog looks for, or finds too late by a clock that counts instructions, and one that it cannot
    find: at TIMEOUT_S an NMI makes the kernel panic, and the trace arrives whole."""
    shutil.copytree(ROOT / "qemu", ctx.dir / "qemu")
    (ctx.dir / "apps").mkdir()
    for app in ("s_hang_interrupts_off", "s_main_waits_beside_a_task"):
        (ctx.dir / "apps/app.cpp").write_text(f'const kernel::App kApp{{"{app}", "hangs"}};')
        done = ctx.run(ctx.dir / "qemu/run.sh", TEST_KERNEL, EFI, REMORA, codes=(1,),
                       env=environment(ctx, APP=app, SINK="udp", BOOT="pvh", CLOCK="icount", TIMEOUT_S="5",
                                       WATCHDOG_MS="0"))
        expect("did not end within 5 s" in done.stderr and "panicked at an NMI" in done.stderr, done.stderr)
        expect(f"remora attach {ctx.dir}/out/ram" in done.stderr, done.stderr)
        expect("panic: exception 2 (NMI)" in (ctx.dir / "out/serial.log").read_text(), done.stdout)
        ctx.remora("verify", ctx.dir / "out/udp", codes=(ENDED_BADLY,))
        expect("the trace in" not in done.stderr and "does not allow" not in done.stderr, done.stderr)
        expect(" panic " in ctx.remora("print", ctx.dir / "out/udp").stdout, "the panic is not in the trace")
        end = done.stdout.partition("\nhow it ended:\n")[2]
        expect(end.startswith("panic in task ") and "\n  where        " in end and ".cpp:" in end, done.stdout)


def end_collector(ctx, signal_number):
    """Ends the collector of the run in ctx.dir/out."""
    for status in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            words = status.read_bytes().split(b"\0")
            if b"record" in words and f"{ctx.dir}/out/new/udp".encode() in words:
                os.kill(int(status.parent.name), signal_number)
                return
    expect(False, "no collector runs")


@case(timeout_s=240)
def run_whose_collector_dies_keeps_what_it_acknowledged(ctx):
    """SINK=auto STREAM=ON: the machine has recorded over what was acknowledged, so the disk has only the rest. Neither
    part is deleted, and the run is not passed for whole."""
    session, disk = ctx.dir / "out" / "udp", ctx.dir / "out" / "disk"
    log = open(ctx.dir / "run.log", "w+", encoding="utf-8")
    with log, subprocess.Popen(
            ["qemu/run.sh", KERNEL, EFI, REMORA], cwd=ROOT, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
            env={**INHERITED, **environment(ctx, BOOT="pvh", CLOCK="icount", SINK="auto", STREAM="ON",
                                            DURATION_MS="5000", TIMEOUT_S="200", ICOUNT_SHIFT="3")}) as run:
        while len(list((ctx.dir / "out/new/udp").glob("*trace.dat"))) < 12:
            expect(run.poll() is None and ctx.left_s() > 0, "the run ended by itself")
            time.sleep(0.02)
        end_collector(ctx, signal.SIGKILL)
        run.wait(ctx.left_s())
        log.seek(0)
        said = log.read()
    expect(run.returncode == 1 and "records were carried by udp alone" in said, f"{run.returncode}: {said}")
    expect(f"before it failed is in {session}" in said, said)
    expect(len(trace_files(session)) >= 12 and trace_files(disk), "a part is missing")
    expect("records that the machine kept are not in these files" in said, said)
    ctx.remora("verify", disk, codes=(2,))
    expect("nothing lost" not in ctx.remora("summary", disk, codes=(2,)).stdout, "half a run passes for whole")


@case
def run_that_is_interrupted_closes_its_session(ctx):
    """Ctrl-C, twice: the collector gets one signal, closes what it has, and no process is left. The session of the run
    before is as it was."""
    check = earlier_session(ctx)
    new = ctx.dir / "out/new/udp"
    log = open(ctx.dir / "run.log", "w", encoding="utf-8")
    with log, subprocess.Popen(
            ["env", "--default-signal=INT", "qemu/run.sh", KERNEL, EFI, REMORA],
            cwd=ROOT, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True,
            env={**INHERITED, **environment(ctx, BOOT="pvh", SINK="udp", CLOCK="icount", STREAM="ON",
                                            DURATION_MS="60000")}) as run:
        while not (new / "1trace.dat").exists():
            expect(run.poll() is None and ctx.left_s() > 0, "the run ended by itself")
            time.sleep(0.05)
        for _ in range(2):
            os.killpg(run.pid, signal.SIGINT)
            time.sleep(0.3)
        expect(run.wait(20) == 130, f"exit code {run.returncode}")
    expect((new / "manifest.json").exists(), "the session was not closed")
    expect("until the next run" in (ctx.dir / "run.log").read_text(), "the run does not say where it is")
    check()
    with open(ctx.dir / "out" / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while a process of the run is left
