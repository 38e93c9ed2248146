#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/events.md against the sources: every event of the table has exactly one row there, with the right code; each row
names cases of the test kernel that exist and mention the event, or contains `later:` as the list below allows; each
funnel in the table exists, in the file that is named."""
import pathlib
import re
import sys

DOCUMENT = "docs/events.md"
# Events without a test so far, and the condition. Remove a row when its part of the kernel is added.
LATER = {
    "this kernel has no spin locks": {"spin_acquire", "spin_release"},
}
NOT_PROVOKED = {"empty", "panic"}  # the first is never recorded; a p_* case ends with the second, checked outside

found = []


def fault(text):
    found.append(f"{DOCUMENT}: {text}")


def event_table():
    """{name: code} of every event but metadata; long events of the family typed have tests of their own."""
    text = pathlib.Path("tracer/record/event_table.hpp").read_text(encoding="utf-8")
    rows = re.findall(r'^    \{0x([0-9A-F]{2}),\s*"(\w+)",(.*?)\},$', text, re.M | re.S)
    return {name: code for code, name, rest in rows if code[1] != "C" and "Shape::combined" not in rest}


def families(names):
    """A document's cell for several events, spelt out."""
    if names == "user_event_0..14":
        return [f"user_event_{number}" for number in range(15)]
    if names == "filter_*":
        return [name for name in EVENTS if name.startswith("filter_")]
    return [names]


def cases():
    """{case: text of its file} of the test kernel."""
    known = {}
    for path in sorted(pathlib.Path("tests/kernel").glob("*.cpp")):
        text = path.read_text(encoding="utf-8")
        known.update({name: text for name in re.findall(r'"([tp]_\w+)"', text)})
    return known


def speaks_of(text, name):
    if name.startswith("filter_"):
        return "tracer::kEvents" in text or f"FTrace_{name}" in text
    if name.startswith("user_event_"):
        return "FTrace_EVT_user_event_0" in text and "FTrace_EVT_user_event_14" in text
    return f"FTrace_EVT_{name}" in text or f'"{name}"' in text


def check_test(name, cell):
    waits = re.fullmatch(r"later: (.*)", cell)
    if waits:
        if name not in LATER.get(waits.group(1), set()):
            fault(f"{name} waits for {waits.group(1)}, which tests/structure/event_rows.py does not allow")
        return
    if any(name in names for names in LATER.values()):
        fault(f"{name} has a test: remove it from the list of tests/structure/event_rows.py")
    for case in cell.split():
        if case not in CASES:
            fault(f"{name}: the test kernel has no case {case}")
    texts = [CASES[case] for case in cell.split() if case in CASES]
    if name not in NOT_PROVOKED and not any(speaks_of(text, name) for text in texts):
        fault(f"{name}: no case of {cell} mentions it")


def check_funnel(name, cell):
    for path, words in re.findall(r"([a-z_0-9/]+\.(?:cpp|hpp|S))((?: ~?\w+)?)", cell):
        file = pathlib.Path(path)
        if not file.exists():
            fault(f"{name}: {path} does not exist")
        elif words and not re.search(rf"\b{re.escape(words.strip().lstrip('~'))}\b", file.read_text(encoding="utf-8")):
            fault(f"{name}: {path} has no{words}")


EVENTS = event_table()
CASES = cases()
documented = {}
for line in pathlib.Path(DOCUMENT).read_text(encoding="utf-8").splitlines():
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    if not line.startswith("|") or len(cells) != 6 or not re.match(r"[0-9A-F]{2}", cells[0]):
        continue
    for event in families(cells[1]):
        if event in documented:
            fault(f"{event} has two rows")
        documented[event] = cells
        if event not in EVENTS:
            fault(f"{event} is not in the event table")
        elif re.fullmatch(r"[0-9A-F]{2}", cells[0]) and cells[0] != EVENTS[event]:
            fault(f"{event} has the code {EVENTS[event]}, not {cells[0]}")
        check_test(event, cells[5])
        check_funnel(event, cells[4])
for event in EVENTS:
    if event not in documented:
        fault(f"{event} (0x{EVENTS[event]}) has no row: state where it is recorded and which guest case tests it")
if len(EVENTS) < 80:
    fault(f"only {len(EVENTS)} events were found in tracer/record/event_table.hpp: the check would check nothing")
print("\n".join(found))
sys.exit(1 if found else 0)
