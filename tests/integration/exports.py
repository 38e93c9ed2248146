# SPDX-License-Identifier: MIT
"""The trace is exported whole through each sink, the same through both, and the same twice when the clock counts
instructions."""
import contextlib
import json
import random
import re
import socket
import struct
import threading
import time

from support.cases import case, expect
from support.context import KERNEL, TEST_KERNEL
from support.guests import OK, free_port, trace_files
from integration.guest import register_each

PACKET_MAGIC = b"TRACER-V1.0\0"


@case
def both_sinks_carry_the_same_bytes(ctx):
    """Each file of the UDP session is the ramdisk's file of that number, byte for byte."""
    image = ctx.make_ramdisk()
    with ctx.collector() as session:
        ctx.boot("control", sink="both", ramdisk=image).expect_code(OK)
    from_disk, directory = ctx.disk_files(image)
    from_network = trace_files(session)
    expect(sorted(from_disk) == sorted(from_network), f"chunks {sorted(from_disk)} and {sorted(from_network)}")
    for number, content in from_disk.items():
        expect(content == from_network[number], f"{number}trace.dat differs")
    ctx.remora("verify", session)
    ctx.adopt(directory)


@case
def packets_are_what_the_published_format_says(ctx):
    """An independent decoder sees good checksums, consecutive packet numbers and exactly the session's records."""
    pcap = ctx.dir / "wire.pcap"
    with ctx.collector() as session:
        ctx.boot("control", sink="udp", protocol="v1", pcap=pcap).expect_code(OK)
    fields = ctx.run("tshark", "-r", pcap, "-o", "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-d",
                     f"udp.port=={ctx.port},data", "-Y", f"ip.src==192.168.1.10 && udp.dstport=={ctx.port}", "-T",
                     "fields", "-e", "ip.checksum.status", "-e", "udp.checksum.status", "-e", "data.data").stdout
    stream = b""
    packets = [line.split("\t") for line in fields.splitlines()]
    expect(packets, "no packet on the wire")
    for number, (ip_status, udp_status, payload) in enumerate(packets, 1):
        expect((ip_status, udp_status) == ("1", "1"), f"packet {number}: checksums {ip_status} {udp_status}, not good")
        data = bytes.fromhex(payload.replace(":", ""))
        expect(data[:12] == PACKET_MAGIC, f"packet {number}: magic {data[:12]}")
        got, records, size = struct.unpack_from("<III", data, 12)
        expect(got == number, f"packet {number} says it is number {got}")
        expect(size == len(data) == 24 + 16 * records, f"packet {number}: {size} bytes, {records} records, {len(data)}")
        stream += data[24:]
    files = trace_files(session)
    expected = b"".join(files[number] for number in sorted(files))
    expect(stream.startswith(expected), "the packets do not carry the session's records in order")
    end = len(stream) - len(expected)
    expect(0 < end <= 64 * 16, f"{end} bytes follow the last chunk: not one end record")


@case
def texts_of_trace_printf_in_the_packets(ctx):
    """A kernel built with FORMATS=inband needs no image: a session, a capture and Wireshark show the texts."""
    ctx.run("make", "FORMATS=inband", "kernel")
    pcap = ctx.dir / "wire.pcap"
    with ctx.collector() as session:
        ctx.boot("control", kernel=KERNEL.replace(".elf", "-inband.elf"), sink="udp", protocol="v1",
                 pcap=pcap).expect_code(OK)
    shown = []
    for trace in (session, pcap):
        done = ctx.remora("print", trace, "--event", "formatted_event")
        expect("W-FORMATS" not in done.stderr, done.stderr)
        shown.append(re.findall(r"\d+ samples so far, position -?\d+ mrad", done.stdout))
    expect(shown[0] and shown[0] == shown[1], f"texts of the session and of the capture: {shown}")
    ctx.remora("dissector", "-o", ctx.dir / "remora.lua")
    texts = ctx.run("tshark", "-n", "-X", f"lua_script:{ctx.dir / 'remora.lua'}", "-d", f"udp.port=={ctx.port},remora",
                    "-r", pcap, "-T", "fields", "-E", "aggregator=;", "-e", "remora.record.text").stdout
    found = [text for line in texts.splitlines() for text in line.split(";") if text]
    expect(found == shown[0], f"texts in Wireshark: {found[:5]}, expected {shown[0][:5]}")


def verify_account(ctx, session, capture, closes):
    """`remora verify`: the account closes, or the exit status is 2 and a line says what does not hold."""
    run = ctx.remora("verify", session, "--json", "--capture", capture, codes=(0,) if closes else (2,))
    account = json.loads(run.stdout)["account"]
    expect(account["closes"] is closes, f"closes: {account['closes']}; {account}")
    return account


