# SPDX-License-Identifier: MIT
"""dissector: captures of trace packets, read by tshark with the script that `remora dissector` writes."""
import json
import re
import struct

from viewers import traces
from support.acknowledged import crc32c
from support.cases import case, expect, expect_equal

MAGIC = b"TRACER-V1.0\0"
PORT = 20000
PER_PACKET = 60
MAGIC_V2 = b"TRACER-V2.0\0"
EXPERTS = ("gap", "late", "duplicate", "cut", "length", "version", "magic", "crc", "totals", "unknown", "long", "time",
           "end")


def packet(number, body, *, records=None, size=None, magic=MAGIC):
    count = len(body) // 16 if records is None else records
    return magic + struct.pack("<III", number, count, 24 + len(body) if size is None else size) + body


TYPES = {"HELLO": 1, "HELLO_ACK": 2, "DATA": 3, "ACK": 4, "FIN": 5, "FIN_ACK": 6, "UNKNOWN": 7, "ABORT": 8}


def reliable(kind, seq, stamp, body, *, flags=0, stream=0, session=0xB007, mac=0x1234):
    """A packet of TRACER-V2.0, as docs/trace-format.md describes it."""
    data = kind == "DATA"
    head = MAGIC_V2 + struct.pack("<IIIBBH", (seq + 1 if data else 0) & 0xFFFFFFFF, len(body) // 16 if data else 0,
                                  64 + len(body), TYPES[kind], flags, stream)
    rest = struct.pack("<QQQ", session, seq, stamp)
    crc = crc32c(head + bytes(4) + rest + bytes(8) + body)
    return head + struct.pack("<I", crc) + rest + struct.pack("<Q", mac) + body


def packets_of(data):
    """The records of a file as packets, as the machine sends them."""
    step = 16 * PER_PACKET
    return [packet(1 + at // step, data[at:at + step]) for at in range(0, len(data), step)]


def capture(ctx, payloads, *, name="packets.pcap", port=PORT, keep=None):
    """Ethernet, IPv4 and UDP around them. keep: so many bytes of each frame are captured, by index."""
    out = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for index, payload in enumerate(payloads):
        udp = struct.pack(">HHHH", 20001, port, 8 + len(payload), 0) + payload
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), index, 0, 64, 17, 0, bytes([10, 0, 0, 1]),
                         bytes([10, 0, 0, 2]))
        frame = bytes(12) + b"\x08\x00" + ip + udp
        kept = frame[:(keep or {}).get(index, len(frame))]
        out += struct.pack("<IIII", index, 0, len(kept), len(frame)) + kept
    return traces.store(ctx, name, out)


def tshark(ctx, path, *options):
    script = ctx.dir / "remora.lua"
    if not script.exists():
        ctx.remora("dissector", "-o", script)
    done = ctx.run("tshark", "-n", "-X", f"lua_script:{script}", "-r", path, *options)
    for text in (done.stdout, done.stderr):
        expect("Lua Error" not in text and "lua:" not in text, f"the script fails: {text[-2000:]}")
    return done.stdout


def fields(ctx, path, *names):
    """One list per packet, with the list of values of each field."""
    options = [word for name in names for word in ("-e", name)]
    text = tshark(ctx, path, "-T", "fields", "-E", "aggregator=;", "-E", "separator=|", *options)
    return [[value.split(";") if value else [] for value in line.split("|")] for line in text.splitlines()]


def experts(ctx, path):
    """Frame -> the kinds of expert info in it, in the order of EXPERTS; frames without any are left out."""
    rows = fields(ctx, path, "frame.number", *(f"remora.expert.{kind}" for kind in EXPERTS))
    found = {int(row[0][0]): [kind for kind, value in zip(EXPERTS, row[1:]) if value] for row in rows}
    return {frame: kinds for frame, kinds in found.items() if kinds}


def control_bytes():
    return (traces.control() / "0trace.dat").read_bytes()


