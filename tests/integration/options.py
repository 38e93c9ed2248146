# SPDX-License-Identifier: MIT
"""Options that are wrong stop the build or the run at once, and the message holds what would have been right."""
import fcntl
import json
import os
import re
import shlex
import shutil

from support.cases import case, expect
from support.context import EFI, KERNEL, REMORA, ROOT


def refused(ctx, arguments, *words):
    """make with these arguments fails, and its message holds all the words."""
    done = ctx.run("make", *arguments, codes=None)
    expect(done.returncode != 0, f"make {arguments} succeeds")
    for word in words:
        expect(word in done.stderr, f"make {arguments}: `{word}` is not in: {done.stderr}")


def config(ctx, text):
    path = ctx.dir / "shark.cfg"
    path.write_text((ROOT / "shark.cfg").read_text() + text)
    return f"CONFIG_FILE={path}"


@case
def unknown_key_is_refused(ctx):
    refused(ctx, [config(ctx, "COLOUR = BLUE\n"), "apps"], "COLOUR", "TRACER TSC COMPENSATION COMPACT APP SINK")


@case
def every_variable_that_help_names_is_known(ctx):
    """Also the ones that it names in passing, in the line of a target."""
    text = ctx.run("make", "help").stdout
    named = sorted(set(re.findall(r"\b([A-Z][A-Z_]+)=", text)) - {"VARIABLE"})
    expect(len(named) > 20, f"{named}")
    expect(not [line for line in text.splitlines() if len(line) > 80], "make help is wider than a terminal")
    for name in named:
        done = ctx.run("make", "--dry-run", "help", f"{name}=", codes=None)
        expect("unknown variable" not in done.stderr, f"make help names {name}=: {done.stderr}")


@case
def unknown_value_is_refused(ctx):
    refused(ctx, [config(ctx, "SINK = tape\n"), "apps"], "tape", "udp disk both none")
    refused(ctx, ["TRACER=OLD", "apps"], "OLD", "NEW OFF")
    refused(ctx, ["WERROR=2", "apps"], "WERROR=2", "WERROR=1")
    refused(ctx, ["PROTOCOL=2", "apps"], "PROTOCOL=2", "auto v1 v2")
    refused(ctx, ["COMPACT=E", "apps"], "COMPACT=E", "OFF AUTO A B C D plan12 A2 B2 C2 D2 large64 large96")


@case
def value_is_one_word_of_the_list(ctx):
    """What make would take for a pattern or a list of words is no value."""
    refused(ctx, ["SINK=%", "apps"], "SINK=%")
    refused(ctx, ["BOOT=p%", "apps"], "BOOT=p%")
    refused(ctx, ["SINK=udp disk", "apps"], "udp disk", "one word")
    refused(ctx, [config(ctx, "OUT = my runs\n"), "apps"], "my runs", "one word")


@case
def value_may_hold_an_equals_sign(ctx):
    done = ctx.run("make", config(ctx, "OUT = a=b\n"), "--eval=show: ; @echo $(OUT)", "show")
    expect(done.stdout.strip() == "a=b", done.stdout)


@case
def environment_sets_no_option(ctx):
    done = ctx.run("make", "--eval=show: ; @echo $(SINK) $(PORT) $(DEPS)", "show", "OUT=there",
                   env={"SINK": "tape", "PORT": "1", "DEPS": "skip", "OUT": "here"})
    expect(done.stdout.strip() == "udp auto", done.stdout)
    expect(re.findall(r"(\w+=\w+) of the environment is ignored: make show (\w+=\w+)", done.stderr) ==
           [("SINK=tape", "SINK=tape"), ("PORT=1", "PORT=1")], done.stderr)


@case
def help_and_clean_work_without_a_valid_configuration(ctx):
    for wrong in (config(ctx, "COLOUR BLUE\n"), "CONFIG_FILE=/nowhere/shark.cfg"):
        expect("targets:" in ctx.run("make", wrong, "help").stdout, "no list of targets")
        ctx.run("make", wrong, f"BUILD={ctx.dir}/build", "clean")
        refused(ctx, [wrong, "help", "apps"], wrong.split("=")[1])


@case
def line_that_is_no_assignment_is_refused(ctx):
    refused(ctx, [config(ctx, "TRACER NEW\n"), "apps"], "KEY = VALUE")
    refused(ctx, [config(ctx, "= NEW\n"), "apps"], "KEY = VALUE")


@case
def tracer_without_tsc_is_refused(ctx):
    refused(ctx, ["TRACER=NEW", "TSC=FALSE", "apps"], "TSC=TRUE", "TRACER=OFF")


