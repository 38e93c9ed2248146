# SPDX-License-Identifier: MIT
"""What `make install` leaves: others build against the reader library by pkg-config, read the manual page, complete
commands."""
import re
import shlex
import struct

from viewers import traces
from support.cases import case, counts, expect, expect_equal
from support.context import BUILD, ROOT

# Of the kind that the description of the tlog library shows: old C, three calls, no result checked, the name of the
# file and the number of nodes fixed.
PUBLISHED_DUMP = r"""
#include <stdio.h>
#include "tlog.h"
#include "tlog_event.h"

main()
{
  tlog_exec_profile *profile;
  tlog_exec_event *event;
  int node, i;

  profile = tlog_read_file("trace.log", 64);
  for (node = 0; node < 64; node++)
    for (i = 0; i < tlog_get_N_events(profile, node); i++) {
      event = tlog_get_event(profile, node, i);
      printf("%d:proc_id=%d, log_type=%d, time=%g\n", i, event->proc_id, event->log_type, event->time_stamp);
    }
  exit(0);
}
"""


def install(ctx):
    ctx.run("make", "--no-print-directory", "install", f"DESTDIR={ctx.dir}/root", "PREFIX=/usr")
    return ctx.dir / "root/usr"


def settings(ctx, prefix):
    """As if it were installed where the system looks."""
    return {"PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig", "PKG_CONFIG_SYSROOT_DIR": f"{ctx.dir}/root",
            "LD_LIBRARY_PATH": f"{prefix}/lib"}


def flags_of(ctx, prefix, library, *options):
    return ctx.run("pkg-config", *options, "--cflags", "--libs", library, env=settings(ctx, prefix)).stdout.split()


@case
def install_refuses_a_blank(ctx):
    """In a directory's name: nothing is installed, neither there nor in what is left of the name."""
    for key in ("PREFIX", "DESTDIR"):
        done = ctx.run("make", "--no-print-directory", "install", f"{key}={ctx.dir}/a b", codes=None)
        expect(done.returncode != 0, f"a blank in {key} is accepted: {done.stdout}")
        expect(f'{key}="{ctx.dir}/a b" holds a blank' in done.stderr, done.stderr)
        expect(not (ctx.dir / "a").exists() and not (ROOT / "b").exists(), "something was installed")


@case(timeout_s=400)
def library(ctx):
    """The example builds with nothing but what was installed, and counts what `remora print` shows."""
    prefix = install(ctx)
    flags = flags_of(ctx, prefix, "remora-trace")
    program = ctx.dir / "count_events"
    example = ROOT / "examples/count_events.cpp"
    ctx.run("g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", example, "-o", program, *flags)
    expect(len(example.read_text().splitlines()) <= 30, "the example is longer than 30 lines")
    shown = ctx.run(program, traces.control()).stdout
    found = {name: int(number) for number, name in re.findall(r"^ *(\d+)  (\S+)$", shown, re.M) if int(number)}
    expected = counts(ctx.events(traces.control()))
    # print's JSON names typed events by their kind, the library by the name that the application gave them.
    expect_equal(sum(found.values()), sum(expected.values()), "events")
    for name in ("task_dispatch", "interrupt_start", "timer_post"):
        expect_equal(found[name], expected[name], name)


def tlog_file(ctx):
    """Two processes with START, one event and END; and the lines that the samples print of them."""
    records = [(0, 1, 0.0), (0, 31, 0.25), (0, 2, 2.0), (1, 1, 0.5), (1, 39, 0.75), (1, 2, 1.5)]
    blocks = [b"".join(struct.pack(">HBBId", node, kind, 0, 0, time) for node, kind, time in records if node == process)
              for process in (0, 1)]
    lines = [f"{i % 3}:proc_id={node}, log_type={kind}, time={time:g}" for i, (node, kind, time) in enumerate(records)]
    return traces.store(ctx, "trace.log", b"".join(block.ljust(1024, b"\0") for block in blocks)), lines


def build_and_run(ctx, source, standard, flags, arguments, libraries):
    program = ctx.dir / "sample"
    ctx.run("gcc", f"-std={standard}", "-w", source, "-o", program, *flags)
    # In the case's directory: a program may name its file without a path.
    command = f"cd {shlex.quote(str(ctx.dir))} && ./sample {shlex.join(map(str, arguments))}"
    return ctx.run("sh", "-c", command, env={"LD_LIBRARY_PATH": str(libraries)}).stdout.splitlines()


