# SPDX-License-Identifier: MIT
"""Both boot paths end in the same kernel, and the loader says what is wrong with what it was given."""
from support.cases import case, expect
from support.context import KERNEL, KERNEL_OFF, TEST_KERNEL
from support.guests import BAD_COMMAND_LINE, OK, UNSUPPORTED


@case
def pvh_boot(ctx):
    """`-kernel` reaches the application and its end."""
    outcome = ctx.boot("control").expect_code(OK)
    expect(outcome.marker("boot") == "boot pvh", str(outcome))
    outcome.marker("running control")
    outcome.marker("exited after")
    expect(outcome.marker("result") == "result ok", str(outcome))


@case(timeout_s=90)
def run_on_a_host_that_is_too_slow_ends(ctx):
    """One instruction at a time under the host's clock: the deadline tasks would take the whole processor, and the end
    of the run may have passed before the main task waits for it."""
    ctx.boot("control", clock="tcg", nic="none", singlestep=True).expect_code(OK)


@case(timeout_s=120)
def uefi_boot(ctx):
    """OVMF starts the loader, the loader starts the kernel; the trace arrives as it does from PVH."""
    with ctx.collector() as session:
        outcome = ctx.boot("control", boot="uefi", sink="udp").expect_code(OK)
    expect(outcome.marker("boot") == "boot uefi", str(outcome))
    ctx.remora("verify", session)


@case
def uefi_refuses_real_mode(ctx):
    """There is no BIOS to call: the caller gets an error, the console the reason and the remedy."""
    outcome = ctx.boot("s_real_mode_refused", kernel=TEST_KERNEL, boot="uefi", nic="none").expect_code(OK)
    expect("real mode: refused, because UEFI firmware started this machine" in outcome.serial, str(outcome))
    expect("BOOT=pvh" in outcome.serial, f"no remedy; {outcome}")


@case
def tracer_off_boots(ctx):
    """The kernel without a tracer runs the same application."""
    ctx.boot("control", kernel=KERNEL_OFF).expect_code(OK)


@case
def bad_word_is_refused_by_name(ctx):
    outcome = ctx.boot("control", colour="blue").expect_code(BAD_COMMAND_LINE)
    expect("colour=blue" in outcome.serial, f"the word is not named; {outcome}")


@case
def bad_value_is_refused_by_name(ctx):
    outcome = ctx.boot("control", seed="minus").expect_code(BAD_COMMAND_LINE)
    expect("seed=minus" in outcome.serial, f"the word is not named; {outcome}")


@case
def unknown_application_is_refused_by_name(ctx):
    outcome = ctx.boot("no_such_app").expect_code(BAD_COMMAND_LINE)
    expect("no_such_app" in outcome.serial, f"the application is not named; {outcome}")


@case
def longest_command_line_is_read(ctx):
    ctx.boot(raw_words="exit=debug app=list".ljust(1023)).expect_code(OK)
    outcome = ctx.boot(raw_words="exit=debug app=list".ljust(1024)).expect_code(BAD_COMMAND_LINE)
    expect("longer than 1023 characters" in outcome.serial, str(outcome))


@case
def command_line_over_the_start_information_is_refused(ctx):
    """QEMU copies the text into 4096 bytes without a check: what follows, the start information, is lost."""
    outcome = ctx.boot(raw_words="exit=debug app=list".ljust(5000)).expect_code(UNSUPPORTED)
    expect("command line of more than 4096 characters" in outcome.serial, str(outcome))
    expect("at most 1023" in outcome.serial, f"no limit; {outcome}")


@case
def command_line_over_everything_is_refused(ctx):
    """So long that neither the start information nor the code that starts the kernel is left."""
    done = ctx.run("qemu/boot.sh", "exit=debug app=list".ljust(60_000), codes=None,
                   env={"KERNEL": KERNEL, "WORK": str(ctx.dir), "BOOT": "pvh", "NIC": "none"})
    expect(done.returncode == 1, f"exit code {done.returncode}: {done.stderr}")
    expect("a command line of 60000 characters" in done.stderr and "at most 1023" in done.stderr, done.stderr)


@case
def processor_without_what_the_kernel_needs_is_refused(ctx):
    for model, missing in (("qemu64,-nx", "no no-execute pages (NX)"), ("qemu64,-lm", "no long mode"),
                           ("qemu32", "no long mode"), ("486", "no long mode")):
        outcome = ctx.boot(app="list", devices=["-cpu", model]).expect_code(UNSUPPORTED)
        expect(missing in outcome.serial, f"{model}: {outcome}")
    ctx.boot(app="list", devices=["-cpu", "qemu64"]).expect_code(OK)


@case
def loader_refuses_a_processor_without_no_execute_pages(ctx):
    loader_says(ctx, KERNEL, "no no-execute pages (NX)", devices=["-cpu", "qemu64,-nx"])


def loader_says(ctx, kernel, pattern, **boot):
    outcome = ctx.boot(kernel=kernel, boot="uefi", until="loader failed.*\n", **boot)
    expect(pattern in outcome.marker("loader failed"), str(outcome))


@case
def loader_refuses_a_file_that_is_no_kernel(ctx):
    garbage = ctx.dir / "kernel.elf"
    garbage.write_bytes(b"MZ" + bytes(4096))
    loader_says(ctx, garbage, "not an ELF file")


@case
def loader_refuses_a_kernel_cut_short(ctx):
    with open(KERNEL, "rb") as file:
        short = file.read(0x2000)
    cut = ctx.dir / "kernel.elf"
    cut.write_bytes(short)
    loader_says(ctx, cut, "the file ends inside")


@case
def loader_refuses_a_command_line_too_long(ctx):
    loader_says(ctx, KERNEL, "cmdline.txt", raw_words="x" * 1024)
