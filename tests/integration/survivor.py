# SPDX-License-Identifier: MIT
"""Resets at random instants: the next boot finds the trace of the one before in memory, and exports it as a session of
its own, byte by byte what memory held. A campaign has RESETS boots (20; `make soak-resets`: 200); a failure prints its
seed, and SEED=n repeats its instants."""
import json
import os
import random
import struct
import subprocess
import time

from support.cases import case, expect
from support.context import ENDED_BADLY, REMORA, ROOT, TEST_KERNEL
from support.guests import OK, trace_files

RESETS = int(os.environ.get("RESETS") or 8)
REBOOTS = ["-action", "reboot=reset"]  # after -no-reboot, which it takes back
BASE = 0x2000000                       # docs/black-box.md
BYTES = 0x1100000                      # the descriptor, the tables and the arena
LEFT = "the trace of the earlier boot has left"
ROUND = 4711


class Memory:
    """The black box as QEMU saved it: the fields of docs/black-box.md."""

    def __init__(self, path):
        self.bytes = path.read_bytes()
        expect(self.bytes[:16] == b"REMORA BLACK BOX", "no black box in memory")
        self.boot_id = self.u64(BASE + 32)

    def at(self, address, size):
        return self.bytes[address - BASE:address - BASE + size]

    def u64(self, address):
        return struct.unpack("<Q", self.at(address, 8))[0]

    def chunks(self):
        """What each chunk that was used holds: main area, then emergency area. Of chunks that are not cyclic."""
        table, entries, size = struct.unpack("<QII", self.at(BASE + 256, 16))
        fields = struct.unpack("<12H", self.at(BASE + 376, 24))
        for head in range(table, table + entries * size, size):
            if self.at(head + fields[6], 1) == b"\1" and self.at(head + fields[3], 4) != bytes(4):
                control = head + fields[0]
                position, data = self.u64(control) & 0x7FFFFFF, self.u64(control + 8)
                emergency, area = self.u64(control + 32) & 0xFFFFFFFF, self.u64(control + 40)
                held = self.at(data, position) + self.at(area, emergency)
                if held:
                    yield held


def prior_session(ctx, image):
    """The files that the second boot wrote of the first one's trace, as a session; and their contents."""
    target = ctx.dir / "prior"
    target.mkdir()
    ctx.run("mcopy", "-n", "-i", image, "::*prior.dat", f"{target}/", env={"MTOOLS_LOWER_CASE": "1"})
    for file in list(target.iterdir()):
        file.rename(target / file.name.replace("prior", "trace"))
    ctx.remora("adopt", target)
    account = json.loads(ctx.remora("verify", "--json", target, codes=(0, ENDED_BADLY)).stdout)["account"]
    expect(account["closes"], f"{target}: {account}")
    return target, trace_files(target)


def reset_once(ctx, instant_s, save=True):
    """Resets the machine, once, so long after the first call; its black box is saved before."""
    state = {}
    path = ctx.dir / "memory.bin"

    def meanwhile(monitor):
        begin = state.setdefault("begin", time.monotonic())
        if "done" in state or time.monotonic() - begin < instant_s:
            return
        if not save and monitor.do("system_reset"):
            state["done"] = True
        if save and monitor.do("stop"):
            state["done"] = True
            monitor.do("pmemsave", val=BASE, size=BYTES, filename=str(path))
            monitor.do("system_reset")
            monitor.do("cont")
    return meanwhile, path


def rounds(ctx, directory):
    events = (json.loads(line) for line in ctx.remora("print", "--json", directory).stdout.splitlines())
    return [event["par2"] for event in events if event["event"] == "ipoint" and event["par1"] == ROUND]


@case(timeout_s=15 * RESETS)
def resets_at_random_instants(ctx):
    """Every chunk comes out as memory held it when the machine was stopped, and the rounds have no gap."""
    seed = int(os.environ.get("SEED") or random.randrange(1 << 32))
    chance = random.Random(seed)
    records = 0
    for number in range(RESETS):
        instant_s = chance.uniform(0, 0.3)
        image = ctx.make_ramdisk()
        meanwhile, path = reset_once(ctx, instant_s)
        outcome = ctx.boot("s_works_forever", kernel=TEST_KERNEL, nic="none", sink="disk", ramdisk=image, clock="tcg",
                           devices=REBOOTS, meanwhile=meanwhile, until=LEFT, watchdog_ms=0)
        say = f"SEED={seed}, boot {number}, after {instant_s:.3f} s: {outcome}"
        memory = Memory(path)
        expect(f"boot id {hex(memory.boot_id)}" in outcome.marker("an earlier boot left"), say)
        directory, files = prior_session(ctx, image)
        held = list(memory.chunks())
        expect(len(files) == len(held), f"{len(files)} files of {len(held)} chunks; {say}")
        for name, chunk in enumerate(held):
            expect(files[name].endswith(chunk), f"chunk {name} differs from memory; {say}")
        found = rounds(ctx, directory)
        expect(found == list(range(1, len(found) + 1)), f"rounds {found[:3]}..{found[-3:]}; {say}")
        records += sum(len(chunk) for chunk in held) // 16
        ctx.run("rm", "-rf", directory, image, path)
    print(f"  resets: {RESETS} of {RESETS} traces recovered, {records} records, SEED={seed}", flush=True)


