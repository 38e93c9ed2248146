#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The mutants that tests/mutate finds in its sample are those that sample.txt lists (--write: make it so), and those of
instructions and of a script are as below."""
import difflib
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from mutate import assembler, operators, scripts  # noqa: E402

SAMPLE = pathlib.Path("tests/mutate/sample.cpp")
LISTED = SAMPLE.with_suffix(".txt")
INSTRUCTIONS = """    .globl name
name:
    add r9, [r8 + 4]   // 16 more
    jnz .Lslow
    ret
"""
EXPECTED = ["3 arguments add [r8 + 4], r9", "3 arithmetic sub r9, [r8 + 4]", "3 constant add r9, [r8 + 12]",
            "3 statement ", "4 condition jz .Lslow", "4 statement ", "5 statement "]
SCRIPT = """
function name(a, b) {
    const text = `1 < ${a < 2 ? "3 + 4" : b}`; // 5 > 6
    if (a && !/1 < 2/.test(text)) {
        call(a, b);
    }
}
"""
EXPECTED_OF_SCRIPT = [
    "2 return function name(a, b) { return;", '3 boundary const text = `1 < ${a <= 2 ? "3 + 4" : b}`;',
    '3 comparison const text = `1 < ${a > 2 ? "3 + 4" : b}`;',
    '3 constant const text = `1 < ${a < (2 - 1) ? "3 + 4" : b}`;', "4 condition if (!(a && !/1 < 2/.test(text))) {",
    "4 condition if (a || !/1 < 2/.test(text)) {", "4 condition if (true) {", "5 arguments call(b, a);", "5 statement "]


def mutants_of_lines(text, mutations):
    """What each line becomes: {line: [operator and the new text of its line]}."""
    found = {}
    for mutation in mutations:
        begin = text.rfind(b"\n", 0, mutation.begin) + 1
        mutant = mutation.applied(text)[begin:].split(b"\n")[0].decode().split("//")[0].strip()
        found.setdefault(mutation.line, []).append(f"{mutation.operator}: {mutant}")
    return {line: sorted(mutants) for line, mutants in found.items()}


def main():
    text = SAMPLE.read_bytes()
    mutants = mutants_of_lines(text, operators.mutations_of(str(SAMPLE)))
    found = "".join(f"{line} {mutant}\n" for line, mutants in sorted(mutants.items()) for mutant in mutants)
    if sys.argv[1:] == ["--write"]:
        LISTED.write_text(found, encoding="utf-8")
    faults = list(difflib.unified_diff(LISTED.read_text(encoding="utf-8").splitlines(), found.splitlines(), str(LISTED),
                                       "found", lineterm="", n=0))
    for name, source, finder, expected in (("sample.S", INSTRUCTIONS, assembler, EXPECTED),
                                           ("sample.js", SCRIPT, scripts, EXPECTED_OF_SCRIPT)):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            path.write_text(source, encoding="utf-8")
            found = mutants_of_lines(path.read_bytes(), finder.mutations_of(str(path)))
        words = [f"{line} {mutant.replace(':', '', 1)}" for line in sorted(found) for mutant in found[line]]
        if words != expected:
            faults.append(f"of {name}: found {words}, expected {expected}")
    print("\n".join(faults))
    return 1 if faults else 0


sys.exit(main())
