# SPDX-License-Identifier: MIT
"""How programs are built, as make would do it: its commands are read once, so that a mutant costs the objects that
depend on the changed file, and a link. Objects of a mutant are in build/mutant/ of a copy of the sources; all others
are those of the project, through links."""
import collections
import contextlib
import fcntl
import functools
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

from mutate import processes

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = os.environ.get("BUILD", "build")
MUTANT = f"{BUILD}/mutant"
LINKED = ("test", "kernel", "host", "uefi", "d3.min.js")  # what of the project's build is seen in a tree
COMPILE_LIMIT_S = 900
MEMORY = "/dev/shm"  # tests write through to a disk
MEMORY_FREE_BYTES = 4 << 30
# A make below this one starts afresh; the seed is that of the mutants.
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS", "SEED"))}


def make(*words):
    """The output of make in the project. What the compiler warns of does not compile, as in .ci/run."""
    done = subprocess.run(["make", "--no-print-directory", "CCACHE=", "WERROR=1", "SINGLE=%", *words], cwd=ROOT,
                          env=ENVIRONMENT, text=True, stdout=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise SystemExit(f"make {' '.join(words)} fails")
    return done.stdout


def locked():
    """A file that is locked while it is open: the trees are those of one campaign."""
    path = ROOT / BUILD / "mutate" / "lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    file = open(path, "w", encoding="utf-8")  # noqa: SIM115
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise SystemExit(f"error: another campaign uses {path.parent}; remedy: wait for its end, or use another clone"
                         ) from None
    return file


def head_commit():
    return subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, check=True, text=True,
                          capture_output=True).stdout.strip()


class Unbuilt(Exception):
    """The mutant does not compile or link."""


class Plan:
    """The commands for `programs`, all of them built before."""

    def __init__(self, programs, options=()):
        make(f"-j{os.cpu_count()}", *options, *programs)
        self.compiles, self.links, self.archives, self._members = {}, {}, {}, {}
        self._symbols, self._lines = None, {}
        for line in make("-nB", *options, *programs).splitlines():
            words = line.split()
            if "-o" in words and re.search(r"(\+\+|gcc)$", words[0]):
                output = words[words.index("-o") + 1]
                (self.compiles if "-c" in words else self.links)[output] = line
            elif "ar rcs" in line:
                self.archives[words[words.index("rcs") + 1]] = words[words.index("rcs") + 2:]
        self.using = collections.defaultdict(set)  # file -> objects that are compiled from it
        for output in self.compiles:
            for name in self.dependencies(output):
                self.using[name].add(output)

    @functools.cache
    def dependencies(self, output):
        """The files that an object is compiled from."""
        text = pathlib.Path(ROOT, output[:-2] + ".d").read_text()
        return [name.removesuffix(":") for name in re.sub(r"\\\n|^\S+:", " ", text).split()]

    def members(self, program):
        """The objects that the program is made of: of an archive, those that the linker takes. lld names them; GNU ld
        names the archive alone."""
        if program not in self._members:
            inputs = [word for word in shlex.split(self.links[program]) if word.endswith((".o", ".a"))]
            members = {word for word in inputs if word.endswith(".o")}
            if any(word in self.archives for word in inputs):
                options = f"-o {BUILD}/mutate/traced -fuse-ld=lld -Wl,--trace "
                command = self.links[program].replace(f"-o {program} ", options).split()
                traced = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
                for archive, name in re.findall(r"^(\S+\.a)\((\S+\.o)", traced.stdout, re.M):
                    members |= {path for path in self.archives.get(archive, ()) if path.endswith("/" + name)}
            self._members[program] = members
        return self._members[program]

    def affected(self, program, *names):
        """Its objects that are compiled from one of these files."""
        return set().union(*(self.using[name] for name in names)) & self.members(program)


    def with_code(self, program, mutation):
        """Its objects that have code of the function that the mutation changes, also where it was inlined."""
        first, last = mutation.function
        return {output for output in self.affected(program, mutation.file) if output.endswith(f"/{mutation.file}.o")
                or any(first <= line <= last for line in self.lines(output).get(mutation.file, ()))}

    def lines(self, output):
        """{file: lines} of which an object has code, by its line table."""
        if output not in self._lines:
            table = subprocess.run(["objdump", "--dwarf=decodedline", output], cwd=ROOT, text=True, capture_output=True,
                                   check=True).stdout
            lines, file = collections.defaultdict(set), ""
            for row in table.splitlines():
                words = row.split()
                if len(words) > 2 and words[1].isdigit():
                    lines[file].add(int(words[1]))
                elif row.endswith((":", ":[++]")):
                    file = row.removeprefix("CU: ").split(":")[0].removeprefix("./")
            self._lines[output] = lines
        return self._lines[output]

    def defining(self, symbol):
        """The objects that define it."""
        if self._symbols is None:
            self._symbols = collections.defaultdict(list)
            found = subprocess.run(["nm", "-AP", "--defined-only", *sorted(self.compiles)], cwd=ROOT, text=True,
                                   capture_output=True, check=True).stdout
            for line in found.splitlines():
                output, name, kind = line.split()[:3]
                if kind in "TtWw":
                    self._symbols[name].append(output.rstrip(":"))
        return self._symbols[symbol]


