# SPDX-License-Identifier: MIT
"""What `make install` leaves: others build against the reader library by pkg-config, read the manual page, complete
commands."""
import re

from viewers import traces
from support.cases import case, counts, expect, expect_equal
from support.context import ROOT


def install(ctx):
    ctx.run("make", "--no-print-directory", "install", f"DESTDIR={ctx.dir}/root", "PREFIX=/usr")
    return ctx.dir / "root/usr"


@case(timeout_s=400)
def library(ctx):
    """The example builds with nothing but what was installed, and counts what `remora print` shows."""
    prefix = install(ctx)
    settings = {"PKG_CONFIG_PATH": f"{prefix}/lib/pkgconfig", "PKG_CONFIG_SYSROOT_DIR": f"{ctx.dir}/root"}
    flags = ctx.run("pkg-config", "--cflags", "--libs", "remora-trace", env=settings).stdout.split()
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


@case(timeout_s=400)
def files(ctx):
    """Programs, C headers, manual page and completion are where a system looks for them."""
    prefix = install(ctx)
    for name in ("bin/remora", "bin/traceprinter", "bin/tlogdump", "lib/libtraceparser.so", "lib/libtlog.so",
                 "lib/libtraceparser.so.1", "lib/libtlog.so.1",
                 "include/remora/compat/traceparser.h", "include/remora/compat/tlog_event.h",
                 "share/man/man1/remora.1", "share/bash-completion/completions/remora"):
        expect((prefix / name).stat().st_size > 0, f"{name} is empty")
    page = ctx.run("man", "--warnings", "-P", "cat", "-l", prefix / "share/man/man1/remora.1")
    expect("EXIT STATUS" in page.stdout and page.stderr == "", f"man says {page.stderr}")
