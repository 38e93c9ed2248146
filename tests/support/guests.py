# SPDX-License-Identifier: MIT
"""What boots a guest: the one place of the tests that calls qemu/boot.sh. A GuestContext has a UDP port of its own,
guests to boot, a collector to start, ramdisks, and the trace files that were stored on them."""
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import socket
import subprocess
import time

from accounting import compare
from support import collectors
from support.cases import expect
from support.context import EFI, INHERITED, KERNEL, OBSERVER, ROOT, Context

# Exit codes of QEMU under exit=debug: 2 * value + 1.
OK, APP_FAILED, PANIC, BAD_COMMAND_LINE, EXPORT_FAILED, UNSUPPORTED = 33, 35, 37, 39, 41, 43


def machine(work, *, kernel=None, efi=None, boot="pvh", clock="icount", nic="none", ramdisk=None, pcap=None,
            singlestep=False, ram=None, loader_key=None, raises=None, waits=False):
    """The environment of qemu/boot.sh for such a machine, whose files go to the directory work. waits: most of what it
    does is to wait, and it takes few instructions for that."""
    return {**INHERITED, "KERNEL": str(kernel or KERNEL), "EFI_LOADER": str(efi or EFI), "WORK": str(work),
            "BOOT": boot, "ACCEL": "tcg", "CLOCK": clock, "NIC": nic, "RAMDISK": str(ramdisk or ""),
            "RAM": str(ram or ""), "PCAP": str(pcap or ""), "SINGLESTEP": "1" if singlestep else "",
            "OBSERVER": OBSERVER, "RAISES": str(raises or ""), "LOADER_KEY": str(loader_key or ""),
            "ICOUNT_SHIFT": "3" if waits else ""}


@dataclasses.dataclass
class Outcome:
    """How a guest ended: QEMU's exit code (None: stopped because `until` was seen), serial output, marker lines."""
    code: int
    serial: str
    errors: str

    @property
    def markers(self):
        return re.findall(r"REMORA: ([^\r\n]*)", self.serial)

    def marker(self, start):
        found = [line for line in self.markers if line.startswith(start)]
        expect(found, f"no marker line `{start}...`; {self}")
        return found[-1]

    def expect_code(self, code):
        expect(self.code == code, f"exit code {self.code}, not {code}; {self}")
        return self

    def __str__(self):
        tail = "\n    ".join(self.serial.strip().splitlines()[-12:])
        return f"exit code {self.code}; serial log ends:\n    {tail}\n    {self.errors.strip()}"


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Monitor:
    """QEMU's machine protocol (QMP). It ends with the guest: after that, nothing is done."""

    def __init__(self, path):
        # A socket's path is short; a directory of the tests may not be.
        self.path = os.path.relpath(path, ROOT)
        self._stream = None
        self.sent = 0

    def do(self, command, count=1, **arguments):
        """Sends the command count times; False if QEMU has not started yet or has ended."""
        request = json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n"
        try:
            if self._stream is None:
                self._connect()
            for _ in range(count):
                self._stream.write(request)
            self._stream.flush()
            for _ in range(count):
                self._answer()
                self.sent += 1
            return True
        except (OSError, ValueError):
            time.sleep(0.01)
            return False

    def _connect(self):
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(10)
        client.connect(self.path)
        self._stream = client.makefile("rwb")
        self._stream.readline()
        self._stream.write(b'{"execute": "qmp_capabilities"}\n')
        self._stream.flush()
        self._answer()

    def _answer(self):
        while True:
            answer = json.loads(self._stream.readline() or "null")
            if answer is None:
                raise OSError("QEMU has ended")
            if "event" not in answer:
                return answer


