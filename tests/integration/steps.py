# SPDX-License-Identifier: MIT
"""A task in steps, from the guest to what a person sees: function and offset, instruction, call stacks. What is shown
is compared with what binutils say of the same image."""
import json
import re
import shutil

from support import speedscope_page
from support.cases import case, expect
from support.context import COMPENSATED_TEST_KERNEL, KERNEL
from support.guests import BAD_COMMAND_LINE


def symbols(ctx):
    """Addresses and sizes of functions by their names."""
    found = {}
    for line in ctx.run("nm", "-C", "-S", KERNEL).stdout.splitlines():
        if match := re.fullmatch(r"([0-9a-f]{16}) ([0-9a-f]{16}) [tTwW] (.*)", line):
            found.setdefault(match[3], []).append((int(match[1], 16), int(match[2], 16)))
    return found


def listing(ctx):
    """Instructions by address."""
    text = ctx.run("objdump", "-d", "-C", "--no-show-raw-insn", KERNEL).stdout
    return {int(match[1], 16): " ".join(match[2].split())
            for match in re.finditer(r"^\s*([0-9a-f]+):\t(.*)$", text, re.M)}


def record(ctx, grain):
    """The session of an application in steps, with the image's names in it."""
    _, directory = ctx.traced("stepped_one", itrace=grain)
    ctx.remora("adopt", "--kernel", KERNEL, directory)
    ctx.remora("verify", directory)
    return directory


@case(timeout_s=240)
def call_stacks_are_drawn_by_a_page(ctx):
    """speedscope draws the functions that a task in steps was in, by colour."""
    path = ctx.convert(record(ctx, "blocks"), "speedscope", "--from-time", "10ms", "--to-time", "14ms", name="run.json")
    colours = speedscope_page.draw(ctx, path.read_bytes(), "speedscope_stepped", 320)
    expect(colours >= 6, f"{colours} colours: functions are missing")


@case(timeout_s=240)
def steps_are_shown_by_function_and_instruction(ctx):
    """Each address of the trace is an instruction of the image; its function and offset are binutils'."""
    session = record(ctx, "blocks")
    known, code = symbols(ctx), listing(ctx)
    lines = ctx.remora("print", session, "--json", "--event", "block", "--kernel", KERNEL, "--disassemble",
                       "--limit", "20000").stdout.splitlines()
    expect(len(lines) > 1000, f"{len(lines)} blocks")
    places = set()
    for line in lines:
        event = json.loads(line)
        address = event["parameters"]["address"]
        expect(event["instruction"] == code[address], f"{event} is {code[address]}")
        name, _, offset = event["parameters"]["address_name"].partition("+0x")
        begin = address - int(offset or "0", 16)
        expect(any(start == begin for start, _ in known[name]), f"{event}: {known.get(name)}")
        places.add(name.rpartition("::")[2])
    expect("body(void*)" in places, f"the task's own function is not among {sorted(places)}")

    # The session's own copy of the names is enough; a text line shows both.
    text = ctx.remora("print", session, "--event", "block", "--limit", "50").stdout
    expect(re.search(r"flow_instructions=\d/\d+ \(\w+\) address=0x[0-9a-f]+ \(\S.*\)", text), text)
    text = ctx.remora("print", session, "--event", "block", "--limit", "50", "--kernel", KERNEL, "--disassemble").stdout
    expect(all("  | " in line for line in text.splitlines()), text)


@case(timeout_s=240)
def call_stacks_of_a_task_in_steps(ctx):
    """The profile of the task holds its functions, called by each other as the program has it."""
    session = record(ctx, "blocks")
    ctx.remora("convert", session, "--to", "speedscope", "-o", ctx.dir / "out.json")
    document = json.loads((ctx.dir / "out.json").read_text(encoding="utf-8"))
    names = [frame["name"] for frame in document["shared"]["frames"]]
    calls, stack = set(), []
    profile = next(one for one in document["profiles"] if one["name"] == "fast")
    for event in profile["events"]:
        if event["type"] == "O":
            calls.add((names[stack[-1]] if stack else None, names[event["frame"]]))
            stack.append(event["frame"])
        else:
            expect(stack.pop() == event["frame"], f"{event} is not on top")
    flat = {(str(caller).rpartition("::")[2], callee.rpartition("::")[2]) for caller, callee in calls}
    expect(("body(void*)", "task_endcycle()") in flat, f"{sorted(flat)}")