@case
def compact_chunks_without_tracer_are_refused(ctx):
    refused(ctx, ["TRACER=OFF", "COMPACT=AUTO", "apps"], "TRACER=NEW", "COMPACT=OFF")
    ctx.run("make", "TRACER=OFF", "COMPACT=OFF", "apps")


@case
def command_line_overrides_the_file(ctx):
    done = ctx.run("make", config(ctx, "SINK = disk\n"), "SINK=both", "--eval=show: ; @echo $(SINK)", "show")
    expect(done.stdout.strip() == "both", done.stdout)


def run_refused(ctx, words, **environment):
    defaults = {"APP": "control", "SINK": "none", "BOOT": "pvh", "ACCEL": "tcg", "CLOCK": "tcg", "NIC": "pci",
                "OUT": str(ctx.dir / "out"), "PORT": str(ctx.port), "SEED": "1", "TIMEOUT_S": "30", "TRACER": "NEW"}
    done = ctx.run("qemu/run.sh", KERNEL, EFI, REMORA, codes=None,
                   env={**defaults, **environment})
    expect(done.returncode == 1, f"exit code {done.returncode}: {done.stdout}{done.stderr}")
    for word in words:
        expect(word in done.stderr, f"`{word}` is not in: {done.stderr}")
    expect(not (ctx.dir / "out" / "qemu.log").exists(), "a guest was booted")


@case
def machines_that_cannot_work_are_refused(ctx):
    run_refused(ctx, ["CLOCK=icount", "remedy: ACCEL=tcg"], CLOCK="icount", ACCEL="kvm")
    run_refused(ctx, ["NIC=none", "remedy: SINK=disk"], NIC="none", SINK="udp")


@case
def machine_of_no_known_kind_is_not_booted(ctx):
    for key in ("ACCEL", "CLOCK", "NIC", "BOOT"):
        done = ctx.run("qemu/boot.sh", "app=control", codes=None,
                       env={"KERNEL": KERNEL, "WORK": str(ctx.dir), key: "vax"})
        expect(done.returncode == 1, f"{key}=vax: exit code {done.returncode}")
        expect(f"error: {key}=vax" in done.stderr and f"remedy: {key}=" in done.stderr, done.stderr)


@case
def values_of_a_run_are_judged_before_it_starts(ctx):
    """One mistake, one error, one remedy, and nothing is built or started."""
    for option, remedy in (("APP=no_such_app", "make apps lists them: control"), ("PORT=0", "from 1 to 65535"),
                           ("PORT=65536", "from 1 to 65535"), ("PORT=http", "from 1 to 65535"),
                           ("SEED=-1", "from 0 to"), ("SEED=18446744073709551616", "to 18446744073709551615"),
                           ("DURATION_MS=4294967296", "to 4294967295"), ("TIMEOUT_S=0", "from 1 to"),
                           ("ITRACE=steps", "instructions or blocks"), ("CLOCK_TRIGGER=4294967295", "to 4294967294"),
                           ("LIMIT_MS=0", "from 1 to"), ("SHIFT=sensor", "SHIFT=task:ticks"),
                           ("EVENT_SHIFT=4294967296", "to 4294967295"),
                           ("CLOCK_MAX_DELTA=0", "from 1 to"), ("CLOCK_NEAR_ZERO=0", "from 1 to"),
                           ("CLOCK_STEP=1", "COMPENSATION=ON"), ("CLOCK_RECORDS=on", "COMPENSATION=ON"),
                           ("CLOCK_RECORDS=yes", "on or off"), ("OBSERVE=yes", "on or off")):
        for target in ("run", "debug"):
            done = ctx.run("make", target, "DEPS=skip", f"OUT={ctx.dir}/out", option, codes=None)
            lines = [line for line in done.stderr.splitlines() if not line.startswith("make")]
            expect(done.returncode != 0 and len(lines) == 2, f"make {target} {option}: {done.stdout}{done.stderr}")
            expect(lines[0].startswith(f"error: {option} "), lines[0])
            expect(lines[1].startswith("remedy: ") and remedy in lines[1], lines[1])
            expect(not (ctx.dir / "out").exists(), "OUT was made")


@case
def two_applications_of_one_name_are_refused(ctx):
    shutil.copytree(ROOT / "qemu", ctx.dir / "qemu")
    (ctx.dir / "apps").mkdir()
    for file in ("a.cpp", "b.cpp"):
        (ctx.dir / "apps" / file).write_text('const kernel::App kApp{"control", "one of two"};')
    done = ctx.run("bash", "-c", f"APP=control; source {ctx.dir}/qemu/lib.sh; check_values", codes=(1,))
    expect(re.fullmatch("error: two applications have the name control\n"
                        "remedy: rename one: .*/apps/a.cpp .*/apps/b.cpp \n", done.stderr), done.stderr)


