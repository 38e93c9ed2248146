#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The lines `GOAL id figure wanted met|missed` of a benchmark, from standard input, as a table. All lines are printed.

   goals_page.py [DOCUMENT]    the table of the same head in DOCUMENT is replaced"""
import pathlib
import sys

from kernel_operations import replace, table

HEAD = ["goal", "figure", "wanted", "verdict"]


def main():
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    rows = []
    for line in sys.stdin:
        print(line, end="", flush=True)
        if line.startswith("GOAL "):
            rows.append([word.replace("_", " ") for word in line.split()[1:5]])
    for document in map(pathlib.Path, sys.argv[1:]):
        if not rows:
            sys.exit("error: no line GOAL on standard input: the benchmark has failed")
        replace(document, table(HEAD, rows))


if __name__ == "__main__":
    main()
