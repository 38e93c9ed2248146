# SPDX-License-Identifier: MIT
"""The keys of JSON that a script may rely on: a version of the documents adds keys, and removes or renames none. An
entry is removed from this list only together with a new number in "version" (docs/compatibility.md)."""
import json

from viewers import traces
from support.cases import case, expect, expect_equal

VERSION = 1
KEYS = {
    "summary": "trace build result duration_ns cpus chunks clock note complete verdict records tracing compact "
               "compensation families user_events unknown interrupt_time_ns processors tasks interrupts "
               "timer_wakeups raises_missing raises latencies panics crashes",
    "count": "events time_unit duration counts busy",
    "verify": "events holds rules account relaxed crashes violations",
    "check": "events holds complete verdict tolerance_ticks stamps_judged total subjects rules expectations relaxed "
             "crashes violations",
    "print": "time_ns ticks cpu chunk record event code family state par1 par2 parameters",
    "events": "declarations",
    "why --task late": "clock_is_the_hosts damaged jobs jobs_late jobs_unknown job first_of_row row cause",
}


@case
def are_all_there(ctx):
    """Those that a command's document, or its first line, has had since this version of them."""
    for command, keys in KEYS.items():
        name, *options = command.split()
        shown = ctx.remora(name, traces.control(), *options, "--json", codes=None).stdout
        document = json.loads(shown.splitlines()[0] if name == "print" else shown)
        expect_equal(document["version"], VERSION, f"version of {command}")
        missing = set(keys.split()) - document.keys()
        expect(not missing, f"remora {command} --json is without {missing}; remedy: docs/compatibility.md")