@case
def names_of_another_image_are_never_shown(ctx):
    """An image that did not run is reported once, and nothing of it is used."""
    session = record(ctx, "blocks")
    other = ctx.dir / "other.elf"
    shutil.copy(KERNEL, other)
    data = bytearray(other.read_bytes())
    note = ctx.run("readelf", "-n", KERNEL).stdout
    build_id = bytes.fromhex(re.search(r"Build ID: ([0-9a-f]+)", note)[1])
    place = data.find(build_id)
    data[place] ^= 1
    other.write_bytes(data)
    done = ctx.remora("print", session, "--event", "block", "--limit", "5", "--kernel", other, "--disassemble")
    expect("another image" in done.stderr and done.stderr.count("\n") == 1, done.stderr)
    expect("(" not in done.stdout.split("address=")[1].splitlines()[0] and " | " not in done.stdout, done.stdout)
    done = ctx.remora("print", session, "--disassemble", codes=None)
    expect(done.returncode == 1 and "--kernel" in done.stderr, done.stderr)
    done = ctx.remora("print", session, "--disassemble", "--kernel", "Makefile", codes=None)
    expect(done.returncode == 1 and done.stderr, done.stderr)


def compensated(ctx, name, app="stepped_one", **words):
    """A run of the periodic load on the kernel whose clock can be set back: what it printed, and its session."""
    outcome, directory = ctx.traced(app, kernel=COMPENSATED_TEST_KERNEL, **words)
    session = directory.rename(ctx.dir / name)
    return outcome, ctx.adopt(session)


def printed(ctx, session, event, *options):
    return [json.loads(line) for line in
            ctx.remora("print", session, "--json", "--event", event, *options).stdout.splitlines()]


@case(timeout_s=240)
def the_kernels_time_is_restored(ctx):
    """In steps on a compensated clock the trace shows, in the kernel's time, the schedule of the run without steps;
    what was removed, and how often each guard held, is to the tick what the kernel counted."""
    _, free = compensated(ctx, "free")
    outcome, steps = compensated(ctx, "steps", itrace="blocks", clock_step=1)
    summary = json.loads(ctx.remora("summary", steps, "--json").stdout)
    expect(0 < summary["tracing"]["share"] < 1, f"tracing took {summary['tracing']} of the run")
    found = summary["compensation"]
    removed = int(outcome.marker("clock ran").split()[-2])
    expect(found["removed_ticks"] == removed > 10**7, f"{found}, the kernel says {removed}")
    counted = {name: int(count) for name, count in re.findall(r"REMORA: steps (\w+) (\d+)", outcome.serial)}
    expect(found["steps"] == counted and counted["compensated"] > 10**5, f"{found}, the kernel says {counted}")

    switches = [printed(ctx, session, "context_switch") for session in (free, steps)]
    order = [[event["par1"] for event in one] for one in switches]
    expect(order[0] == order[1] and len(order[0]) > 50, f"{order[0]} is the free run, {order[1]} in steps")
    apart = [abs((a["ticks"] - switches[0][0]["ticks"]) - (b["ticks"] - switches[1][0]["ticks"]))
             for a, b in zip(*switches)]
    expect(max(apart) < 1000, f"a switch is {max(apart)} ticks from where it is in the free run")

    # A job's release is a time of the kernel's clock: the raw stamp is far later, the restored one is not.
    for options, fits in (((), True), (("--machine-clock",), False)):
        late = max(event["ticks"] - event["parameters"]["release"] & 0xFFFFFFFF
                   for event in printed(ctx, steps, "job_release", *options))
        expect((late < 5000) == fits, f"a release is recorded {late} ticks after its time {options}")


@case(timeout_s=240)
def dense_records_take_no_time_of_the_kernels_clock(ctx):
    """With a record for each four instructions nearly every deadline is missed; off the clock none is, and the timer's
    interrupts are those of the load without records. Both traces hold to the theory."""
    found = {}
    for name, app, words in (("free", "stepped", {}), ("dense", "pointed", {}),
                             ("off_the_clock", "pointed", {"clock_records": "on"})):
        outcome, session = compensated(ctx, name, app, **words)
        misses = sum(int(missed) for missed in re.findall(r"missed (\d+) of", outcome.serial))
        found[name] = misses, int(outcome.marker("timer interrupts").split()[-1])
        ctx.remora("check", session)
    expect(found["dense"][0] > 40 and found["dense"][1] > 2 * found["free"][1], f"{found}")
    expect(found["off_the_clock"] == found["free"] and found["free"][0] == 0, f"{found}")
    removed = json.loads(ctx.remora("summary", session, "--json").stdout)["compensation"]["removed_ticks"]
    expect(10**6 < removed <= int(outcome.marker("clock ran").split()[-2]), f"{removed}: {outcome}")
    for word, value in (("clock_step", 1), ("compact", "A")):
        outcome = ctx.boot("pointed", kernel=COMPENSATED_TEST_KERNEL, nic="none", clock_records="on", **{word: value})
        outcome.expect_code(BAD_COMMAND_LINE)
        expect("without clock_step and without compact" in outcome.serial, f"{outcome}")
