# SPDX-License-Identifier: MIT
"""TRACER-V2.0 from end to end where the network and both ends fail: what arrives is, byte for byte, what the ramdisk of
the same run has."""
import contextlib
import json
import shutil
import time

from integration.relay import Relay
from support import collectors
from support.cases import CASES, Case, case, expect
from support.guests import EXPORT_FAILED, OK, trace_files

FIN_ACK = 6  # a type of packet (docs/trace-format.md)


@contextlib.contextmanager
def record(ctx, *options):
    """`remora record` until it ends, or is killed by whoever uses it."""
    with collectors.record(ctx, *options, port=ctx.port, log="collector.log", mode="a") as (process, _):
        yield process


def same_as_the_ramdisk(ctx, session, image):
    expect(trace_files(session) == ctx.disk_files(image)[0], "the session is not the ramdisk")
    for command in ("verify", "check"):
        ctx.remora(command, session)


def lossy(loss):
    def body(ctx):
        image = ctx.make_ramdisk()
        session = ctx.dir / "udp"
        with record(ctx, "--out", session) as collector, Relay(ctx, ctx.port, loss=loss) as relay:
            outcome = ctx.boot("control", sink="both", protocol="v2", ramdisk=image, duration_ms=1000,
                               **relay.machine()).expect_code(OK)
            expect(collector.wait(10) == 0, (ctx.dir / "collector.log").read_text())
        print(f"    {relay.carried} datagrams, {relay.faults}; {outcome.marker('export took ')}")
        expect(all(relay.faults[name] > 0 for name in ("twice", "late", "flipped")), f"{relay.faults}")
        expect((relay.faults["lost"] > 0) == (loss > 0), f"{relay.faults}")
        same_as_the_ramdisk(ctx, session, image)
    return body


for percent in (0, 1, 10, 30):
    CASES.append(Case(f"bad_network_loses_{percent}_percent", lossy(percent / 100), timeout_s=180))


@case
def bad_network_loses_the_last_answers(ctx):
    """The collector has everything and stays until the guest knows."""
    left = [6]

    def drop(payload):
        if payload[24] == FIN_ACK and left[0]:
            left[0] -= 1
            return True
        return False

    with record(ctx, "--out", ctx.dir / "udp") as collector:
        with Relay(ctx, ctx.port, duplicate=0, late=0, flip=0, drop=drop) as relay:
            ctx.boot("control", sink="udp", protocol="v2", **relay.machine()).expect_code(OK)
        expect(collector.wait(10) == 0 and not left[0], (ctx.dir / "collector.log").read_text())


@case(timeout_s=240)
def bad_network_and_a_collector_that_is_killed(ctx):
    """Killed twice in the middle of the transfer, each time at another place, and started again with its directory."""
    image = ctx.make_ramdisk()
    session = ctx.dir / "udp"
    places = [300, 700]
    with contextlib.ExitStack() as stack, Relay(ctx, ctx.port, loss=0.05) as relay:
        collectors = [stack.enter_context(record(ctx, "--out", session))]

        def restart(_):
            if places and relay.carried > places[0]:
                places.pop(0)
                collectors[-1].kill()
                collectors[-1].wait()
                time.sleep(0.2)
                collectors.append(stack.enter_context(record(ctx, "--out", session, "--force")))

        ctx.boot("control", sink="both", protocol="v2", ramdisk=image, duration_ms=3000, meanwhile=restart,
                 **relay.machine()).expect_code(OK)
        expect(not places, f"the transfer was over after {relay.carried} datagrams")
        expect(collectors[-1].wait(10) == 0, (ctx.dir / "collector.log").read_text())
    same_as_the_ramdisk(ctx, session, image)


@case(timeout_s=240, alone=True)
def bad_network_and_a_collector_that_loses_what_it_has(ctx):
    """Chunks that were acknowledged are recorded into again, so the packets are gone: both ends count the same."""
    session = ctx.dir / "udp"
    with contextlib.ExitStack() as stack, Relay(ctx, ctx.port, duplicate=0, late=0, flip=0) as relay:
        collectors = [stack.enter_context(record(ctx, "--out", session))]

        def restart(_):
            if relay.carried > 400 and len(collectors) == 1:
                collectors[0].kill()
                collectors[0].wait()
                shutil.rmtree(session)
                shutil.rmtree(f"{session}.journal")
                collectors.append(stack.enter_context(record(ctx, "--out", session)))

        outcome = ctx.boot("control", sink="udp", protocol="v2", stream="on", duration_ms=4000, meanwhile=restart,
                           **relay.machine()).expect_code(EXPORT_FAILED)
        expect(len(collectors) == 2, f"the transfer was over after {relay.carried} datagrams")
        expect(collectors[-1].wait(20) != 0, (ctx.dir / "collector.log").read_text())
    said = outcome.marker("export failed: ")
    lost = json.loads((session / "manifest.json").read_text())["transfer"]["lost"]
    expect(lost > 0 and said.startswith(f"export failed: udp: {lost} packets lost by the collector after "),
           f"{said}; the collector: {lost}")


@case(timeout_s=240)
def bad_network_and_a_guest_that_is_reset(ctx):
    """Ended in the middle of its transfer: its session stays incomplete, and what the next boot sends is a session of
    its own, whole."""
    served = ctx.dir / "served"
    served.mkdir()
    with record(ctx, "--serve", served) as collector, Relay(ctx, ctx.port, loss=0.05) as relay:

        def end(monitor):
            if relay.carried > 300:
                monitor.do("quit")

        ctx.boot("control", sink="udp", protocol="v2", duration_ms=3000, meanwhile=end, **relay.machine())
        expect(relay.carried > 300, f"the guest ended after {relay.carried} datagrams")
        image = ctx.make_ramdisk()
        ctx.boot("control", sink="both", protocol="v2", ramdisk=image, seed=2, **relay.machine()).expect_code(OK)
        time.sleep(1)
        collector.terminate()
        collector.wait(20)
    sessions = sorted(path.parent for path in served.rglob("manifest.json"))
    whole = [path for path in sessions if ctx.remora("verify", path, codes=None).returncode == 0]
    expect(len(sessions) == 2 and len(whole) == 1, f"{sessions}, whole: {whole}")
    same_as_the_ramdisk(ctx, whole[0], image)
