#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What README.md and docs/performance.md show of a run under a clock that counts instructions: the same on every
machine, so it is written by a run, not by hand.

    tests/golden/readme.py diff|update SESSION REMORA     diff: exit code 1, and the lines that are printed no longer

Each block of code is compared with what one command prints. A line of the block is the first printed one of the same
shape: equal but for its numbers, and after the line before it. A block whose lines follow each other does so still."""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SECTIONS = (("README.md", "## What you see"), ("docs/performance.md", "## The measurement in each trace"))
BLOCK = re.compile(r"^```\n(.*?)^```$", re.S | re.M)
NUMBER = re.compile(r"\d[\d,.]*")


def shape(line):
    return re.sub(r"\s+", " ", NUMBER.sub("#", line)).strip()


def successor(line, printed, start, near):
    """Index of the printed line, or None. near: it follows at once if any does."""
    if near and start < len(printed) and shape(printed[start]) == shape(line):
        return start
    return next((i for i in range(start, len(printed)) if shape(printed[i]) == shape(line)), None)


def matched(lines, printed):
    """The printed lines for those of a block, or None: from the first start from which all of them are found and as
    many as possible follow each other."""
    best = None
    for first in (i for i, line in enumerate(printed) if shape(line) == shape(lines[0])):
        found = [first]
        for line in lines[1:]:
            place = successor(line, printed, found[-1] + 1, True)
            if place is None:
                break
            found.append(place)
        if len(found) == len(lines):
            length = found[-1] - first
            best = min(best or (length, found), (length, found))
    return best and [printed[i] for i in best[1]]


def renewed(name, text, outputs):
    """The section's text with today's lines; outputs: what each command prints, in lines."""
    def block(match):
        lines = match[1].splitlines()
        head = [line for line in lines if line.startswith("$")]
        wanted = [line for line in lines if line and not line.startswith("$")]
        today = next(filter(None, (matched(wanted, output) for output in outputs)), None)
        if today is None:
            sys.exit(f"error: {name}: no command prints a block like this one:\n{match[1]}"
                     "remedy: write the lines that are printed today, or remove the block")
        today = iter(today)
        body = [line if line.startswith("$") or not line else next(today) for line in lines[len(head):]]
        return "```\n" + "".join(f"{line.rstrip()}\n" for line in head + body) + "```"
    return BLOCK.sub(block, text)


def main():
    mode, session, remora = sys.argv[1:]
    def printed(command):
        done = subprocess.run([remora, command, session], capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    outputs = [printed(command) for command in ("summary", "schedule", "print", "check")]
    stale = False
    for name, title in SECTIONS:
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        begin = text.index(title)
        end = text.find("\n## ", begin)
        end = len(text) if end < 0 else end
        now = renewed(name, text[begin:end], outputs)
        if mode == "update":
            path.write_text(text[:begin] + now + text[end:], encoding="utf-8")
        for old, new in zip(text[begin:end].splitlines(), now.splitlines()):
            if mode == "diff" and old != new:
                stale = True
                print(f"{name} says    {old}\nthe run prints    {new}")
    if stale:
        sys.exit("error: a document shows an earlier run\nremedy: make docs-figures")


main()
