# SPDX-License-Identifier: MIT
"""Every command that README.md and docs show runs unchanged, on a session like the one it is shown with; after a `$`
it prints what the document shows below it. Those that run elsewhere, or in no test, are listed with the reason."""
import json
import os
import re
import shutil
import subprocess

from support import recorded
from support.cases import CASES, Case, case, expect
from support.context import EFI, INHERITED, KERNEL, REMORA, ROOT

from integration.whole_run import documented_runs, environment

# What out/udp is a trace of, if not of the default application: call stacks need a task in steps.
STEPS = {"APP": "stepped_one", "ITRACE": "blocks"}
SESSIONS = {"docs/instruction-tracing.md": STEPS, "docs/latency.md": {"OBSERVE": "on"}, "docs/viewers.md": STEPS,
            "docs/report.md": {"APP": "inversion"}, "docs/why.md": {"APP": "inversion"},
            "docs/wireshark.md": {"PROTOCOL": "v1"},
            **{f"docs/apps/{path.stem}.md": {"APP": path.stem} for path in (ROOT / "docs/apps").glob("*.md")}}
# Copies of out/udp that a document keeps beside it, of which application.
COPIES = {"docs/tutorial.md": {"lesson": "lesson", "repaired": "lesson_repaired"}}
# A form of a command, with a word to be replaced, or the beginning of one.
FORM = re.compile(r"\.\.\.|COMMAND|FORMAT|STATEMENT|VARIANT|--to$")
COMMAND = re.compile(r"((build/host/)?remora|babeltrace2?|trace-cmd|lttng-\w+|tshark|make|mkdir|source|g\+\+|gcc|npm|"
                     r"pkg-config|sqlite3|kernelshark|gtkwave|vcd2fst|protoc|gdb|qemu-\S+|tests/\S+\.(py|sh)) ")
PART = re.compile(r"make (lint|test-(?!(mutants|tsan)$)[a-z-]+|golden-diff|experiment-clock|"
                  r"test-record-path RECORDS=n)$")
ELSEWHERE = (
    (r"remora record", "waits for a sender: every case with a collector"),
    (r"remora (publish|load|fleet) .*(nats|tls|clickhouse)://", "needs servers: tests/fleet starts them"),
    (r"remora report \S+ --live", "serves until it is stopped: tests/integration/live_report.py"),
    (r"kernelshark ", "needs a screen: tests/viewers/kernelshark.py has one"),
    (r"gtkwave ", "needs a screen: tests/viewers/vcd.py has one"),
    (r"make install$", "tests/viewers/installed.py"),
    (r"make install-tracer( PREFIX=\S+)?$", "tests/integration/port.py"),
    (r"make python( PYTHON=\S+)?$", "tests/viewers/python.py"),
    (r"make (dist|deb)$", "tests/soak/packages.sh"),
    (r"make (host|fleet)$", "the programs that tests/integration and tests/fleet run"),
    (r"make run( [A-Z_]+=\w+)*$", "documented_run_*, but for the application that the reader writes"),
    (r"make (apps|help|deps|deps CHECK=1|compile_commands.json)$", "tests/integration/options.py"),
    (PART.pattern, "a part of .ci/run"),
    (r"make verify-entries$", "tests/structure/run.sh, without the table"),
    (r"make kernel COMPENSATION=ON$", "make test-kernel builds that kernel"),
    (r"(make test$|make test-(integration|kernel) CASES=|tests/run.py )", "runs this case"),
    (r"make debug$", "waits for a debugger; tests/integration/options.py has its refusals"),
    (r"(make (format|golden|docs-figures|simulation-figures|verification-figures)|tests/verification/figures.py \S+|"
     r"tests/structure/kernel_api.py update)$",
     "rewrites files of the tree; lint and the parts of make test compare them"),
    (r"make (bench(-export|-fleet|-host|-kernel|-python|-report|-scale|-sql)?|verify)( [A-Z_]+=\S+)*$",
     "minutes, and figures that no test judges"),
    (r"make (mutate|mutate-sample|test-unit)( [A-Z]+=\S+)*$", "minutes or hours; .ci/run has all of test-unit"),
    (r"make sweep(-figures)?( [A-Z_]+=\w+)*$", "minutes; tests/integration/sweep.py has a short one"),
    (r"(make (test-(mutants|tsan)|check-headers|soak(-[a-z]+)?( [A-Z_]+=\w+)*)|tests/mutants/run.py --table)$",
     "minutes; .ci/run has a part of it"),
)


