# SPDX-License-Identifier: MIT
"""The application `tour` against the event table: its trace has every event but those that the table at the end of
docs/apps/tour.md names, each with the reason."""
import json
import re

from support.cases import case, counts, expect
from support.context import ROOT

PAGE = ROOT / "docs/apps/tour.md"


def excepted():
    """The events that the page says are absent."""
    table = PAGE.read_text(encoding="utf-8").split("## What is not in it", 1)[1]
    return set(re.findall(r"^\| `(\w+)` \| \S", table, re.M))


@case
def tour_has_every_event(ctx):
    """No event is missing without a reason, and none that has a reason is there all the same."""
    _, directory = ctx.traced("tour", nic="none")
    ctx.adopt(directory)
    table = {row["name"] for row in json.loads(ctx.remora("events", "--json").stdout)["events"]}
    lines = ctx.remora("print", "--json", "--all", directory).stdout.splitlines()
    found = set(counts(json.loads(line) for line in lines))
    expect(len(table) > 120 and excepted() <= table, f"{len(table)} events; no events: {excepted() - table}")
    expect(table - found == excepted(), f"missing without a reason: {sorted(table - found - excepted())}; "
                                        f"there in spite of the reason: {sorted(excepted() & found)}")


@case
def tour_leaves_the_bios_alone_under_uefi(ctx):
    """Firmware that leaves no BIOS: the tour says so and does everything else."""
    outcome = ctx.boot("tour", boot="uefi", nic="none")
    expect("real mode: refused, because UEFI" in outcome.serial, str(outcome))
    expect(outcome.marker("result") == "result ok", str(outcome))
