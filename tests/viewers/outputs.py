# SPDX-License-Identifier: MIT
"""What a conversion does to files: it never harms its input, nor what was there before, and leaves nothing half
done."""
import os
import pty
import select
import shutil
import signal
import subprocess
import time

from viewers import traces
from support.cases import case, expect, expect_equal
from support.context import REMORA, ROOT


def copy(ctx, name):
    path = ctx.dir / name
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(traces.control() / "0trace.dat", path)
    return path


def shell(ctx, line, codes=(0,)):
    return ctx.run("bash", "-c", line.replace("remora", str(ROOT / REMORA)), codes=codes)


@case
def input_stays(ctx):
    """By its path, a link, standard input, standard output, or as part of a session: the input is refused as output."""
    trace = copy(ctx, "in.dat")
    before = trace.read_bytes()
    os.link(trace, ctx.dir / "hard.dat")
    os.symlink(trace, ctx.dir / "soft.dat")
    for output in ("in.dat", "hard.dat", "soft.dat"):
        ctx.remora("convert", trace, "--to", "csv", "-o", ctx.dir / output, codes=(1,))
    shell(ctx, f"remora convert - --to csv -o {trace} < {trace}", codes=(1,))
    shell(ctx, f"remora convert {trace} --to csv >> {trace}", codes=(1,))
    expect_equal(trace.read_bytes(), before, "the input")
    session = ctx.dir / "session"
    shutil.copytree(traces.control(), session)
    ctx.remora("convert", session / "0trace.dat", "--to", "csv", "-o", session / "formats.json", codes=(1,))
    ctx.remora("verify", session, codes=(6,))


@case
def neighbours_stay(ctx):
    """Nothing beside the output is touched, however it is called."""
    trace = copy(ctx, "out.partial/in.dat")
    victim = ctx.dir / "victim"
    victim.write_text("mine")
    os.symlink(victim, ctx.dir / "out.csv.partial")
    ctx.remora("convert", trace, "--to", "ctf", "-o", ctx.dir / "out")
    ctx.remora("convert", trace, "--to", "csv", "-o", ctx.dir / "out.csv")
    expect(trace.exists() and victim.read_text() == "mine", "a neighbour was harmed")
    expect((ctx.dir / "out.csv").is_file() and not (ctx.dir / "out.csv").is_symlink(), "out.csv is no file of its own")


@case
def kinds_of_outputs(ctx):
    """A link is followed, a FIFO is written; a trace without an event does not replace what is there."""
    trace = copy(ctx, "in.dat")
    (ctx.dir / "real.csv").write_text("old")
    os.symlink("real.csv", ctx.dir / "link.csv")
    ctx.remora("convert", trace, "--to", "csv", "-o", ctx.dir / "link.csv")
    expect((ctx.dir / "link.csv").is_symlink(), "the link was replaced")
    expect((ctx.dir / "real.csv").read_text().startswith("ticks,"), "what the link names was not written")
    os.mkfifo(ctx.dir / "fifo")
    through = ctx.dir / "through.csv"
    with open(through, "wb") as kept, subprocess.Popen(["cat", ctx.dir / "fifo"], stdout=kept) as reader:
        ctx.remora("convert", trace, "--to", "csv", "-o", ctx.dir / "fifo")
        reader.wait(timeout=20)
    expect(through.read_bytes() == (ctx.dir / "real.csv").read_bytes(), "the FIFO carried something else")
    (ctx.dir / "empty.dat").write_bytes(b"")
    ctx.remora("convert", ctx.dir / "empty.dat", "--to", "csv", "-o", ctx.dir / "real.csv", codes=(3,))
    expect((ctx.dir / "real.csv").stat().st_size > 1000, "an empty trace took the place of a good file")
    done = shell(ctx, f"remora convert {trace} --to csv -o /dev/full", codes=(4,))
    expect("no space" in done.stderr, f"a full disk is called {done.stderr}")
    refused = ctx.remora("dissector", "-o", "", codes=(1,)).stderr
    expect_equal(refused, "remora dissector: --output: no name: name a file, or - for standard output\n", "no name")


@case
def streams_as_inputs(ctx):
    """What can be read only once is kept where a format needs two passes."""
    trace = copy(ctx, "in.dat")
    for form in ("csv", "kev", "perfetto", "vcd"):
        expected = ctx.convert(trace, form, name=f"file.{form}")
        shell(ctx, f"remora convert <(cat {trace}) --to {form} -o {ctx.dir}/pipe.{form}")
        expect_equal((ctx.dir / f"pipe.{form}").read_bytes() == expected.read_bytes(), True, f"{form} of a pipe")
    text = shell(ctx, f"remora sql <(cat {trace}) 'select count(*) from events' --csv").stdout
    expect_equal(text.split()[-1], "5777", "events of a pipe in SQL")


@case
def stopped(ctx):
    """A signal ends a conversion and leaves no file."""
    trace = traces.synthetic(ctx, 1_500_000)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        output = ctx.dir / f"out-{number}"
        with subprocess.Popen([ROOT / REMORA, "convert", trace, "--to", "chrome-json", "-o", output],
                              stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and not list(ctx.dir.glob(f"out-{number}.*")):
                time.sleep(0.01)
            process.send_signal(number)
            expect_equal(process.wait(timeout=60), 1, f"exit status after {number.name}")
        expect_equal(list(ctx.dir.glob(f"out-{number}*")), [], "files that are left")


@case
def sql_or(ctx):
    """The parts of an OR overlap, and each event is counted once."""
    def count(condition, *options):
        return ctx.remora("sql", traces.control(), f"select count(*) from events where {condition}", "--csv",
                          *options).stdout.split()[-1]
    for condition in ("event='context_switch' or code=22", "time_ns>1130674 or time_ns<239115427",
                      "time_ns<50000000 or (time_ns>30000000 and time_ns<80000000)"):
        expect_equal(count(condition), count(f"({condition}) + 0"), condition)


def written_until(command, expected):
    """What a command writes to its terminal while it reads records without end, until that holds `expected`."""
    terminal, theirs = pty.openpty()
    with subprocess.Popen([ROOT / REMORA, *command], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=theirs) as process:
        try:
            seen, stamp = "", 0
            process.stdin.write(traces.chunk(b"", begin=0, announced=1 << 30))
            while expected not in seen:
                process.stdin.write(b"".join(traces.record(traces.IPOINT, stamp + i, 1, 2) for i in range(10_000)))
                stamp += 10_000
                while select.select([terminal], [], [], 0)[0]:
                    seen += os.read(terminal, 4096).decode()
            return seen
        finally:
            process.kill()
            os.close(theirs)
            os.close(terminal)


@case
def progress_on_a_terminal(ctx):
    """Work that takes longer than a second says on a terminal how far it has come, in one line that it writes over. A
    command that says nothing is fed until the case's time is over."""
    for command, said in (("summary", "summarising"), ("count", "counting"), ("convert", "converting")):
        output = ["--to", "csv", "-o", str(ctx.dir / "all.csv")] if command == "convert" else []
        seen = written_until([command, "-", *output], f"\r\x1b[K{said} ")
        expect(seen.endswith(" events"), f"{command} wrote {seen!r}")
