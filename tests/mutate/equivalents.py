# SPDX-License-Identifier: MIT
"""Survivors that change nothing that a test could notice, each with the reason: equivalent.txt. They are found by file,
operator and text, because lines move."""
import dataclasses
import functools
import pathlib
import re

LISTED = pathlib.Path(__file__).with_name("equivalent.txt")
CUT = " ..."  # ends a text that a campaign cut off
WHY = re.compile(r"why(?:, of (\d+) lines)?: (.+)")


@dataclasses.dataclass(frozen=True)
class Entry:
    file: str
    operator: str
    before: str
    after: str
    reason: str
    places: int = 1  # where the file has the line; the reason holds for each


def parsed(text):
    """The entries of a list: blocks of four lines, between blank lines. Raises ValueError for another block."""
    entries = []
    kept = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for block in filter(None, (block.strip() for block in kept.split("\n\n"))):
        lines = [line.strip() for line in block.splitlines()]
        marks = len(lines) == 4 and (lines[1][:2], f"{lines[2]} "[:2]) == ("- ", "+ ") and WHY.fullmatch(lines[3])
        file, _, operator = lines[0].partition(": ")
        if not marks or not operator:
            raise ValueError(f"not of the form `file: operator`, `- before`, `+ after`, `why: reason`:\n{block}")
        entries.append(Entry(file, operator, lines[1][2:], lines[2][2:], marks[2], int(marks[1] or 1)))
    return entries


def reasons(entries):
    return {(entry.file, entry.operator, entry.before, entry.after): entry.reason for entry in entries}


@functools.cache
def _listed():
    return reasons(parsed(LISTED.read_text(encoding="utf-8")))


def reason(file, operator, before, after):
    """Why this mutant is equivalent, or None. before, after: as in a line of a campaign's results."""
    return _listed().get((file, operator, before, after))


def has_line(source, text):
    """Whether a source still has the text of a mutated line, wherever it is and however it is indented."""
    return text.removesuffix(CUT) in " ".join(source.split())


def places_of(source, text):
    """The numbers of the lines, from 1, where the text is: one line, or several of a longer statement."""
    lines, whole = [" ".join(line.split()) for line in source.splitlines()], text.removesuffix(CUT)
    found = []
    for first in range(len(lines)):
        joined, last = lines[first], first + 1
        while last < len(lines) and len(joined) < len(whole):
            joined, last = " ".join(f"{joined} {lines[last]}".split()), last + 1
        if lines[first] and (joined.startswith(whole) if text != whole else joined == whole):
            found.append(first + 1)
    return found
