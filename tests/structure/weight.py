#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""No room grows unnoticed: tests/structure/weight.txt holds the lines and files that each may have. They may fall
freely. A commit that raises a number there says why in a line of its body that begins with `Weight:`.

    tests/structure/weight.py            compares, and looks at the commits that raised a number
    tests/structure/weight.py update     writes the numbers of today"""
import collections
import pathlib
import re
import subprocess
import sys

LIMITS = pathlib.Path("tests/structure/weight.txt")
ROOMS = ("apps", "arch", "convert", "drivers", "fleet", "foreign", "host", "kernel", "lib", "python", "tests", "tracer")
ROW = re.compile(r"^([+-]?)(\S+) +(\d+) +(\d+)$", re.M)


def git(*words):
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout


def room(path):
    """The top folder; host and tests are rooms of rooms."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in ("host", "tests") and len(parts) > 2 else parts[0]


def weigh():
    weights = collections.defaultdict(lambda: [0, 0])
    for path in map(pathlib.Path, git("ls-files", "-co", "--exclude-standard", "--", *ROOMS).splitlines()):
        if path.is_file() and path != LIMITS:
            weights[room(str(path))][0] += path.read_bytes().count(b"\n")
            weights[room(str(path))][1] += 1
    return {name: tuple(weight) for name, weight in sorted(weights.items())}


def rows(text, sign=""):
    return {name: (int(lines), int(files)) for mark, name, lines, files in ROW.findall(text) if mark == sign}


def raised_without_reason():
    """The commits after the one that brought the limits; a clone without history has none."""
    history = git("log", "-p", "-U0", "--diff-filter=M", "--format=%x00%h%n%b%x01", "--", str(LIMITS))
    for entry in history.split("\0")[1:]:
        body, diff = entry.split("\1")
        before = rows(diff, "-")
        higher = [name for name, after in rows(diff, "+").items()
                  if any(new > old for new, old in zip(after, before.get(name, (0, 0))))]
        if higher and not re.search(r"^Weight:", body, re.M):
            yield body.split("\n")[0], higher


def main():
    weights = weigh()
    if sys.argv[1:] == ["update"]:
        LIMITS.write_text("".join(f"{name:24} {lines:6} {files:4}\n" for name, (lines, files) in weights.items()),
                          encoding="utf-8")
        return 0
    limits = rows(LIMITS.read_text(encoding="utf-8"))
    allowed = {name: limits.get(name, (0, 0)) for name in weights}
    faults = [f"{name}: {lines} lines in {files} files, {allowed[name]} are allowed; remedy: make it lighter, or "
              "tests/structure/weight.py update and a line `Weight: reason` in the commit's body"
              for name, (lines, files) in weights.items() if lines > allowed[name][0] or files > allowed[name][1]]
    faults += [f"commit {commit} raises {', '.join(names)} without a line `Weight: reason` in its body"
               for commit, names in raised_without_reason()]
    print("".join(f"{fault}\n" for fault in faults), end="")
    return bool(faults)


sys.exit(main())