@case
def reset_then_a_whole_run(ctx):
    """After the trace of the first boot, the run of the second one is exported whole, and the third finds none."""
    image = ctx.make_ramdisk()
    meanwhile, _ = reset_once(ctx, 0, save=False)
    outcome = ctx.boot("control", nic="none", sink="disk", ramdisk=image, devices=REBOOTS, duration_ms=1500,
                       meanwhile=meanwhile)
    outcome.expect_code(OK)
    expect("in the middle of its run" in outcome.marker("an earlier boot left"), str(outcome))
    prior_session(ctx, image)
    ctx.run("mdel", "-i", image, "::*prior.dat")
    _, directory = ctx.disk_files(image)
    ctx.adopt(directory)


@case
def reset_of_a_machine_that_writes_compactly(ctx):
    """Chunks of any layout: memory holds what a stream had reached, and the next boot exports it whole."""
    for layout in ("C", "large64"):
        image = ctx.make_ramdisk()
        meanwhile, _ = reset_once(ctx, 0.2, save=False)
        outcome = ctx.boot("s_works_forever", kernel=TEST_KERNEL, nic="none", sink="disk", ramdisk=image, clock="tcg",
                           compact=layout, devices=REBOOTS, meanwhile=meanwhile, until=LEFT, watchdog_ms=0)
        directory, _ = prior_session(ctx, image)
        chunks = json.loads((directory / "manifest.json").read_text())["chunks"]
        expect(any(chunk["encoding"] != "records" for chunk in chunks), f"no compact chunk: {chunks}; {outcome}")
        found = rounds(ctx, directory)
        expect(len(found) > 10 and found == list(range(1, len(found) + 1)), f"rounds {found[-3:]}; {outcome}")
        ctx.run("rm", "-rf", directory, image)


@case
def each_reset_leaves_a_trace_of_its_own(ctx):
    """The second boot, which is reset as well, does not take the place of the first on the ramdisk."""
    image = ctx.make_ramdisk()
    resets = []

    def meanwhile(monitor):
        if not resets or (len(resets) == 1 and time.monotonic() > resets[0] + 3):  # long after the second boot
            if monitor.do("system_reset"):
                resets.append(time.monotonic())

    outcome = ctx.boot("s_works_forever", kernel=TEST_KERNEL, nic="none", sink="disk", ramdisk=image, clock="tcg",
                       devices=REBOOTS, meanwhile=meanwhile, until=f"(?s){LEFT}.*{LEFT}", watchdog_ms=0)
    names = ctx.run("mdir", "-b", "-i", image, "::").stdout.upper()
    expect("0PRIOR.DAT" in names and "0PRIO1.DAT" in names, f"{names}; {outcome}")


@case
def reset_over_the_network(ctx):
    """A collector of many machines gets two sessions: that of the first boot and that of the second, both whole."""
    served, ready = ctx.dir / "served", ctx.dir / "ready"
    with open(ctx.dir / "collector.log", "w", encoding="utf-8") as log:
        collector = subprocess.Popen([str(ROOT / REMORA), "record", "--serve", str(served), "--listen",
                                      f"127.0.0.1:{ctx.port}", "--ready-file", str(ready)], stdout=log, stderr=log)
        try:
            while not ready.exists():
                expect(collector.poll() is None and ctx.left_s() > 0, "the collector does not become ready")
                time.sleep(0.02)
            meanwhile, _ = reset_once(ctx, 0, save=False)
            outcome = ctx.boot("control", sink="udp", devices=REBOOTS, meanwhile=meanwhile).expect_code(OK)
        finally:
            collector.terminate()
            collector.wait(10)
    former = outcome.marker("an earlier boot left").split("boot id 0x")[1].split(",")[0].rjust(16, "0")
    sessions = sorted(served.iterdir())
    expect(len(sessions) == 2 and any(path.name.startswith(former) for path in sessions), f"{sessions}; {outcome}")
    for session in sessions:
        ctx.remora("verify", session)


@case
def reset_of_a_hanging_export_loses_nothing(ctx):
    """The second stage of the watchdog: every round before the panic is in the session of the next boot."""
    image = ctx.make_ramdisk()
    outcome = ctx.boot("s_hang_in_panic", kernel=TEST_KERNEL, nic="none", sink="disk", ramdisk=image, watchdog_ms=8,
                       devices=REBOOTS, until=LEFT)
    expect("the export does not progress" in outcome.serial, str(outcome))
    directory, _ = prior_session(ctx, image)
    last = int(outcome.marker("hangs after round").split()[-1])
    expect(rounds(ctx, directory) == list(range(1, last + 1)), str(outcome))


@case
def reset_through_the_firmware(ctx):
    """OVMF leaves the memory alone, too."""
    image = ctx.make_ramdisk()
    outcome = ctx.boot("s_hang_in_panic", kernel=TEST_KERNEL, boot="uefi", nic="none", sink="disk", ramdisk=image,
                       watchdog_ms=100, devices=REBOOTS, until=LEFT)
    expect("the export does not progress" in outcome.serial, str(outcome))
    prior_session(ctx, image)


@case
def end_of_a_run_leaves_no_trace(ctx):
    """A run that was exported whole is no survivor: a reset after it finds nothing."""
    image = ctx.make_ramdisk()
    state = {}

    def again(monitor):
        if "done" not in state and "result ok" in (ctx.dir / "boot1" / "serial.log").read_text(errors="replace"):
            time.sleep(0.5)  # the machine switches itself off
            state["done"] = monitor.do("system_reset") and monitor.do("cont")
    outcome = ctx.boot("control", nic="none", sink="disk", ramdisk=image, exit="acpi", meanwhile=again,
                       devices=REBOOTS + ["-no-shutdown"], until=r"(?s)(REMORA: running.*){2}")
    expect("result ok" in outcome.serial and "an earlier boot" not in outcome.serial, str(outcome))
