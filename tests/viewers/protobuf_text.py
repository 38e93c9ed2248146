# SPDX-License-Identifier: MIT
"""The text that `protoc --decode` prints, as nested objects: {field: [values]}."""
import ast
import re

from support.cases import Failure

FIELD = re.compile(r"^ *([A-Za-z_0-9]+)(?:: (.*)| \{)$")


def parse(text):
    """Every value of every field is kept. Failure for a field that the schema does not have."""
    root = {}
    stack = [root]
    for line in text.splitlines():
        if line.strip() == "}":
            stack.pop()
            continue
        match = FIELD.match(line)
        if not match:
            raise Failure(f"protoc printed {line!r}")
        name, value = match.groups()
        if name.isdigit():
            raise Failure(f"field {name} is not in the schema")
        if value is None:
            inner = {}
            stack[-1].setdefault(name, []).append(inner)
            stack.append(inner)
        else:
            stack[-1].setdefault(name, []).append(scalar(value))
    return root


def scalar(text):
    if text.startswith('"'):
        return ast.literal_eval("b" + text).decode("utf-8")
    return {"true": True, "false": False}[text] if text in ("true", "false") else int(text)


def one(message, field, default=None):
    values = message.get(field, [default])
    if len(values) != 1:
        raise Failure(f"{field} comes {len(values)} times in {message!r}")
    return values[0]