class Tree:
    """A copy of the project's sources in which mutants are built."""

    def __init__(self, name, keeps=()):
        """keeps: sources that stay as they were left, and so does what was built."""
        self.path = ROOT / BUILD / "mutate" / f"tree{name}"
        self.log = self.path / MUTANT / "log"
        in_memory = os.path.isdir(MEMORY) and shutil.disk_usage(MEMORY).free > MEMORY_FREE_BYTES
        self.temporary = tempfile.TemporaryDirectory(prefix="mutate-", dir=MEMORY if in_memory else None)
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, text=True,
                                capture_output=True).stdout.splitlines()
        names = {name for name in listed if (ROOT / name).is_file()}
        for path in [path for path in self.path.rglob("*") if path.is_file() or path.is_symlink()]:
            name = str(path.relative_to(self.path))
            if name not in names and not name.startswith(BUILD):
                path.unlink()
        for name in names - {name for name in keeps if (self.path / name).exists()}:
            self.restore(name)
        if keeps:
            self.objects, self.changed = {}, None
            (self.path / MUTANT).mkdir(parents=True, exist_ok=True)
        else:
            self.clear()

    def link(self):
        """To what is built by now."""
        (self.path / BUILD).mkdir(exist_ok=True)
        for entry in (ROOT / BUILD).iterdir():
            link = self.path / BUILD / entry.name
            if entry.name.startswith(LINKED) and not link.exists():
                link.symlink_to(entry)

    def clear(self):
        self.objects, self.changed = {}, None
        shutil.rmtree(self.path / MUTANT, ignore_errors=True)
        (self.path / MUTANT).mkdir(parents=True)
        self.refuse_make()

    def empty(self):
        """What the mutant before left."""
        for path in pathlib.Path(self.temporary.name).iterdir():
            shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()

    def refuse_make(self):
        """To what runs here: what it would build would be the project's, through the links."""
        make_here = self.path / MUTANT / "bin" / "make"
        make_here.parent.mkdir()
        make_here.write_text("#!/bin/sh\necho 'no make in a copy of the sources'\nexit 1\n")
        make_here.chmod(0o755)

    def restore(self, name):
        source, target = ROOT / name, self.path / name
        if not target.exists() or target.stat().st_mtime_ns != source.stat().st_mtime_ns:
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)

    @contextlib.contextmanager
    def mutant(self, mutation):
        """While this lasts, the sources are those of the mutant."""
        self.clear()
        path = self.path / mutation.file
        path.write_bytes(mutation.applied(path.read_bytes()))
        self.changed = mutation.file
        try:
            yield
        finally:
            self.restore(mutation.file)

    def build(self, plan, program, objects, extra=""):
        """The program from the project's objects, but for these, which are compiled here; its path. extra: options for
        compiling and linking."""
        self.link()
        for output in sorted(objects - self.objects.keys()):
            self.compile(plan, output, extra)
        words = plan.links[program].split()
        first = next(number for number, word in enumerate(words) if word.endswith((".o", ".a")))
        if plan.archives.keys() & set(words):
            # The linker takes the first definition of what a header defines, and one that is named before an archive's.
            words[first:first] = sorted(objects)
            words = [word for number, word in enumerate(words) if word not in words[:number] or word not in objects]
        words = [self.objects[word] if word in objects else word for word in words]
        at = words.index("-o") + 1
        words[at] = f"{MUTANT}/{pathlib.Path(program).name}"
        self.command(" ".join([*words, extra]))
        return words[at]

    def program(self, plan, program, mutation):
        """The mutant's, or the project's if the mutant has the same code."""
        objects = plan.with_code(program, mutation)
        return self.build(plan, program, objects) if objects else program

    def compile(self, plan, output, extra, log=None):
        command = re.sub(r" -MMD -MP\b", "", plan.compiles[output])
        target = f"{MUTANT}/{output}"
        (self.path / target).parent.mkdir(parents=True, exist_ok=True)
        self.command(command.replace(f"-o {output}", f"-o {target} -w {extra}"), log)
        self.objects[output] = target

    def command(self, line, log=None):
        code, output = processes.run(shlex.split(line), cwd=self.path, limit_s=COMPILE_LIMIT_S, log=log or self.log)
        if code != 0:
            raise Unbuilt(output)

    def run(self, words, limit_s, env=None, memory=None, cpu_s=None):
        """(exit code or None, output) of a program in this tree."""
        folder = self.path / MUTANT
        return processes.run(words, cwd=self.path, limit_s=limit_s, log=self.log, memory=memory, cpu_s=cpu_s,
                             env={"TMPDIR": self.temporary.name, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}",
                                  **(env or {})})
