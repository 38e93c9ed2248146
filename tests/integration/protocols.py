# SPDX-License-Identifier: MIT
"""By which protocol a run's chunks leave: acknowledged, as published, or what the collector answers. A capture shows
what was on the wire."""
import socket
import threading

from support.cases import case, expect
from support.guests import EXPORT_FAILED, OK, trace_files

V1, V2 = b"TRACER-V1.0\0", b"TRACER-V2.0\0"


def packets(pcap):
    """How many packets of each version a capture holds."""
    content = pcap.read_bytes()
    return content.count(V1), content.count(V2)


def exported(ctx, **boot):
    """A run to a collector and to the ramdisk: the line of the network's sink, the packets of V1 and of V2."""
    image = ctx.make_ramdisk()
    pcap = ctx.dir / "wire.pcap"
    with ctx.collector() as session:
        outcome = ctx.boot("control", sink="both", ramdisk=image, pcap=pcap, **boot).expect_code(OK)
    expect(trace_files(session) == ctx.disk_files(image)[0], "the network's files are not those of the ramdisk")
    expect(not session.with_suffix(".journal").exists(), "the journal of a session that has ended was left")
    for command in ("verify", "check", "print", "summary"):
        ctx.remora(command, session)
    ctx.remora("verify", session, "--capture", pcap)
    return next(line for line in outcome.markers if "records by udp" in line), *packets(pcap)


@case
def protocol_is_acknowledged_if_the_collector_answers(ctx):
    """Without a word about it: TRACER-V2.0, the session complete, its bytes those of the ramdisk."""
    line, published, acknowledged = exported(ctx)
    expect("TRACER-V2.0, acknowledged" in line and published == 0 and acknowledged > 100, f"{line}: {published}")


@case
def protocol_published_if_it_is_chosen(ctx):
    line, published, acknowledged = exported(ctx, protocol="v1")
    expect("TRACER-V1.0, not acknowledged" in line and acknowledged == 0, f"{line}: {acknowledged} packets of V2")
    expect(published > 100, f"{published} packets of V1")


@case
def protocol_is_the_published_one_without_an_answer(ctx):
    """A receiver that knows only TRACER-V1.0 gets the whole trace after a second; the kernel says what was used."""
    received = []
    over = threading.Event()

    def receive():
        while not over.is_set():
            try:
                received.append(receiver.recv(2048))
            except TimeoutError:
                pass

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", ctx.port))
        receiver.settimeout(0.1)
        thread = threading.Thread(target=receive)
        thread.start()
        try:
            image = ctx.make_ramdisk()
            outcome = ctx.boot("control", sink="both", ramdisk=image).expect_code(OK)
        finally:
            over.set()
            thread.join()
    expect("TRACER-V1.0, not acknowledged" in next(line for line in outcome.markers if "by udp" in line), str(outcome))
    asked = [packet for packet in received if packet.startswith(V2)]
    expect(1 < len(asked) < 8 and all(len(packet) == 80 for packet in asked), f"{len(asked)} packets of V2")
    records = b"".join(packet[24:] for packet in received if packet.startswith(V1))
    files = ctx.disk_files(image)[0]
    expect(records.startswith(b"".join(files[number] for number in sorted(files))), "not the records of the ramdisk")


@case
def protocol_acknowledged_without_a_collector(ctx):
    """It gives up after its patience, says so, and the ramdisk has everything."""
    image = ctx.make_ramdisk()
    outcome = ctx.boot("control", sink="both", protocol="v2", ramdisk=image).expect_code(EXPORT_FAILED)
    expect("udp: timeout" in outcome.marker("export failed: "), str(outcome))
    ctx.adopt(ctx.disk_files(image)[1])


@case
def sink_is_the_network_while_a_collector_answers(ctx):
    """SINK=auto: the disk stays empty."""
    image = ctx.make_ramdisk()
    with ctx.collector() as session:
        outcome = ctx.boot("control", sink="auto", ramdisk=image).expect_code(OK)
    expect("TRACER-V2.0, acknowledged" in outcome.marker("exported "), str(outcome))
    expect("TRACE" not in ctx.run("mdir", "-b", "-i", image, "::", codes=None).stdout.upper(), "a file on the disk")
    ctx.remora("verify", session)


def on_the_disk(ctx, reason, **boot):
    """SINK=auto without a network that carries: every record is on the ramdisk, the reason on the console, no task
    missed a deadline that it meets otherwise."""
    image = ctx.make_ramdisk()
    outcome = ctx.boot("control", sink="auto", ramdisk=image, **boot).expect_code(OK)
    expect(reason in outcome.marker("exporting disk, because udp failed: "), str(outcome))
    kept = int(outcome.marker("trace: ").split()[1])
    expect(f"{kept} records by disk" in outcome.marker("exported "), f"{kept} records were kept; {outcome}")
    ctx.adopt(ctx.disk_files(image)[1])


@case
def sink_is_the_disk_without_a_collector(ctx):
    on_the_disk(ctx, "unreachable")


@case
def sink_is_the_disk_without_an_acknowledgement(ctx):
    on_the_disk(ctx, "timeout", protocol="v2")


@case
def sink_is_the_disk_without_a_card(ctx):
    on_the_disk(ctx, "not found", nic="none", nic_word="pci")