@case
def account_closes_whatever_was_lost_in_the_machine(ctx):
    """What the tracer counts, what it sends, what arrives and what another receiver captures are the same records:
    also where chunks are overwritten, where records are dropped, and where a chunk is left before it is full."""
    lost = {}
    for app in ("control", "t_chunk_cyclic", "t_chunk_jump", "t_chunk_stop", "t_chunk_next"):
        pcap = ctx.dir / f"{app}.pcap"
        with ctx.collector() as session:
            ctx.boot(app, kernel=KERNEL if app == "control" else TEST_KERNEL, sink="udp", pcap=pcap).expect_code(OK)
        account = verify_account(ctx, session, pcap, True)
        expect(account["committed"] > 0, f"{app}: {account}")
        for way in ("dropped", "overwritten"):
            lost[way] = lost.get(way, 0) + account[way]
    expect(lost["dropped"] > 0 and lost["overwritten"] > 0, f"nothing was lost in the machine: {lost}")
    path = session / "0trace.dat"
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    verify_account(ctx, session, pcap, False)


def files_of_a_run(ctx, seed, **boot):
    """The trace files of a run with that seed; the directory and the ramdisk are removed."""
    _, directory = ctx.traced("control", seed=seed, **boot)
    files = trace_files(directory)
    ctx.run("rm", "-rf", directory, ctx.dir / "ramdisk.img")
    return files


@case
def icount_runs_are_identical(ctx):
    """Two boots with the same seed leave the same bytes."""
    expect(files_of_a_run(ctx, 7) == files_of_a_run(ctx, 7), "two runs differ")


@contextlib.contextmanager
def restless_network():
    """Options of QEMU for a card to which a frame for everybody comes every few microseconds, at random times. Each
    wakes the emulator's other thread."""
    own, cards = free_port(), free_port()
    frame = b"\xff" * 6 + bytes.fromhex("525400000001 0806") + bytes(46)
    over = threading.Event()

    def send():
        chance = random.Random(1)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            while not over.is_set():
                with contextlib.suppress(OSError):  # QEMU has not begun, or has ended
                    sender.sendto(frame, ("127.0.0.1", cards))
                time.sleep(chance.random() * 20e-6)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield ["-netdev", f"socket,id=net,udp=127.0.0.1:{own},localaddr=127.0.0.1:{cards}",
               "-device", "ne2k_pci,netdev=net,romfile="]
    finally:
        over.set()
        thread.join()


@case(timeout_s=120)
def host_changes_no_tick(ctx):
    """Whatever wakes the emulator during a run, it leaves the same bytes."""
    machine = {"nic": "none", "nic_word": "pci"}
    with restless_network() as card:
        quiet = files_of_a_run(ctx, 7, devices=["-device", "ne2k_pci,romfile="], **machine)
        for _ in range(4):
            expect(files_of_a_run(ctx, 7, devices=card, **machine) == quiet, "a run with a restless network differs")


@case
def seed_changes_the_run(ctx):
    """What icount_runs_are_identical compares is able to differ."""
    expect(files_of_a_run(ctx, 1) != files_of_a_run(ctx, 2), "two seeds give the same trace")


@case
def isa_card_exports(ctx):
    """The same driver with fixed ports."""
    with ctx.collector() as session:
        ctx.boot("control", sink="udp", nic="isa").expect_code(OK)
    ctx.remora("verify", session)


@case
def narrow_data_port_exports(ctx):
    """The data port of the PCI card by words and by bytes. 32 bits at a time are the default."""
    for bits in (16, 8):
        with ctx.collector() as session:
            ctx.boot("control", sink="udp", width=bits).expect_code(OK)
        ctx.remora("verify", session)


@case
def printed_and_summed_up(ctx):
    """Every record of a session is printed, and the summary names every task that the print names."""
    with ctx.collector() as session:
        ctx.boot("control", sink="udp").expect_code(OK)
    printed = ctx.remora("print", session).stdout
    expect(printed.count("\n") > 100, f"{printed.count(chr(10))} lines printed")
    expect("control" in ctx.remora("summary", session).stdout, "the summary does not name the application")
    for command in ("print", "summary", "verify"):
        ctx.remora(command, "--json", session)
    tracing = json.loads(ctx.remora("summary", "--json", session).stdout)["tracing"]
    cost = tracing["enabled_ticks"]
    expect(tracing["clock_mode"] == "icount" and 0 < cost <= 22, f"what a record costs: {tracing}")
    expect(tracing["time_ticks"] == cost * tracing["records"], f"what tracing took: {tracing}")
    expect(0 < tracing["share"] < 0.1, f"the share that tracing took: {tracing}")


def trace_of(name, **words):
    def body(ctx):
        ctx.adopt(ctx.traced(name, **words)[1])
    return body


def register_applications():
    """For each application of the product kernel: its trace is whole, its structure holds (remora verify), and every
    decision is that of the theory (remora check); likewise in steps, if it can run so."""
    register_each(KERNEL, lambda name: not name.startswith("t_"), lambda name: f"trace_of_{name}", trace_of)
    for grain in ("blocks", "instructions"):
        register_each(KERNEL, lambda name: name.startswith("stepped"),
                      lambda name, to=grain: f"trace_of_{name}_in_{to}",
                      lambda name, to=grain: trace_of(name, itrace=to))
