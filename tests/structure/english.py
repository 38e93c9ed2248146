#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plain technical English: refuses a list of words in comments, names, messages and documents; names better ones."""
import bisect
import itertools
import os
import re
import sys

from sources import files

# What is refused, and what to write instead. Phrases may continue on the next line, and names are split into their
# parts: m_told, TellsTheLoss.
REFUSED = {
    r"told|tells?|telling": "report, announce, record, state, distinguish",
    r"behind": "after, following, beyond, below",
    r"(no|some)body": "no task, none, nothing; another task, a caller",
    r"(go|goes|going|went|gone) on": "continue",
    r"for (ever|good)": "forever, permanently",
    r"condemned": "invalid, rejected",
    r"freight": "export job",
    r"(short|long) way": "fast path, slow path",
    r"(make|makes|made|making) way": "pick next, preempt, yield",
    r"odd bytes?": "trailing bytes",
    r"(lie|lies|lay|lying)(?! out\b)": "is, is at, is stored",
    r"stands?|stood|standing": "is, is at, means, remains",
}
SUFFIXES = (".md", ".hpp", ".cpp", ".h", ".c", ".S", ".py", ".sh", ".mk", ".ld", ".pml", ".cfg",
            "Makefile", ".tp", ".js", ".css", ".html")
THIS = "tests/structure/english.py"

MARK = re.compile(r"^\s*(//+|#+|/?\*+|--)?")
PARTS = re.compile(r"_|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
PATTERNS = [(re.compile(rf"\b(?:{words})\b", re.IGNORECASE), instead) for words, instead in REFUSED.items()]


def words_of(line):
    """A line without its comment mark; names in their parts."""
    return " ".join(PARTS.sub(" ", MARK.sub("", line)).split())


def found_in(text):
    """The refused words: line, word, what to write instead. A phrase may end on the next line, not after an empty one:
    that is a second blank."""
    lines = [words_of(line) for line in text.splitlines()]
    begins = list(itertools.accumulate((len(line) + 1 for line in lines), initial=0))
    joined = " ".join(lines)
    for pattern, instead in PATTERNS:
        for match in pattern.finditer(joined):
            yield bisect.bisect_right(begins, match.start()), match.group(), instead


# A sentence has a verb, which these beginnings rarely have; and a file that a comment names is there.
VERBLESS = re.compile(r"^\s*//\s+(Of|Likewise)\b")
NAMED = re.compile(r"^\s*//.*?(?<![\w/.-])((?:lib|arch|drivers|tracer|kernel|host|convert|foreign|fleet|python|tests)/"
                   r"[\w/]+\.(?:hpp|cpp|h|S|js|py))\b")


def faults_of_comments(name, text):
    for number, line in enumerate(text.splitlines(), 1):
        if VERBLESS.match(line) and not name.startswith("tests/"):
            yield number, "a comment without a verb: begin with \"Returns\", \"The ...\""
        named = NAMED.match(line)
        if named and not os.path.exists(named[1]):
            yield number, f"{named[1]} is not there"


def main():
    faults = 0
    for name in files(*SUFFIXES):
        if name == THIS:
            continue
        with open(name, encoding="utf-8") as file:
            text = file.read()
        for number, word, instead in sorted(found_in(text)):
            print(f"{name}:{number}: \"{word}\": write {instead}")
            faults += 1
        for number, fault in faults_of_comments(name, text):
            print(f"{name}:{number}: {fault}")
            faults += 1
    return 1 if faults else 0


sys.exit(main())