def lines_of_blocks(text):
    """(line without its explanation, which follows two blanks; the text below it if it begins with `$`)."""
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.S | re.M):
        lines = [] if language else block.splitlines()
        for number, line in enumerate(lines):
            shown = "\n".join(lines[number + 1:]) if line.startswith("$ ") else None
            yield re.split(r"\s{2,}", line.removeprefix("$ "))[0], shown


def complete(command):
    """Whether it is more than the name of a command or of its option."""
    return command.startswith(("make ", "tests/", "source ")) or re.search(r" (out/|TRACE|\w+\.\w+)| \| ", command)


def commands():
    """(document, command, text that the document shows below it, or None): of each document first those in blocks,
    because they make the files of the others, then those within the text."""
    for path in [*(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "ARCHITECTURE")),
                 *sorted((ROOT / "docs").rglob("*.md"))]:
        text = path.read_text(encoding="utf-8")
        prose = re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)
        within = [words.replace("\n", " ") for words in re.findall(r"`([^`]+)`", prose)]
        for command, shown in [*lines_of_blocks(text), *((words, None) for words in within if complete(words))]:
            if COMMAND.match(command) and not FORM.search(command):
                yield str(path.relative_to(ROOT)), command, shown


def elsewhere(command):
    return any(re.match(pattern, command) for pattern, _ in ELSEWHERE)


def run_here():
    for document, command, shown in commands():
        if not elsewhere(command):
            yield document, command.replace("build/host/remora", "remora").replace("TRACE", "out/udp"), shown


def boot(ctx, options):
    ctx.run("qemu/run.sh", KERNEL, EFI, REMORA, env=environment(ctx, BOOT="pvh", CLOCK="icount", **options))


def prepare(ctx, document):
    """A directory in which the names that the documents use exist."""
    home = ctx.dir / "home"
    session = {"SINK": "udp", "OUT": str(home / "out"), "PCAP": str(ctx.dir / "export.pcap"),
               **SESSIONS.get(document, {})}
    boot(ctx, session)
    for name, application in COPIES.get(document, {}).items():
        boot(ctx, {"SINK": "udp", "OUT": str(ctx.dir / name), "APP": application})
        (ctx.dir / name / "udp").rename(home / "out" / name)
    (home / "dir").mkdir()
    shutil.copy(home / "out" / "udp" / "0trace.dat", home / "dir")
    shutil.copy(home / "out" / "udp" / "0trace.dat", home)
    shutil.copy(ctx.dir / "export.pcap", home)
    ctx.remora("convert", home / "out" / "udp", "--to", "tlog", "-o", home / "trace.log")
    for name in ("before", "after"):
        (home / name).symlink_to(home / "out")
    for name in ("examples", "tests"):
        (home / name).symlink_to(ROOT / name)
    (home / "build/kernel").mkdir(parents=True)
    (home / "build/kernel/kernel.elf").symlink_to(ROOT / KERNEL)
    (home / "bin").mkdir()
    (home / "bin/remora").symlink_to(ROOT / REMORA)
    return home


def run_in(ctx, home, command):
    # What one command installs is not there for the next: a dissector that is loaded twice is an error.
    user = ctx.dir / f"user{len(list(ctx.dir.iterdir()))}"
    (user / ".local/lib/wireshark/plugins").mkdir(parents=True)
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], cwd=home, capture_output=True, text=True,
                          errors="replace", timeout=ctx.left_s(), stdin=subprocess.DEVNULL,
                          env={**INHERITED, "HOME": str(user), "T": str(ROOT / "tests/viewers/data/control.rpk"),
                               "PATH": f"{home}/bin:{os.environ['PATH']}"})
    # A reader that has seen enough closes the pipe.
    expect(done.returncode in (0, 141), f"{command} ended with {done.returncode}: {done.stderr}")
    if not command.startswith(("remora", "source", "mkdir")):
        expect(done.stdout.count("\n") > 3, f"{command} printed only: {done.stdout}{done.stderr}")
    return done.stdout


def document_case(document):
    def body(ctx):
        home = prepare(ctx, document)
        for where, command, shown in run_here():
            if where == document:
                printed = run_in(ctx, home, command)
                expect(shown in (None, printed.rstrip()), f"{command} printed:\n{printed}\nshown:\n{shown}")
    return body


def register_documents():
    for document in sorted({where for where, _, _ in run_here()}):
        name = "commands_of_" + re.sub(r"\W", "_", document.lower())
        CASES.append(Case(name, document_case(document), timeout_s=180))


