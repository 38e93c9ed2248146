# SPDX-License-Identifier: MIT
"""The cases that run inside the guest, each in a boot of its own: an application t_* ends with the exit code for "the
workload ended well", an application p_* with the code for a panic, and what it traced before is exported all the same.
The kernel lists its applications itself (app=list), so none is forgotten. An application s_* needs something outside of
the guest and has a case of its own here."""
import functools
import json
import os
import re

from integration import wire
from support.cases import CASES, Case, Failure, expect
from support.context import COMPENSATED_TEST_KERNEL, ENDED_BADLY, TEST_KERNEL
from support.guests import APP_FAILED, OK, PANIC, GuestContext

MARK = "4711"

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
    """What the case recorded is exported whole, `remora verify` finds its structure right (pairs, counts, and every gap
    bracketed with the number lost), and `remora check` finds that the kernel decided as the theory says."""
    if outcome.marker("trace: ").startswith("trace: 0 records kept"):
        return
    if " 0 chunks " in outcome.marker("exported "):
        return  # the case has taken its chunks away
    _, directory = ctx.disk_files(image)
    ctx.adopt(directory)
    if name.startswith(DECIDED):
        ctx.check(directory, "--must-decide")
    if name == "t_cbs_refusals":
        refused = [event["fields"]["task"] for event in ctx.events(directory) if event.get("name") == "task_refused"]
        expect(refused.count("hard") == 1, f"the trace does not say why a task is missing: {refused}")


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
        outcome, directory = ctx.traced(name, kernel=TEST_KERNEL, nic="none", code=PANIC)
        expect(outcome.marker("result") == "result panic", f"no `result panic`; {outcome}")
        expect("panic" in outcome.serial.replace("result panic", ""), f"no report; {outcome}")
        ctx.remora("adopt", directory)
        printed = ctx.remora("print", directory, codes=None).stdout
        expect("data_pointer" in printed, f"the reason's address is missing:\n{printed[-2000:]}")
        expect(MARK in printed, f"what was traced before the panic is missing:\n{printed[-2000:]}")
        crash = ctx.remora("why", directory, "--crash", "--kernel", TEST_KERNEL).stdout
        expect(crash.startswith("panic in task ") and "its reason is not recorded" not in crash, crash)
        expect(name == "p_lost_stack" or re.search(r"[(][a-z_0-9/]+[.](cpp|hpp|S):[0-9]+[)]", crash), crash)
    return body


def register_each(kernel, wanted, name_of, body_of):
    """A case for each application of a kernel that is `wanted`; one case that fails if the kernel lists none."""
    try:
        names = applications(GuestContext("guest", f"list_{kernel.replace('/', '_')}", 30), kernel)
    except Exception as error:  # pylint: disable=broad-except
        reason = str(error)

        def unlisted(ctx):
            raise Failure(f"the applications of {kernel} cannot be listed: {reason}")
        CASES.append(Case(f"applications_of_{kernel.split('/')[-1]}", unlisted))
        return
    for name in filter(wanted, names):
        CASES.append(Case(name_of(name), body_of(name)))


def line_by_the_8259(ctx):
    """The same external line with the old pair of interrupt controllers instead of the I/O APIC."""
    ctx.boot("t_irq_line", kernel=TEST_KERNEL, nic="none", irq="pic").expect_code(OK)


def fault_in_every_report(ctx):
    """A console that faults whenever it is used: nothing is printed, but the machine ends with the code of a panic."""
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
    """A level-triggered line that is never acknowledged (QEMU's edu device): the governor keeps the machine running."""
    outcome = ctx.boot("s_irq_stuck_line", kernel=TEST_KERNEL, nic="none", sink="disk", ramdisk=ctx.make_ramdisk(),
                       devices=["-device", "edu,addr=4"])
    outcome.expect_code(OK)


def print_figures(outcome, start, end=""):
    """Lines of the serial output that state figures: indented, in one piece."""
    lines = [line for line in outcome.serial.splitlines() if line.startswith(start)]
    print("".join(f"  {line}{end}\n" for line in lines), end="", flush=True)


def nmi_storm(ctx):
    """NMIs through QEMU's monitor, as fast as it takes them: each is in the trace, and the task continues."""
    def inject(monitor):
        if "storm begins" in (ctx.dir / "boot1" / "serial.log").read_text(errors="replace"):
            monitor.do("inject-nmi", 50)
    outcome = ctx.boot("s_nmi_storm", kernel=TEST_KERNEL, nic="none", clock="tcg", meanwhile=inject).expect_code(OK)
    print_figures(outcome, "storm: ")


def receive_flood(ctx):
    """Frames, most of them bad, as fast as the card takes them: no task misses its deadline, a flow continues."""
    with wire.Wire() as cable:
        outcome = ctx.boot("s_receive_flood", kernel=TEST_KERNEL, nic="none", devices=cable.options()).expect_code(OK)
    print_figures(outcome, "flood: ", f" ({cable.flooded} sent)")


def soak(ctx, **options):
    """Records under timer interrupts and NMIs: the guest checks them itself, and that its records were interrupted."""
    outcome = ctx.boot("s_record_soak", kernel=TEST_KERNEL, nic="none", **options).expect_code(OK)
    print_figures(outcome, "soak: ")


def record_soak(ctx):
    """Exact clock: an interrupt comes at its very instruction, and each run is the same run."""
    soak(ctx, duration_ms=1500)


