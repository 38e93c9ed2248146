#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each entry of tests/mutate/equivalent.txt names an operator, and a file that still has the line, once, or as often
as the entry says; none is there twice. What finds a reason, and refuses a list with an error, is tried on examples."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from mutate import equivalents  # noqa: E402

OPERATORS = ("comparison", "boundary", "arithmetic", "condition", "statement", "arguments", "constant", "return")
SAMPLE = "tests/mutate/sample.cpp"
GOOD = "# a comment\n{file}: {operator}\n- {before}\n+ {after}\nwhy: {reason}\n"


def faults_of(entries):
    seen = set()
    for entry in entries:
        place = f"{equivalents.LISTED.name}: {entry.file}: {entry.operator}: {entry.before}"
        path = pathlib.Path(entry.file)
        if not path.is_file():
            yield f"{place}: there is no such file"
        else:
            lines = equivalents.places_of(path.read_text(encoding="utf-8"), entry.before)
            if not lines:
                yield f"{place}: the file has no such line any more"
            elif len(lines) != entry.places:
                yield f"{place}: in lines {lines}, and the reason is of {entry.places}"
        if entry.operator not in OPERATORS:
            yield f"{place}: no such operator"
        if entry.before == entry.after:
            yield f"{place}: no change"
        key = (entry.file, entry.operator, entry.before, entry.after)
        if key in seen:
            yield f"{place}: a second time"
        seen.add(key)


def wrong_examples():
    """The examples of which this test would not notice the error."""
    line = next(line.strip() for line in pathlib.Path(SAMPLE).read_text(encoding="utf-8").splitlines() if " < " in line)
    good = {"file": SAMPLE, "operator": "boundary", "before": line, "after": line.replace("<", "<=", 1), "reason": "x"}
    entry = GOOD.format(**good)
    both = equivalents.parsed(f"{entry}\n{entry.replace('boundary', 'comparison').replace('why: x', 'why: y')}")
    if list(faults_of(both)):
        yield "valid entries are refused"
    found = equivalents.reasons(both)
    if [found.get((SAMPLE, operator, line, good["after"])) for operator in OPERATORS[:3]] != ["y", "x", None]:
        yield f"the reasons of the example are {found}"
    for key, value in (("file", "no/such.cpp"), ("operator", "other"), ("before", "no such line"), ("after", line)):
        if len(list(faults_of(equivalents.parsed(GOOD.format(**{**good, key: value}))))) != 1:
            yield f"an entry whose {key} is {value} is accepted"
    if len(list(faults_of(equivalents.parsed(f"{entry}\n{entry}")))) != 1:
        yield "the same entry is accepted twice"
    if len(list(faults_of(equivalents.parsed(GOOD.format(**{**good, "before": "break;", "after": ";"}))))) != 1:
        yield "an entry of a line that the file has twice is accepted"
    each = GOOD.format(**{**good, "before": "return 0;", "after": "return 1;"}).replace("why:", "why, of 99 lines:")
    if len(list(faults_of(equivalents.parsed(each)))) != 1:
        yield "an entry of 99 lines is accepted"
    for text in (entry.replace("why:", ""), entry.replace("- ", "-", 1), entry.replace(": boundary", "")):
        try:
            equivalents.parsed(text)
            yield f"this is accepted:\n{text}"
        except ValueError:
            pass


def main():
    try:
        entries = equivalents.parsed(equivalents.LISTED.read_text(encoding="utf-8"))
    except ValueError as error:
        print(f"{equivalents.LISTED.name}: {error}")
        return 1
    faults = [*faults_of(entries), *wrong_examples()]
    print("\n".join(faults))
    return 1 if faults else 0


sys.exit(main())