@case(timeout_s=400)
def samples(ctx):
    """Programs in C that use libtlog and libtraceparser build with pkg-config against the installed libraries, shared
    and static, and against those in the build directory; and they start."""
    prefix = install(ctx)
    log, lines = tlog_file(ctx)
    published = traces.store(ctx, "published.c", PUBLISHED_DUMP.encode())
    for library, source, standard, arguments in (
            ("libtlog", published, "gnu89", ()),
            ("libtlog", ROOT / "examples/tlog_sample.c", "gnu89", (log, 2)),
            ("libtraceparser", ROOT / "examples/traceparser_sample.c", "c11", (traces.control(),))):
        shared, archive = f"-l{library.removeprefix('lib')}", f"-l:{library}.a"
        static = [archive if flag == shared else flag for flag in flags_of(ctx, prefix, library, "--static")]
        built = ["-I", ROOT / "foreign/published", "-L", ROOT / BUILD / "host", shared]
        outputs = [build_and_run(ctx, source, standard, flags, arguments, libraries) for flags, libraries in (
            (flags_of(ctx, prefix, library), prefix / "lib"),
            (static, "/nowhere"),
            (built, ROOT / BUILD / "host"))]
        expect(outputs[0] == outputs[1] == outputs[2], f"{source.name}: the outputs differ: {outputs}")
        shown = [line for line in outputs[0] if not line.startswith("---")]
        if library == "libtlog":
            expect_equal(shown, lines, f"what {source.name} prints")
        else:
            entries = counts(ctx.events(traces.control()))["interrupt_start"]
            expect_equal(shown[-1], f"{entries} interrupts", f"the last line of {source.name}")


# A command in the comment at the top of a sample; an explanation follows two blanks.
COMMAND = re.compile(r"^(?://| \*) +((?:gcc|g\+\+|\./\w+) .*?)(?:  .*| \*/)?$", re.M)


@case(timeout_s=400)
def lines_of_the_samples(ctx):
    """The lines with which each sample says it is built and started do it, in the directory of the sample."""
    prefix = install(ctx)
    log, lines = tlog_file(ctx)
    ctx.remora("convert", traces.control(), "--to", "kev", "-o", ctx.dir / "trace.kev")
    printed = {}
    for sample in sorted((ROOT / "examples").glob("*.c*")):
        traces.store(ctx, sample.name, sample.read_bytes())
        commands = COMMAND.findall(sample.read_text())
        expect(commands and commands[0].endswith(f"-o {sample.stem}"), f"{sample.name} says {commands}")
        for command in commands:
            done = ctx.run("sh", "-c", f"cd {shlex.quote(str(ctx.dir))} && {command}", env=settings(ctx, prefix))
            printed[command] = done.stdout.splitlines()
    expect_equal([line for line in printed[f"./tlog_sample {log.name} 4"] if not line.startswith("---")], lines, "tlog")
    entries = counts(ctx.events(traces.control()))["interrupt_start"]
    expect_equal(printed["./traceparser_sample trace.kev"][-1], f"{entries} interrupts", "traceparser")
    expect_equal(len(printed), 5, f"commands: {printed.keys()}")


@case(timeout_s=400)
def files(ctx):
    """Programs, C headers, Python module, manual page and completion are where a system looks for them."""
    prefix = install(ctx)
    for name in ("bin/remora", "bin/traceprinter", "bin/tlogdump",
                 "include/remora/compat/traceparser.h", "include/remora/compat/sys/traceparser.h",
                 "include/remora/compat/sys/trace.h", "include/remora/compat/tlog_event.h",
                 "lib/python3/dist-packages/remora.so",
                 "share/man/man1/remora.1", "share/bash-completion/completions/remora"):
        expect((prefix / name).stat().st_size > 0, f"{name} is empty")
    for name in ("libtraceparser", "libtlog"):
        dynamic = ctx.run("objdump", "-p", prefix / f"lib/{name}.so").stdout
        expect_equal(re.findall(r"SONAME +(\S+)", dynamic), [f"{name}.so.1"], "what programs are linked to")
    page = ctx.run("man", "--warnings", "-P", "cat", "-l", prefix / "share/man/man1/remora.1")
    expect("EXIT STATUS" in page.stdout and page.stderr == "", f"man says {page.stderr}")