@case
def agrees_with_print(ctx):
    """Each record of the control session has the name, the stamp and the parameters that `remora print` gives it."""
    path = capture(ctx, packets_of(control_bytes()))
    rows = fields(ctx, path, "remora.record.name", "remora.record.tsc", "remora.record.slot", "remora.record.par1",
                  "remora.record.par2", "remora.chunk.preamble")
    preamble = int(rows[0][5][0])
    records = [record for row in rows for record in zip(*row[:5])][preamble:]
    # A long event is one event: its first slot represents it.
    heads = [record for record in records if record[2] in ("0", "1")]
    expected = ctx.events(traces.control())
    expect_equal(len(heads), len(expected), "events")
    for (name, ticks, slot, par1, par2), event in zip(heads, expected):
        expect_equal((name, int(ticks)), (event["event"], event["ticks"]), "name and stamp")
        if slot == "0":
            expect_equal((int(par1), int(par2)), (event["par1"], event["par2"]), f"parameters of {name}")
    expect_equal(experts(ctx, path), {}, "expert infos of a whole export")


# type and value of each argument, as a formatted event has them
ARGUMENTS = struct.pack("<Bh", 6, -20) + struct.pack("<BI", 3, 255) + struct.pack("<BQ", 11, 0xFFFFFFFF80001234) + \
    struct.pack("<Bd", 13, -2.5) + struct.pack("<Bf", 12, 0.75) + b"\x0e\x02ok" + struct.pack("<Bq", 8, -5)
FORMAT = "<%+5d %04X %p %.2f %f <%-4s> %d 100%%"
SHOWN = "<  -20 00FF 0xffffffff80001234 -2.50 0.750000 <ok  > -5 100%"


def image(text, number, build_id):
    """A kernel image with one format of that number: an ELF file of the sections that a reader looks for."""
    names = b"\0.trace_formats\0.note.gnu.build-id\0.shstrtab\0"
    sections = [(names.index(b".trace"), b"RFMT1\0\0\0".ljust(number, b"\0") + text.encode() + b"\0"),
                (names.index(b".note"), struct.pack("<III4sQ12x", 4, 20, 3, b"GNU\0", build_id)),
                (names.index(b".shstr"), names)]
    at, bodies, headers = 64, b"", bytes(64)
    for where, body in sections:
        headers += struct.pack("<IIQQQQIIQQ", where, 1, 0, 0, at + len(bodies), len(body), 0, 0, 1, 0)
        bodies += body
    head = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 62, 1, 0, 0, at + len(bodies), 0, 64, 0, 0, 64,
                       len(sections) + 1, len(sections))
    return head + bodies + headers


@case
def texts_of_trace_printf(ctx):
    """With the formats in the trace, or with the image whose build id the trace has; else number and arguments."""
    event = traces.long_event(traces.FORMATTED, 5000, struct.pack("<I", 16) + ARGUMENTS)
    kernel = traces.store(ctx, "kernel.elf", image(FORMAT, 16, 0xABCD))
    without = "format 16: -20 255 18446744071562072628 -2.5 0.75 ok -5"
    for name, options, script, expected in (
            ("inband", {"formats": {16: FORMAT}}, (), SHOWN), ("image", {"image": 0xABCD}, ("--kernel", kernel), SHOWN),
            ("other", {"image": 0xABCE}, ("--kernel", kernel), without), ("none", {"image": 0xABCD}, (), without)):
        ctx.remora("dissector", "-o", ctx.dir / "remora.lua", *script)
        path = capture(ctx, packets_of(traces.chunk(event, **options)), name=f"{name}.pcap")
        expect_equal(fields(ctx, path, "remora.record.text"), [[[expected]]], f"texts: {name}")
        expect_equal(experts(ctx, path), {}, f"expert infos: {name}")
    text = ctx.remora("print", ctx.dir / "inband.pcap").stdout
    expect(SHOWN in text, f"remora print shows another text: {text}")