@case
def files_of_others_are_left_alone(ctx):
    """A run replaces what an earlier run left in OUT, and refuses before it would touch anything else."""
    out = ctx.dir / "out"
    for name in ("udp/notes.txt", "disk/0trace.dat.bak", "esp/EFI/grub.cfg", "udp/7trace.dat/kept", "ramdisk.img"):
        stranger = out / name
        stranger.parent.mkdir(parents=True)
        (out / ".lock").touch()  # of an earlier run
        stranger.write_text("mine")
        for older in (out / "udp", out / "disk"):
            older.mkdir(exist_ok=True)
            (older / "12trace.dat").write_text("earlier run")
        run_refused(ctx, ["error: ", name.split("/")[1] if "/" in name else name, "remedy: OUT="])
        expect(stranger.read_text() == "mine", f"{name} was touched")
        expect((out / "udp" / "12trace.dat").exists() and (out / "disk" / "12trace.dat").exists(), "half of it is gone")
        shutil.rmtree(out)


@case
def out_that_cannot_serve_is_refused(ctx):
    """In use, not to be made, or full: one error and one remedy before anything is touched."""
    out = ctx.dir / "out"
    out.mkdir()
    with open(out / ".lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run_refused(ctx, ["error: another run writes to OUT", "remedy: "])
    (ctx.dir / "file").write_text("mine")
    run_refused(ctx, ["cannot be made", "remedy: OUT="], OUT=str(ctx.dir / "file" / "out"))
    run_refused(ctx, ["error: ", "remedy: OUT="], OUT="/proc")
    tools = ctx.dir / "bin"
    tools.mkdir()
    (tools / "df").write_text("#!/bin/sh\nprintf 'F K U A\\nfull 9 9 0 100%% /\\n'\n")
    (tools / "df").chmod(0o755)
    run_refused(ctx, ["is full", "remedy: "], PATH=f"{tools}:{os.environ['PATH']}")


@case
def detail_of_interrupts_is_chosen(ctx):
    """INTERRUPTS and CLI_STI reach the kernel; each value records what it says and nothing else, and what is recorded
    suffices to compare the decisions with the theory."""
    singly, sections = {"interrupt_start", "interrupt_end"}, {"CLI", "STI"}
    for option, expected in (("", singly), ("INTERRUPTS=light", {"interrupt_hit"}),
                             ("INTERRUPTS=count", {"interrupt_count"}), ("CLI_STI=ON", singly | sections)):
        words = ctx.run("make", "--eval=show: ; @source qemu/lib.sh && kernel_words debug", "show", "SINK=disk",
                        "NIC=none", "CLOCK=icount", option or "SINK=disk").stdout.strip()
        _, directory = ctx.traced("control", nic="none", raw_words=words)
        ctx.adopt(directory)
        found = {event["event"] for event in ctx.events(directory) if event["family"] in ("interrupt", "cpu")}
        expect(found == expected, f"{option}: {found}; {words}")
        ctx.run("rm", "-rf", directory, ctx.dir / "ramdisk.img")


@case
def missing_firmware_names_the_remedy(ctx):
    run_refused(ctx, ["/nowhere/OVMF.fd", "make deps"], BOOT="uefi", OVMF="/nowhere/OVMF.fd")


@case
def checks_without_a_list_of_files_fail(ctx):
    """A git that does not answer must not make the checks pass over nothing."""
    for command in (["make", "lint"], ["make", "check-headers"], ["tests/structure/include_directions.py"],
                    ["tests/structure/style.py"], ["tests/structure/tracer_off.sh"]):
        done = ctx.run(*command, codes=None, env={"GIT_DIR": "/nowhere"})
        expect(done.returncode != 0, f"{command} passes")
        expect("remedy: git config --global --add safe.directory" in done.stdout + done.stderr,
               f"{command}: {done.stdout}{done.stderr}")


@case
def removed_source_is_linked_no_more(ctx):
    """The tools are linked again when a source is gone, and only then; the compiler is one that only makes files."""
    copy = ctx.dir / "copy"
    copy.mkdir()
    ctx.run("bash", "-c", f"cp -r Makefile mk shark.cfg linker.ld lib tracer host foreign convert fleet {copy}")
    compiler = ctx.dir / "compiler"
    compiler.write_text('#!/bin/bash\nwhile [[ $1 != -o ]]; do shift; done\ntouch "$2"\n')
    compiler.chmod(0o755)
    make = ["make", "-C", copy, f"CXX={compiler}", "CCACHE=", "build/host/remora"]
    expect("  LD " in ctx.run(*make).stdout, "nothing was linked")
    expect("  LD " not in ctx.run(*make).stdout, "linked again without a reason")
    (copy / "host" / "workers" / "pool.cpp").unlink()
    expect("  LD " in ctx.run(*make).stdout, "the removed source is still in the program")


@case
def each_source_has_its_compile_command(ctx):
    """The compilation database names each source that is built, with the flags of its world."""
    ctx.run("make", "compile_commands.json")
    commands = {entry["file"]: entry["arguments"]
                for entry in json.loads((ROOT / "compile_commands.json").read_text())}
    for source, flag in (("lib/memory.cpp", "-ffreestanding"), ("kernel/root/main.cpp", "-mgeneral-regs-only"),
                         ("host/program/main.cpp", "-fPIC"), ("tests/fuzz/fat_fuzz.cpp", "-std=c++20"),
                         ("arch/uefi/loader.cpp", "-fshort-wchar"), ("tests/unit/lib/bytes_test.cpp", "-O0")):
        expect(flag in commands.get(source, []), f"{source} is not compiled with {flag}: {commands.get(source)}")
    sources = set(ctx.run("git", "ls-files", "*.cpp").stdout.split())
    unbuilt = {"examples/count_events.cpp", "kernel/root/tracing_off.cpp", "tests/mutate/sample.cpp",
               "tests/mutate/switch.cpp", "tests/mutate/switch_rows.cpp"}
    expect(sources - set(commands) <= unbuilt, f"no command: {sorted(sources - set(commands) - unbuilt)}")


def compiled_as(ctx, source, text, *options):
    """What the compiler makes of `text` with the command that make has for `source`."""
    listed = ctx.run("make", "-nB", "CCACHE=", *options, f"build/kernel/{source}.o").stdout
    words = shlex.split(next(line for line in listed.splitlines() if f" -c {source} " in line))
    (ctx.dir / "text.cpp").write_text(text)
    words[words.index("-c") + 1], words[words.index("-o") + 1] = ctx.dir / "text.cpp", ctx.dir / "text.o"
    return ctx.run(*words, codes=None)


@case
def warnings_are_errors_where_asked_for_and_never_in_an_application(ctx):
    """The printed example of the manual, without the pragma that excuses it, has warnings of style alone."""
    printed = re.search("^void printed_example.*?^#pragma", (ROOT / "tests/kernel/manual_cases.cpp").read_text(),
                        re.DOTALL | re.MULTILINE).group().removesuffix("#pragma")
    example = f'#include "apps/shark.hpp"\n{printed}'
    done = compiled_as(ctx, "apps/control.cpp", example, "WERROR=1")
    expect(done.returncode == 0 and not done.stderr, f"the example as an application: {done.stderr}")
    done = compiled_as(ctx, "apps/control.cpp", f"{example}static int unused;\n", "WERROR=1")
    expect(done.returncode == 0 and "unused" in done.stderr, f"an application with a warning: {done.stderr}")
    done = compiled_as(ctx, "kernel/run/app.cpp", example)
    expect(done.returncode == 0 and "old-style" in done.stderr, f"the example in the kernel: {done.stderr}")
    done = compiled_as(ctx, "kernel/run/app.cpp", example, "WERROR=1")
    expect(done.returncode != 0, "a warning in the kernel is no error with WERROR=1")


@case
def missing_packages_are_named(ctx):
    done = ctx.run("make", "deps", "CHECK=1", "PACKAGES=bash no-such-package", codes=None)
    expect(done.returncode != 0 and "missing: no-such-package" in done.stdout, done.stdout)
    ctx.run("make", "deps", "CHECK=1", "PACKAGES=bash")


@case
def without_apt_the_packages_are_printed(ctx):
    empty = ctx.dir / "bin"
    empty.mkdir()
    (empty / "bash").symlink_to("/bin/bash")
    done = ctx.run("/bin/bash", ".ci/deps", "alpha", "beta", codes=None, env={"PATH": str(empty)})
    expect(done.returncode == 1 and "alpha beta" in done.stdout, done.stdout + done.stderr)


@case
def unit_test_that_ends_its_program_is_named(ctx):
    """An ASSERT ends the program before it writes its report: tests/unit.sh says which test was running."""
    program = ctx.dir / "program"
    program.write_text("#!/bin/sh\necho '[ RUN      ] Suite.Passes'\necho '[       OK ] Suite.Passes (0 ms)'\n"
                       "echo '[ RUN      ] Suite.Dies'\necho 'ASSERT failed'\nkill -ABRT $$\n")
    program.chmod(0o755)
    done = ctx.run("tests/unit.sh", program, codes=(1,), env={"RESULTS": ""})  # it is no program of this run
    expect(done.stdout == f"ASSERT failed\nFAIL {program} did not end: it ended in Suite.Dies\n", done.stdout)
