#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/faults.md against the tests: each row names at least one, each of them exists, and the guest cases that need
control from outside (s_*) are booted by a test."""
import pathlib
import re
import sys

DOCUMENT = "docs/faults.md"
ROWS_AT_LEAST = 20

found = []


def texts(folder, pattern):
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(pathlib.Path(folder).rglob(pattern)))


def known_tests():
    outside = texts("tests/integration", "*.py")
    guest = set(re.findall(r'"([tps]_\w+)"', texts("tests/kernel", "*.cpp")))
    known = {name for name in guest if not name.startswith("s_") or f'"{name}"' in outside}
    known |= set(re.findall(r"^@case\b.*\ndef (\w+)", outside, re.M))
    known |= set(re.findall(r'Case\("(\w+)"', outside))
    known |= {f"trace_of_{name}" for name in re.findall(r'App k\w+\{\s*"(\w+)"', texts("apps", "*.cpp"))}
    units = texts("tests/unit", "*.cpp")
    known |= {f"{suite}.{name}" for suite, name in re.findall(r"^TEST(?:_F|_P)?\((\w+), (\w+)\)", units, re.M)}
    return known | {path.stem for path in pathlib.Path("tests/structure").iterdir()}


KNOWN = known_tests()
rows = 0
for line in pathlib.Path(DOCUMENT).read_text(encoding="utf-8").splitlines():
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    if not line.startswith("|") or cells[0] == "fault" or set(line) <= set("|-"):
        continue
    rows += 1
    if len(cells) != 3 or not all(cells):
        found.append(f"{DOCUMENT}: a row is fault, tests and outcome, not: {line[:60]}")
        continue
    for name in cells[1].split():
        if name not in KNOWN:
            found.append(f"{DOCUMENT}: {cells[0]}: there is no test {name}")
if rows < ROWS_AT_LEAST:
    found.append(f"{DOCUMENT}: only {rows} rows were found: the check would pass without checking")
print("\n".join(found))
sys.exit(1 if found else 0)