@case
def names_what_numbers_mean(ctx):
    """Tasks, mutexes and waits have their names, also where a name's event is in two packets."""
    path = capture(ctx, packets_of(control_bytes()))
    rows = fields(ctx, path, "remora.record.parameters", "remora.name")
    shown = {text for row in rows for text in row[0]}
    for text in ("context=3 (sensor) level=1 (EDF)", "context=7 (telemetry) mutex=1 (state)", "vector=240 (timer)",
                 "context=9 (consumer) wait=1/1 (semaphore samples)"):
        expect(text in shown, f"no record says {text}")
    expect("telemetry" in {text for row in rows for text in row[1]}, "the name in two packets is not joined")


@case
def tables_are_those_of_remora_events(ctx):
    """Code, name and parameters of every event."""
    ctx.remora("dissector", "-o", ctx.dir / "remora.lua")
    script = (ctx.dir / "remora.lua").read_text()
    rows = re.findall(r'^  \[0x(..)\] = \{ "([^"]*)", "([^"]*)", "[^"]*", "([^"]*)", ', script, re.M)
    events = json.loads(ctx.remora("events", "--json").stdout)["events"]
    expect_equal([(int(code, 16), *rest) for code, *rest in rows],
                 [(event["code"], event["name"], event["par1"], event["par2"]) for event in events], "the table")


@case
def reports_what_is_wrong_with_the_sequence(ctx):
    """A gap, a duplicate and a late packet, each at its frame and nowhere else, with a link to the frame before."""
    good = packets_of(control_bytes())[:8]
    # frame:          1        2        3        4 (dup) 5: number 5, 4 is missing    6: number 4, late  7
    path = capture(ctx, [good[0], good[1], good[2], good[1], good[4], good[3], good[5]])
    expect_equal(experts(ctx, path), {4: ["duplicate"], 5: ["gap"], 6: ["late"]}, "expert infos")
    rows = fields(ctx, path, "remora.previous", "remora.gap", "remora.duplicate")
    expect_equal(rows[4][:2], [["3"], ["1"]], "link and size of the gap")
    expect_equal(rows[3][2], ["2"], "link to the first packet of that number")
    expect_equal(rows[6][0], ["5"], "link of the packet after the late one")


@case
def reports_false_and_cut_packets(ctx):
    """Lengths that contradict each other, a frame cut by the capture, garbage, other versions, unknown codes."""
    body = b"".join(traces.record(traces.IPOINT, 1000 + i, i) for i in range(4))
    strange = traces.record(0xD3, 2000) + traces.record(traces.IPOINT, 1999)
    payloads = [packet(1, body), packet(2, body, records=5), packet(3, body, size=24),
                packet(4, body, records=0xFFFFFFFF), packet(2, body), bytes(range(64)), MAGIC[:9],
                packet(3, body, magic=b"TRACER-V3.0\0"), packet(3, strange), packet(4, b""),
                packet(5, traces.record(0x300C, 3000))]
    path = capture(ctx, payloads, keep={4: 14 + 20 + 8 + 24 + 40})
    expect_equal(experts(ctx, path), {2: ["length"], 3: ["length"], 4: ["length"], 5: ["cut"], 6: ["magic"],
                                      7: ["magic"], 8: ["version"], 9: ["unknown", "time"]}, "expert infos")
    shown = [row[0] for row in fields(ctx, path, "remora.shown")]
    expect_equal(shown, [["4"], ["4"], ["4"], ["4"], ["2"], [], [], [], ["2"], ["0"], ["1"]], "records shown")


