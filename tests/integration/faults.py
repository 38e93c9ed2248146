# SPDX-License-Identifier: MIT
"""What is missing or full on the way out ends in a clear message and a defined exit code, costs only the sink it
concerns, and never touches the workload: its deadlines are missed exactly as often as on a healthy machine."""
import functools
import os
import random
import socket
import threading
import time

from integration import wire
from support.cases import case, expect
from support.guests import EXPORT_FAILED, OK, GuestContext


def deadline_misses(ctx, session):
    """How many events task_deadline_miss a session holds."""
    return sum("deadline_miss" in line for line in ctx.remora("print", session).stdout.splitlines())


HEALTHY_LOCK = threading.Lock()


@functools.cache
def misses_of_a_healthy_machine():
    ctx = GuestContext("integration", "healthy_machine", 90)
    _, directory = ctx.traced("control")
    misses = deadline_misses(ctx, ctx.adopt(directory))
    expect(misses > 0, "control plans a deadline miss, but the trace shows none")
    return misses


def misses_as_always(ctx, session):
    """The fault costs no deadline: the application `control` misses as many as on a machine where nothing is wrong."""
    with HEALTHY_LOCK:
        healthy = misses_of_a_healthy_machine()
    misses = deadline_misses(ctx, session)
    expect(misses == healthy, f"{misses} deadline misses, {healthy} on a healthy machine")


def disk_survives(ctx, image):
    _, directory = ctx.disk_files(image)
    misses_as_always(ctx, ctx.adopt(directory))


@case(timeout_s=120)
def card_absent(ctx):
    """The command line names a card that the machine does not have."""
    image = ctx.make_ramdisk()
    outcome = ctx.boot("control", sink="both", nic="none", nic_word="pci", ramdisk=image).expect_code(EXPORT_FAILED)
    outcome.marker("export failed: ")
    disk_survives(ctx, image)


@case(timeout_s=120)
def collector_absent(ctx):
    """Nothing listens: the host answers with ICMP unreachable."""
    image = ctx.make_ramdisk()
    outcome = ctx.boot("control", sink="both", ramdisk=image).expect_code(EXPORT_FAILED)
    expect("unreachable" in outcome.marker("export failed: "), str(outcome))
    disk_survives(ctx, image)


@case(timeout_s=120)
def ramdisk_full(ctx):
    """The disk refuses politely, keeps what it had and stays clean; the network still gets everything."""
    image = ctx.make_ramdisk(free_bytes=8192)
    with ctx.collector() as session:
        outcome = ctx.boot("control", sink="both", ramdisk=image).expect_code(EXPORT_FAILED)
    expect("no space" in outcome.marker("export failed: "), str(outcome))
    ctx.check_ramdisk(image)
    expect("FILLER" in ctx.run("mdir", "-i", image, "::").stdout.upper(), "a file that was there is gone")
    ctx.remora("verify", session)
    misses_as_always(ctx, session)


@case(timeout_s=120)
def ramdisk_absent(ctx):
    """Without an NVDIMM the ramdisk is plain RAM, lost with the machine: the kernel says so and the run succeeds."""
    with ctx.collector() as session:
        outcome = ctx.boot("control", sink="both").expect_code(OK)
    expect("no persistent memory" in outcome.serial, f"nothing is said about the ramdisk; {outcome}")
    ctx.remora("verify", session)
    misses_as_always(ctx, session)


@case
def ramdisk_not_armed(ctx):
    """An NVDIMM that does not keep what is written is not written to: what it got would count as exported."""
    image = ctx.make_ramdisk()
    before = image.read_bytes()
    outcome = ctx.boot("control", sink="disk", ramdisk=image,
                       devices=["-global", "nvdimm.unarmed=on"]).expect_code(EXPORT_FAILED)
    expect("the NVDIMM is not armed" in outcome.serial, str(outcome))
    expect(image.read_bytes() == before, "the volume was written to")


