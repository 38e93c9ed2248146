# SPDX-License-Identifier: MIT
"""STREAM=ON: the trace leaves while the application runs, through memory that is smaller than it."""
import json

from integration.faults import misses_as_always
from integration.relay import Relay
from support.cases import case, expect
from support.guests import BAD_COMMAND_LINE, EXPORT_FAILED, OK, trace_files

MEMORY = 32 * (65536 + 4096)  # of the chunks (kernel/root/streaming.cpp)


def expect_account(ctx, session, outcome):
    """The session has what the kernel kept, and says exactly how many records it dropped; that number."""
    counts = outcome.marker("trace: ").split()
    kept, dropped = int(counts[1]), int(counts[4])
    (account,) = json.loads(ctx.remora("verify", session, "--json").stdout)["account"]["processors"]
    made = ctx.remora("print", session).stdout.count(" blackout_")
    expect((account["records"] - made, account["dropped"]) == (kept, dropped), f"{account}, {made}; {counts}")
    return dropped


@case(timeout_s=180, alone=True)
def stream_of_a_run_longer_than_its_memory(ctx):
    """Everything arrives, and every decision is the theory's. What a host drops that does not keep pace with a clock
    that counts instructions is counted exactly."""
    with ctx.collector() as session:
        outcome = ctx.boot("control", sink="udp", stream="on", duration_ms=9000).expect_code(OK)
    expect(" 0 overwritten" in outcome.marker("trace: "), str(outcome))
    files = trace_files(session)
    received = sum(len(content) for content in files.values())
    expect(len(files) > 32 and received > 1.1 * MEMORY, f"{len(files)} chunks, {received} bytes: they fit in memory")
    expect("TRACER-V2.0, acknowledged" in outcome.marker("exported "), str(outcome))
    print(f"  stream: {expect_account(ctx, session, outcome)} records dropped", flush=True)
    ctx.check(session)


@case(timeout_s=180)
def stream_that_nothing_takes(ctx):
    """Without a collector no deadline is missed that is met otherwise, the memory fills up, what is lost is counted
    exactly, and the disk gets what is left."""
    for duration, lost in ((300, False), (9000, True)):
        image = ctx.make_ramdisk()
        outcome = ctx.boot("control", sink="auto", stream="on", ramdisk=image, duration_ms=duration,
                           waits=lost).expect_code(OK)
        session = ctx.disk_files(image)[1]
        ctx.remora("adopt", session)
        expect((expect_account(ctx, session, outcome) > 0) == lost, str(outcome))
        ctx.check(session)
        if not lost:
            misses_as_always(ctx, session)
        ctx.run("rm", "-rf", session, image)


@case(timeout_s=180, alone=True)
def stream_to_a_target_that_appears_later(ctx):
    """It answers the ninth request of ARP, some seconds after the first one: what was recorded until then leaves, and
    what follows, which memory could not hold."""
    with ctx.collector() as session, Relay(ctx, ctx.port, duplicate=0, late=0, flip=0, deaf=8) as relay:
        outcome = ctx.boot("control", sink="udp", stream="on", duration_ms=9000, **relay.machine()).expect_code(OK)
    files = trace_files(session)
    expect(len(files) > 32 and sum(len(content) for content in files.values()) > 1.1 * MEMORY,
           f"{len(files)} chunks: they fit in memory")
    expect("TRACER-V2.0, acknowledged" in outcome.marker("exported "), str(outcome))
    print(f"  stream: {expect_account(ctx, session, outcome)} records dropped", flush=True)


@case
def stream_that_cannot_work_is_refused(ctx):
    outcome = ctx.boot("control", sink="disk", stream="on").expect_code(BAD_COMMAND_LINE)
    expect("sink=udp or sink=auto" in outcome.serial, str(outcome))
    outcome = ctx.boot("control", sink="udp", stream="on", protocol="v1").expect_code(BAD_COMMAND_LINE)
    expect("protocol=auto or protocol=v2" in outcome.serial, str(outcome))
    outcome = ctx.boot("manual_example", sink="udp", stream="on").expect_code(BAD_COMMAND_LINE)
    expect("makes its chunks itself" in outcome.serial, str(outcome))
    outcome = ctx.boot("control", sink="udp", stream="on", protocol="v2", nic="none", nic_word="pci")
    outcome.expect_code(EXPORT_FAILED)