@case
def finds_packets_on_other_ports(ctx):
    """By their magic; the port is a preference, and so are the records."""
    path = capture(ctx, [packet(1, traces.record(traces.IPOINT, 5, 6))], port=4711)
    expect_equal(fields(ctx, path, "remora.record.name"), [[["ipoint"]]], "records on another port")
    text = tshark(ctx, path, "-o", "remora.show:FALSE", "-T", "fields", "-e", "remora.shown", "-e",
                  "remora.record.name")
    expect_equal(text.split(), ["1"], "without records")


@case
def reports_the_end_of_an_export(ctx):
    """export_end is decoded: chunks, result and totals."""
    end = traces.long_event(0x9C, 7, struct.pack("<IBQQQQ", 2, 1, 5000, 6, 7, 1 << 40))
    path = capture(ctx, [packet(1, end)])
    expect_equal(experts(ctx, path), {1: ["end"]}, "expert infos")
    row = fields(ctx, path, "remora.end.chunks", "remora.end.result", "remora.end.records", "remora.end.dropped",
                 "remora.end.refused", "remora.end.overwritten")[0]
    expect_equal(row, [["2"], ["1"], ["5000"], ["6"], ["7"], [str(1 << 40)]], "totals")


def exchange():
    """A short session as both sides send it; the times of sending are 1, 2, ..."""
    data = control_bytes()
    step = 16 * PER_PACKET
    parts = [data[at:at + step] for at in range(0, 3 * step, step)]
    return [reliable("HELLO", 0, 1, struct.pack("<QIHH", 0, 1_000_000, 4, 0), flags=1, mac=0),
            reliable("HELLO_ACK", 0, 1, struct.pack("<QQ", 0xC00C1E, 7 << 32 | 5), flags=1, mac=0),
            reliable("HELLO", 0, 2, struct.pack("<QIHH", 0xC00C1E, 1_000_000, 4, 0), flags=1, mac=0),
            reliable("HELLO_ACK", 0, 2, struct.pack("<QII", 0xC00C1E, 0, 64), mac=0),
            reliable("DATA", 0, 3, parts[0]), reliable("DATA", 1, 4, parts[1], flags=1),
            reliable("ACK", 2, 4, struct.pack("<QII", 0b10, 1, 63)),
            reliable("DATA", 2, 5, parts[2]), reliable("DATA", 1, 6, parts[1]),
            reliable("FIN", 3, 7, struct.pack("<QII", 3 * step, 0xABCD, 1)),
            reliable("FIN_ACK", 3, 7, struct.pack("<QII", 3 * step, 0xABCD, 1)),
            reliable("ABORT", 0, 1, struct.pack("<QQ", 2, 0), mac=0)]


@case
def shows_acknowledged_packets(ctx):
    """TRACER-V2.0: each type, its body, what it answers; a packet that is sent again is a duplicate; no packet has a
    wrong checksum."""
    path = capture(ctx, exchange())
    expect_equal(experts(ctx, path), {9: ["duplicate"]}, "expert infos")
    rows = fields(ctx, path, "remora.type", "remora.seq", "remora.sent", "remora.session", "remora.crc.good",
                  "remora.answers", "remora.window")
    expect_equal([int(row[0][0]) for row in rows], [1, 2, 1, 2, 3, 3, 4, 3, 3, 5, 6, 8], "types")
    expect_equal([int(row[1][0]) for row in rows], [0, 0, 0, 0, 0, 1, 2, 2, 1, 3, 3, 0], "sequence numbers")
    expect_equal([int(row[2][0]) for row in rows], [1, 1, 2, 2, 3, 4, 4, 5, 6, 7, 7, 1], "times of sending")
    expect_equal({row[3][0] for row in rows}, {"0x000000000000b007"}, "sessions")
    expect_equal({row[4][0] for row in rows}, {"1"}, "checksums")
    expect_equal([row[5] for row in rows], [[], ["1"], [], ["3"], [], [], ["6"], [], [], [], ["10"], ["1"]], "answers")
    expect_equal([row[6] for row in rows if row[6]], [["64"], ["63"]], "windows")
    for field, frame, expected in (
            ("cookie", 2, "0x0000000000c00c1e"), ("random", 2, "0x0000000700000005"), ("flags.cookie", 2, "1"),
            ("flags.fresh", 1, "1"), ("hello.tsc_khz", 1, "1000000"), ("hello.format", 1, "4"),
            ("flags.push", 5, "0"), ("flags.push", 6, "1"), ("ack.received", 7, "0x0000000000000002"),
            ("ack.not_durable", 7, "1"), ("ack.durable", 7, "1"), ("duplicate", 9, "6"),
            ("fin.bytes", 10, "2880"), ("fin.crc", 10, "0x0000abcd"), ("fin.streams", 11, "1"),
            ("abort.reason", 12, "2"), ("stream", 5, "0"), ("mac", 5, "0x0000000000001234")):
        expect_equal(fields(ctx, path, f"remora.{field}")[frame - 1], [[expected]], f"remora.{field} of frame {frame}")
    answered = tshark(ctx, path, "-2", "-T", "fields", "-e", "remora.answered").splitlines()
    expect_equal(answered, ["2", "", "4", "", "", "7", "", "", "", "11", "", ""], "answered in")


