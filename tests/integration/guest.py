# SPDX-License-Identifier: MIT
"""The cases that run inside the guest, each booted by itself: an application t_* ends with the exit code for "the
workload ended well", an application p_* with that for a panic, and what it traced before is exported all the same. The
kernel names its applications itself (app=list), so none is forgotten. An application s_* has a case of its own here."""
import wire
from harness import COMPENSATED_TEST_KERNEL, Case, CASES, Context, Failure, OK, PANIC, TEST_KERNEL, expect

MARK_BEFORE_THE_FAULT = "4711"

TIMEOUT_S = 60
SOAK_TIMEOUT_S = 240


def applications(ctx, kernel):
    outcome = ctx.boot("list", kernel=kernel, nic="none")
    names = [line.removeprefix("app ").split()[0] for line in outcome.markers if line.startswith("app ")]
    if not names:
        raise Failure(f"app=list names no application; {outcome}")
    return names


# Cases about scheduling: recorded from the start, so that something must be decided.
DECIDED = ("t_edf_", "t_rr_", "t_rm_", "t_level_", "t_mutex_", "t_semaphore_", "t_cbs_", "t_grub_", "t_polling_",
           "t_deferrable_", "t_served_", "t_sporadic_", "t_pi_", "t_pcp_", "t_srp_")


def check_trace(ctx, name, image, outcome):
    """What the case recorded leaves the machine whole, `remora verify` finds its structure right (pairs, counts, and
    every gap bracketed with the number lost), and `remora check` finds that the kernel decided as the theory says."""
    if outcome.marker("trace: ").startswith("trace: 0 records kept"):
        return
    if " 0 chunks " in outcome.marker("exported "):
        return  # the case has taken its chunks away
    _, directory = ctx.disk_files(image)
    ctx.adopt(directory)
    if name.startswith(DECIDED):
        ctx.check(directory, "--must-decide")


def case_for(name, kernel=TEST_KERNEL):
    def body(ctx):
        image = ctx.make_ramdisk()
        outcome = ctx.boot(name, kernel=kernel, nic="none", sink="disk", ramdisk=image)
        outcome.expect_code(OK)
        expect(outcome.marker("result") == "result ok", f"no `result ok`; {outcome}")
        check_trace(ctx, name, image, outcome)
    return body


def panic_case_for(name):
    def body(ctx):
        image = ctx.make_ramdisk()
        outcome = ctx.boot(name, kernel=TEST_KERNEL, nic="none", sink="disk", ramdisk=image).expect_code(PANIC)
        expect(outcome.marker("result") == "result panic", f"no `result panic`; {outcome}")
        expect("panic" in outcome.serial.replace("result panic", ""), f"no report; {outcome}")
        _, directory = ctx.disk_files(image)
        ctx.remora("adopt", directory)
        printed = ctx.remora("print", directory, check=False).stdout
        expect("data_pointer" in printed, f"the reason's address is missing:\n{printed[-2000:]}")
        expect(MARK_BEFORE_THE_FAULT in printed, f"what was traced before the panic is missing:\n{printed[-2000:]}")
    return body


def register_each(kernel, wanted, name_of, body_of):
    """A case for each application of a kernel that is `wanted`; a case that fails if the kernel cannot be asked."""
    try:
        names = applications(Context(f"list_{kernel.replace('/', '_')}", 30), kernel)
    except Exception as error:  # pylint: disable=broad-except
        reason = str(error)

        def unlisted(ctx):
            raise Failure(f"the applications of {kernel} cannot be listed: {reason}")
        CASES.append(Case(f"applications_of_{kernel.split('/')[-1]}", unlisted, TIMEOUT_S))
        return
    for name in filter(wanted, names):
        CASES.append(Case(name_of(name), body_of(name), TIMEOUT_S))


def line_by_the_8259(ctx):
    """The same external line with the old pair of interrupt controllers instead of the I/O APIC."""
    ctx.boot("t_irq_line", kernel=TEST_KERNEL, nic="none", irq="pic").expect_code(OK)


def fault_in_every_report(ctx):
    """A console that faults whenever it is used: nothing can be said, but the machine ends, and says how it ended."""
    outcome = ctx.boot("s_fault_in_every_report", kernel=TEST_KERNEL, nic="none").expect_code(PANIC)
    expect("killed" not in outcome.serial, f"the console works; {outcome}")