def record_soak_by_single_instructions(ctx):
    """Host clock: interrupts come when they come, and the emulator looks for them after each instruction."""
    soak(ctx, clock="tcg", singlestep=True, duration_ms=8000)


def spurious_by_the_8259(ctx):
    """A spurious interrupt 7 or 15 where the old pair serves the lines."""
    ctx.boot("t_irq_spurious_line", kernel=TEST_KERNEL, nic="none", irq="pic").expect_code(OK)


def disk_name(ctx):
    """Bad names are refused at the call; the last good one is the one of the files, also if the command line asks for
    the disk."""
    image = ctx.make_ramdisk()
    ctx.boot("s_disk_name", kernel=TEST_KERNEL, nic="none", sink="disk", ramdisk=image).expect_code(OK)
    ctx.check_ramdisk(image)
    names = ctx.run("mdir", "-b", "-i", image, "::").stdout.split()
    expect(names == ["::/0log.bin", "::/endlog.bin"], f"the volume holds {names}")
    ctx.run("mcopy", "-n", "-i", image, "::0log.bin", ctx.dir)
    expect(MARK in ctx.remora("print", ctx.dir / "0log.bin").stdout, "the record is missing")


def udp_target(ctx):
    """Flag 0 needs a network that was started, bad addresses and a second target are refused, and the trace reaches the
    first target whole."""
    with ctx.collector() as session:
        ctx.boot("s_udp_target", kernel=TEST_KERNEL, sink="udp").expect_code(OK)
    ctx.remora("verify", session)
    expect(MARK in ctx.remora("print", session).stdout, "the record is missing")


def manual_printed(ctx):
    """The manual's example as printed: both chunks arrive with its records in them, and nothing else of these kinds."""
    with ctx.collector() as session:
        ctx.boot("s_manual_printed", kernel=TEST_KERNEL).expect_code(OK)
    ctx.remora("verify", session)
    khz = json.loads((session / "manifest.json").read_text())["clock"]["tsc_khz"]
    expected = [(0, "filter_timer", 1, 0), (0, "trace_start", 2, khz), (0, "id", 1, 0), (0, "id", 2, 1),
                (0, "filter_timer", 0, 0), (1, "ipoint", 6000, 0), (1, "trace_stop", 0, 0)]
    events = [json.loads(line) for line in ctx.remora("print", "--json", session).stdout.splitlines()]
    found = [(event["chunk"], event["event"], event["par1"], event["par2"]) for event in events]
    found = [event for event in found if event[1] in [row[1] for row in expected]]
    expect(found == expected, f"recorded: {found}")


def main_task_ends(ctx, app):
    """Whatever ends the main task ends the run: a report, the SHUTDOWN functions, the trace, and the exit code."""
    outcome, directory = ctx.traced(app, kernel=TEST_KERNEL, nic="none", code=APP_FAILED)
    outcome.marker("shutdown")
    expect("remedy: " in outcome.marker("main task: "), str(outcome))
    ctx.adopt(directory, codes=(ENDED_BADLY,))


def random_sets(ctx, seed):
    """Random task sets (tests/kernel/random_set_cases.cpp): the records' structure, each decision of the schedule, the
    parts of each job's response time. Interrupts and sections are recorded in each way."""
    words = {"interrupts": ("full", "light", "count")[seed % 3], "cli_sti": ("off", "on")[seed % 2]}
    _, directory = ctx.traced("s_random_sets", kernel=TEST_KERNEL, nic="none", seed=seed, **words)
    ctx.remora("adopt", directory)
    ctx.remora("verify", directory)
    ctx.check(directory, "--must-decide")
    found = ctx.account(directory)
    expect(found.jobs > SETS, f"hardly a job is complete: {found}")


# Of one boot; as many boots as RANDOM_SETS needs, with the seeds from RANDOM_SEED on.
SETS = 80


def register():
    first = int(os.environ.get("RANDOM_SEED", "1"))
    boots = -(-int(os.environ.get("RANDOM_SETS", "240")) // SETS)
    CASES.extend(Case(f"random_sets_{seed}", functools.partial(random_sets, seed=seed))
                 for seed in range(first, first + boots))
    CASES.extend(Case(app, functools.partial(main_task_ends, app=app))
                 for app in ("s_main_leaves", "s_main_killed", "s_main_faults", "s_main_starved"))
    CASES.extend([
        Case("record_soak", record_soak, SOAK_TIMEOUT_S),
        Case("record_soak_by_single_instructions", record_soak_by_single_instructions, SOAK_TIMEOUT_S),
        Case("t_irq_spurious_line_by_the_8259", spurious_by_the_8259),
        Case("t_irq_line_by_the_8259", line_by_the_8259),
        Case("s_irq_stuck_line", stuck_line),
        Case("s_nmi_storm", nmi_storm, alone=True),
        Case("s_receive_flood", receive_flood, alone=True),
        Case("s_fault_in_every_report", fault_in_every_report),
        Case("s_disk_name", disk_name),
        Case("s_udp_target", udp_target),
        Case("s_manual_printed", manual_printed),
        Case("double_fault_resets_nothing", double_fault_resets_nothing),
    ])
    register_each(TEST_KERNEL, lambda name: name.startswith("t_"), str, case_for)
    register_each(COMPENSATED_TEST_KERNEL, lambda name: name.startswith(("t_clock_", "t_itrace_")),
                  lambda name: f"{name}_compensated", lambda name: case_for(name, COMPENSATED_TEST_KERNEL))
    register_each(TEST_KERNEL, lambda name: name.startswith("p_"), str, panic_case_for)
