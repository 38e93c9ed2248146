#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`make bench-export`: boots the bench kernel with a network card and prints how fast records leave it: the
acknowledged export beside unanswered datagrams of the same size, a file on the ramdisk beside a copy in memory. All
four in one boot; the best of several boots by their ratio, because the machine is shared.

   export_rate.py KERNEL [DOCUMENT]

DOCUMENT: its table of the same head is replaced."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from support.guests import OK, GuestContext  # noqa: E402

BOOTS = 3
TIMEOUT_S = 120
FIGURE = re.compile(r"figure (\w+) records (\d+) ns (\d+)")
HEAD = ["| way | M records/s | beside | M records/s | ratio | goal |", "|---|---|---|---|---|---|"]
WAYS = (("acknowledged export by UDP", "acknowledged_export", "unanswered datagrams of that size", "raw_datagrams",
         0.8),
        ("file on the ramdisk", "ramdisk_file", "copy of its bytes in memory", "memory_copy", 0.7))


def one_boot(kernel, number):
    """{figure: millions of records a second}"""
    ctx = GuestContext("bench", f"export{number}", TIMEOUT_S)
    with ctx.collector("--timeout", "60", code=2):
        lines = ctx.boot("b_export", kernel=kernel, clock="tcg").expect_code(OK).markers
    matches = [match for match in map(FIGURE.search, lines) if match]
    return {match[1]: int(match[2]) * 1e3 / int(match[3]) for match in matches}


def main():
    kernel, *document = sys.argv[1:]
    boots = [one_boot(kernel, number) for number in range(BOOTS)]
    rows = []
    for way, name, beside, other, goal in WAYS:
        best = max(boots, key=lambda boot, name=name, other=other: boot[name] / boot[other])
        ratio = best[name] / best[other]
        rows.append(f"| {way} | {best[name]:.2f} | {beside} | {best[other]:.2f} | {ratio:.2f} | {goal} |")
        print(f"GOAL {name} {ratio:.2f} >={goal} {'met' if ratio >= goal else 'missed'}")
    print("\n".join(HEAD + rows))
    for path in map(pathlib.Path, document):
        text = path.read_text(encoding="utf-8")
        pattern = re.escape("\n".join(HEAD)) + r"\n(\|.*\n)*"
        if len(re.findall(pattern, text)) != 1:
            sys.exit(f"error: {path}: not one table of the head {HEAD[0]}")
        path.write_text(re.sub(pattern, lambda _: "\n".join(HEAD + rows) + "\n", text), encoding="utf-8")


if __name__ == "__main__":
    main()