def double_fault_resets_nothing(ctx):
    """Faults of the fault path end in a panic; the processor is reset as often as by a machine that just boots."""
    def resets(app, code):
        log = ctx.dir / f"{app}.log"
        ctx.boot(app, kernel=TEST_KERNEL, nic="none", devices=["-d", "cpu_reset", "-D", str(log)]).expect_code(code)
        text = log.read_text(errors="replace")
        expect("Triple fault" not in text, f"{app}: triple fault")
        return text.count("CPU Reset")
    usual = resets("t_guard_pages", OK)
    expect(usual > 0, "QEMU logs no reset at all: this looks at the wrong thing")
    for app in ("p_double_fault", "p_fault_in_report", "p_fault_in_handler", "p_fault_in_nmi", "p_lost_stack"):
        expect(resets(app, PANIC) == usual, f"{app} reset the processor")


def stuck_line(ctx):
    """A level-triggered line that nobody acknowledges (QEMU's edu device): the governor keeps the machine going."""
    outcome = ctx.boot("s_irq_stuck_line", kernel=TEST_KERNEL, nic="none", sink="disk", ramdisk=ctx.make_ramdisk(),
                       devices=["-device", "edu,addr=4"])
    outcome.expect_code(OK)


def nmi_storm(ctx):
    """NMIs through QEMU's monitor, as fast as it takes them: each is in the trace, and the task goes on."""
    outcome = ctx.boot("s_nmi_storm", kernel=TEST_KERNEL, nic="none", clock="tcg",
                       meanwhile=lambda monitor: monitor.do("inject-nmi", 50)).expect_code(OK)
    print("".join(f"  {line}\n" for line in outcome.serial.splitlines() if line.startswith("storm: ")), end="",
          flush=True)


def receive_flood(ctx):
    """Frames, most of them bad, as fast as the card takes them: tasks with deadlines are never late, a flow goes on."""
    with wire.Wire() as cable:
        outcome = ctx.boot("s_receive_flood", kernel=TEST_KERNEL, nic="none", devices=cable.options()).expect_code(OK)
    figures = [line for line in outcome.serial.splitlines() if line.startswith("flood: ")]
    print("".join(f"  {line} ({cable.flooded} sent)\n" for line in figures), end="", flush=True)


def soak(ctx, **options):
    """Records under timer interrupts and NMIs: the guest checks them itself, and that its records were interrupted."""
    outcome = ctx.boot("s_record_soak", kernel=TEST_KERNEL, nic="none", **options).expect_code(OK)
    figures = [line for line in outcome.serial.splitlines() if line.startswith("soak: ")]
    print("".join(f"  {line}\n" for line in figures), end="", flush=True)


def record_soak(ctx):
    """Exact clock: an interrupt comes at its very instruction, and each run is the same run."""
    soak(ctx, duration_ms=1500)


def record_soak_by_single_instructions(ctx):
    """Host clock: interrupts come when they come, and the emulator looks for them after each instruction."""
    soak(ctx, clock="tcg", singlestep=True, duration_ms=8000)


def spurious_by_the_8259(ctx):
    """A spurious interrupt 7 or 15 where the old pair serves the lines."""
    ctx.boot("t_irq_spurious_line", kernel=TEST_KERNEL, nic="none", irq="pic").expect_code(OK)


def register():
    CASES.append(Case("record_soak", record_soak, SOAK_TIMEOUT_S))
    CASES.append(Case("record_soak_by_single_instructions", record_soak_by_single_instructions, SOAK_TIMEOUT_S))
    CASES.append(Case("t_irq_spurious_line_by_the_8259", spurious_by_the_8259, TIMEOUT_S))
    CASES.append(Case("t_irq_line_by_the_8259", line_by_the_8259, TIMEOUT_S))
    CASES.append(Case("s_irq_stuck_line", stuck_line, TIMEOUT_S))
    CASES.append(Case("s_nmi_storm", nmi_storm, TIMEOUT_S))
    CASES.append(Case("s_receive_flood", receive_flood, TIMEOUT_S))
    CASES.append(Case("s_fault_in_every_report", fault_in_every_report, TIMEOUT_S))
    CASES.append(Case("double_fault_resets_nothing", double_fault_resets_nothing, TIMEOUT_S))
    register_each(TEST_KERNEL, lambda name: name.startswith("t_"), str, case_for)
    register_each(COMPENSATED_TEST_KERNEL, lambda name: name.startswith(("t_clock_", "t_itrace_")),
                  lambda name: f"{name}_compensated", lambda name: case_for(name, COMPENSATED_TEST_KERNEL))
    register_each(TEST_KERNEL, lambda name: name.startswith("p_"), str, panic_case_for)
