# SPDX-License-Identifier: MIT
"""The changes that a mutant may make to a C++ file, found in clang's syntax tree. Each is one edit of one place:

    comparison   < becomes >, == becomes !=            boundary    < becomes <=
    arithmetic   + becomes -, & becomes |, ++ --       condition   negated, always true, one side of && and || alone
    statement    a call, an assignment, a break is     arguments   two neighbours of one type are swapped
                 removed
    constant     one more, or one less                 return      a function returns at once

Only what is inside of a function is changed, and nothing inside of a macro (an assertion is no behaviour) or of what
the compiler must know (static_assert, if constexpr): what a mutant changes must run in a test."""
import dataclasses
import re
import sys

sys.path.append("/usr/lib/python3/dist-packages")  # python3-clang, for a Python that is not Debian's
from clang import cindex  # noqa: E402
from clang.cindex import CursorKind as Kind  # noqa: E402

FLAGS = ("-x c++ -std=c++20 -iquote . -DREMORA_TRACER=1 -DREMORA_TSC=1 -DREMORA_CHECKED=1 "
         "-fconstexpr-steps=100000000").split()
MACHINES = ("tests/support/fake_machine", "arch/x86_64")  # each has a machine/cpu.hpp

COMPARISON = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "!=", "!=": "=="}
BOUNDARY = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "^": "&"}
ASSIGNMENT = {f"{old}=": f"{new}=" for old, new in ARITHMETIC.items()}
STEP = {"++": "--", "--": "++"}
SWITCH = "$on"  # is replaced by the condition under which a switched mutant is the changed code (switched.py)

FUNCTIONS = (Kind.FUNCTION_DECL, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.DESTRUCTOR, Kind.FUNCTION_TEMPLATE,
             Kind.CONVERSION_FUNCTION, Kind.LAMBDA_EXPR)
TWO_SIDED = (Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR, Kind.CALL_EXPR, Kind.UNEXPOSED_EXPR)
REMOVED = (Kind.CALL_EXPR, Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR, Kind.UNARY_OPERATOR,
           Kind.BREAK_STMT, Kind.CONTINUE_STMT, Kind.UNEXPOSED_EXPR)
BLOCKS = (Kind.COMPOUND_STMT, Kind.CASE_STMT, Kind.DEFAULT_STMT)
SYMMETRIC = ("swap", "max", "min")


@dataclasses.dataclass(frozen=True, order=True)
class Mutation:
    """text[begin:end] of a file becomes `new`; line (from 1) is the one that must run in a test."""
    file: str
    line: int
    operator: str
    begin: int
    end: int
    new: str
    function: tuple = (0, 0)  # first and last line of the function
    switch: tuple = ()  # ((begin, end, put before, put after), ...): the same change if SWITCH is true, else none

    def applied(self, text):
        return text[:self.begin] + self.new.encode() + text[self.end:]


