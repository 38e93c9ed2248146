#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The duration of a boot, from the start of QEMU to the first event and to the end, by both boot paths, and the speed
of the export. Wall-clock on a shared machine: the minimum of several boots is printed, as a figure, never as a test."""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from support.guests import free_port, machine  # noqa: E402

BOOTS = {"pvh": 5, "uefi": 3}


def one_boot(path, options, app_words):
    """Seconds to the line that announces the application, seconds to the end, the session's manifest, microseconds of
    export. The machine is that of qemu/boot.sh."""
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        port = free_port()
        ready = scratch / "ready"
        serial = scratch / "serial.log"
        collector = subprocess.Popen(
            [options.remora, "record", "--listen", f"127.0.0.1:{port}", "--out", scratch / "udp", "--ready-file", ready,
             "--timeout", "60"], stdout=subprocess.DEVNULL)
        while not ready.exists() and collector.poll() is None:
            time.sleep(0.01)
        environment = machine(scratch, kernel=options.kernel, efi=options.efi, boot=path, clock="tcg", nic="pci")
        begin = time.monotonic()
        first_event = None
        with subprocess.Popen(["qemu/boot.sh", f"{app_words} sink=udp exit=debug port={port} width=16"],
                              env=environment) as qemu:
            while qemu.poll() is None:
                if first_event is None and serial.exists() and b"REMORA: running" in serial.read_bytes():
                    first_event = time.monotonic() - begin
                time.sleep(0.002)
        end = time.monotonic() - begin
        collector.wait(timeout=70)
        manifest = json.loads((scratch / "udp" / "manifest.json").read_text())
        export_us = int(re.search(rb"export took (\d+) us", serial.read_bytes()).group(1))
        return first_event, end, manifest, export_us


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("--kernel", "--efi", "--remora"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    for path, count in BOOTS.items():
        boots = [one_boot(path, options, "app=control") for _ in range(count)]
        print(f"FIGURE boot_{path}_to_first_event {min(boot[0] for boot in boots):.3f} s")
        print(f"FIGURE boot_{path}_to_end {min(boot[1] for boot in boots):.3f} s")
    _, _, manifest, export_us = one_boot("pvh", options, "app=control duration_ms=3000")
    records = manifest["transfer"]["records"]
    print(f"FIGURE export_udp_records {records} records")
    print(f"FIGURE export_udp_rate {records / export_us * 1e6:.0f} records/s")


if __name__ == "__main__":
    main()
