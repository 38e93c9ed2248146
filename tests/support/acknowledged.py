# SPDX-License-Identifier: MIT
"""A machine that sends by TRACER-V2.0 without a shared key, as docs/trace-format.md describes it: for collectors that
are processes. What a real sender does is in tracer/reliable/."""
import contextlib
import socket
import struct
import time

MAGIC = b"TRACER-V2.0\0"
HELLO, HELLO_ACK, DATA, ACK, FIN, FIN_ACK, UNKNOWN, ABORT = range(1, 9)
RECORDS_MAX = 64
PUSH = 1
WORD = (1 << 64) - 1


def _shifted(crc):
    for _ in range(8):
        crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc


CRC_OF_BYTE = [_shifted(byte) for byte in range(256)]


def crc32c(data):
    """As RFC 3720 defines it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_OF_BYTE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def siphash(key, data):
    """SipHash-2-4."""
    state = [word ^ start for word, start in zip(2 * key, (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261,
                                                           0x7465646279746573))]

    def rounds(count):
        a, b, c, d = state
        for _ in range(count):
            a, c = a + b & WORD, c + d & WORD
            b, d = (b << 13 | b >> 51) & WORD ^ a, (d << 16 | d >> 48) & WORD ^ c
            a = (a << 32 | a >> 32) & WORD
            c, a = c + b & WORD, a + d & WORD
            b, d = (b << 17 | b >> 47) & WORD ^ c, (d << 21 | d >> 43) & WORD ^ a
            c = (c << 32 | c >> 32) & WORD
        state[:] = a, b, c, d

    whole = len(data) - len(data) % 8
    last = data[whole:].ljust(7, b"\0") + bytes([len(data) & 0xFF])
    for word in struct.unpack(f"<{whole // 8 + 1}Q", data[:whole] + last):
        state[3] ^= word
        rounds(2)
        state[0] ^= word
    state[2] ^= 0xFF
    rounds(4)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def packet(kind, body, *, seq=0, flags=0, stream=0, session=0xB007, stamp=1, key=None):
    """key: that of the session, or None before there is one."""
    data = kind == DATA
    head = MAGIC + struct.pack("<IIIBBH", (seq + 1 if data else 0) & 0xFFFFFFFF, len(body) // 16 if data else 0,
                               64 + len(body), kind, flags, stream)
    rest = struct.pack("<QQQ", session, seq, stamp)
    plain = head + bytes(4) + rest + bytes(8)
    crc = crc32c(plain + body)
    mac = siphash(key, plain + struct.pack("<Q", crc)) if key else 0
    return head + struct.pack("<I", crc) + rest + struct.pack("<Q", mac) + body


class Machine:
    """A socket of its own. It asks again what is not answered, as the kernel does: it fails by the number of its
    questions, and not by the speed of the host."""
    ATTEMPTS = 40

    def __init__(self, address, session=0xB007):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(address)
        self.socket.settimeout(1)
        self.session = session
        self.key = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def post(self, kind, body, **fields):
        """Sends a packet whose answer is not waited for."""
        self.socket.send(packet(kind, body, session=self.session, key=self.key if kind in (DATA, FIN) else None,
                                **fields))

    def ask(self, kind, body, **fields):
        """The type of the answer, its seq and its body. Answers to other packets are thrown away. None: no answer."""
        for _ in range(self.ATTEMPTS):
            self.post(kind, body, **fields)
            with contextlib.suppress(TimeoutError):
                while True:
                    answer = self.socket.recv(2048)
                    stamp = struct.unpack_from("<Q", answer, 48)[0]
                    if answer[24] in (kind + 1, UNKNOWN, ABORT) and stamp == fields.get("stamp", 1):
                        return answer[24], struct.unpack_from("<Q", answer, 40)[0], answer[64:]
        return None, 0, b""

    def hello(self, stream=0):
        """Returns the type of the answer: HELLO_ACK if the session is open."""
        kind, _, body = self.ask(HELLO, bytes(16), stream=stream)
        if kind != HELLO_ACK:
            return kind
        cookie = body[:8]
        self.key = tuple(siphash((0, 0), struct.pack("<Q", self.session) + cookie + struct.pack("<Q", half))
                         for half in (0, 1))
        return self.ask(HELLO, cookie + bytes(8), stream=stream, stamp=2)[0]

    def enters(self, stream=0):
        """Repeats HELLO as the kernel does, while others hold the places. Returns whether the session is open."""
        for _ in range(20):
            if self.hello(stream) == HELLO_ACK:
                return True
            time.sleep(0.25)
        return False

    def export(self, image, stream=0):
        """Sends a stream and its end, each packet after the answer to the one before. Returns whether the collector has
        acknowledged all of it as durable."""
        if not self.enters(stream):
            return False
        pieces = [image[at:at + 16 * RECORDS_MAX] for at in range(0, len(image), 16 * RECORDS_MAX)]
        for seq, piece in enumerate(pieces):
            kind, received, body = self.ask(DATA, piece, seq=seq, flags=PUSH, stream=stream, stamp=3 + seq)
            if kind != ACK or received != seq + 1 or struct.unpack_from("<I", body, 8)[0] != 0:
                return False
        totals = struct.pack("<QII", len(image), crc32c(image), 1)
        return self.ask(FIN, totals, seq=len(pieces), stream=stream) == (FIN_ACK, len(pieces), totals)
