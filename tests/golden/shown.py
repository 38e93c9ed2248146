#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes into a page of docs/ what its commands print today.

    tests/golden/shown.py PAGE REMORA NAME=SESSION ...

A block of code that begins with `$ remora ... out/NAME ...` shows that line and all that the command prints; SESSION
is the directory that the page calls out/NAME. tests/integration/documents.py compares the same blocks."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```\n\$ (remora [^\n]*)\n(.*?)^```$", re.S | re.M)


def main():
    page, remora = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as home:
        place = pathlib.Path(home)
        (place / "out").mkdir()
        for argument in sys.argv[3:]:
            name, _, session = argument.partition("=")
            (place / "out" / name).symlink_to(pathlib.Path(session).resolve())
        (place / "examples").symlink_to(ROOT / "examples")

        def block(match):
            done = subprocess.run(["bash", "-c", f"set -o pipefail; {match[1]}"], cwd=home, capture_output=True,
                                  text=True, check=False, stdin=subprocess.DEVNULL,
                                  env={**os.environ, "PATH": f"{remora.parent}:{os.environ['PATH']}"})
            if done.returncode not in (0, 141):  # a reader that has seen enough closes the pipe
                sys.exit(f"error: {page.name}: {match[1]} ended with {done.returncode}: {done.stderr}")
            return f"```\n$ {match[1]}\n{done.stdout.rstrip()}\n```"

        page.write_text(BLOCK.sub(block, page.read_text(encoding="utf-8")), encoding="utf-8")


main()
