#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How long a boot takes, from the start of QEMU to the first event and to the end, by both boot paths, and how fast the
trace leaves. Wall-clock on a shared machine: the least of several boots is printed, as a figure, never as a test."""
import argparse
import json
import pathlib
import socket
import subprocess
import tempfile
import time

BOOTS = {"pvh": 5, "uefi": 3}
QEMU = ["qemu-system-x86_64", "-M", "q35", "-accel", "tcg", "-cpu", "max", "-m", "128", "-display", "none",
        "-nodefaults", "-serial", "stdio", "-no-reboot", "-device", "isa-debug-exit,iobase=0xf4,iosize=4",
        "-netdev", "user,id=n,net=192.168.1.0/24,host=192.168.1.1,dhcpstart=192.168.1.15",
        "-device", "ne2k_pci,netdev=n,romfile="]


def free_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def boot_arguments(path, kernel, efi, words, scratch):
    if path == "pvh":
        return ["-kernel", kernel, "-append", words]
    esp = scratch / "esp"
    (esp / "EFI" / "BOOT").mkdir(parents=True)
    (esp / "EFI" / "BOOT" / "BOOTX64.EFI").write_bytes(pathlib.Path(efi).read_bytes())
    (esp / "kernel.elf").write_bytes(pathlib.Path(kernel).read_bytes())
    (esp / "cmdline.txt").write_text(words)
    return ["-bios", "/usr/share/ovmf/OVMF.fd", "-drive", f"file=fat:rw:{esp},format=raw,if=ide"]


def one_boot(path, options, app_words):
    """Seconds to the line that announces the application, seconds to the end, the manifest, microseconds of export."""
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        port = free_port()
        ready = scratch / "ready"
        collector = subprocess.Popen(
            [options.remora, "record", "--listen", f"127.0.0.1:{port}", "--out", scratch / "udp", "--ready-file", ready,
             "--timeout", "60"], stdout=subprocess.DEVNULL)
        while not ready.exists() and collector.poll() is None:
            time.sleep(0.01)
        words = f"{app_words} sink=udp exit=debug port={port} width=16"
        begin = time.monotonic()
        with subprocess.Popen(QEMU + boot_arguments(path, options.kernel, options.efi, words, scratch),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as qemu:
            first_event = None
            export_us = 0
            for line in qemu.stdout:
                if b"REMORA: running" in line:
                    first_event = time.monotonic() - begin
                if b"REMORA: export took" in line:
                    export_us = int(line.split()[-2])
        end = time.monotonic() - begin
        collector.wait(timeout=70)
        manifest = json.loads((scratch / "udp" / "manifest.json").read_text())
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
    records = manifest["totals"]["records"]
    print(f"FIGURE export_udp_records {records} records")
    print(f"FIGURE export_udp_rate {records / export_us * 1e6:.0f} records/s")


if __name__ == "__main__":
    main()