class Finder:
    def __init__(self, name, text, unit):
        self.name, self.text = name, text
        self.found, self.function = set(), (0, 0)
        self.skipped = [(cursor.extent.start.offset, cursor.extent.end.offset)
                        for cursor in unit.cursor.get_children()
                        if kind_of(cursor) == Kind.MACRO_INSTANTIATION and self.is_here(cursor)]
        for cursor in unit.cursor.get_children():
            if self.is_here(cursor):
                self.visit(cursor, (), False)

    def is_here(self, cursor):
        return cursor.location.file is not None and cursor.location.file.name == self.name

    def source(self, begin, end):
        return self.text[begin:end].decode()

    def is_even(self, offset):
        """Of a column: of two possible values one is taken, the same however far the line moves."""
        return (offset - self.text.rfind(b"\n", 0, offset)) % 2 == 0

    def add(self, operator, begin, end, new, switch, line=None):
        if end < begin or any(begin < last and first <= end for first, last in self.skipped):
            return
        line = line or self.text.count(b"\n", 0, begin) + 1
        self.found.add(Mutation(self.name, line, operator, begin, end, new, self.function, switch))

    def either(self, begin, end, new):
        """A switch of an expression: `new` or what is there."""
        return begin, end, f"({SWITCH} ? ({new}) : (", "))"

    def visit(self, cursor, around, inside):
        """around: the kinds of the cursor's parent and of that one's; inside: of a function's body."""
        kind, children = kind_of(cursor), list(cursor.get_children())
        if kind == Kind.STATIC_ASSERT:
            return
        if inside:
            self.expression(cursor, children)
            if kind in BLOCKS:
                self.statements(children if kind == Kind.COMPOUND_STMT else children[-1:], around)
            condition = condition_of(cursor, children)
            if condition and "constexpr" in self.source(cursor.extent.start.offset, condition.extent.start.offset):
                children.remove(condition)
            elif condition:
                self.condition(condition, kind == Kind.IF_STMT)
        for child in children:
            is_body = kind in FUNCTIONS and kind_of(child) == Kind.COMPOUND_STMT
            if is_body:
                if not inside:
                    self.function = (cursor.extent.start.line, cursor.extent.end.line)
                self.returns(cursor, child)
            self.visit(child, (kind, *around[:1]), inside or is_body)

    def condition(self, condition, may_drop):
        begin, end = span(condition)
        parts = list(condition.get_children())
        # == becomes != as a comparison.
        if len(parts) < 2 or self.source(parts[0].extent.end.offset, parts[-1].extent.start.offset).strip() not in (
                "==", "!="):
            self.add("condition", begin, end, f"!({self.source(begin, end)})",
                     ((begin, end, f"({SWITCH} != static_cast<bool>(", "))"),))
        if may_drop:
            self.add("condition", begin, end, "true", ((begin, end, f"({SWITCH} || (", "))"),))

    def expression(self, cursor, children):
        kind = kind_of(cursor)
        begin, end = span(cursor)
        if kind in TWO_SIDED and len(children) > 1:
            self.two_sided(cursor, children[0], children[-1])
        if kind == Kind.CALL_EXPR:
            self.arguments(cursor)
        elif kind == Kind.UNARY_OPERATOR:
            for old, new in STEP.items():
                stepped = self.source(begin, end)
                if stepped.startswith(old):
                    self.add("arithmetic", begin, begin + 2, new, (self.either(begin, end, new + stepped[2:]),))
                elif stepped.endswith(old):
                    self.add("arithmetic", end - 2, end, new, (self.either(begin, end, stepped[:-2] + new),))
        elif kind in (Kind.INTEGER_LITERAL, Kind.FLOATING_LITERAL):
            old = self.source(begin, end)
            if re.fullmatch(r"[0-9][0-9a-fA-FxX'.uUlLzZ]*", old):
                more = self.is_even(begin) or re.fullmatch(r"0[uUlL]*", old)
                new = f"({old} {'+' if more else '-'} 1)"
                self.add("constant", begin, end, new, (self.either(begin, end, new),))
        elif kind == Kind.CXX_BOOL_LITERAL_EXPR:
            new = "false" if self.source(begin, end) == "true" else "true"
            self.add("constant", begin, end, new, (self.either(begin, end, new),))

    def two_sided(self, cursor, left, right):
        (begin, left_end), (right_begin, end) = span(left), span(right)
        if (begin, end) != span(cursor) or left_end > right_begin:
            return
        match = re.fullmatch(r"(\s*)(\S+)\s*", self.source(left_end, right_begin))
        if not match:
            return
        sign, at = match[2], left_end + len(match[1])
        tables = [("comparison", COMPARISON), ("boundary", BOUNDARY)]
        builtin = kind_of(cursor) in (Kind.BINARY_OPERATOR, Kind.COMPOUND_ASSIGNMENT_OPERATOR)
        if builtin or sign in ("+", "-", "+=", "-="):
            tables += [("arithmetic", ARITHMETIC), ("arithmetic", ASSIGNMENT)]
        for operator, table in tables:
            if sign in table and "string" not in cursor.type.spelling:
                new = self.source(begin, at) + table[sign] + self.source(at + len(sign), end)
                self.add(operator, at, at + len(sign), table[sign], (self.either(begin, end, new),))
        if sign in ("&&", "||"):
            line = self.text.count(b"\n", 0, begin) + 1
            # The side that is left out has no effect: true beside &&, false beside ||.
            without = f"({SWITCH} || (" if sign == "&&" else f"(!{SWITCH} && ("
            self.add("condition", begin, end, self.source(begin, left_end), ((right_begin, end, without, "))"),), line)
            self.add("condition", begin, end, self.source(right_begin, end), ((begin, left_end, without, "))"),), line)

    def arguments(self, cursor):
        if cursor.spelling.startswith("operator") or cursor.spelling in SYMMETRIC:
            return
        arguments = [argument for argument in cursor.get_arguments() if argument and argument.extent.start.offset]
        for left, right in zip(arguments, arguments[1:]):
            (begin, left_end), (right_begin, end) = span(left), span(right)
            old, new = self.source(begin, left_end), self.source(right_begin, end)
            if left_end < right_begin and plain_type(left) == plain_type(right) and old != new:
                swapped = new + self.source(left_end, right_begin) + old
                first, last = span(cursor)
                if self.constructs(cursor):
                    switch = self.either(begin, left_end, new), self.either(right_begin, end, old)
                else:
                    switch = (self.either(first, last, self.source(first, begin) + swapped + self.source(end, last)),)
                self.add("arguments", begin, end, swapped, switch)

    def constructs(self, call):
        """An object, which may be a declared one: no expression, in spite of its kind."""
        return call.referenced is None or call.referenced.kind == Kind.CONSTRUCTOR

    def statements(self, children, around):
        for child in children:
            begin, end = span(child)
            ends_switch = Kind.SWITCH_STMT in around and re.match(rb";\s*}", self.text[end:])
            if kind_of(child) in REMOVED and not ends_switch and not self.text.startswith(b"static_cast<void>", begin):
                self.add("statement", begin, end, "", ((begin, end, f"if (!{SWITCH}) ", ""),))

    def returns(self, function, body):
        statements = list(body.get_children())
        if not statements:
            return
        result = function.result_type.spelling if function.kind not in (Kind.CONSTRUCTOR, Kind.DESTRUCTOR) else "void"
        at = body.extent.start.offset + 1
        # The body of what is `= default` is the compiler's.
        if (kind_of(function) == Kind.LAMBDA_EXPR or "&" in result or "auto" in result
                or not self.text.startswith(b"{", at - 1)):
            return
        value = "" if result == "void" else " true" if result == "bool" and self.is_even(at) else " {}"
        self.add("return", at, at, f" return{value};", ((at, at, f" if ({SWITCH}) return{value};", ""),),
                 statements[0].extent.start.line)


