#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each header on the command line compiles as if it were the only one, with the flags of the world that it belongs to.
Headers that are used in both worlds (lib, tracer, drivers) compile in both.

A header that a source includes before anything else is proven by the build of that source, and so is the header that
this header includes first. Only the others are compiled here, each by itself.

environment   HEADER_FLAGS_<WORLD>, HEADER_SOURCES_<WORLD> (what the build compiles) of KERNEL, HOST, TEST, EFI;
              RESULTS=file for the counts"""
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys

WORLDS = ("KERNEL", "HOST", "TEST", "EFI")
EFI_HEADERS = {"arch/uefi/firmware.hpp", "arch/uefi/volume.hpp"}
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def worlds(header):
    if header in EFI_HEADERS:
        return ["EFI"]
    if header.startswith(("arch/", "kernel/", "apps/", "tests/kernel/")):
        return ["KERNEL"]
    if header.startswith("host/"):
        return ["HOST"]
    return ["TEST"] if header.startswith("tests/") else ["KERNEL", "TEST"]


def opening(path):
    """The header of ours that is included before any other text; None if there is none."""
    text = COMMENT.sub("", pathlib.Path(path).read_text(encoding="utf-8")).replace("#pragma once", "", 1).lstrip()
    match = re.match(r'#[ \t]*include[ \t]*"([^"]+)"', text)
    return match.group(1) if match else None


def proven(world, headers):
    """Headers that open a source of this world, directly or through the header that does."""
    found = set()
    for source in os.environ[f"HEADER_SOURCES_{world}"].split():
        header = opening(source) if source.endswith(".cpp") else None
        while header in headers and header not in found:
            found.add(header)
            header = opening(header)
    return found


def compile_alone(job):
    world, header = job
    flags = shlex.split(os.environ[f"HEADER_FLAGS_{world}"])
    done = subprocess.run(["g++", *flags, "-fsyntax-only", "-include", header, "-x", "c++", "/dev/null"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{done.stderr}FAIL {header} does not compile alone ({world})", flush=True)
    return done.returncode == 0


def main():
    headers = set(sys.argv[1:])
    needed = [(world, header) for header in sorted(headers) for world in worlds(header)]
    known = {world: proven(world, headers) for world in WORLDS}
    jobs = [(world, header) for world, header in needed if header not in known[world]]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = list(pool.map(compile_alone, jobs)).count(False)
    print(f"check-headers: {len(needed) - failed} passed, {failed} failed "
          f"({len(jobs)} compiled alone, {len(needed) - len(jobs)} open a source)")
    if os.environ.get("RESULTS"):
        with open(os.environ["RESULTS"], "a", encoding="utf-8") as results:
            results.write(f"{len(needed) - failed} {failed} check-headers\n")
    sys.exit(1 if failed or not needed else 0)


main()