@case
def decodes_the_records_of_acknowledged_packets(ctx):
    """As those of version 1: names and values of each record, names from the metadata, long events in two packets."""
    first = capture(ctx, packets_of(control_bytes()))
    step = 16 * PER_PACKET
    data = control_bytes()
    second = capture(ctx, [reliable("DATA", at // step, 1 + at, data[at:at + step])
                           for at in range(0, len(data), step)], name="reliable.pcap")
    names = [f"remora.{field}" for field in ("record.name", "record.tsc", "record.parameters", "name", "chunk.boot_id")]
    expect_equal(fields(ctx, second, *names), fields(ctx, first, *names), "records")
    expect_equal(experts(ctx, second), {}, "expert infos")
    # Two sessions and two streams at once, and another port: each has a sequence of its own.
    mixed = [reliable("DATA", seq, 9, data[:160], stream=stream, session=session)
             for seq in (0, 1) for stream in (0, 1) for session in (1, 2)]
    expect_equal(experts(ctx, capture(ctx, mixed, name="mixed.pcap", port=4711)), {}, "expert infos of two sessions")


@case
def reports_damaged_acknowledged_packets(ctx):
    """Any flipped bit is a wrong checksum, of which nothing is learnt; so is a length that does not fit."""
    good = exchange()
    flipped = []
    for at, packet_at in ((30, 4), (40, 4), (100, 4), (66, 6), (32, 9)):
        bad = bytearray(good[packet_at])
        bad[at] ^= 0x10
        flipped.append(bytes(bad))
    path = capture(ctx, flipped)
    found = experts(ctx, path)
    expect_equal([frame for frame, kinds in found.items() if "crc" in kinds], [1, 2, 3, 4, 5], str(found))
    expect_equal({row[0][0] for row in fields(ctx, path, "remora.crc.good")}, {"0"}, "checksums")
    mac = bytearray(good[4])
    mac[60] ^= 1  # is not covered by the checksum
    other = reliable("FIN_ACK", 3, 7, struct.pack("<QII", 2880, 0xABCE, 1))
    gap = reliable("DATA", 3, 8, good[4][64:])
    wrong = [good[9], other, bytes(mac), gap, reliable("DATA", 1, 9, b""), reliable("ACK", 1, 9, bytes(32)),
             reliable("DATA", 4, 9, good[4][64:], stream=64), good[4][:40], good[4]]
    path = capture(ctx, wrong, name="wrong.pcap", keep={8: 14 + 20 + 8 + 64 + 40})
    expect_equal(experts(ctx, path), {2: ["totals"], 4: ["gap"], 5: ["length"], 6: ["length"], 7: ["length"],
                                      8: ["length"], 9: ["duplicate", "cut"]}, "expert infos")
