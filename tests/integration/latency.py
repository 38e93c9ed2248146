# SPDX-License-Identifier: MIT
"""The observer outside of the machine (host/observer): it changes nothing, and the raise of each interrupt that it
sees is where the guest provoked it."""
import csv
import filecmp
import json

from support.cases import case, counts, expect, expect_equal
from support.context import TEST_KERNEL
from support.guests import OK

BEGIN, REQUESTED, END = 1, 2, 3  # par1 of the records in tests/kernel/latency_cases.cpp


def observed(ctx, app, **options):
    """A boot without the observer, and the same with it: the session, its events, and what the observer wrote."""
    image = ctx.make_ramdisk()
    ctx.boot(app, nic="none", sink="disk", ramdisk=image, **options).expect_code(OK)
    plain = image.rename(ctx.dir / "plain.img")
    session = ctx.traced(app, nic="none", raises=ctx.dir / "raises.csv", **options)[1]
    expect(filecmp.cmp(plain, image, shallow=False), "the trace with an observer is another one")
    ctx.adopt(session)
    with open(ctx.dir / "raises.csv", encoding="utf-8") as file:
        rows = [{key: int(text) if text else None for key, text in row.items()} for row in csv.DictReader(file)]
    return session, ctx.events(session), rows


def summary(ctx, session, *options):
    return json.loads(ctx.remora("summary", "--json", session, *options).stdout)


def summary_with_raises(ctx, session):
    return summary(ctx, session, "--raises", ctx.dir / "raises.csv")


@case
def observer_sees_every_interrupt(ctx):
    """One row for each interrupt of the trace; each raise is of one interrupt and before it."""
    session, events, rows = observed(ctx, "control")
    figures = summary_with_raises(ctx, session)
    interrupts = counts(events)["interrupt_start"]
    expect(interrupts > 100, f"{interrupts} interrupts")
    expect_equal(figures["raises"], {"interrupts": interrupts, "observed": interrupts}, "interrupts that were observed")
    expect_equal(figures["raises_missing"], None, "why no raise is known")
    last = {}
    for row in rows:
        if row["raised"] is not None:
            expect(last.get(row["vector"], 0) <= row["raised"] <= row["taken"], f"{row} after {last}")
        last[row["vector"]] = row["taken"]
    pairs = figures["latencies"]
    expect(len(pairs) > 3, f"{pairs}")
    for pair in pairs:
        legs = [pair[leg] for leg in ("raise_to_entry", "entry_to_ready", "ready_to_first")]
        expect(all(leg and leg["count"] == legs[0]["count"] and leg["greatest_ns"] > 0 for leg in legs), f"{pair}")
    text = ctx.remora("summary", session, "--raises", ctx.dir / "raises.csv").stdout
    expect(text.count("raise to entry") == len(pairs) and "not known" not in text, text)


@case
def without_an_observer_the_raise_is_not_known(ctx):
    """Nor with the file of another run, whatever it says."""
    _, session = ctx.traced("s_latency_timer", kernel=TEST_KERNEL, nic="none")
    ctx.adopt(session)
    figures = summary(ctx, session)
    expect(figures["raises"] is None and "no observer" in figures["raises_missing"], f"{figures['raises_missing']}")
    expect(figures["latencies"], "no latencies")
    expect(all(pair["raise_to_entry"] is None and pair["ready_to_first"] for pair in figures["latencies"]),
           f"{figures['latencies']}")
    text = ctx.remora("summary", session).stdout
    expect("raise: not known: no observer" in text and "raise to entry" not in text, text)
    other = ctx.dir / "other.csv"
    other.write_text("vector,raised,taken,stamped\n" + "".join(f"240,{n},{n},{n + 9}\n" for n in range(7, 9999, 91)))
    figures = summary(ctx, session, "--raises", other)
    expect(figures["raises"]["observed"] == 0 and "another run" in figures["raises_missing"], f"{figures['raises']}")
    other.write_text("vector,raised,taken,stamped\n1,2\n")
    refused = ctx.remora("summary", session, "--raises", other, codes=(1,)).stderr
    expect("other.csv: line 2" in refused, refused)


def sections(events):
    """The stamps of the guest's records for each section with interrupts off, by par1."""
    found = []
    for event in events:
        if event["event"] == "ipoint":
            if event["par1"] == BEGIN:
                found.append({"instructions": event["par2"]})
            found[-1][event["par1"]] = event["ticks"]
    return found


def offset_of(events, rows):
    """What the stamps of the trace are ahead of the observer's numbers: at no other are all of its interrupts there."""
    stamped = {(row["vector"], row["stamped"]) for row in rows}
    entries = [(event["par1"], event["ticks"]) for event in events if event["event"] == "interrupt_start"]
    vector, ticks = entries[0]
    fitting = [ticks - other for other_vector, other in stamped if other is not None and other_vector == vector
               and all((entry, stamp - ticks + other) in stamped for entry, stamp in entries)]
    expect(len(fitting) == 1, f"the trace fits at {fitting}")
    return fitting[0]


def check_sections(ctx, session, events, rows, begin, end):
    """The interrupt that is served after each section was raised between two stamps in it, and its first leg is from
    there to its entry. begin, end: these stamps of a section."""
    legs = {}
    offset = offset_of(events, rows)
    raised_of = {row["stamped"] + offset: row["raised"] for row in rows}
    for section in sections(events):
        entry = next(event for event in events if event["event"] == "interrupt_start" and event["ticks"] > section[END])
        raised = raised_of[entry["ticks"]] + offset
        expect(begin(section) <= raised <= end(section), f"raised at {raised}: {section}")
        legs[entry["ticks"]] = entry["ticks"] - raised
        expect(legs[entry["ticks"]] >= section[END] - end(section), f"{legs} of {section}")
    expect(len(legs) > 0 and max(legs.values()) >= 80_000, f"{legs}")
    woken = [pair for pair in summary_with_raises(ctx, session)["latencies"] if pair["context_name"] == "woken"]
    expect(len(woken) == 1, f"{woken}")
    leg = woken[0]["raise_to_entry"]
    expect_equal((leg["count"], leg["least_ns"], leg["greatest_ns"], leg["greatest"]["ticks"]),
                 (len(legs), min(legs.values()), max(legs.values()), max(legs, key=legs.get)), "the first leg")


@case
def masked_interrupts_wait_as_long_as_they_are_masked(ctx):
    """The processor requests an interrupt of itself between two records, and interrupts stay off for so many
    instructions after the second one."""
    session, events, rows = observed(ctx, "s_latency_masked", kernel=TEST_KERNEL)
    expect_equal([section["instructions"] for section in sections(events)], [10, 1_000, 100_000], "sections")
    check_sections(ctx, session, events, rows, lambda section: section[BEGIN], lambda section: section[REQUESTED])


@case
def masked_timers_wait_as_long_as_they_are_masked(ctx):
    """The timer expires 20 us after it was set, which was just before the section's first record."""
    session, events, rows = observed(ctx, "s_latency_timer", kernel=TEST_KERNEL)
    expect_equal(len(sections(events)), 1, "sections")
    check_sections(ctx, session, events, rows, lambda section: section[BEGIN] + 19_000,
                   lambda section: section[BEGIN] + 20_000)