@case
def ramdisk_unformatted(ctx):
    """An NVDIMM that holds no FAT volume is left as it is."""
    image = ctx.make_ramdisk()
    with open(image, "r+b") as file:
        file.write(b"\xA5" * 65536)
    before = image.read_bytes()
    outcome = ctx.boot("control", sink="disk", ramdisk=image).expect_code(EXPORT_FAILED)
    expect("no FAT16 or FAT32 volume" in outcome.serial, str(outcome))
    expect("the volume is refused: no FAT volume" in outcome.serial, str(outcome))
    expect(image.read_bytes() == before, "the volume was written to")


@case
def port_taken(ctx):
    """The collector names the port and ends with 1; `make run` stops before it boots anything."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", ctx.port))
        done = ctx.remora("record", "--listen", f"127.0.0.1:{ctx.port}", "--out", ctx.dir / "session", codes=None)
        expect(done.returncode == 1, f"exit code {done.returncode}")
        expect(str(ctx.port) in done.stderr, f"the port is not named: {done.stderr}")
        run = ctx.run("make", "run", "DEPS=skip", f"OUT={ctx.dir}/out", f"PORT={ctx.port}", "BOOT=pvh", codes=None)
        expect(run.returncode != 0, "make run succeeds without its port")
        expect(f"error: the port {ctx.port} is taken\nremedy: " in run.stderr, run.stderr)
        expect(not (ctx.dir / "out" / "qemu.log").exists(), "a guest was booted")


@case(timeout_s=120)
def flood_meets_the_export(ctx):
    """Strangers send at the card through which the trace leaves, good frames and bad: it arrives whole. Answers would
    find no room in the card, so it is sent by the protocol that needs none."""
    with ctx.collector() as session, wire.Wire(hand_on_to=ctx.port) as cable:
        outcome = ctx.boot("control", sink="udp", protocol="v1", nic="none", nic_word="pci",
                           devices=cable.options()).expect_code(OK)
    expect(cable.flooded > 1000, f"only {cable.flooded} frames were sent; {outcome}")
    ctx.remora("verify", session)
    misses_as_always(ctx, session)


def filler(ctx, image):
    """The content of the file that make_ramdisk(free_bytes) leaves on the volume."""
    copy = ctx.dir / "filler.out"
    ctx.run("mcopy", "-n", "-o", "-i", image, "::FILLER.BIN", copy)
    return copy.read_bytes()


@case(timeout_s=180)
def reset_at_random_instants(ctx):
    """The machine is reset in the middle of a run, or of the export: what the ramdisk held is as it was, whatever
    the last runs left, and the next run leaves a whole trace."""
    seed = int(os.environ.get("SEED") or random.randrange(1 << 32))
    chance = random.Random(seed)
    image = ctx.make_ramdisk(free_bytes=4 << 20)
    before = filler(ctx, image)
    resets = 0
    latest_s = 1.5  # earlier each time that a run was over before: a machine may be quick
    for _ in range(8):
        instant = time.monotonic() + chance.uniform(0, latest_s)

        def reset(monitor, instant=instant):
            if time.monotonic() >= instant:
                monitor.do("system_reset")
        outcome = ctx.boot("control", sink="disk", clock="tcg", ramdisk=image, meanwhile=reset)
        refused = outcome.code == EXPORT_FAILED and "already exists" in outcome.serial  # files of a run before: kept
        expect(refused or outcome.code in (0, OK), f"SEED={seed}: neither reset nor ended well; {outcome}")
        resets += outcome.code == 0
        latest_s *= 1 if outcome.code == 0 else 0.6
        if refused or outcome.code == OK:
            ctx.run("mdel", "-i", image, "::*trace.dat", codes=None)
        expect(filler(ctx, image) == before, f"SEED={seed}: a file of others has changed; {outcome}")
        volume = ctx.run("fsck.fat", "-n", image, codes=None).stdout
        expect("share clusters" not in volume and "bad" not in volume.lower(), f"SEED={seed}: {volume}")
    expect(resets > 0, f"SEED={seed}: no boot was reset")
    ctx.run("mdel", "-i", image, "::*trace.dat", codes=None)
    ctx.boot("control", sink="disk", ramdisk=image).expect_code(OK)
    ctx.run("fsck.fat", "-a", image, codes=None)  # clusters that a reset left in no chain
    _, directory = ctx.disk_files(image)
    ctx.adopt(directory)
