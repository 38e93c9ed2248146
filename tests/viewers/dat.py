# SPDX-License-Identifier: MIT
"""dat and compact: what comes out is read again, and must be the same trace."""
import csv
import json
import re
import struct

from viewers import traces
from support.cases import case, expect, expect_equal


def rows(ctx, trace, name, codes=(0,)):
    with open(ctx.convert(trace, "csv", name=name, codes=codes), encoding="utf-8", newline="") as file:
        # The texts of trace_printf are in the image of the kernel, which a converted file does not name.
        return [{**row, "parameters": ""} if row["event"] == "formatted_event" else row for row in csv.DictReader(file)]


def by_processor(table):
    """The order of events of different processors with equal stamps says nothing."""
    return sorted(table, key=lambda row: (int(row["ticks"]), int(row["cpu"])))


def accounts(ctx, trace):
    """Records and losses, as the summary has them."""
    summary = json.loads(ctx.remora("summary", "--json", trace, codes=None).stdout)
    return summary["records"]


def names(ctx, trace, codes=(0,)):
    """The names in the metadata, as print shows them."""
    lines = ctx.remora("print", "--all", trace, codes=codes).stdout.splitlines()
    return sorted({" ".join(line.split()[2:]) for line in lines if re.search(r" \w+_name +id=", line)})


def compare(ctx, trace, codes=(0,)):
    original = rows(ctx, trace, "original.csv", codes)
    for form in ("dat", "compact"):
        again = ctx.convert(trace, form, name=f"again-{form}.dat", codes=codes)
        found = by_processor(rows(ctx, again, f"{form}.csv", None))
        expect_equal(found, by_processor(original), f"events after {form}")
        expect_equal(accounts(ctx, again), accounts(ctx, trace), f"records and losses after {form}")
        yield form, again


@case(timeout_s=300)
def recorded(ctx):
    """The recorded run: events, payloads, names and counts; the compact one is smaller."""
    sizes = {form: again.stat().st_size for form, again in compare(ctx, traces.control())}
    expect(sizes["compact"] * 2 < sizes["dat"], f"sizes {sizes}")
    for form in ("dat", "compact"):
        expect_equal(names(ctx, ctx.dir / f"again-{form}.dat"), names(ctx, traces.control()), f"names after {form}")


@case(timeout_s=300)
def chunks(ctx):
    """More records than a chunk takes: each chunk that is written decodes alone, with all names."""
    trace = traces.synthetic(ctx, 150_000)
    for form, again in compare(ctx, trace):
        data = again.read_bytes()
        # A compact stream may hold the mark by chance; the slot after it then is not the next of the same event.
        starts = [at for at in range(0, len(data) - 16, 16)
                  if struct.unpack_from("<H", data, at)[0] == traces.CHUNK_BEGIN | 0x1000
                  and struct.unpack_from("<H", data, at + 16)[0] == traces.CHUNK_BEGIN | 0x2000
                  and data[at + 4:at + 12] == data[at + 20:at + 28]]
        expect(len(starts) >= 3, f"{form} is {len(starts)} chunks")
        alone = traces.store(ctx, f"alone-{form}.dat", data[starts[1]:starts[2]])
        expect_equal(names(ctx, alone), names(ctx, trace), f"names of one chunk of {form}")
        ctx.remora("check", alone, codes=(0, 2))


@case
def plain(ctx):
    """Records without descriptions stay plain: the file is the same, byte for byte."""
    trace = traces.synthetic(ctx, 3000, described=False)
    again = ctx.convert(trace, "dat", name="again.dat")
    expect_equal(again.read_bytes(), trace.read_bytes(), "bytes")


@case
def losses(ctx):
    """Gaps and the counters of chunks go along, even where there are no records."""
    for _ in compare(ctx, traces.lossy(ctx), codes=None):
        pass
    only = traces.store(ctx, "only.dat", traces.chunk(b"", begin=500, dropped=12, overwritten=34))
    for form in ("dat", "compact"):
        again = ctx.convert(only, form, name=f"only-{form}.dat", codes=None)
        found = accounts(ctx, again)
        expect_equal((found["dropped"], found["overwritten"]), (12, 34), "losses of an empty chunk")


@case
def edges(ctx):
    """One event, long events, names that are not text, two processors."""
    for _ in compare(ctx, traces.store(ctx, "one.dat", traces.chunk(traces.record(traces.IPOINT, 77, 1, 2)))):
        pass
    declared = [(3, "reading", [(3, 0, "value", "mV"), (14, 40, "text", "")])]
    long = b"".join(traces.typed(1000 + i, 3, struct.pack("<I", i) + traces.name("x" * i)) for i in range(40))
    hostile = b'a"\\\n\x00\xff,*/'
    for _, again in compare(ctx, traces.store(ctx, "long.dat", traces.chunk(long, declarations=declared,
                                                                            tasks={2: hostile}))):
        expect_equal(names(ctx, again), names(ctx, ctx.dir / "long.dat"), "names")
    both = traces.session(ctx, *(traces.chunk(b"".join(traces.record(traces.CONTEXT_SWITCH,
                                                                        1000 + 10 * i + cpu, 2 + i % 2)
                                                     for i in range(50)), cpu=cpu, number=cpu) for cpu in (0, 1)))
    for _ in compare(ctx, both):
        pass
