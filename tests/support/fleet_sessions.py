# SPDX-License-Identifier: MIT
"""Sessions of many machines, made of one that was recorded (support/recorded.py): other boots, and its records
cut into as many chunks as a case needs. Each chunk has the whole preamble, as the machine's own have."""
import json
import struct

from support.recorded import control

SLOT = 16
NUMEVENTS = 0x70

# Offsets in the payload of chunk_begin, its length word included (docs/trace-format.md).
CHUNK, CPU, GENERATION, RECORDS, BOOT_ID, EVENTS = 4, 6, 10, 18, 56, 66


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value = TABLE[(value ^ byte) & 0xFF] ^ (value >> 8)
    return value ^ 0xFFFFFFFF


def _table():
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        yield value


TABLE = tuple(_table())


def with_header(preamble, *, chunk, generation, records, boot):
    """The preamble of the recorded chunk as that of another one."""
    slots = bytearray(preamble)
    count = next(at for at in range(len(slots) // SLOT) if slots[at * SLOT + 1] & 0xF0 == 0x30) + 1
    payload = bytearray(b"".join(bytes(slots[at:at + 4][2:]) + bytes(slots[at + 12:at + 16])
                                 for at in range(0, count * SLOT, SLOT)))
    struct.pack_into("<H", payload, CHUNK, chunk)
    struct.pack_into("<I", payload, GENERATION, generation)
    struct.pack_into("<I", payload, RECORDS, records)
    struct.pack_into("<Q", payload, BOOT_ID, boot)
    struct.pack_into("<Q", payload, EVENTS, records)
    for number in range(count):
        slots[number * SLOT + 2:number * SLOT + 4] = payload[6 * number:6 * number + 2]
        slots[number * SLOT + 12:number * SLOT + 16] = payload[6 * number + 2:6 * number + 6]
    for at in range(0, len(slots), SLOT):
        if struct.unpack_from("<H", slots, at)[0] == NUMEVENTS:
            struct.pack_into("<I", slots, at + 12, records)
    return bytes(slots)


def chunks_of(boot, chunks, repeat=1):
    """(header fields, bytes) of so many chunks of one boot; repeat: the records so many times in each, for size."""
    recorded = control()
    manifest = json.loads((recorded / "manifest.json").read_text())
    listed = manifest["chunks"][0]
    image = (recorded / listed["file"]).read_bytes()
    preamble, records = image[:listed["preamble"] * SLOT], image[listed["preamble"] * SLOT:]
    total = len(records) // SLOT
    for number in range(chunks):
        part = records[total * number // chunks * SLOT:total * (number + 1) // chunks * SLOT] * repeat
        fields = {"chunk": number % 65536, "generation": number // 65536, "records": len(part) // SLOT}
        yield fields, with_header(preamble, boot=boot, **fields) + part


def write_session(directory, boot, chunks=3, *, started=1_700_000_000, repeat=1):
    """A session directory, as a collector writes it. Returns its path."""
    recorded = control()
    manifest = json.loads((recorded / "manifest.json").read_text())
    directory.mkdir(parents=True)
    row, listed = manifest["chunks"][0], []
    for number, (fields, image) in enumerate(chunks_of(boot, chunks, repeat)):
        file = f"{number}trace.dat"
        (directory / file).write_bytes(image)
        records = image[row["preamble"] * SLOT:]
        stamps = [(struct.unpack_from("<I", records, at + 4)[0] << 32) | struct.unpack_from("<I", records, at + 8)[0]
                  for at in (0, len(records) - SLOT)]
        listed.append({**row, "file": file, "chunk": fields["chunk"], "generation": fields["generation"],
                       "announced_records": fields["records"], "events": fields["records"],
                       "records": fields["records"], "bytes": len(image), "first_tsc": stamps[0],
                       "last_tsc": stamps[1], "crc32c": f"{crc32c(image):08x}"})
    total = sum(chunk["records"] for chunk in listed)
    manifest |= {"boot_id": f"{boot:016x}", "started": started, "chunks": listed}
    manifest["announced"] |= {"chunks": chunks, "records": total}
    manifest["transfer"]["records"] = total
    (directory / "formats.json").write_bytes((recorded / "formats.json").read_bytes())
    (directory / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")
    return directory


def published(directory):
    """What a publisher sends of a session: (id, kind, body) of each message."""
    manifest = json.loads((directory / "manifest.json").read_text())
    boot = manifest["boot_id"]
    sent = [(f"{boot}/{chunk['cpu']}/{chunk['chunk']}/{chunk['generation']}", "chunk",
             (directory / chunk["file"]).read_bytes()) for chunk in manifest["chunks"]]
    if manifest["formats"]:
        sent.append((f"{boot}/formats", "formats", (directory / "formats.json").read_bytes()))
    return sent + [(f"{boot}/session", "session", (directory / "manifest.json").read_bytes())]
