#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each edit of a mutant replaces words that occur exactly once in its file: else the mutant is none. The names are
distinct, and those of the slice exist."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from mutants.mutants import MUTANTS, SLICE  # noqa: E402

found = []
for mutant in MUTANTS:
    path = pathlib.Path(mutant.file)
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    for old, new in mutant.edits:
        if text.count(old) != 1:
            found.append(f"{mutant.name}: {mutant.file} has {old!r} {text.count(old)} times, not once")
        text = text.replace(old, new)
names = [mutant.name for mutant in MUTANTS]
found += [f"two mutants are named {name}" for name in sorted(set(names)) if names.count(name) > 1]
found += [f"the slice names {name}, which is no mutant" for name in SLICE if name not in names]
if len(SLICE) != 10:
    found.append(f"the slice has {len(SLICE)} mutants, not ten")
print("\n".join(found))
sys.exit(1 if found else 0)