def kind_of(cursor):
    """What these bindings do not know, as std::bit_cast, is some expression."""
    try:
        return cursor.kind
    except ValueError:
        return Kind.UNEXPOSED_EXPR


def span(cursor):
    return cursor.extent.start.offset, cursor.extent.end.offset


def plain_type(cursor):
    return re.sub(r"\b(const|volatile)\b|&| ", "", cursor.type.get_canonical().spelling)


def condition_of(cursor, children):
    """The condition of a statement, unless it declares a variable."""
    kind = kind_of(cursor)
    if kind in (Kind.WHILE_STMT, Kind.CONDITIONAL_OPERATOR):
        condition = children[0]
    elif kind == Kind.IF_STMT:
        number = len(children) - 1
        tokens_between = children[-1].extent.start.offset - children[-2].extent.end.offset
        # Between a condition and its statement there is `) `, between the two branches ` else `.
        condition = children[number - 1]
        is_branch = kind_of(condition) in (Kind.COMPOUND_STMT, Kind.RETURN_STMT, Kind.UNEXPOSED_STMT)
        if is_branch and number > 1 and tokens_between >= 4:
            condition = children[number - 2]
    else:
        return None
    # Of `if (T name = value)` it is the name.
    at = condition.extent.start.offset
    if any(child.extent.start.offset < at < child.extent.end.offset for child in children):
        return None
    return None if kind_of(condition) in (Kind.DECL_STMT, Kind.VAR_DECL) else condition


def flags_of(name):
    """Options for clang: what the kernel calls the machine is a test's, but for the sources of the real one."""
    machines = reversed(MACHINES) if name.startswith("arch/") else MACHINES
    return [*FLAGS, *(f"-I{machine}" for machine in machines)]


def mutations_of(name):
    """All of them in a file, in the order of their places."""
    with open(name, "rb") as file:
        text = file.read()
    with_macros = cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD
    unit = cindex.Index.create().parse(name, args=flags_of(name), options=with_macros)
    errors = [str(found) for found in unit.diagnostics if found.severity >= cindex.Diagnostic.Error]
    if errors:
        raise RuntimeError(f"clang does not read {name}: {errors[0]}")
    return sorted(Finder(name, text, unit).found, key=lambda found: (found.begin, found.end, found.new))