@case
def commands_of_the_documents_are_found(ctx):
    found = list(run_here())
    expect(len(found) > 50 and sum(shown is not None for _, _, shown in found) >= 8, f"{found}")
    for one in (("docs/commands.md", "remora summary out/udp", None),
                ("docs/viewers.md", "babeltrace2 control.ctf", None),
                ("docs/apps/overload.md", "remora schedule out/udp", None)):
        expect(one in found, f"{one} is not among {found}")
    every = list(commands())
    for pattern, reason in ELSEWHERE:
        expect(any(re.match(pattern, command) for _, command, _ in every), f"no document has {pattern} ({reason})")
    for _, command, _ in every:
        if command.startswith("make "):
            expect(elsewhere(command), f"{command} runs in no test: say in ELSEWHERE what runs it, or why nothing does")
            if PART.match(command):
                expect(command.split()[1] in (ROOT / ".ci/run").read_text(), f"{command} is no part of .ci/run")
            elif command.startswith("make run"):
                expect(command.split()[2:] in [*documented_runs(), ["APP=beat"]], f"no case runs {command}")


@case
def lessons_show_what_the_golden_files_hold(ctx):
    """Each line of a block of docs/apps that shows no command is one of the application's schedule, in its order."""
    for path in sorted((ROOT / "docs/apps").glob("*.md")):
        golden = (ROOT / f"tests/golden/{path.stem}.txt").read_text(encoding="utf-8").splitlines()
        blocks = re.findall(r"^```\n(.*?)^```$", path.read_text(encoding="utf-8"), re.S | re.M)
        expect(blocks, f"{path.name} shows nothing")
        for block in blocks:
            rest = iter(line.rstrip() for line in golden)
            for line in block.splitlines() if not block.startswith("$ ") else ():
                expect(line == "..." or line in rest, f"{path.name} shows `{line}`, the golden file has it not, or not "
                       "there; remedy: the lines of make golden")


@case(timeout_s=120)
def exercises_are_not_solved_by_what_is_there(ctx):
    """Both versions of the tutorial's application fail the answer check of each exercise that has one, by what the
    exercise changes; every statement can be judged, and the decisions are right."""
    checks = sorted((ROOT / "examples").glob("exercise*.expect"))
    linked = re.findall(r"examples/(exercise\d\.expect)", (ROOT / "docs/tutorial.md").read_text(encoding="utf-8"))
    expect([path.name for path in checks] == linked, f"{checks} but the tutorial has {linked}")
    for app in ("lesson", "lesson_repaired"):
        ctx.run("qemu/run.sh", KERNEL, EFI, REMORA, env=environment(ctx, APP=app, OUT=ctx.dir / app, BOOT="pvh",
                                                                   CLOCK="icount"), codes=None)
        for path in checks:
            done = ctx.remora("check", ctx.dir / app / "udp", "--expect", path, "--json", codes=(2,))
            holds = {one["expected"]: one["holds"] for one in json.loads(done.stdout)["expectations"]}
            expect(holds["no violation"] and holds["no loss"] and not all(holds.values()), f"{app} {path}: {holds}")


@case(timeout_s=180)
def what_the_readme_shows_is_printed(ctx):
    """`make docs-figures` would change nothing: under a clock that counts instructions a run is the same everywhere."""
    session = prepare(ctx, "README.md") / "out" / "udp"
    ctx.run("tests/golden/readme.py", "diff", session, REMORA)
    stale = ctx.run("tests/golden/readme.py", "diff", recorded.control(), REMORA, codes=(1,))
    expect("remedy: make docs-figures" in stale.stderr, stale.stdout + stale.stderr)


@case
def tables_of_the_kernel_agree(ctx):
    """Beside other kernels, docs/kernel-performance.md repeats its own figures: the means with ten tasks."""
    text = (ROOT / "docs/kernel-performance.md").read_text(encoding="utf-8")
    mean = {name: int(number) for name, number in re.findall(r"^\| (\w+) \| (\d+) / \d+", text, re.M)}
    shown = re.findall(r"^\| [^|]+ \| (\d+|-)[^|/]*\| [^|]+ \|$", text, re.M)
    expected = ("semaphore_post_to_waiter_running", "context_switch_there_and_back", "semaphore_post_without_waiter",
                "semaphore_wait_unit_there", "lock_uncontended", "interrupt_in_all", "interrupt_to_driver_task")
    values = [str(mean[name] // (2 if "there_and_back" in name else 1)) for name in expected]
    expect(shown == [*values, "-"], f"the comparison shows {shown}, the first table {values}")
