# SPDX-License-Identifier: MIT
"""Every `remora` command that README.md and docs show in a block of code runs unchanged, on a session like the one
it is shown with; after a `$` it prints what the document shows below it."""
import os
import re
import shutil
import subprocess

from support.cases import CASES, Case, case, expect
from support.context import EFI, INHERITED, KERNEL, REMORA, ROOT

from integration.whole_run import environment

# What out/udp is a trace of, if not of the default application: call stacks need a task in steps.
STEPS = {"APP": "stepped_one", "ITRACE": "blocks"}
SESSIONS = {"docs/instruction-tracing.md": STEPS, "docs/viewers.md": STEPS}
# A line that shows the form of a command, and the collector, which waits for a sender.
NO_COMMAND = re.compile(r"\.\.\.|remora record")
COMMAND = re.compile(r"(\$ )?((?:build/host/)?remora .*)")


def commands():
    """(document, command, text that the document shows below it, or None), in order."""
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        for block in re.findall(r"^```\w*\n(.*?)^```$", path.read_text(encoding="utf-8"), re.S | re.M):
            lines = block.splitlines()
            for number, line in enumerate(lines):
                match = COMMAND.fullmatch(line)
                if match and not NO_COMMAND.search(line):
                    # An explanation follows two blanks.
                    command = re.split(r"\s{2,}", match[2])[0]
                    command = command.replace("build/host/remora", "remora").replace("TRACE", "out/udp")
                    shown = "\n".join(lines[number + 1:]) if match[1] else None
                    yield str(path.relative_to(ROOT)), command, shown


def prepare(ctx, document):
    """A directory in which the names that the documents use exist."""
    home = ctx.dir / "home"
    session = {"SINK": "udp", "OUT": str(home / "out"), **SESSIONS.get(document, {})}
    ctx.run("qemu/run.sh", KERNEL, EFI, REMORA, env=environment(ctx, BOOT="pvh", CLOCK="icount", **session))
    (home / "dir").mkdir()
    shutil.copy(home / "out" / "udp" / "0trace.dat", home / "dir")
    shutil.copy(home / "out" / "udp" / "0trace.dat", home)
    (home / ".local/lib/wireshark/plugins").mkdir(parents=True)
    (home / "build/kernel").mkdir(parents=True)
    (home / "build/kernel/kernel.elf").symlink_to(ROOT / KERNEL)
    (home / "bin").mkdir()
    (home / "bin/remora").symlink_to(ROOT / REMORA)
    return home


def run_in(ctx, home, command):
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {command}"], cwd=home, capture_output=True, text=True,
                          timeout=ctx.left_s(), stdin=subprocess.DEVNULL,
                          env={**INHERITED, "HOME": str(home), "T": str(ROOT / "tests/viewers/data/control"),
                               "PATH": f"{home}/bin:{os.environ['PATH']}"})
    # A reader that has seen enough closes the pipe.
    expect(done.returncode in (0, 141), f"{command} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def document_case(document):
    def body(ctx):
        home = prepare(ctx, document)
        for where, command, shown in commands():
            if where == document:
                printed = run_in(ctx, home, command)
                expect(shown in (None, printed.rstrip()), f"{command} printed:\n{printed}\nshown:\n{shown}")
    return body


def register_documents():
    for document in sorted({where for where, _, _ in commands()}):
        name = "commands_of_" + re.sub(r"\W", "_", document.lower())
        CASES.append(Case(name, document_case(document), timeout_s=180))


@case
def commands_of_the_documents_are_found(ctx):
    found = list(commands())
    expect(len(found) > 30 and sum(shown is not None for _, _, shown in found) >= 8, f"{found}")
    expect(("README.md", "remora summary out/udp", None) in found, f"{found}")


@case(timeout_s=180)
def what_the_readme_shows_is_printed(ctx):
    """`make docs-figures` would change nothing: under a clock that counts instructions a run is the same everywhere."""
    session = prepare(ctx, "README.md") / "out" / "udp"
    ctx.run("tests/golden/readme.py", "diff", session, REMORA)
    other = ROOT / "tests/viewers/data/control"
    stale = ctx.run("tests/golden/readme.py", "diff", other, REMORA, codes=(1,))
    expect("remedy: make docs-figures" in stale.stderr, stale.stdout + stale.stderr)
