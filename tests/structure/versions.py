#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/compatibility.md, the sources and CHANGELOG.md state the same versions: each row's number is that of the line
that defines it, the tests that it names exist, and the changelog begins with the version of lib/version.hpp."""
import pathlib
import re
import sys

from sources import files

DOCUMENT = "docs/compatibility.md"
ROW = re.compile(r"^\| [^|]+ \| ([\d.]+|none) \| `([^`]+)`: `([^`]+)` \| (.+) \|$", re.M)
LEAST_ROWS = 10


def text(name):
    return pathlib.Path(name).read_text(encoding="utf-8")


def faults():
    rows = ROW.findall(text(DOCUMENT))
    if len(rows) < LEAST_ROWS:
        yield f"{DOCUMENT}: a row has another form: {len(rows)} are understood"
    tests = "\n".join(text(name) for name in files(".cpp", ".py") if name.startswith("tests/"))
    for number, source, token, held in rows:
        stated = [line for line in text(source).splitlines() if token in line]
        if number != "none":
            stated = [line for line in stated if re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.]*\d)", line)]
        if not stated:
            yield f"{DOCUMENT}: {source} does not state {token} {number}"
        for test in re.findall(r"`([^`]+)`", held):
            if not (pathlib.Path(test).is_file() or re.search(rf"\b{test.removeprefix('installed_')}\b", tests)):
                yield f"{DOCUMENT}: there is no test {test}"
    versions = re.findall(r"^## (\S+)", text("CHANGELOG.md"), re.M)
    if versions[0] != rows[0][0]:
        yield f"CHANGELOG.md: begins with {versions[0]}, and this is version {rows[0][0]}"


found = list(faults())
print("".join(f"{fault}\n" for fault in found), end="")
sys.exit(bool(found))
