# SPDX-License-Identifier: MIT
"""`make run` as a user types it, from the options to the last line."""
from harness import case, expect


def make_run(ctx, *options):
    return ctx.run("make", "run", "DEPS=skip", f"OUT={ctx.dir}/out", f"PORT={ctx.port}", *options, check=False)


@case(timeout_s=180)
def run_through_uefi(ctx):
    """The default: firmware, network, one session, exit code 0, and the way on from there."""
    done = make_run(ctx)
    expect(done.returncode == 0, done.stdout + done.stderr)
    for words in ("guest: boot uefi", "guest: running control", "guest: result ok", f"remora print {ctx.dir}/out/udp"):
        expect(words in done.stdout, f"`{words}` is not in: {done.stdout}")
    ctx.remora("verify", ctx.dir / "out" / "udp")


@case(timeout_s=180)
def run_to_both_sinks(ctx):
    done = make_run(ctx, "BOOT=pvh", "SINK=both", "CLOCK=icount")
    expect(done.returncode == 0, done.stdout + done.stderr)
    ctx.remora("verify", ctx.dir / "out" / "udp")
    ctx.remora("verify", ctx.dir / "out" / "disk")


@case(timeout_s=180)
def run_without_tracer(ctx):
    done = make_run(ctx, "BOOT=pvh", "TRACER=OFF")
    expect(done.returncode == 0, done.stdout + done.stderr)
    expect(not (ctx.dir / "out" / "udp").exists(), "a session without a tracer")


@case(timeout_s=180)
def run_that_fails_says_why(ctx):
    """An application that does not exist: the kernel's word reaches the user, and the exit code is not 0."""
    done = make_run(ctx, "BOOT=pvh", "APP=no_such_app", "SINK=disk")
    expect(done.returncode != 0, done.stdout)
    expect("error: " in done.stderr and "bad" in done.stderr, done.stderr)


@case(timeout_s=180)
def run_that_hangs_ends(ctx):
    """A guest that takes too long is stopped, and the message names the limit."""
    done = make_run(ctx, "BOOT=pvh", "SINK=none", "TIMEOUT_S=1", "DURATION_MS=60000")
    expect(done.returncode != 0, done.stdout)
    expect("did not end within 1 s" in done.stderr, done.stderr)
