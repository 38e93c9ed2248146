#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make verification-figures`: writes into a document what the suites notice, area by area, and what the model finds.

    figures.py DOCUMENT [PROGRAM... OBJECT...]

The unit programs are run, with counters; objects (.o) are those of files that none of them contains. Without programs
only what the campaigns found is written: it is read from build/mutate, and an area without results there keeps what its
row shows. Survivors for which tests/mutate/equivalent.txt has no reason are printed."""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "models")]

from models import run as models  # noqa: E402  it finds variants.py by the second path
from mutate.areas import AREAS  # noqa: E402
from verification import line_coverage  # noqa: E402
from verification.judgements import NOT_RUN, Counts, latest, rate  # noqa: E402

BUILD = ROOT / os.environ.get("BUILD", "build")
# In the order of Counts.cells().
HEAD = ("area", "lines", "executed", "mutants", "killed", "unit", "guest", "oracle", "viewers", "survived",
        "equivalent")
OF_CODE = 3  # the columns before those of a campaign
UNMEASURED = ["not measured", *[""] * (len(HEAD) - OF_CODE - 1)]
AREA_TABLE, MODEL_TABLE = "make verification-figures: areas", "make verification-figures: model"


def between(text, mark):
    """Where the table is."""
    found = re.search(rf"<!-- {re.escape(mark)} -->\n(.*?)<!-- end -->", text, re.S)
    if not found:
        sys.exit(f"error: the document has no line <!-- {mark} -->, or no <!-- end --> after it")
    return found.span(1)


def replaced(text, mark, table):
    begin, end = between(text, mark)
    return text[:begin] + "".join(f"| {' | '.join(map(str, row))} |\n" for row in table) + text[end:]


def rows(text):
    """{area: cells} of the table as it is."""
    begin, end = between(text, AREA_TABLE)
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text[begin:end].splitlines()]
    return {row[0]: row for row in cells[2:] if len(row) == len(HEAD)}


def code_cells(executed):
    """[area, lines, executed] of each, and of all."""
    total = line_coverage.Measured((), executed, ROOT)
    for name, area in AREAS.items():
        measured = line_coverage.Measured(area.sources(), executed, ROOT)
        total.add(measured)
        yield [name, measured.code, rate(measured.executed, measured.counted, "no counters")]
    yield ["all", total.code, rate(total.executed, total.counted)]


def area_rows(text, code, results):
    """code: what code_cells() gives; results: {area: Counts}. The last row is of all areas that are measured."""
    shown, found = rows(text), []
    for cells in code[:-1]:
        kept = shown[cells[0]][OF_CODE:] if cells[0] in shown else UNMEASURED
        judged = results[cells[0]]
        found.append([*cells, *(judged.cells() if judged.judged else kept)])
    campaigns = [row[OF_CODE:] for row in found if row[OF_CODE:] != UNMEASURED]
    judged, by, survived, equivalent = summed(campaigns)
    last = [judged, rate(sum(by), judged - equivalent), *by, survived, equivalent] if campaigns else UNMEASURED
    return [HEAD, ["---"] * len(HEAD), *found, [*code[-1], *last]]


def summed(campaigns):
    """judged, those noticed by each group, survived, equivalent."""
    sums = [sum(int(row[column]) for row in campaigns if row[column] != NOT_RUN)
            for column in (0, *range(2, len(HEAD) - OF_CODE))]
    return sums[0], sums[1:-2], sums[-2], sums[-1]


def model_rows():
    """What found each mutant of the models; ends with an error if nothing did."""
    models.build()
    jobs = [(models.variants.CI[variant], name) for name, (_, variant) in models.variants.MUTANTS.items()]
    found = {}
    for name, (options, _), outcome in zip(models.variants.MUTANTS, jobs, models.checked(jobs)):
        if outcome.broken is None:
            sys.exit(f"error: the model's mutant {name} survived")
        found.setdefault((options.get("MODEL", "record_path"), outcome.broken), []).append(f"`{name}`")
    return [("model", "found by the check", "number", "mutants"), ["---"] * 4,
            *([model, check, len(names), " ".join(names)] for (model, check), names in sorted(
                found.items(), key=lambda item: (item[0][0] != "record_path", -len(item[1]), item[0])))]


def main():
    document = pathlib.Path(sys.argv[1])
    before = document.read_text(encoding="utf-8")
    results = {name: Counts(latest(BUILD / "mutate", name, ROOT)) for name in AREAS}
    if sys.argv[2:]:
        code = list(code_cells(line_coverage.united(sys.argv[2:], BUILD / "coverage" / "counts", ROOT)))
        text = replaced(before, MODEL_TABLE, model_rows())
    else:
        code, text = [row[:OF_CODE] for row in rows(before).values()], before
    document.write_text(replaced(text, AREA_TABLE, area_rows(text, code, results)), encoding="utf-8")
    for name, counts in results.items():
        for result in counts.unexplained:
            print("{file}: {operator}\n- {before}\n+ {after}\n".format(**result))
        if counts.judged:
            print(f"{name}: {counts.judged} judged, {len(counts.unexplained)} survived without a reason")


if __name__ == "__main__":
    main()
