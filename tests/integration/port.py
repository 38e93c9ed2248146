# SPDX-License-Identifier: MIT
"""The tracer as a library for other kernels: what is in the archive, how it is linked, and traces of a process and of a
kernel of another style (examples/tiny), which are built from what `make install-tracer` installs."""
import os
import re
import shutil
import subprocess

from support.cases import case, expect
from support.context import INHERITED, ROOT

HOSTED = ROOT / "tests/port/hosted.c"
LEAST = ROOT / "tests/port/cmake"
MODELS = {"small": "remora-tracer", "kernel": "remora-tracer-kernel"}
OFFSET = 0x140


def installed(ctx):
    prefix = ctx.dir / "installed"
    ctx.run("make", "--no-print-directory", "install-tracer", "DESTDIR=", f"PREFIX={prefix}", env=INHERITED)
    return prefix


def flags(prefix, library):
    env = dict(os.environ, PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig"))
    return subprocess.run(["pkg-config", "--cflags", "--libs", library], env=env, check=True, capture_output=True,
                          text=True).stdout.split()


@case
def port_library_has_the_names_that_are_listed(ctx):
    """One object of four sections, all global names are listed, and nothing is missing but where GS leads."""
    prefix = installed(ctx)
    listed = set((ROOT / "port/names.txt").read_text().split())
    for library in MODELS.values():
        archive = prefix / f"lib/lib{library}.a"
        rows = [line.split() for line in ctx.run("nm", "--extern-only", archive).stdout.splitlines()
                if line and not line.endswith(":")]
        names = {row[-1] for row in rows}
        expect(names == listed | {"remora_gs"}, f"{archive}: {sorted(names ^ (listed | {'remora_gs'}))}")
        expect({row[-1] for row in rows if row[-2] == "U"} == {"remora_gs"}, f"{archive}: something is not defined")
        sections = re.findall(r"^ +\d+ (\S+) +(?!0{8})[0-9a-f]+ .*\n.*ALLOC", ctx.run("objdump", "-h", archive).stdout,
                              re.M)
        expect(sections == [".text", ".rodata", ".data", ".bss"], f"{archive}: {sections}")


@case
def port_entry_macros_are_the_same(ctx):
    """GNU as and NASM make the same bytes of the rule for interrupt entries."""
    prefix = installed(ctx)
    include = prefix / "include/remora-tracer"
    (ctx.dir / "a.S").write_text("#include <remora_entry.inc>\n.text\nREMORA_ENTRY_RESTART 136\n"
                                 '.section .note.GNU-stack, "", @progbits\n')
    (ctx.dir / "b.asm").write_text('default rel\nbits 64\n%include "remora_entry.asm"\nsection .text\n'
                                   "REMORA_ENTRY_RESTART 136\n")
    ctx.run("gcc", "-c", f"-I{include}", ctx.dir / "a.S", "-o", ctx.dir / "a.o")
    ctx.run("nasm", "-f", "elf64", f"-I{include}/", ctx.dir / "b.asm", "-o", ctx.dir / "b.o")
    library = prefix / "lib/libremora-tracer.a"
    for name in "ab":
        ctx.run("ld", "-Ttext=0x100000", "-e", "0", ctx.dir / f"{name}.o", "-u", "tracer_record", library, "-o",
                ctx.dir / name)
    texts = [ctx.run("objdump", "-s", "--start-address=0x100000", "--stop-address=0x100030",
                     ctx.dir / name).stdout.splitlines()[3:] for name in "ab"]
    expect(texts[0] and texts[0] == texts[1], f"GNU as: {texts[0]}\nNASM: {texts[1]}")


SCRIPTS = {
    "short": "SECTIONS { . = 0x100000; .text : { *(.text) } .rodata : { *(.rodata) } .data : { *(.data) } "
             "end_of_data = .; .bss : { *(.bss) } end = .; /DISCARD/ : { *(.note*) *(.comment) *(.eh_frame) } }",
    "one": "SECTIONS { . = 0x200000; .all : { *(.text*) *(.rodata*) *(.data*) *(.bss*) *(COMMON) } end_of_data = .; "
           "end = .; /DISCARD/ : { *(.note*) *(.comment) *(.eh_frame) } }",
    "upper": "SECTIONS { . = 0xffffffff80100000; .text : { *(.text .text.*) } . = ALIGN(4096); .rodata : "
             "{ *(.rodata .rodata.*) } . = ALIGN(4096); .data : { *(.data .data.*) } end_of_data = .; "
             ".bss : { *(.bss .bss.*) *(COMMON) } end = .; /DISCARD/ : { *(.note*) *(.comment) *(.eh_frame) } }",
}


@case
def port_links_by_any_script(ctx):
    """Linker scripts of three styles place all of the library: there are no sections that they do not name."""
    prefix = installed(ctx)
    for name, script in SCRIPTS.items():
        model = "kernel" if name == "upper" else "small"
        library = MODELS[model]
        (ctx.dir / f"{name}.ld").write_text("ENTRY(start)\n" + script)
        cflags = [word for word in flags(prefix, library) if word.startswith("-I")]
        libs = [word for word in flags(prefix, library) if not word.startswith("-I")]
        ctx.run("gcc", "-c", "-O2", "-ffreestanding", "-fno-pic", f"-mcmodel={model}", "-mno-red-zone",
                "-fno-asynchronous-unwind-tables", *cflags, LEAST / "main.c", "-o", ctx.dir / "main.o")
        ctx.run("ld", "-T", ctx.dir / f"{name}.ld", ctx.dir / "main.o", *libs, "-o", ctx.dir / name)
        rows = [line.split() for line in ctx.run("nm", ctx.dir / name).stdout.splitlines()]
        places = {row[-1]: int(row[0], 16) for row in rows if len(row) == 3 and row[1] not in "aA"}
        beyond = [symbol for symbol, place in places.items() if place > places["end"]]
        expect(not beyond, f"{name}: {beyond} is after the end")


@case
def port_is_found_by_cmake(ctx):
    """Both targets link a program without a C library; a version that is not there yet is refused."""
    package = installed(ctx) / "lib/cmake/RemoraTracer"
    build = ctx.dir / "build"
    ctx.run("cmake", "-S", LEAST, "-B", build, f"-DRemoraTracer_DIR={package}")
    ctx.run("cmake", "--build", build)
    for program in ("tracer", "tracer-kernel"):
        expect(" T remora_init\n" in ctx.run("nm", build / program).stdout, f"{program} is without the library")
    later = ctx.dir / "later"
    shutil.copytree(LEAST, later)
    text = (later / "CMakeLists.txt").read_text()
    (later / "CMakeLists.txt").write_text(text.replace("RemoraTracer 0.1", "RemoraTracer 99"))
    refused = ctx.run("cmake", "-S", later, "-B", later / "build", f"-DRemoraTracer_DIR={package}", codes=(1,))
    expect("compatible with requested version" in refused.stderr, refused.stderr)


@case
def port_is_packaged_as_it_is_installed(ctx):
    """The package libremora-tracer-dev has each file that `make install-tracer` installs, and no other."""
    prefix = installed(ctx)
    files = {path.relative_to(prefix) for path in prefix.rglob("*") if path.is_file()}
    lines = (ROOT / "debian/libremora-tracer-dev.install").read_text().splitlines()
    listed = [line.removeprefix("usr/").replace("lib/*/", "lib/") for line in lines if " " not in line]
    for line in listed:
        expect((prefix / line).exists(), f"{line} is packaged and not installed")
    forgotten = [str(path) for path in files if not any(path.is_relative_to(line) for line in listed)]
    expect(not forgotten, f"installed and not packaged: {forgotten}")


COMPILERS = {
    "gcc": ("gcc", "-std=gnu11", "-O2"),
    "gcc_O0": ("gcc", "-std=gnu11", "-O0"),
    "clang": ("clang", "-std=gnu11", "-O2"),
    "cxx": ("g++", "-std=gnu++17", "-O2", "-xc++"),
}


@case
def port_records_on_two_processors(ctx):
    """By each compiler, GS at the CpuTrace and before it: the account closes, what came before the memory was given is
    counted, and the memory has the same events as the export."""
    prefix = installed(ctx)
    cflags = [word for word in flags(prefix, MODELS["small"]) if word.startswith("-I")]
    archive = prefix / "lib/libremora-tracer.a"
    for name, compiler in COMPILERS.items():
        for offset in (0, OFFSET) if name == "gcc" else (0,):
            program, trace, ram = (ctx.dir / f"{name}{offset}{end}" for end in ("", ".dat", ".ram"))
            symbol = [f"-Wl,--defsym=remora_gs={offset}"] if offset else []
            ctx.run(*compiler, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-no-pie", "-mno-red-zone",
                    f"-DOFFSET={offset}", *cflags, HOSTED, "-xnone", archive, "-o", program, *symbol, "-lpthread")
            committed, dropped, refused = map(int, ctx.run(program, trace, ram).stdout.split())
            expect(dropped == 0 and refused == (2 if offset == 0 else 0), f"{name}: {dropped}, {refused}")
            verdict = ctx.remora("verify", trace).stdout
            expect("closed: every record is here" in verdict, verdict)
            expect(f"{committed} records in 1 chunks" in verdict, verdict)
            listings = [ctx.remora("print", "--json", source).stdout.splitlines() for source in (trace, ram)]
            expect(len(listings[0]) > 2 * committed - 10, f"{name}: {len(listings[0])} events")
            expect(listings[0] == listings[1], f"{name}: the memory has other events than the export")
    expect(ctx.run(ctx.dir / "gcc0", "refuse", ctx.dir / "again.ram").stdout != "", "a callback that refuses")


def example(ctx, prefix, name, image, change=lambda directory: None):
    """Builds and boots an example, after a change of its sources: its trace, its memory, what it printed."""
    directory = ctx.dir / f"{name}_here"
    shutil.copytree(ROOT / "examples" / name, directory)
    change(directory)
    ctx.run("make", "-C", directory, image, env=dict(INHERITED, PKG_CONFIG_PATH=str(prefix / "lib/pkgconfig")))
    ram = directory / "ram"
    with open(ram, "wb") as file:
        file.truncate(64 << 20)
    outcome = ctx.run(
        "qemu-system-x86_64", "-machine", "q35,accel=tcg,memory-backend=ram", "-m", "64M", "-object",
        f"memory-backend-file,id=ram,size=64M,mem-path={ram},share=on", "-kernel", directory / image, "-display",
        "none", "-nodefaults", "-serial", "stdio", "-debugcon", f"file:{directory / 'trace.dat'}", "-device",
        "isa-debug-exit,iobase=0xf4,iosize=4", "-no-reboot", "-icount", "shift=0,sleep=off", codes=(1,))
    return directory / "trace.dat", ram, outcome.stdout


@case
def tiny_is_traced_by_callback_and_in_memory(ctx):
    """A kernel in C in the upper half of the address space, which has nothing of ours but the library."""
    trace, ram, serial = example(ctx, installed(ctx), "tiny", "tiny.elf")
    expect("entries restart records" in serial, serial)
    expect("closed: every record is here" in ctx.remora("verify", trace).stdout, "the account is open")
    ctx.remora("verify", ram, codes=(6,))
    ctx.remora("check", "--tolerance", "20000", trace)
    ctx.remora("check", "--policy", "fixed", trace)
    expect("policy-order" in ctx.remora("check", "--policy", "fifo", trace, codes=(2,)).stdout, "it is no queue")
    ctx.remora("doctor", ram)
    listings = [ctx.remora("print", "--json", source).stdout.splitlines() for source in (trace, ram)]
    expect(listings[0] == listings[1], "the memory has other events than the export")
    summary = ctx.remora("summary", trace).stdout
    for word in ("tiny 1", "sensor", "producer", "consumer", "32 timer"):
        expect(word in summary, summary)


@case
def tiny_without_the_rule_is_noticed(ctx):
    """An interrupt entry that does not restart records is found by the probe."""
    def forget(directory):
        trap = directory / "trap.S"
        trap.write_text(trap.read_text().replace("\tREMORA_ENTRY_RESTART 88\n", ""))

    _, _, serial = example(ctx, installed(ctx), "tiny", "tiny.elf", forget)
    expect("entries do NOT restart records" in serial, serial)


@case
def template_is_traced(ctx):
    """The smallest kernel with the tracer, in the lower half, to copy."""
    trace, ram, _ = example(ctx, installed(ctx), "template", "kernel.elf")
    expect("closed: every record is here" in ctx.remora("verify", trace).stdout, "the account is open")
    ctx.remora("check", "--policy", "rr", trace)
    ctx.remora("doctor", ram)
