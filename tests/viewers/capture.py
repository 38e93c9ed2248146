# SPDX-License-Identifier: MIT
"""Network captures: made here, counted by tshark, read by remora."""
import json
import struct

from viewers import traces
from support.cases import case, expect, expect_equal

RECORDS_MAX = 60


def checksum(data):
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def frame(payload):
    addresses = bytes((10, 0, 2, 15, 10, 0, 2, 2))
    length = 8 + len(payload)
    udp = struct.pack(">HHHH", 20000, 20000, length, 0) + payload
    total = checksum(addresses + struct.pack(">HH", 17, length) + udp)
    udp = udp[:6] + struct.pack(">H", total or 0xFFFF) + udp[8:]
    head = struct.pack(">BBHIBBH", 0x45, 0, 20 + len(udp), 0, 64, 17, 0)
    head = head[:10] + struct.pack(">H", checksum(head + addresses))
    return bytes(12) + b"\x08\x00" + head + addresses + udp


def packets(image):
    size = RECORDS_MAX * 16
    for number, at in enumerate(range(0, len(image), size), 1):
        records = image[at:at + size]
        yield b"TRACER-V1.0\0" + struct.pack("<III", number, len(records) // 16, 24 + len(records)) + records


def pcap(frames):
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for number, data in enumerate(frames):
        out += struct.pack("<IIII", number, 0, len(data), len(data)) + data
    return out


def image_of(trace):
    files = sorted(trace.glob("*trace.dat"), key=lambda path: int(path.name[:-len("trace.dat")])) \
        if trace.is_dir() else [trace]
    return b"".join(path.read_bytes() for path in files)


@case
def recorded(ctx):
    """The chunks of the recorded run, as packets: tshark counts them all, remora finds the same events."""
    trace = traces.control()
    frames = [frame(payload) for payload in packets(image_of(trace))]
    path = traces.store(ctx, "net.pcap", pcap(frames))
    lines = ctx.run("tshark", "-r", path, "-Y", "udp.port == 20000 && !ip.checksum.status == 0", "-T", "fields", "-e",
                    "frame.number", "-o", "udp.check_checksum:TRUE").stdout.splitlines()
    expect_equal(len(lines), len(frames), "datagrams that tshark finds")
    found = [(event["ticks"], event["event"]) for event in ctx.events(path)]
    expect_equal(found, [(event["ticks"], event["event"]) for event in ctx.events(trace)], "events")


@case
def packets_that_never_came(ctx):
    """A packet of the middle is missing: every format that has words for a loss uses them, and says how much."""
    image = b"".join(traces.record(traces.IPOINT, 1000 * number, 0, number) for number in range(RECORDS_MAX * 5))
    frames = [frame(payload) for payload in packets(image)]
    del frames[2]
    path = traces.store(ctx, "gap.pcap", pcap(frames))
    khz = ("--tsc-khz", str(traces.KHZ))

    def written(form):
        return ctx.convert(path, form, *khz, codes=(0, 2))

    for form in ("chrome-json", "vcd", "perfetto", "kernelshark"):
        expect(b"lost at least 1 records" in written(form).read_bytes(), f"{form} says nothing")
    expect("LOST 1 EVENTS" in written("ftrace").read_text(), "ftrace says nothing")
    expect(b"TRACE_DROPPED::1T" in written("kev").read_bytes(), "kev says nothing")
    records = list(struct.iter_unpack(">HBBId", written("tlog").read_bytes()))
    expect_equal([arg2 for _, kind, _, arg2, _ in records if kind == 39], [1], "gaps of tlog")
    for form in ("ctf", "ctf-lttng"):
        said = ctx.run("babeltrace2", written(form))
        expect("discarded 1 event" in said.stderr, f"{form} says nothing: {said.stderr}")
    for form in ("dat", "compact"):
        summary = json.loads(ctx.remora("summary", "--json", written(form), codes=(0, 2)).stdout)
        expect_equal(summary["records"]["dropped"], 1, f"records that {form} says were dropped")
    meta = ctx.remora("sql", path, "select value from meta where key = 'packets_missing'", "--csv", codes=(0, 2))
    expect_equal(meta.stdout.split(), ["value", "1"], "sql")
