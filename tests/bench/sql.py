#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""make bench-sql: how long the questions of docs/sql.md take on a long trace.

The trace repeats the recorded run of tests/viewers/data/control.rpk, each time 2^32 ticks later: the low words of
stamps that some records carry remain right. Prints `GOAL sql.N seconds <=5 met|missed` for each question, in processor
time, best of several rounds, and writes them into the table of docs/sql.md with --update.
Usage: sql.py REMORA [EVENTS] [--update]
"""
import array
import os
import pathlib
import re
import resource
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs/sql.md"
CONTROL = ROOT / "tests/viewers/data/control.rpk"
QUESTION = re.compile(r'([^\n]+):\n\n```\n\$ remora sql \$T "(.*)"')
TABLE = re.compile(r"(?<=<!-- make bench-sql -->\n).*?(?=<!-- end -->)", re.S)
ROUNDS = 2
LIMIT_S = 5
EVENTS = 12_000_000


def long_trace(remora, path, events):
    """One chunk with the metadata of the run. Returns how many records it has."""
    session = path + ".session"
    subprocess.run([remora, "unpack", CONTROL, "-o", session], stdout=subprocess.DEVNULL, check=True)
    image = bytearray(pathlib.Path(session, "0trace.dat").read_bytes())
    # Of chunk_begin's payload, 6 bytes of each slot: preamble_slots at 14, records at 18.
    slots, = struct.unpack_from("<I", image, 2 * 16 + 12)
    count = struct.unpack_from("<H", image, 3 * 16 + 2)[0] | struct.unpack_from("<H", image, 3 * 16 + 12)[0] << 16
    records = array.array("I", image[16 * slots:16 * (slots + count)])
    copies = -(-events // count)
    struct.pack_into("<H", image, 3 * 16 + 2, copies * count & 0xFFFF)
    struct.pack_into("<H", image, 3 * 16 + 12, copies * count >> 16)
    struct.pack_into("<I", image, 16 * slots - 4, copies * count)  # numevents, which ends the preamble
    high = records[1::4]
    with open(path, "wb") as file:
        file.write(image[:16 * slots])
        for copy in range(copies):
            records[1::4] = array.array("I", [word + copy for word in high])
            records.tofile(file)
    return copies * count


def seconds(remora, trace, statement):
    best = None
    for _ in range(ROUNDS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([remora, "sql", trace, statement], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                       check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        best = took if best is None else min(best, took)
    return best


def main():
    arguments = [word for word in sys.argv[1:] if word != "--update"]
    remora, wanted = arguments[0], int(arguments[1]) if len(arguments) > 1 else EVENTS
    text = DOCUMENT.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        trace = os.path.join(scratch, "0trace.dat")
        events = long_trace(remora, trace, wanted)
        print(f"NOTE {events} records; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors", flush=True)
        rows = []
        for number, (name, statement) in enumerate(QUESTION.findall(text), 1):
            took = seconds(remora, trace, statement)
            rows.append(f"| {name} | {took:.2f} |\n")
            verdict = "met" if took <= LIMIT_S else "missed"
            print(f"GOAL sql.{number} {took:.2f} <={LIMIT_S} {verdict}  {name}", flush=True)
    if "--update" in sys.argv:
        table = f"| question, on {events:,} records | seconds |\n|---|---|\n" + "".join(rows)
        DOCUMENT.write_text(TABLE.sub(lambda _: table, text), encoding="utf-8")


if __name__ == "__main__":
    main()
