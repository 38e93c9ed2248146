# SPDX-License-Identifier: MIT
"""Hangs, each at a random instant: the watchdog finds it, names it, and the trace up to the hang arrives whole. A
campaign has HANGS boots (20; `make soak-hangs`: 200); a failure prints its seed, and SEED=n repeats it."""
import json
import os
import random

from support.cases import case, expect
from support.context import ENDED_BADLY, TEST_KERNEL
from support.guests import OK, PANIC

LIMIT_MS = 8
KINDS = {
    "s_hang_task": "a task keeps the processor",
    "s_hang_interrupts_off": "interrupts are off",
    "s_hang_handler": "an interrupt handler does not return",
    "s_hang_main": "every task waits, and nothing can wake one",
    "s_hang_after_exit": "the end of the run does not progress",
}
ROUND = 4711
HANGS = int(os.environ.get("HANGS") or 8)


def rounds_recorded(ctx, directory):
    """The numbers of the rounds in the trace, in its order."""
    events = (json.loads(line) for line in ctx.remora("print", "--json", directory).stdout.splitlines())
    return [event["par2"] for event in events if event["event"] == "ipoint" and event["par1"] == ROUND]


def boot_and_hang(ctx, app, seed):
    """One boot: reported as what it is, exported, verified, and every round before the hang is in the trace."""
    outcome, directory = ctx.traced(app, code=PANIC, kernel=TEST_KERNEL, nic="none", seed=seed, watchdog_ms=LIMIT_MS)
    say = f"SEED={seed}: {outcome}"
    expect(outcome.marker("panic: ") == f"panic: watchdog: {KINDS[app]} ({LIMIT_MS} ms)", say)
    expect(("is being served" in outcome.serial) == (app == "s_hang_handler"), f"vector in service: {say}")
    last = int(outcome.marker("hangs after round").split()[-1])
    ctx.remora("adopt", directory)
    ctx.remora("verify", directory, codes=(0 if app == "s_hang_after_exit" else ENDED_BADLY,))
    found = rounds_recorded(ctx, directory)
    expect(found == list(range(1, last + 1)), f"rounds {found[-3:]} of {last}; {say}")
    ctx.run("rm", "-rf", directory, ctx.dir / "ramdisk.img")


@case(timeout_s=15 * HANGS)
def hangs_at_random_instants(ctx):
    """Each kind of hang in turn."""
    seed = int(os.environ.get("SEED") or random.randrange(1 << 32))
    for number in range(HANGS):
        boot_and_hang(ctx, list(KINDS)[number % len(KINDS)], seed + number)
    print(f"  hangs: {HANGS} of {HANGS} found and exported, seeds from {seed}", flush=True)


@case
def hang_through_the_firmware(ctx):
    """The same with the interrupt controllers as OVMF leaves them, by the host's clock."""
    outcome = ctx.boot("s_hang_interrupts_off", kernel=TEST_KERNEL, boot="uefi", nic="none", watchdog_ms=200)
    expect("panic: watchdog: interrupts are off (200 ms)" in outcome.expect_code(PANIC).serial, str(outcome))


@case
def further_nmis_leave_the_panic_alone(ctx):
    """The NMI of a button is a panic, once: the next ones come while its trace leaves, which is whole."""
    def inject(monitor):
        if "hangs after round" in (ctx.dir / "boot1" / "serial.log").read_text(errors="replace"):
            monitor.do("inject-nmi", 5)
    outcome, directory = ctx.traced("s_hang_task", code=PANIC, kernel=TEST_KERNEL, nic="none", seed=1, watchdog_ms=0,
                                    meanwhile=inject)
    expect(outcome.marker("panic: ") == "panic: exception 2 (NMI)", str(outcome))
    ctx.remora("adopt", directory)
    ctx.remora("verify", directory, codes=(ENDED_BADLY,))
    last = int(outcome.marker("hangs after round").split()[-1])
    expect(rounds_recorded(ctx, directory) == list(range(1, last + 1)), str(outcome))


