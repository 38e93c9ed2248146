#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make bench-export`: boots the bench kernel with a network card and prints how fast records leave it: the
acknowledged export beside unanswered datagrams of the same size, a file on the ramdisk beside a copy in memory. All
four in one boot; the best of several boots by their ratio, because the machine is shared. One more boot, with a clock
that counts instructions, says how many a record takes, of the steps that send or take in something: how often the
sender looks in vain depends on the host.

   export_rate.py KERNEL [DOCUMENT]

DOCUMENT: its tables of the same heads are replaced."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from support.guests import OK, GuestContext  # noqa: E402

BOOTS = 3
TIMEOUT_S = 120
FIGURE = re.compile(r"figure (\w+) records (\d+) ticks (\d+) ns (\d+)")
RATES = ["| way | M records/s | goal | beside | M records/s | ratio | goal |", "|---|---|---|---|---|---|---|"]
COSTS = ["| way | instructions a record | goal |", "|---|---|---|"]
ACKNOWLEDGED, RAW, FILE, COPY = ("acknowledged export by UDP", "unanswered datagrams of that size",
                                 "file on the ramdisk", "copy of its bytes in memory")
# Way, figure, least M records/s, beside, its figure, least ratio.
WAYS = ((ACKNOWLEDGED, "acknowledged_export", 2, RAW, "raw_datagrams", 0.8),
        (FILE, "ramdisk_file", None, COPY, "memory_copy", 0.7))
# Way, figure, most instructions.
COUNTED = ((ACKNOWLEDGED, "acknowledged_work", 300), (RAW, "raw_datagrams", None), (FILE, "ramdisk_file", None),
           (COPY, "memory_copy", None))


def one_boot(kernel, name, clock):
    """{figure: (ticks a record, millions of records a second)}"""
    ctx = GuestContext("bench", f"export{name}", TIMEOUT_S)
    with ctx.collector("--timeout", "60", code=2):
        lines = ctx.boot("b_export", kernel=kernel, clock=clock).expect_code(OK).markers
    matches = [match for match in map(FIGURE.search, lines) if match]
    return {match[1]: (int(match[3]) / int(match[2]), int(match[2]) * 1e3 / int(match[4])) for match in matches}


def goal(name, value, relation, bound):
    """As a cell; prints whether it is met."""
    if bound is None:
        return ""
    met = value >= bound if relation == ">=" else value <= bound
    print(f"GOAL {name} {value:.2f} {relation}{bound} {'met' if met else 'missed'}")
    return str(bound)


def rates(kernel):
    boots = [one_boot(kernel, number, "tcg") for number in range(BOOTS)]
    for way, name, rate_min, beside, other, ratio_min in WAYS:
        best = max(boots, key=lambda boot, name=name, other=other: boot[name][1] / boot[other][1])
        ratio = best[name][1] / best[other][1]
        yield (f"| {way} | {best[name][1]:.2f} | {goal(name + '_rate', best[name][1], '>=', rate_min)} "
               f"| {beside} | {best[other][1]:.2f} | {ratio:.2f} | {goal(name, ratio, '>=', ratio_min)} |")


def costs(kernel):
    counted = one_boot(kernel, "counted", "icount")
    for way, name, instructions_max in COUNTED:
        instructions = counted[name][0]
        yield f"| {way} | {instructions:.0f} | {goal(name + '_instructions', instructions, '<=', instructions_max)} |"


def replaced(text, head, rows):
    pattern = re.escape("\n".join(head)) + r"\n(\|.*\n)*"
    if len(re.findall(pattern, text)) != 1:
        sys.exit(f"error: not one table of the head {head[0]}")
    return re.sub(pattern, lambda _: "\n".join(head + rows) + "\n", text)


def main():
    kernel, *document = sys.argv[1:]
    tables = ((RATES, list(rates(kernel))), (COSTS, list(costs(kernel))))
    for head, rows in tables:
        print("\n".join(head + rows))
    for path in map(pathlib.Path, document):
        text = path.read_text(encoding="utf-8")
        for head, rows in tables:
            text = replaced(text, head, rows)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
