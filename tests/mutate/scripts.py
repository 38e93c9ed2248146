# SPDX-License-Identifier: MIT
"""The changes that a mutant may make to a script of the page, by its tokens: no syntax tree is needed, because the
scripts are written in one style. Each is one edit of one place:

    comparison   < becomes >, === becomes !==          boundary    < becomes <=
    arithmetic   + becomes -, ++ becomes --            condition   of `if` and `while`: negated; of `if`: always true;
    constant     one more, or one less; true, false                && becomes ||
    statement    one that is a line of its own is      arguments   two neighbours are swapped, but of max and min
                 removed                               return      a function returns at once

Text in quotes, regular expressions and comments are not changed; an expression within a template is."""
import re

from mutate.operators import Mutation

COMPARISON = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "===": "!==", "!==": "==="}
BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "<<": ">>", ">>": "<<", ">>>": "<<", "&": "|", "|": "&"}
ARITHMETIC |= {f"{old}=": f"{new}=" for old, new in ARITHMETIC.items()}
LOGIC = {"&&": "||", "||": "&&"}
BINARY = (("comparison", COMPARISON), ("boundary", BOUNDARY), ("arithmetic", ARITHMETIC), ("condition", LOGIC))

QUOTED = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"|(?<=[(,=:!&|?] )/(?:\\.|\[(?:\\.|[^\]])*\]|[^/\\\n])+/\w*'
                    r'|(?<=[(!])/(?:\\.|\[(?:\\.|[^\]])*\]|[^/\\\n])+/\w*|(?<=return )/(?:\\.|[^/\\\n])+/\w*')
OPERATOR = re.compile(r"(?<= )(?:[<>]=?|[!=]==|>>>?=?|<<=?|[-+*/%&|]=?|&&|\|\|)(?= |\n)")
STEP = re.compile(r"\+\+|--")
NUMBER = re.compile(r"(?<![\w.\\$])(?:0x[0-9A-F]+|\d+(?:\.\d+)?(?:e\d+)?)(?![\w.])")
TRUTH = re.compile(r"\b(?:true|false)\b")
STATEMENT = re.compile(r"(?<=\n) +(?!const |let |return|throw |case |default|import )"
                       r"(?:[\w.\[\]]+[ (+=-]|\+\+|--|break|continue)[^\n]*;(?=\n)")
CALL = re.compile(r"(?<!Math\.max)(?<!Math\.min)(?<=[\w\]])\(([\w.]+), ([\w.]+)[,)](?! (?:\{|=>))")
METHOD = r"    (?:static |get |async )*(?!if|for|while|switch|catch|constructor)\w+"
BODY = re.compile(rf"(?<=\n)(?:{METHOD}|(?:async )?function \w+)\([^\n]*\) \{{(?=\n)")


def blank(match):
    return " " * (match.end() - match.start())


def masked(text):
    """The text with blanks in the place of what is not changed: quoted text, and of a template all but expressions."""
    text = QUOTED.sub(blank, text)
    out, depth = list(text), []  # depth: of the open braces in each template that is open; None within its text
    for i, character in enumerate(text):
        if depth and depth[-1] is None:
            if character == "`":
                depth.pop()
            elif text.startswith("${", i):
                depth[-1] = -1  # its own brace follows
            if depth and depth[-1] is None or character == "`":
                out[i] = character if character == "\n" else " "
        elif character == "`":
            depth.append(None)
            out[i] = " "
        elif depth and character == "{":
            depth[-1] += 1
        elif depth and character == "}":
            depth[-1] = depth[-1] - 1 if depth[-1] > 0 else None
    return "".join(out)


def closing(text, at):
    """Where the bracket ends that opens at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] in "([{") - (text[i] in ")]}")
        if depth == 0:
            return i
    raise ValueError(f"a bracket at {at} does not end")


def edits(text, code):
    """(operator, begin, end, new) of each."""
    for match in OPERATOR.finditer(code):
        for operator, table in BINARY:
            if match[0] in table:
                yield operator, *match.span(), table[match[0]]
    for match in STEP.finditer(code):
        yield "arithmetic", *match.span(), "--" if match[0] == "++" else "++"
    for match in NUMBER.finditer(code):
        sign = "-" if match[0] != "0" and (match.start() - code.rfind("\n", 0, match.start())) % 2 else "+"
        yield "constant", *match.span(), f"({match[0]} {sign} 1)"
    for match in TRUTH.finditer(code):
        yield "constant", *match.span(), "false" if match[0] == "true" else "true"
    for match in re.finditer(r"\b(if|while) \(", code):
        begin, end = match.end(), closing(code, match.end() - 1)
        yield "condition", begin, end, f"!({text[begin:end]})"
        if match[1] == "if":
            yield "condition", begin, end, "true"
    for match in STATEMENT.finditer(code):
        if code.count("(", *match.span()) == code.count(")", *match.span()):
            yield "statement", *match.span(), ""
    for match in CALL.finditer(code):
        (begin, left), (right, end) = match.span(1), match.span(2)
        if match[1] != match[2]:
            yield "arguments", begin, end, text[right:end] + text[left:right] + text[begin:left]
    for match in BODY.finditer(code):
        yield "return", match.end(), match.end(), " return;"


def mutations_of(name):
    """All of them in a file, in the order of their places."""
    with open(name, encoding="utf-8") as file:
        text = file.read()
    if not text.isascii():
        raise ValueError(f"{name} is not ASCII: places are counted in characters")
    found = [Mutation(name, text.count("\n", 0, begin) + 1, operator, begin, end, new)
             for operator, begin, end, new in edits(text, masked(text))]
    return sorted(found, key=lambda mutation: (mutation.begin, mutation.end, mutation.new))