@case
def hang_of_the_export_resets(ctx):
    """A panic whose export hangs is ended by a reset, whether a task panicked or the NMI of the first stage."""
    for app in ("s_hang_in_panic", "s_hang_twice"):
        outcome = ctx.boot(app, kernel=TEST_KERNEL, nic="none", watchdog_ms=LIMIT_MS)
        expect(outcome.code == 0, f"QEMU ends with 0 at a reset; {outcome}")
        expect(outcome.markers[-1] == f"watchdog: the export does not progress for {LIMIT_MS} ms: reset", str(outcome))


@case
def hang_of_a_sink_costs_only_that_sink(ctx):
    """A sink of AFTER_EXIT that does not return from a step, at the end of a run or after a panic: the other one
    exports the trace, whole. Without another one the machine is reset."""
    for app, said, status in (
            ("s_hang_in_sink", "panic: watchdog: the end of the run does not progress", 0),
            ("s_hang_in_sink_after_panic", f"watchdog: the export does not progress for {LIMIT_MS} ms", ENDED_BADLY)):
        outcome, directory = ctx.traced(app, code=PANIC, kernel=TEST_KERNEL, nic="none", seed=1, watchdog_ms=LIMIT_MS)
        expect(said in outcome.serial and "reset" not in outcome.serial, str(outcome))
        outcome.marker("export failed: stuck: timeout after 0 chunks")
        outcome.marker("exporting again, without stuck")
        ctx.remora("adopt", directory)
        ctx.remora("verify", directory, codes=(status,))
        last = int(outcome.marker("hangs after round").split()[-1])
        expect(rounds_recorded(ctx, directory) == list(range(1, last + 1)), str(outcome))
        ctx.run("rm", "-rf", directory, ctx.dir / "ramdisk.img")
    outcome = ctx.boot("s_hang_in_every_sink", kernel=TEST_KERNEL, nic="none", watchdog_ms=LIMIT_MS)
    outcome.marker("exporting again, without stuck too")
    expect(outcome.code == 0 and outcome.markers[-1].endswith("reset"), str(outcome))


@case
def wait_for_a_silent_target_is_no_hang(ctx):
    """One second of ARP is ten limits: the network is given up by its own rules, and the disk gets the trace."""
    image = ctx.make_ramdisk()
    outcome = ctx.boot("control", sink="auto", target="192.168.1.77", watchdog_ms=100, ramdisk=image,
                       waits=True).expect_code(OK)
    outcome.marker("exporting disk, because udp failed: unreachable")
    ctx.adopt(ctx.disk_files(image)[1])


@case
def progress_is_no_hang(ctx):
    """Twenty limits asleep, twenty limits of computing that says so, and a hang that nothing watches."""
    for app in ("s_no_hang_kicks", "s_no_hang_sleeps"):
        ctx.boot(app, kernel=TEST_KERNEL, nic="none", watchdog_ms=LIMIT_MS, duration_ms=20 * LIMIT_MS).expect_code(OK)
    outcome = ctx.boot("s_no_hang_computes", kernel=TEST_KERNEL, nic="none", watchdog_ms=0, duration_ms=20 * LIMIT_MS)
    outcome.expect_code(OK)
    outcome = ctx.boot("s_no_hang_computes", kernel=TEST_KERNEL, nic="none", watchdog_ms=LIMIT_MS,
                       duration_ms=20 * LIMIT_MS)
    outcome.expect_code(PANIC)


@case
def machine_without_the_means_says_so(ctx):
    """No I/O APIC in use, or no HPET: one line, and the run is as it was."""
    for options in ({"irq": "pic"}, {"devices": ["-machine", "hpet=off"]}):
        outcome = ctx.boot("t_guard_pages", kernel=TEST_KERNEL, nic="none", **options).expect_code(OK)
        expect("no watchdog: " in outcome.serial, str(outcome))
