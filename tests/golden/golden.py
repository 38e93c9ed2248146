#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Golden schedules: under a clock that counts instructions an application's schedule is the same in every run, so its
text (`remora schedule`, times cut to 100 us) is kept in the tree, one file each. A change of the text is a change of
the kernel's behaviour: intended, then the file changes in the same commit; or not, then it was found here. A time that
is one step off is no change.

   golden.py diff     the first event that differs, with what stands around it; exit code 1 if there is one
   golden.py update   writes the files anew

KERNEL and REMORA come from the environment."""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = pathlib.Path(__file__).resolve().parent
APPS = ("control", "inversion", "overload", "rm_vs_edf", "servers")
CONTEXT_LINES = 5
OK = 33
TIMEOUT_S = 120


def run(command, **options):
    return subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=TIMEOUT_S, check=False, **options)


def schedule(app, kernel, remora):
    """The application's schedule as lines."""
    with tempfile.TemporaryDirectory() as work:
        image = pathlib.Path(work, "ramdisk.img")
        session = pathlib.Path(work, "session")
        session.mkdir()
        made = run(["bash", "-c", f'source qemu/lib.sh; make_ramdisk "{image}"'])
        if made.returncode != 0:
            sys.exit(f"no ramdisk: {made.stderr}")
        words = f"exit=debug app={app} sink=disk clock=icount nic=none seed=1"
        env = {**os.environ, "KERNEL": kernel, "EFI_LOADER": "", "WORK": work, "BOOT": "pvh", "ACCEL": "tcg",
               "CLOCK": "icount", "NIC": "none", "RAMDISK": str(image), "PCAP": "", "SINGLESTEP": ""}
        done = run(["qemu/boot.sh", words], env=env)
        if done.returncode != OK:
            log = pathlib.Path(work, "serial.log").read_text(errors="replace")
            sys.exit(f"{app} ended with {done.returncode}:\n{log[-2000:]}\n{done.stderr}")
        copied = run(["mcopy", "-n", "-i", str(image), "::*trace.dat", f"{session}/"],
                     env={**os.environ, "MTOOLS_LOWER_CASE": "1"})
        adopted = run([remora, "adopt", str(session)])
        if copied.returncode != 0 or adopted.returncode != 0:
            sys.exit(f"the trace of {app} is not whole: {copied.stderr}{adopted.stderr}")
        judged = run([remora, "check", str(session)])
        if judged.returncode != 0:
            sys.exit(f"remora check objects to {app}:\n{judged.stdout}{judged.stderr}")
        told = run([remora, "schedule", str(session)])
        if told.returncode != 0 or not told.stdout:
            sys.exit(f"remora schedule ended with {told.returncode}: {told.stderr}")
        return told.stdout.splitlines()


def same(old, new):
    """Equal but for one step of the cut times: a kernel that is some instructions longer may cross a step's edge."""
    old_time, _, old_text = old.strip().partition(" ms ")
    new_time, _, new_text = new.strip().partition(" ms ")
    if old_text != new_text:
        return False
    return old_time == new_time or abs(round(float(old_time) * 10) - round(float(new_time) * 10)) <= 1


def show_difference(app, expected, found):
    """Whether there is one; prints the first, with context."""
    length = max(len(expected), len(found))
    for line in range(length):
        old = expected[line] if line < len(expected) else "(the end)"
        new = found[line] if line < len(found) else "(the end)"
        if line < min(len(expected), len(found)) and same(old, new):
            continue
        print(f"{app}: event {line + 1} differs from tests/golden/{app}.txt")
        for before in expected[max(0, line - CONTEXT_LINES):line]:
            print(f"    {before}")
        print(f"  - {old}")
        print(f"  + {new}")
        for later in found[line + 1:line + 1 + CONTEXT_LINES]:
            print(f"    {later}")
        print(f"  intended? make golden, and commit tests/golden/{app}.txt with the change")
        return True
    return False


def main():
    kernel, remora = os.environ["KERNEL"], os.environ["REMORA"]
    if sys.argv[1:] not in (["diff"], ["update"]):
        sys.exit("golden.py diff|update")
    update = sys.argv[1] == "update"
    differs = False
    for app in APPS:
        found = schedule(app, kernel, remora)
        file = GOLDEN / f"{app}.txt"
        if update:
            file.write_text("\n".join(found) + "\n", encoding="utf-8")
            print(f"wrote tests/golden/{app}.txt: {len(found)} events")
            continue
        if not file.exists():
            sys.exit(f"tests/golden/{app}.txt does not exist: make golden writes it")
        expected = file.read_text(encoding="utf-8").splitlines()
        if show_difference(app, expected, found):
            differs = True
        else:
            print(f"PASS golden_{app}: {len(found)} events")
    sys.exit(1 if differs else 0)


main()