class GuestContext(Context):
    def __init__(self, suite, name, timeout_s):
        super().__init__(suite, name, timeout_s)
        self.port = free_port()
        self._boots = 0

    def boot(self, app="control", *, kernel=None, boot="pvh", clock="icount", nic="pci", ramdisk=None, pcap=None,
             ram=None, until=None, efi=None, raw_words=None, singlestep=False, devices=(), meanwhile=None,
             loader_key=None, raises=None, waits=False, **words):
        """Boots a guest and waits for its end. nic: the card of the machine; nic_word: the word on the kernel's command
        line, if it differs. words: further keys of the command line; raw_words: all of it. until: a pattern in the
        serial output that ends the wait. devices: further options of QEMU. raises: where an
        observer outside of the machine writes. meanwhile(monitor): called again and again while the application
        runs."""
        if boot == "uefi":
            clock = "tcg"
        line = {"exit": "debug", "app": app, "sink": "none", "clock": clock, "nic": words.pop("nic_word", nic),
                "local": "192.168.1.10", "target": "192.168.1.1", "port": self.port, **words}
        text = raw_words if raw_words is not None else " ".join(f"{key}={value}" for key, value in line.items())
        self._boots += 1
        work = self.dir / f"boot{self._boots}"
        work.mkdir()
        env = machine(work, kernel=kernel, efi=efi, boot=boot, clock=clock, nic=nic, ramdisk=ramdisk, pcap=pcap,
                      singlestep=singlestep, ram=ram, loader_key=loader_key, raises=raises, waits=waits)
        options = list(devices)
        monitor = None
        if meanwhile:
            monitor = Monitor(work / "monitor")
            options += ["-qmp", f"unix:{monitor.path},server=on,wait=off"]
        tick = (lambda: meanwhile(monitor)) if meanwhile else None
        return self._wait(["qemu/boot.sh", text, *options], env, work / "serial.log", until, tick)

    def _wait(self, command, env, serial, until, tick=None):
        with open(serial.with_name("qemu.log"), "w+", encoding="utf-8") as errors:
            guest = subprocess.Popen(command, cwd=ROOT, env=env, stdout=errors, stderr=errors,
                                     stdin=subprocess.DEVNULL)
            text = ""
            code = None
            try:
                while code is None:
                    with contextlib.suppress(subprocess.TimeoutExpired):
                        code = guest.wait(0.01 if tick else 0.1)
                    text = serial.read_text(errors="replace") if serial.exists() else ""
                    if code is None and tick and "REMORA: running" in text:
                        tick()
                    if code is None and until and re.search(until, text):
                        break
                    expect(self.deadline > time.monotonic(), f"the guest did not end; {Outcome(code, text, '')}")
            finally:
                guest.kill()
                guest.wait()
            errors.seek(0)
            return Outcome(code, text, errors.read())

    @contextlib.contextmanager
    def collector(self, *options, code=0):
        """`remora record` into dir/udp, ready to receive; ends by itself, else by a signal. Yields the session."""
        session = self.dir / "udp"
        with collectors.record(self, "--out", session, "--force", *options, port=self.port,
                               log="collector.log") as (process, _):
            yield session
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5 if code == 0 else 0)
            process.terminate()
            ended = process.wait(10)
            expect(ended == code, f"the collector ended with {ended}: {(self.dir / 'collector.log').read_text()}")

    # --- ramdisk -------------------------------------------------------------------------------------------------

    def make_ramdisk(self, free_bytes=None):
        """An empty volume; with free_bytes, one that a foreign file fills up to that many free bytes."""
        image = self.dir / "ramdisk.img"
        self.run("bash", "-c", f'source qemu/lib.sh; make_ramdisk "{image}"')
        if free_bytes is not None:
            listing = self.run("mdir", "-i", image, "::", codes=None).stdout
            free = int(re.search(r"([\d ]+) bytes free", listing).group(1).replace(" ", ""))
            filler = self.dir / "filler.bin"
            with open(filler, "wb") as file:
                file.truncate(free - free_bytes)
            self.run("mcopy", "-i", image, filler, "::FILLER.BIN")
            filler.unlink()
        return image

    def check_ramdisk(self, image):
        self.run("fsck.fat", "-n", image)

    def disk_files(self, image):
        """The trace files of a clean volume, copied out: {chunk number: bytes}, and their directory."""
        self.check_ramdisk(image)
        target = pathlib.Path(str(image) + ".files")
        target.mkdir()
        self.run("mcopy", "-n", "-i", image, "::*trace.dat", f"{target}/", env={"MTOOLS_LOWER_CASE": "1"})
        return trace_files(target), target

    def traced(self, app, *, code=OK, **options):
        """Boots an application that traces to a ramdisk: its outcome, and the directory of its trace files."""
        image = self.make_ramdisk()
        outcome = self.boot(app, sink="disk", ramdisk=image, **options).expect_code(code)
        return outcome, self.disk_files(image)[1]

    def adopt(self, directory, *, codes=(0,)):
        """A session of trace files, whose account closes by the totals beside them. codes: how both judgements end."""
        self.remora("adopt", directory)
        account = json.loads(self.remora("verify", "--json", directory, codes=codes).stdout)["account"]
        expect(account["closes"], f"{directory}: {account}")
        self.check(directory, codes=codes)
        self.account(directory)
        return directory

    def check(self, directory, *options, codes=(0,)):
        """What the kernel decided is what the scheduling theory says: `remora check` finds no violation."""
        self.remora("check", directory, "--show", "3", *options, codes=codes)

    @staticmethod
    def account(directory):
        """What the host library makes of each response time is what follows from the records by docs/metrics.md."""
        found = compare.compare(directory)
        expect(not found.differences, f"{found}\n" + "\n".join(found.differences[:3]))
        return found


def trace_files(directory):
    """{chunk number: content} of the files Ntrace.dat in a directory."""
    found = {}
    for path in pathlib.Path(directory).iterdir():
        match = re.fullmatch(r"(\d+)trace\.dat", path.name)
        if match:
            found[int(match.group(1))] = path.read_bytes()
    expect(found, f"no trace files in {directory}")
    return found
