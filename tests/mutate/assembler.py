# SPDX-License-Identifier: MIT
"""The changes that a mutant may make to an assembler file, by instruction:

    statement    the instruction is removed              condition   a jump or a move on the opposite condition
    arithmetic   add becomes sub, and becomes or         constant    one more in an immediate value, eight in an address
    arguments    the two operands are swapped"""
import re

from mutate.operators import Mutation

OPPOSITE = {"z": "nz", "e": "ne", "a": "be", "ae": "b", "s": "ns", "c": "nc", "g": "le", "ge": "l", "o": "no"}
OPPOSITE |= {new: old for old, new in OPPOSITE.items()}
ARITHMETIC = {"add": "sub", "and": "or", "inc": "dec", "shl": "shr", "xor": "or", "test": "cmp", "bts": "btr"}
ARITHMETIC |= {"sub": "add", "or": "and", "dec": "inc", "shr": "shl", "cmp": "test", "btr": "bts"}

INSTRUCTION = re.compile(r"^ +(?P<name>[a-z][a-z0-9]*)(?: +(?P<operands>[^\n]*?))?(?= *(?://|\n|$))", re.M)
PLACE = re.compile(r"[er][0-9a-z]{1,3}$|(\w+ ptr )?(gs:)?\[|\\\w+$")  # a register, an address, a parameter of a macro
NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")


def mutations_of(name):
    """All of them in a file. A directive begins with a point, a label ends with a colon: neither is an instruction."""
    with open(name, encoding="utf-8") as file:
        text = file.read()
    if not text.isascii():
        raise ValueError(f"{name} is not ASCII: places are counted in characters")
    found = []
    for match in INSTRUCTION.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        found += [Mutation(name, line, *edit) for edit in edits(match)]
    return sorted(found, key=lambda mutation: (mutation.begin, mutation.end, mutation.new))


def edits(match):
    mnemonic, operands = match["name"], match["operands"] or ""
    begin, end = match.span("name")
    yield "statement", begin, match.end(), ""
    conditional = re.fullmatch(r"(j|cmov|set)(\w+)", mnemonic)
    if conditional and conditional[2] in OPPOSITE:
        yield "condition", begin, end, conditional[1] + OPPOSITE[conditional[2]]
    if mnemonic in ARITHMETIC:
        yield "arithmetic", begin, end, ARITHMETIC[mnemonic]
    if not operands:
        return
    first = match.start("operands")
    for number in NUMBER.finditer(operands):
        in_address = operands.count("[", 0, number.start()) > operands.count("]", 0, number.start())
        yield ("constant", first + number.start(), first + number.end(),
               str(int(number[0]) + (8 if in_address else 1)))
    parts = operands.split(", ")
    if len(parts) == 2 and mnemonic not in ("test", "xchg") and all(map(PLACE.match, parts)):
        yield "arguments", first, first + len(operands), f"{parts[1]}, {parts[0]}"
