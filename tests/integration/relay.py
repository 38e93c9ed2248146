# SPDX-License-Identifier: MIT
"""A bad network between a guest and the collector: the guest's Ethernet frames come by a socket (QEMU's `-netdev
stream`), its datagrams go to a port of this host, and back. On the way a packet is lost, comes twice, late, or with a
flipped bit under a checksum that fits: only the packet's own CRC can object."""
import contextlib
import os
import random
import select
import socket
import struct
import threading
import time

from integration.wire import arp_answer, frame, ipv4
from support.context import ROOT

LATE_S = 0.02  # at most, of a packet that others overtake


class Relay:
    """Use: with Relay(ctx, port, loss=0.1) as relay: boot the guest with **relay.machine(). The collector sees one
    address and port, however often it or the guest begins again."""

    def __init__(self, ctx, port, *, loss=0.0, duplicate=0.05, late=0.1, flip=0.02, seed=1,
                 drop=lambda payload: False, deaf=0):
        self._drop = drop  # what else is lost on the way to the guest
        self._deaf = deaf  # so many requests of ARP are not answered
        self._rates = (loss, duplicate, late, flip)
        self._chance = random.Random(seed)
        self._path = os.path.relpath(ctx.dir / "network", ROOT)
        self._port = port  # the guest uses the same number at both ends
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(self._path)
        self._listener.listen(1)
        self._host = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._host.connect(("127.0.0.1", port))
        self._guest = None
        self._mac = bytes(6)
        self._held = []  # (packets to wait for, time, function, packet)
        self._ended = False
        self._thread = threading.Thread(target=self._serve)
        self.carried = 0  # datagrams that the guest sent
        self.faults = dict.fromkeys(("lost", "twice", "late", "flipped"), 0)

    def machine(self):
        """For GuestContext.boot()."""
        return {"nic": "none", "nic_word": "pci",
                "devices": ["-netdev", f"stream,id=net,server=off,addr.type=unix,addr.path={self._path}", "-device",
                            "ne2k_pci,netdev=net,romfile="]}

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._ended = True
        self._thread.join()
        for end in (self._listener, self._host, self._guest):
            if end:
                end.close()

    def _happens(self, rate, name):
        happens = self._chance.random() < rate
        self.faults[name] += happens
        return happens

    def _flipped(self, packet):
        damaged = bytearray(packet)
        damaged[self._chance.randrange(len(damaged))] ^= 1 << self._chance.randrange(8)
        return bytes(damaged)

    def _pass_on(self, packet, deliver):
        loss, duplicate, late, flip = self._rates
        copies = 0 if self._happens(loss, "lost") else 1 + self._happens(duplicate, "twice")
        for _ in range(copies):
            one = self._flipped(packet) if self._happens(flip, "flipped") else packet
            if self._happens(late, "late"):
                self._held.append((self._chance.randrange(1, 9), time.monotonic() + LATE_S, deliver, one))
            else:
                deliver(one)
        self._held = [(left - 1, *rest) for left, *rest in self._held]
        self._release()

    def _release(self):
        now = time.monotonic()
        due = [entry for entry in self._held if entry[0] < 0 or entry[1] <= now]
        self._held = [entry for entry in self._held if entry not in due]
        for _, _, deliver, packet in due:
            deliver(packet)

    def _to_host(self, payload):
        with contextlib.suppress(OSError):  # no collector at present
            self._host.send(payload)

    def _to_guest(self, payload):
        head = struct.pack(">HHHH", self._port, self._port, 8 + len(payload), 0)
        self._send(frame(self._mac, 0x0800, ipv4(17, head + payload)))

    def _send(self, content):
        if self._guest:
            with contextlib.suppress(OSError):  # the guest has ended
                self._guest.sendall(struct.pack(">I", len(content)) + content)

    def _take(self, received):
        """A frame of the guest's."""
        self._mac, kind = received[6:12], received[12:14]
        if kind == b"\x08\x06":
            self._deaf -= 1
            if self._deaf < 0:
                self._send(arp_answer(self._mac))
        elif kind == b"\x08\0" and received[23] == 17:
            (length,) = struct.unpack_from(">H", received, 38)
            self.carried += 1
            self._pass_on(received[42:34 + length], self._to_host)

    def _frames(self, buffer):
        """Takes whole frames out of a buffer; the rest of it."""
        while len(buffer) >= 4:
            (length,) = struct.unpack_from(">I", buffer)
            if len(buffer) < 4 + length:
                break
            self._take(buffer[4:4 + length])
            buffer = buffer[4 + length:]
        return buffer

    def _serve(self):
        buffer = b""
        while not self._ended:
            ends = [end for end in (self._listener, self._host, self._guest) if end]
            for end in select.select(ends, [], [], 0.005)[0]:
                if end is self._listener:
                    self._guest, buffer = self._listener.accept()[0], b""
                elif end is self._host:
                    with contextlib.suppress(OSError):
                        payload = self._host.recv(2048)
                        if self._guest and not self._drop(payload):
                            self._pass_on(payload, self._to_guest)
                else:
                    content = b""
                    with contextlib.suppress(OSError):
                        content = self._guest.recv(1 << 16)
                    if content:
                        buffer = self._frames(buffer + content)
                    else:
                        self._guest.close()
                        self._guest = None
            self._release()
