# SPDX-License-Identifier: MIT
"""The cases of tests/run.py that an area names, each by itself, in a copy of the sources (builds.Tree)."""
import re
import subprocess

from mutate.builds import ROOT


def steps(suite, area):
    """(name, command) of each case."""
    for name in names(suite, area):
        yield name, ["tests/run.py", "-j", "1", suite, name]


def names(suite, area):
    modules = [name for module in area.integration for name in of_module(module)]
    patterns = area.viewers if suite == "viewers" else modules
    if not patterns:
        raise SystemExit(f"error: the area has no case of {suite}; remedy: tests/mutate/areas.py")
    listed = subprocess.run(["tests/run.py", "--list", suite, *patterns], cwd=ROOT, check=True, text=True,
                            capture_output=True).stdout
    return listed.split()


def of_module(module):
    """The cases of a file of tests/integration that run beside others."""
    text = (ROOT / "tests" / "integration" / f"{module}.py").read_text(encoding="utf-8")
    return [name for options, name in re.findall(r"^@case(.*)\ndef (\w+)", text, re.M) if "alone" not in options]
