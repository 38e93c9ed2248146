#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each header on the command line compiles as if it were the only one, with the flags of the world that it belongs to.
Headers that are used in both worlds (lib, tracer, drivers) compile in both.

Hosted headers see the standard library and fmt, precompiled, because these would be nearly the whole cost;
includes.py shows that each includes what it uses of them.

environment   HEADER_FLAGS_<WORLD> of KERNEL, HOST, TEST, EFI; BUILD=directory; RESULTS=file for the counts"""
import concurrent.futures
import os
import pathlib
import shlex
import subprocess
import sys

LIBRARIES = {"HOST": ("fmt/format.h",), "TEST": ("fmt/format.h", "gmock/gmock.h", "gtest/gtest.h")}
STANDARD = ("algorithm", "array", "atomic", "bit", "charconv", "chrono", "filesystem", "functional", "map", "memory",
            "optional", "set", "span", "string", "string_view", "unordered_map", "vector")
HOSTED = ("host/", "convert/", "foreign/", "fleet/", "python/")
EFI_HEADERS = {"arch/uefi/firmware.hpp", "arch/uefi/volume.hpp"}


def worlds(header):
    if header in EFI_HEADERS:
        return ["EFI"]
    if header.startswith(("arch/", "kernel/", "apps/", "tests/kernel/")):
        return ["KERNEL"]
    if header.startswith(HOSTED):
        return ["HOST"]
    return ["TEST"] if header.startswith("tests/") else ["KERNEL", "TEST"]


def precompile(world):
    """What every header of this world is given: options of the compiler."""
    if world not in LIBRARIES:
        return []
    header = pathlib.Path(os.environ.get("BUILD", "build")) / "headers" / f"{world}.hpp"
    header.parent.mkdir(parents=True, exist_ok=True)
    header.write_text("".join(f"#include <{name}>\n" for name in STANDARD + LIBRARIES[world]), encoding="utf-8")
    flags = shlex.split(os.environ[f"HEADER_FLAGS_{world}"])
    subprocess.run(["g++", *flags, "-w", "-x", "c++-header", header, "-o", f"{header}.gch"], check=True)
    return ["-include", str(header)]


def compile_alone(job):
    world, header, options = job
    flags = shlex.split(os.environ[f"HEADER_FLAGS_{world}"])
    done = subprocess.run(["g++", *flags, *options, "-fsyntax-only", "-include", header, "-x", "c++", "/dev/null"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        print(f"{done.stderr}FAIL {header} does not compile alone ({world})", flush=True)
    return done.returncode == 0


def main():
    headers = set(sys.argv[1:])
    needed = [(world, header) for header in sorted(headers) for world in worlds(header)]
    options = {world: precompile(world) for world in sorted({world for world, _ in needed})}
    jobs = [(world, header, options[world]) for world, header in needed]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = list(pool.map(compile_alone, jobs)).count(False)
    print(f"check-headers: {len(needed) - failed} passed, {failed} failed")
    if os.environ.get("RESULTS"):
        with open(os.environ["RESULTS"], "a", encoding="utf-8") as results:
            results.write(f"{len(needed) - failed} {failed} check-headers\n")
    sys.exit(1 if failed or not needed else 0)


main()
