#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns what `make -nB` prints into a compilation database: the command of each source, as make would run it. A source
that is compiled for several worlds has one entry, the first that is printed.

    make -nB TARGET ... | mk/compile_commands.py >compile_commands.json"""
import json
import os
import shlex
import sys


def entries():
    seen = set()
    for line in sys.stdin:
        if " -c " not in line or " -o " not in line:
            continue
        arguments = shlex.split(line)
        source, target = (arguments[arguments.index(option) + 1] for option in ("-c", "-o"))
        if source not in seen:
            seen.add(source)
            yield {"directory": os.getcwd(), "file": source, "output": target, "arguments": arguments}


found = list(entries())
if not found:
    sys.exit("no compile command was printed")
json.dump(found, sys.stdout, indent=1)
print()
