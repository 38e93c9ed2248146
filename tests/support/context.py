# SPDX-License-Identifier: MIT
"""What a case works with: a directory of its own (build/<suite>/<case>), the remora command, and other programs. Every
process is waited for with a limit; cases share nothing."""
import json
import os
import pathlib
import subprocess
import time

from support.cases import expect

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = os.environ.get("BUILD", "build")
KERNEL = os.environ.get("KERNEL", f"{BUILD}/kernel/kernel.elf")
TEST_KERNEL = os.environ.get("TEST_KERNEL", f"{BUILD}/kernel/kernel-test.elf")
COMPENSATED_TEST_KERNEL = os.environ.get("COMPENSATED_TEST_KERNEL",
                                         f"{BUILD}/kernel-compensation/kernel-test-released.elf")
KERNEL_OFF = f"{BUILD}/kernel-off/kernel.elf"
EFI = os.environ.get("EFI", f"{BUILD}/uefi/BOOTX64.EFI")
REMORA = os.environ.get("REMORA", f"{BUILD}/host/remora")
OBSERVER = f"{BUILD}/host/observer.so"

# A make below this one starts afresh: no job server, no variables of the make that runs the tests. Each case chooses
# the speed of its machines itself.
INHERITED = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS",
                                                                          "MAKEOVERRIDES", "ICOUNT_SHIFT")}


ENDED_BADLY = 8  # verify, check: what was judged is right, but the run ended badly


class Context:
    def __init__(self, suite, name, timeout_s):
        self.dir = ROOT / BUILD / suite / name
        subprocess.run(["rm", "-rf", str(self.dir)], check=True)
        self.dir.mkdir(parents=True)
        self.deadline = time.monotonic() + timeout_s

    def left_s(self):
        left = self.deadline - time.monotonic()
        expect(left > 0, "the case ran out of time")
        return left

    def run(self, *command, codes=(0,), env=None, text=True):
        """A program, started in the project's root. codes: the right exit codes; None: any."""
        done = subprocess.run([str(part) for part in command], cwd=ROOT, capture_output=True, text=text,
                              timeout=self.left_s(), env={**INHERITED, **(env or {})}, stdin=subprocess.DEVNULL)
        expect(codes is None or done.returncode in codes,
               f"{' '.join(str(part) for part in command)} ended with {done.returncode}: "
               f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done

    def remora(self, *arguments, codes=(0,)):
        return self.run(REMORA, *arguments, codes=codes)

    def convert(self, trace, form, *options, name=None, codes=(0,)):
        """The output of `remora convert --to form`, as a path in the case's directory."""
        output = self.dir / (name or f"{trace.stem}.{form}")
        self.remora("convert", trace, "--to", form, "-o", output, *options, codes=codes)
        return output

    def picture(self, path, name, *options):
        """Of what a person sees in a viewer. `make pictures` keeps it for the documents, in 64 colours."""
        if folder := os.environ.get("PICTURES"):
            self.run("convert", path, "-strip", *options, "-dither", "None", "-colors", "64",
                     "-define", "png:compression-level=9", f"PNG8:{folder}/{name}.png")

    def events(self, trace, *, codes=(0,)):
        """What `remora print --json` says, metadata left out: a list of objects in time order."""
        lines = self.remora("print", "--json", trace, codes=codes).stdout.splitlines()
        return [json.loads(line) for line in lines]
