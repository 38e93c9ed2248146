# SPDX-License-Identifier: MIT
"""`remora why` names the cause: of faults of configuration that were put in, one at a time
(tests/kernel/why_cases.cpp), and of what the lessons show (docs/apps)."""
import json

from support.cases import case, expect
from support.context import TEST_KERNEL
from support.guests import OK

# Task of the fault -> the cause, and what the sentence must name.
FAULTS = {
    "inherit": ("missing_inheritance", "middle ran while holder held the mutex bus", "protocol none"),
    "sleeplock": ("lock_across_wait", "sleeper held the mutex bus and slept"),
    "section": ("critical_section", "for the mutex bus, while holder ran"),
    "overrun": ("own_overrun", "declares 2.00 ms"),
    "victim": ("others_overrun", "greedy declares 1.00 ms"),
    "storm": ("interrupt_load", "times and took"),
    "irqoff": ("interrupts_off", "careless kept them off"),
    "order": ("priority_order", "later deadlines", "other"),
    "event": ("late_event", "it waited for the semaphore samples, until producer ended that"),
    "backlog": ("own_overrun", "declares 2.00 ms"),
    "budget": ("server_budget", "scarce has 1.00 ms every 6.00 ms"),
}
# The same beside something that only looks like the cause.
MIXED = {
    "stormlock": ("interrupt_load", "times and took"),
    "offhigh": ("others_overrun", "careless declares 2.00 ms and executed 9.00 ms"),
    "nested": ("missing_inheritance", "occupant ran while lowest held the mutex inner", "protocol none"),
    "dmsection": ("critical_section", "for the mutex bus, while holder ran"),
    "blocked": ("others_overrun", "hoverer declares 1.00 ms and executed 8.00 ms"),
    "row": ("others_overrun", "rowhog declares 1.00 ms and executed 9.00 ms"),
    "waits": ("late_event", "it slept", "is not recorded"),
    "shared": ("critical_section", "it waited 1.00 ms for the mutex bus, while holder ran"),
    "offdelay": ("late_event", "it slept", "is not recorded"),
    "both": ("others_overrun", "second declares 1.00 ms", "and: an overrun: the job executed 4.00 ms",
             "only without both: on time"),
    "handler": ("interrupt_load", "had begun before the release"),
}
LINES_MAX = 20


def explain(ctx, trace, task, *options):
    """The text, and the same as JSON. Whatever the job, nothing of its response time is left unexplained."""
    text = ctx.remora("why", trace, "--task", task, *options).stdout
    expect(len(text.splitlines()) <= LINES_MAX, f"more than {LINES_MAX} lines:\n{text}")
    expect(text.splitlines()[-1].startswith("more: ") or "\nmore: remora print " in text, f"the end is cut:\n{text}")
    answer = json.loads(ctx.remora("why", trace, "--task", task, "--json", *options).stdout)
    job = answer["job"]
    expect(job["known"] and job["residue_ticks"] == 0, f"{task}: {job}")
    return text, answer


def compare(ctx, directory, faults):
    """The cause of each task with the one that was put in; in the repaired phase there is none."""
    for task, (cause, *words) in faults.items():
        text, answer = explain(ctx, directory, task)
        expect(answer["cause"] == cause, f"{task}: {answer['cause']}, not {cause}:\n{text}")
        unwrapped = text.replace("\n    ", " ")
        for word in words:
            expect(word in unwrapped, f"{task}: `{word}` is missing:\n{text}")
        if task != "budget":
            expect(answer["job"]["missed"] and "on time" in unwrapped, f"{task}: not late:\n{text}")
        text, answer = explain(ctx, directory, f"{task}+")
        expect(answer["cause"] != cause and not answer["job"]["missed"], f"{task}+ is repaired:\n{text}")


@case
def why_names_the_fault_that_was_put_in(ctx):
    _, directory = ctx.traced("s_why_faults", kernel=TEST_KERNEL, nic="none")
    ctx.adopt(directory)
    compare(ctx, directory, FAULTS)
    _, answer = explain(ctx, directory, "backlog", "--job", "3")
    expect(answer["first_of_row"]["job"] == 1 and answer["row"] == 3, f"{answer['first_of_row']}, {answer['row']}")


@case
def why_names_no_cause_for_what_only_looks_like_one(ctx):
    _, directory = ctx.traced("s_why_mixed", kernel=TEST_KERNEL, nic="none")
    ctx.adopt(directory)
    compare(ctx, directory, MIXED)


# Application, task, options -> the cause, and what the sentences must name.
LESSONS = (
    ("inversion", "bus_dist", (), "missing_inheritance",
     ("comm ran while weather held the mutex bus, which has no inheritance", "on time, with")),
    ("overload", "fast", ("--first-miss",), "others_overrun",
     ("greedy declares 12.00 ms and executed 16.00 ms", "medium declares 6.00 ms and executed 8.00 ms",
      "on time, with")),
    ("overload", "greedy", (), "server_budget", ("server greedy has 5.00 ms every 40.00 ms", "used up")),
    ("servers", "video", (), "server_budget", ("server video has 2.00 ms every 10.00 ms", "used up")),
)


@case
def why_names_what_the_lessons_show(ctx):
    traces = {}
    for app in ("inversion", "overload", "servers"):
        image = ctx.make_ramdisk()
        ctx.boot(app, nic="none", sink="disk", ramdisk=image).expect_code(OK)
        traces[app] = image.rename(ctx.dir / f"{app}.img")
    for app, task, options, cause, sentences in LESSONS:
        text, answer = explain(ctx, traces[app], task, *options)
        expect(answer["cause"] == cause, f"{app}, {task}: {answer['cause']}, not {cause}:\n{text}")
        for words in sentences:
            expect(words in text.replace("\n    ", " "), f"{app}, {task}: `{words}` is missing:\n{text}")
