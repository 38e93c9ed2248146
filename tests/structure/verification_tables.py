#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each source of production is in an area of mutants; the table of areas in docs/verification.md has a row for each,
whose counts agree; and what writes it counts examples as it should."""
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from mutate.areas import AREAS, matches  # noqa: E402
from verification import figures, judgements, line_coverage  # noqa: E402

DOCUMENT = pathlib.Path("docs/verification.md")
SOURCE = "tests/mutate/sample.cpp"
LINE = "namespace mutate {"  # any line of it
found = []


def expect(what, is_so):
    if not is_so:
        found.append(what)


def check_document():
    rows = figures.rows(DOCUMENT.read_text(encoding="utf-8"))
    expect(f"{DOCUMENT}: the rows are {list(rows)}, the areas {list(AREAS)}: make verification-figures",
           list(rows) == [*AREAS, "all"])
    for name, row in rows.items():
        if row[figures.OF_CODE:] == figures.UNMEASURED:
            continue
        judged, by, survived, equivalent = figures.summed([row[figures.OF_CODE:]])
        expect(f"{DOCUMENT}: {name}: {judged} mutants, but {sum(by)} noticed and {survived} survived",
               judged == sum(by) + survived and equivalent <= survived)


# Programs, and the loader of UEFI, which only a boot executes.
WITHOUT_AREA = ("*/program/main.cpp", "foreign/tools/*", "arch/uefi/*", "apps/*", "examples/*", "tests/*")


def check_areas():
    """Each source of production is in an area, whose patterns of unit programs match programs."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.cpp", "host/report/page/*.js"],
                            check=True, text=True, capture_output=True).stdout.split()
    covered = {name for area in AREAS.values() for name in area.sources()}
    for name in listed:
        expect(f"{name} is in no area of tests/mutate/areas.py",
               name in covered or matches(name, WITHOUT_AREA) or not pathlib.Path(name).exists())
    programs = {str(pathlib.Path(name).parent.relative_to("tests/unit")).replace("/", "-") for name in listed
                if name.startswith("tests/unit/")}
    for name, area in AREAS.items():
        for pattern in area.own:
            expect(f"area {name}: no unit program or folder of scripts is called {pattern}",
                   fnmatch.filter(programs, pattern) or any(pathlib.Path(pattern).glob("*_test.js")))


def result(key, verdict, stage="", before=LINE, by=""):
    return {"key": key, "verdict": verdict, "stage": stage, "by": by, "file": SOURCE, "operator": "return",
            "before": before, "after": ""}


def check_judgements():
    files = {"sync-1": [result("a", "survived"), result("b", "killed", "unit"), result("c", "killed", "golden"),
                        result("i", "killed", "guest", by="random_sets_1 by remora check")],
             "sync-20": [result("a", "killed", "traces"), result("d", "survived"), result("e", "uncompiled", "unit"),
                         result("f", "killed", "integration"), result("g", "survived", before="no such line")],
             "sync-8597421abcde": [result("b", "survived")], "sched-1": [result("h", "survived")]}
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, results) in enumerate(files.items()):
            path = pathlib.Path(folder, f"{name}.jsonl")
            path.write_text("".join(json.dumps(each) + "\n" for each in results), encoding="utf-8")
            os.utime(path, (number, number))
        results = judgements.latest(pathlib.Path(folder), "sync", figures.ROOT)
    cells = judgements.Counts(results).cells()
    expect(f"the cells of the example are {cells}", cells == [6, "83.3 %", 1, 1, 2, 1, 1, 0])
    explained = judgements.Counts(results, lambda *of: "a reason" if of == (SOURCE, "return", LINE, "") else None)
    cells = explained.cells()
    expect(f"with a reason they are {cells}", cells == [6, "100.0 %", 1, 1, 2, 1, 1, 1] and not explained.unexplained)


def check_lines():
    text = 'int a; // x\n\n/* b\n c */ int d = \'"\';\n// e\nauto f = "// g";\n    }\n'
    lines = line_coverage.code_lines(text)
    expect(f"lines of code of the example are {lines}", lines == {1, 4, 6, 7})
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "x.cpp").write_text(text, encoding="utf-8")
        counters = {"x.cpp": {1: True, 4: False, 5: True, 6: True, 7: True}}
        measured = line_coverage.Measured(("x.cpp",), counters, pathlib.Path(folder))
    objects = line_coverage.without(["b/x", "b/obj/a/x.cpp.o", "b/obj/a/y.cpp.o"], {"a/x.cpp": {1: True}})
    expect(f"no program has {objects}", objects == ["b/obj/a/y.cpp.o"])
    expect("brackets and comments are no lines that run",
           (measured.code, measured.counted, measured.executed) == (4, 3, 2))


def check_kept():
    """An area without results keeps its row; all others are measured anew."""
    kept = ["7", "60.0 %", "1", "1", "1", "0", "4", "2"]
    text = f"<!-- {figures.AREA_TABLE} -->\n|\n|\n| sync | 1 | 1 | {' | '.join(kept)} |\n<!-- end -->\n"
    judged = judgements.Counts([result("a", "killed", "guest"), result("b", "survived")])
    code = [[name, 10, "90.0 %"] for name in (*AREAS, "all")]
    results = {name: judged if name == "task" else judgements.Counts([]) for name in AREAS}
    rows = {row[0]: row[figures.OF_CODE:] for row in figures.area_rows(text, code, results)[2:]}
    expect(f"sync has {rows['sync']}", rows["sync"] == kept)
    expect(f"task has {rows['task']}", rows["task"] == [2, "50.0 %", 0, 1, 0, "-", 1, 0])
    expect(f"sql has {rows['sql']}", rows["sql"] == figures.UNMEASURED)
    expect(f"all have {rows['all']}", rows["all"] == [9, "57.1 %", 1, 2, 1, 0, 5, 2])


check_document()
check_areas()
check_judgements()
check_lines()
check_kept()
print("\n".join(found))
sys.exit(1 if found else 0)
