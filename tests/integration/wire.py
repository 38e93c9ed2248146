# SPDX-License-Identifier: MIT
"""The other end of a guest's network cable: Ethernet frames in UDP datagrams (QEMU's `-netdev socket,udp=`). It answers
ARP, echoes datagrams or hands them on to a port of the host, and meanwhile sends frames as fast as the guest's buffers
take them, most of them bad."""
import contextlib
import random
import socket
import struct
import threading

MAC = bytes.fromhex("020000000001")
LOCAL, PEER = bytes([192, 168, 1, 10]), bytes([192, 168, 1, 1])  # the guest and this end
PORT = 20000
MINIMUM = 60
SO_RCVBUFFORCE = 33  # of Linux; Python has no name for it


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


def frame(guest, kind, payload):
    return (guest + MAC + struct.pack(">H", kind) + payload).ljust(MINIMUM, b"\0")


def ipv4(protocol, payload, first=0x45, length=None, fragment=0):
    length = 20 + len(payload) if length is None else length
    head = struct.pack(">BBHHHBBH4s4s", first, 0, length, 0, fragment, 64, protocol, 0, PEER, LOCAL)
    return head[:10] + struct.pack(">H", checksum(head)) + head[12:] + payload


def udp(payload, port=PORT, length=None):
    return struct.pack(">HHHH", PORT, port, 8 + len(payload) if length is None else length, 0) + payload


def arp_answer(guest):
    return frame(guest, 0x0806, struct.pack(">HHBBH6s4s6s4s", 1, 0x0800, 6, 4, 2, MAC, PEER, guest, LOCAL))


def flood_frames(guest):
    """One of each kind; those that the guest must drop, and those that only take room."""
    chance = random.Random(1)
    good = ipv4(17, udp(b"x" * 64))
    return [
        frame(guest, 0x0800, good),
        frame(guest, 0x0800, ipv4(17, udp(b"y" * 1400))),
        frame(guest, 0x0800, ipv4(17, udp(b"z" * 64, port=9))),             # another flow
        frame(guest, 0x0800, ipv4(17, udp(b"", length=7))),                 # shorter than its header
        frame(guest, 0x0800, ipv4(17, udp(b"", length=60000))),             # longer than the packet
        frame(guest, 0x0800, ipv4(17, udp(b"x"), length=1500)),             # a packet longer than the frame
        frame(guest, 0x0800, ipv4(17, udp(b"x"), first=0x41)),              # a header of four bytes
        frame(guest, 0x0800, ipv4(17, udp(b"x"), first=0x65)),              # version 6
        frame(guest, 0x0800, ipv4(17, udp(b"x"), fragment=0x2000)),         # a fragment
        frame(guest, 0x0800, good[:10] + b"\xFF\xFF" + good[12:]),          # a wrong checksum
        frame(guest, 0x0800, ipv4(1, b"\x08\0\0\0")),                       # an echo request cut short
        frame(guest, 0x0800, ipv4(6, b"t" * 40)),                           # TCP
        frame(guest, 0x0806, b"\0\1\x08\0\6\7" + b"\0" * 40),               # ARP of seven bytes
        frame(guest, 0x86DD, b"6" * 100),
        frame(b"\xFF" * 6, 0x0800, chance.randbytes(1400)),
        frame(b"\xFF" * 6, 0x0806, chance.randbytes(46)),
        guest + MAC + b"\x08\0",                                            # a header alone
        guest[:5],                                                          # not even that
        frame(guest, 0x0800, chance.randbytes(1500)),
        frame(guest, 0x0800, chance.randbytes(1900)),                       # longer than Ethernet allows
    ]


class Wire:
    """Use: with Wire() as wire: boot the guest with wire.options(), nic="none". hand_on_to: a port of the host that
    gets the guest's datagrams; without it they are echoed."""

    def __init__(self, hand_on_to=None):
        self._hand_on_to = hand_on_to
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        for option in (socket.SO_RCVBUF, SO_RCVBUFFORCE):  # on a busy machine this end may sleep for a while
            with contextlib.suppress(OSError):
                self._socket.setsockopt(socket.SOL_SOCKET, option, 64 << 20)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind(("127.0.0.1", 0))
            self._guest = probe.getsockname()
        self._ended = False
        self._thread = threading.Thread(target=self._serve)
        self.flooded = 0

    def options(self):
        port = self._socket.getsockname()[1]
        return ["-netdev", f"socket,id=net,udp=127.0.0.1:{port},localaddr=127.0.0.1:{self._guest[1]}",
                "-device", "ne2k_pci,netdev=net,romfile="]

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended = True
        self._thread.join()
        self._take(0.0005)  # what a guest that has ended left on the way
        self._socket.close()

    def _send(self, data):
        with contextlib.suppress(OSError):  # QEMU is not there yet, or any more
            self._socket.sendto(data, self._guest)

    def _answer(self, received):
        """What a frame of the guest's asks for."""
        guest, kind = received[6:12], received[12:14]
        if kind == b"\x08\x06":
            self._send(arp_answer(guest))
        elif kind == b"\x08\0" and received[23] == 17:
            (length,) = struct.unpack_from(">H", received, 38)
            payload = received[42:34 + length]
            if self._hand_on_to is None:
                self._send(frame(guest, 0x0800, ipv4(17, udp(payload))))
            else:
                self._socket.sendto(payload, ("127.0.0.1", self._hand_on_to))

    def _take(self, first_s):
        """Takes in all that has come, waiting so long for the first; the last of them, if there was one."""
        received = None
        self._socket.settimeout(first_s)
        with contextlib.suppress(OSError):
            while True:
                received = self._socket.recv(4096)
                self._answer(received)
                self._socket.settimeout(0)
        return received

    def _serve(self):
        frames = []
        while not self._ended:
            received = self._take(0.0005)
            if received and not frames:
                frames = flood_frames(received[6:12])
            for one in frames:
                self._send(one)
            self.flooded += len(frames)
