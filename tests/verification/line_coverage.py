# SPDX-License-Identifier: MIT
"""Which lines of the production code the unit programs execute, by clang's counters (COUNTED=1, mk/flags.mk). A line
counts if it has code: not a comment, not brackets alone. What no run needs is not in it: declarations, constants, what
is calculated while compiling, templates that no test uses."""
import concurrent.futures
import os
import pathlib
import re
import subprocess

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.S)
LIMIT_S = 1800  # of a machine that is busy


def code_lines(text):
    """The numbers of the lines that hold more than comments and blanks."""
    def without_comment(match):
        return re.sub(r"[^\n]", " ", match[0]) if match[0].startswith(("//", "/*")) else match[0]

    lines = TOKEN.sub(without_comment, text).splitlines()
    return {number for number, line in enumerate(lines, 1) if line.strip()}


def counted(program, folder):
    """{file: {line: how often}} of one program, over its run. Ends with an error if a test fails."""
    raw, profile = (folder / f"{pathlib.Path(program).name}.{end}" for end in ("raw", "profile"))
    raw.unlink(missing_ok=True)
    done = subprocess.run([program, "--gtest_brief=1"], env={**os.environ, "LLVM_PROFILE_FILE": f"%c{raw}"}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        raise SystemExit(f"error: {program} fails:\n{done.stdout[-4000:]}")
    subprocess.run(["llvm-profdata", "merge", raw, "-o", profile], check=True)
    return exported(program, profile)


def exported(program, profile):
    """The lines of a program or an object; none of one without a function."""
    done = subprocess.run(["llvm-cov", "export", program, f"-instr-profile={profile}", "-format=lcov"], check=False,
                          capture_output=True, text=True)
    if done.returncode != 0 and "No coverage data found" not in done.stderr:
        raise SystemExit(f"error: llvm-cov fails: {done.stderr}")
    return {part[1]: {int(line): int(count) for line, count in re.findall(r"^DA:(\d+),(\d+)", part[2], re.M)}
            for part in re.finditer(r"^SF:(.*)\n((?:(?!end_of_record).*\n)*)", done.stdout, re.M)}


def united(names, folder, root):
    """{file: {line: whether any program executes it}}; files are relative to the root. names: programs, and objects of
    files that may be in none of them."""
    folder.mkdir(parents=True, exist_ok=True)
    nothing, lines = folder / "nothing", {}
    nothing.write_bytes(b"")
    subprocess.run(["llvm-profdata", "merge", nothing, "-o", nothing], check=True)
    programs = [name for name in names if not name.endswith(".o")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        add(lines, pool.map(lambda program: counted(program, folder), programs), root)
        add(lines, pool.map(lambda name: exported(name, nothing), without(names, lines)), root)
    return lines


def without(names, lines):
    """The objects of files that no program contains."""
    return [name for name in names if name.endswith(".o")
            and name.removesuffix(".o").partition("/obj/")[2] not in lines]


def add(lines, results, root):
    for found in results:
        for path, counts in found.items():
            name = os.path.relpath(path, root)
            for line, count in counts.items():
                lines.setdefault(name, {})[line] = count > 0 or lines.get(name, {}).get(line, False)


class Measured:
    """The lines of some files: how many have code; of those with counters, how many ran; files without counters."""

    def __init__(self, names, executed, root):
        self.code = self.counted = self.executed = 0
        self.without = []
        for name in names:
            text = (root / name).read_text(encoding="utf-8")
            code, shown = code_lines(text), text.splitlines()
            self.code += len(code)
            lines = [ran for line, ran in executed.get(name, {}).items()
                     if line in code and re.search(r"\w", shown[line - 1])]
            self.counted += len(lines)
            self.executed += sum(lines)
            if name not in executed:
                self.without.append(name)

    def add(self, other):
        self.code += other.code
        self.counted += other.counted
        self.executed += other.executed
        self.without += other.without
