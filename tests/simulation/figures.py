#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make simulation-figures`: runs the failure matrix and writes what it measured into a document, in place of the table
with the same head.

   figures.py PROGRAM SEEDS DOCUMENT"""
import pathlib
import subprocess
import sys

HEAD = "| row | measured | mean | worst |"


def main():
    program, seeds, document = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    run = subprocess.run([program, seeds, "all", "1", "figures"], stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        sys.exit(run.stdout)
    rows = [line for line in run.stdout.splitlines() if line.startswith("| F")]
    before, _, after = document.read_text().partition(HEAD + "\n")
    if not after:
        sys.exit(f"{document} has no table with the head {HEAD}")
    rest = after.splitlines()
    while rest and rest[0].startswith("|"):
        rest.pop(0)
    document.write_text("\n".join([before + HEAD, "|---|---|---|---|", *rows, *rest]) + "\n")


if __name__ == "__main__":
    main()
