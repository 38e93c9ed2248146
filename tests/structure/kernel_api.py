#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/kernel-api.md against the published headers: each declaration that an application may use, with its comment.
Without an argument the page is compared with the headers; `update` rewrites what follows its mark.

The comment of a published function is prose, then lines with a label:

    // Takes a unit of the semaphore and waits for one if there is none.
    // signo: 1 to 31.                                      a parameter
    // invalid_argument: the semaphore is not initialised.  an error of lib::Error; -1 for FTrace_* functions
    // Context: task.                                       may be given once for the whole file, in its first comment

A function must have a comment and a context, name an error if it can fail, list the errors that its body returns, and
state the range of each integer. Not published: namespaces `detail`, functions that take IrqOff, and what follows a line
`// --- for the kernel`."""
import difflib
import itertools
import pathlib
import re
import sys

PAGE = pathlib.Path("docs/kernel-api.md")
MARK = "<!-- tests/structure/kernel_api.py writes what follows. -->"

# Subject, header, and the names that are taken from it if not all of them are published.
SUBJECTS = (
    ("Tasks", "kernel/task/task.hpp", None),
    ("What a task is", "kernel/state/task_model.hpp", None),
    ("The processor time of a task", "kernel/sched/cpu_clock.hpp", None),
    ("Groups of tasks", "kernel/task/task_group.hpp", None),
    ("Signals", "kernel/task/signal.hpp", None),
    ("Servers", "kernel/sched/server.hpp", None),
    ("Mutexes", "kernel/sync/mutex.hpp", None),
    ("Semaphores", "kernel/sync/semaphore.hpp", None),
    ("Conditions", "kernel/sync/condition.hpp", None),
    ("Ports", "kernel/sync/port.hpp", None),
    ("Time", "kernel/time/clock.hpp", None),
    ("Timer events", "kernel/time/timer.hpp", None),
    ("Clock compensation", "kernel/time/compensated_clock.hpp", None),
    ("The rules of clock compensation", "kernel/time/compensator.hpp", {"Parameters"}),
    ("Sections with interrupts off", "kernel/section/irq_guard.hpp", None),
    ("The return to the task", "kernel/sched/upcalls.hpp", None),
    ("Interrupts and driver tasks", "kernel/interrupt/interrupt.hpp", None),
    ("Interrupt storms", "kernel/interrupt/storm.hpp", None),
    ("Applications", "kernel/run/app.hpp", None),
    ("Run levels", "kernel/run/runlevel.hpp", None),
    ("The end of a run", "kernel/run/run.hpp", None),
    ("Calls into the BIOS", "kernel/run/real_mode.hpp", None),
    ("The console", "kernel/panic/console.hpp", None),
    ("The watchdog", "kernel/panic/hang.hpp", None),
    ("Panic", "kernel/panic/panic.hpp", None),
    ("The published interface of the tracer", "tracer/ftrace.hpp", None),
    ("Events by name", "tracer/log.hpp", {"log", "log_fast", "kTracerBuilt"}),
    ("Typed events", "tracer/typed_event.hpp", None),
    ("trace_printf", "tracer/trace_printf.hpp", None),
    ("Limits", "kernel/config.hpp", None),
    ("Words", "lib/wire_numbers.hpp", {"TaskException", "Reaction", "MutexProtocol", "ServerKind"}),
    ("Errors", "lib/result.hpp", {"Error", "error_name"}),
    ("Units of time", "lib/units.hpp", {"Ticks", "Nanoseconds", "microseconds", "milliseconds"}),
)
UNITS = {"lib::Nanoseconds": "nanoseconds", "lib::Ticks": "ticks of the clock"}
INTEGER = re.compile(r"(?:std::)?(?:u?int(?:8|16|32|64)_t|size_t|int|long long|BYTE|WORD|DWORD|FTrace_flags)")
SKIPPED = re.compile(r"namespace|\}|#(?!define)|friend |extern |static|~|.* = delete;|.*\boperator\b")
SKIPPED_TO = {"namespace detail": "} // namespace detail", "#ifdef": "#else", "#else": "#endif"}


class Declaration:
    """A declaration at file level, or in the public part of the class `owner`."""

    def __init__(self, comment, code, owner):
        head = re.sub(r"//[^\n]*", "", "\n".join(code))
        head = re.sub(r"\[\[.*?\]\]|\b(?:inline|explicit|constexpr) ", "", head, flags=re.S)
        plain = re.sub(r"^template <.*?>\s+(?:requires \S+\s+)?|#define ", "", head.strip(), flags=re.S)
        self.code, self.owner, self.kind = code, owner, "function"
        self.signature = " ".join(re.match(r".*?(?=\{|;|\s: m_|\\|$)", head, re.S).group().split())
        if match := re.match(r"(enum class|struct|class|using)\s+(\w+)", plain):
            self.kind, self.name = match.groups()
        elif match := re.match(r"[^(]*?(\w+)(?: = |\{|;)", plain):
            self.kind, self.name = "constant", match.group(1)
        else:
            self.name = re.search(r"(operator\W+|\w+)\(", plain).group(1)
        inside = self.signature.partition("(")[2].rpartition(")")[0] if self.kind == "function" else ""
        self.parameters = re.findall(r"\s*([^,]*?)(\w+)(?: = [^,]*)?(?:,|$)", inside)  # type and name
        known = {name for _, name in self.parameters} | ERRORS | {"Context"}
        parts = re.split(rf"^({'|'.join(known)}): ", "\n".join(comment), flags=re.M)
        self.prose = parts[0].splitlines()
        self.labels = {label: " ".join(text.split()) for label, text in zip(parts[1::2], parts[2::2])}

    def faults(self, context, returned):
        """What a function lacks."""
        if not self.prose:
            yield "has no comment"
        if not context and not self.owner and "Context" not in self.labels:
            yield "has no context"
        if re.search(r"^\S*Result<|^int FTrace_", self.signature) and not ERRORS & set(self.labels):
            yield "can fail and names no error"
        for kind, name in self.parameters:
            if INTEGER.fullmatch(kind.strip()) and name not in self.labels:
                yield f"does not state the range of {name}"
        for error in sorted(returned - set(self.labels)) if "-1" not in self.labels else []:
            yield f"returns {error} and does not list it"


def gathered(lines, begin):
    """The lines of the declaration that begins here."""
    depth = 0
    for end in range(begin, len(lines)):
        code = re.sub(r'"[^"]*"|\'.\'|//.*', "", lines[end])
        depth += sum(map(code.count, "({")) - sum(map(code.count, ")}"))
        if depth == 0 and code.rstrip().endswith((";", "}")) or lines[begin].startswith("#") and code[-1:] != "\\":
            return lines[begin:end + 1]
    return lines[begin:]


def declarations(lines, owner=""):
    """The published declarations among these lines."""
    at, comment, published = 0, [], True
    while at < len(lines):
        line, step = lines[at], 1
        if line.startswith("// ---"):
            published, comment = not line.startswith("// --- for the kernel"), []
        elif line.startswith("//"):
            comment.append(line[3:])
        elif not line or SKIPPED.match(line):
            comment = []
            if ends := [end for begin, end in SKIPPED_TO.items() if line.startswith(begin)]:
                step = next(n for n, other in enumerate(lines[at:]) if other.startswith(ends[0]))
            elif re.match('friend |static|extern (?!"C" \\{)', line):
                step = len(gathered(lines, at))
        else:
            code = gathered(lines, at)
            step = len(code)
            found = Declaration(comment, code, owner)
            comment = []
            forward = found.kind in ("class", "struct") and "{" not in "".join(code)
            hidden = forward or "IrqOff" in found.signature or found.name.endswith(("Tag", owner or "Tag"))
            if published and not hidden:
                yield found
        at += step


def members(declaration):
    """The published functions of a class."""
    public = re.split(r"^  (public|private|protected):\n", "\n".join(declaration.code[1:-1]), flags=re.M)
    lines = "\n".join(text for name, text in zip(public[1::2], public[2::2]) if name == "public").split("\n")
    found = declarations([line[4:] for line in lines], declaration.name)
    return [member for member in found if member.kind == "function"]


def without_functions(code):
    """A type as a reader needs it: no functions in it, and not their comments."""
    function = r"[^/\s][^/\n]*\([^\n]*\{(?:[^\n]*\}|\n.*?\n    \})|friend [^\n]*"
    return re.sub(rf"\n+(?:    //[^\n]*\n)*    (?:{function})(?=\n)", "", "\n".join(code), flags=re.S).split("\n")


def words(text):
    """Prose and drawings of a comment, as Markdown."""
    out = []
    for drawing, lines in itertools.groupby(text, lambda line: line.startswith("  ")):
        lines = "\n".join(lines).strip("\n")
        out += ["```", lines, "```", ""] if drawing else [re.sub(r"<(?=\w)", "&lt;", lines), ""] if lines else []
    return out


def shown(declaration, context):
    """The section of a function or a class."""
    labels = declaration.labels
    function = declaration.kind == "function"
    context = labels.get("Context", context).rstrip(".")
    out = [f"### {declaration.name}", "", *([f"`{declaration.signature}`", ""] if function else [])]
    out += words(declaration.prose) + ([f"Context: {context}.", ""] if context else [])
    rows = []
    for kind, name in declaration.parameters:
        text = labels.get(name, "") if name not in ERRORS else ""
        unit = next((unit for known, unit in UNITS.items() if known in kind), "")
        rows += [(name, (text or unit).rstrip("."))] if text or unit else []
    rows += [(f"error {label}", text.rstrip(".")) for label, text in labels.items() if label in ERRORS]
    if not function:
        rows = [(part.signature, " ".join(part.prose)) for part in members(declaration)]
    return out + (["| | |", "|---|---|", *(f"| `{label}` | {text} |" for label, text in rows), ""] if rows else [])


def returned_errors(source):
    """{function: the errors that its own body returns}."""
    found = {}
    text = source.read_text(encoding="utf-8") if source.is_file() else ""
    for name, body in re.findall(r"^\w[^\n]*?\b(\w+)\([^;]*?\{\n(.*?)^\}", text, re.M | re.S):
        found.setdefault(name, set()).update(re.findall(r"lib::Error::(\w+)", body))
    return found


def subject(title, header, names, faults):
    """The chapter of a header; `faults` gets what its functions lack."""
    lines = pathlib.Path(header).read_text(encoding="utf-8").splitlines()
    begin = lines.index("#pragma once")
    first = [line[3:] for line in lines[1:begin]]
    context = "".join(re.findall(r"Context: ([^.]*)\.", " ".join(first)))
    returned = returned_errors(pathlib.Path(header).with_suffix(".cpp"))
    out = [f"## {title}", "", f"`#include \"{header}\"`", "", *words(first)]
    verbatim = False  # in a block of types and constants
    for found in declarations(lines[begin:]):
        if names is not None and found.name not in names:
            continue
        if found.kind not in ("function", "class"):
            out = out[:-2] if verbatim else out + ["```cpp"]
            gap = verbatim and (found.prose or len(found.code) > 1 or out[-1] == "};")
            out += [""] * bool(gap) + [f"// {line}" for line in found.prose]
            out += without_functions(found.code) + ["```", ""]
            verbatim = True
            continue
        verbatim = False
        for part in members(found) if found.kind == "class" else [found]:
            lacks = part.faults(context, returned.get(part.name, set()))
            faults += [f"{header}: {part.name} {lack}" for lack in lacks]
        out += shown(found, context)
    return out


ERRORS = {"-1", *re.findall(r"case Error::(\w+):", pathlib.Path("lib/result.hpp").read_text(encoding="utf-8"))}


def main():
    faults = []
    text = PAGE.read_text(encoding="utf-8")
    sections = [subject(*row, faults) for row in SUBJECTS]
    generated = [MARK, ""]
    for (title, _, _), lines in zip(SUBJECTS, sections):
        names = ", ".join(dict.fromkeys(line[4:] for line in lines if line.startswith("### ")))
        generated.append(f"- [{title}](#{title.lower().replace(' ', '-')}): {names}".removesuffix(": "))
    generated += ["", *itertools.chain(*sections)]
    page = text[:text.index(MARK)] + "\n".join(generated).rstrip("\n") + "\n"
    included = {name for path in pathlib.Path("apps").iterdir()
                for name in re.findall(r'^#include "((?:kernel|tracer)/.*)"', path.read_text(encoding="utf-8"), re.M)}
    for name in sorted(included - {header for _, header, _ in SUBJECTS}):
        faults.append(f"{name}: applications include it, and it is no subject of {PAGE}")
    if sys.argv[1:] == ["update"]:
        PAGE.write_text(page, encoding="utf-8")
    elif page != text:
        faults += difflib.unified_diff(text.split("\n"), page.split("\n"), str(PAGE), "the headers", lineterm="", n=0)
        faults.append(f"remedy: {sys.argv[0]} update")
    print("\n".join(faults))
    return 1 if faults else 0


sys.exit(main())
