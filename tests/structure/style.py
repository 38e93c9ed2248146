#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Rules that the formatter does not check: size, opening comment, macros, no #if inside a function."""
import os
import re
import sys

from sources import files, lines

LINE_MAX = 120
FILE_LINES_MAX = 450
FUNCTION_LINES_MAX = 60  # of production code
TEST_LINES_MAX = 600  # a suite is a list: it may be longer
MACROS = {"ASSERT", "PANIC", "TRACER_LOGEVENT", "FAST_TRACER_LOGEVENT"}
CODE = (".hpp", ".cpp", ".h")
FOREIGN = ("examples/tiny/", "examples/template/", "port/remora_")  # kernels of another house, what they include: C
EVERYTHING = CODE + (".S", ".sh", ".py", ".ld", ".js", ".css")


def opening(name, text):
    """SPDX line first (below #!), then a comment; a .cpp file may leave the words to the header of its name."""
    start = 1 if text and text[0].startswith("#!") else 0
    if name.endswith(".ld"):
        return
    if "SPDX-License-Identifier: MIT" not in "".join(text[start:start + 1]):
        yield start + 1, "the first line is not the SPDX line"
        return
    if name.endswith(".cpp") and os.path.exists(name[:-4] + ".hpp"):
        return
    second = text[start + 1].lstrip() if len(text) > start + 1 else ""
    if not second.startswith(("//", "#", '"""', "/*")) or second.startswith(("#include", "#pragma")):
        yield start + 2, "no comment describes this file"


def layout(name, text):
    limit = TEST_LINES_MAX if name.startswith("tests/") else FILE_LINES_MAX
    if len(text) > limit:
        yield len(text), f"longer than {limit} lines: two ideas in one file?"
    for number, line in enumerate(text, 1):
        if "\t" in line:
            yield number, "a tab"
        if len(line) > LINE_MAX:
            yield number, f"longer than {LINE_MAX} columns"
        if line != line.rstrip():
            yield number, "trailing spaces"


def costly(name, text):
    if name.startswith("host/") and name != "host/text/format.hpp":
        for number, line in enumerate(text, 1):
            if line == "#include <fmt/format.h>":
                yield number, 'costs a second of compiler in each source: include "host/text/format.hpp"'


def preprocessor(name, text):
    """Code at file scope is not indented here, so an #if after an indented line is inside a function or type."""
    indented = False
    for number, line in enumerate(text, 1):
        macro = re.match(r"\s*#\s*define\s+(\w+)\(", line)
        if macro and macro.group(1) not in MACROS:
            yield number, f"function macro {macro.group(1)}"
        if re.match(r"\s*#\s*if", line):
            if indented:
                yield number, "#if inside a function or type: use `if constexpr` or two files"
        elif line.strip() and not line.lstrip().startswith("#"):
            indented = line.startswith(" ")


def functions(name, text):
    """A brace that closes at column 0 (a function), 4 or 8 (a member) belongs to the last line that begins there."""
    if name.startswith("tests/"):
        return
    begins = {}  # column -> number of the line, and whether it may begin a function
    for number, line in enumerate(text, 1):
        column = len(line) - len(line.lstrip())
        if not line.strip() or column > 8 or column % 4 != 0:
            continue
        begin, is_function = begins.get(column, (number, False))
        if line.strip() == "}" and is_function and number - begin + 1 > FUNCTION_LINES_MAX:
            yield begin, f"a function of {number - begin + 1} lines, more than {FUNCTION_LINES_MAX}"
        if not line.lstrip().startswith(("{", ":", "//")):
            begins[column] = (number, is_head(line.strip()))


def is_head(line):
    """The first line of a function, not of a namespace, a type, an initialiser or a statement."""
    words = "namespace|class|struct|union|enum|extern|case|default|if|else|for|while|do|switch|return|public|private"
    return "(" in line and not re.match(rf"({words})\b", line) and not re.search(r"[^=!<>]=[^=]", line.split("(")[0])


def faults():
    for name in (name for name in files(*EVERYTHING) if not name.startswith(FOREIGN)):
        text = lines(name)
        # Headers in C whose macros and guards are part of a published interface.
        published = name.startswith("foreign/published/") and name.endswith(".h")
        own = name.endswith(CODE) and not published
        checks = [opening, layout] + ([preprocessor, functions, costly] if own else [])
        for check in checks:
            for number, fault in check(name, text):
                yield f"{name}:{number}: {fault}"


found = list(faults())
print("\n".join(found))
sys.exit(1 if found else 0)
