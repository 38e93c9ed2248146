# SPDX-License-Identifier: MIT
"""`remora record` as a process, and what a machine sends to it (TRACER-V1.0)."""
import contextlib
import socket
import struct
import subprocess
import time

from support.cases import expect
from support.context import REMORA, ROOT

MAGIC = b"TRACER-V1.0\0"
RECORD = 16
PACKET_RECORDS = 60
EXPORT_END = 0x9C


def packets(image, number):
    """An image as a sender cuts it."""
    step = PACKET_RECORDS * RECORD
    for piece in (image[at:at + step] for at in range(0, len(image), step)):
        yield MAGIC + struct.pack("<III", number, len(piece) // RECORD, len(piece) + 24) + piece
        number += 1


def export_end(chunks, records):
    """The event export_end: its payload in slots of six bytes."""
    payload = struct.pack("<IBQQQQ", chunks, 1, records, 0, 0, 0)
    payload = struct.pack("<H", len(payload) + 2) + payload
    payload += bytes(-len(payload) % 6)
    slots = [payload[at:at + 6] for at in range(0, len(payload), 6)]
    flags = [0x1000] + [0x2000] * (len(slots) - 2) + [0x3000]
    return b"".join(struct.pack("<H", EXPORT_END | flag) + slot[:2] + struct.pack("<II", 0, 1) + slot[2:]
                    for flag, slot in zip(flags, slots))


def send(address, sent, pause_s=0.0005):
    """From a socket of its own: another machine."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for datagram in sent:
            sender.sendto(datagram, address)
            time.sleep(pause_s)


@contextlib.contextmanager
def record(ctx, *options, program=REMORA, port=0, log="log", mode="w"):
    """A collector that is ready, until it ends or whoever uses it kills it; and the address at which it receives. What
    it says is in the file `log`."""
    ready = ctx.dir / "ready"
    command = [ROOT / program, "record", "--listen", f"127.0.0.1:{port}", "--ready-file", ready, *options]
    with started(ctx, command, ready, log=log, mode=mode) as collector:
        yield collector


@contextlib.contextmanager
def started(ctx, command, ready, log="log", mode="w"):
    """A collector by its whole command, which writes the file `ready`."""
    ready.unlink(missing_ok=True)
    with open(ctx.dir / log, mode, encoding="utf-8") as said:
        process = subprocess.Popen([str(word) for word in command], stdout=said, stderr=said, stdin=subprocess.DEVNULL)
        try:
            while not ready.exists() or not ready.read_text():
                expect(process.poll() is None, f"the collector ended: {(ctx.dir / log).read_text()}")
                expect(ctx.left_s() > 0, "the collector does not become ready")
                time.sleep(0.01)
            host, port = ready.read_text().strip().split(":")
            yield process, (host, int(port))
        finally:
            process.kill()
            process.wait()
