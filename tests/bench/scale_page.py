#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One table and one picture of how costs grow, from lines `SCALE name.axis n value unit` on standard input: what the
kernel pays with more tasks, chunks and filters, what the host pays with more events. The lines are printed as well.

   scale_page.py DOCUMENT PICTURE.svg    the table of the same head in DOCUMENT is replaced"""
import collections
import math
import pathlib
import sys

from kernel_operations import replace, table

HEAD = ["cost", "unit", "against", "at", "last / first"]


def read_lines(lines):
    """{(name, axis, unit): [(n, value)]}, in the order of the lines."""
    found = collections.OrderedDict()
    for line in lines:
        print(line, end="", flush=True)
        if line.startswith("SCALE "):
            _, name, n, value, unit = line.split()
            name, _, axis = name.rpartition(".")
            found.setdefault((name.replace("_", " "), axis, unit), []).append((int(n), float(value)))
    return {key: sorted(points) for key, points in found.items()}


def power(n):
    """1000000 as 10^6."""
    exponent = round(math.log10(n)) if n > 0 else 0
    return f"10^{exponent}" if exponent > 3 and n == 10 ** exponent else f"{n}"


def rows_of(found):
    rows = []
    for (name, axis, unit), points in found.items():
        at = ", ".join(f"{power(n)}: {value:g}" for n, value in points)
        first, last = points[0][1], points[-1][1]
        rows.append([name, unit, axis, at, f"{last / first:.2f}" if first else "-"])
    return rows


# --- the picture ----------------------------------------------------------------------------------------------------

WIDTH, HEIGHT, LEFT, TOP, LEGEND = 960, 420, 60, 50, 330
COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#9d755d", "#333333", "#eeca3b", "#ff9da6")
STYLE = ("text{font:12px sans-serif;fill:#333}.head{font-size:15px;font-weight:bold}.mark{text-anchor:middle}"
         ".scale{text-anchor:end}.grid{stroke:#ddd}.line{fill:none;stroke-width:2}")


def panel(offset, title, below, curves):
    """Each curve relative to its first point, both axes logarithmic: what is constant is a level line."""
    most_x = max(n / points[0][0] for points in curves.values() for n, _ in points)
    factors = [value / points[0][1] for points in curves.values() for _, value in points if points[0][1]]
    low, high = math.floor(math.log10(min(factors))), max(1, math.ceil(math.log10(max(factors))))
    width, height = WIDTH - LEFT - LEGEND, HEIGHT - TOP - 70
    foot = offset + TOP + height

    def x(n):
        return LEFT + width * math.log10(n) / math.log10(most_x)

    def y(factor):
        return foot - height * (math.log10(factor) - low) / (high - low)

    yield f'<text x="{LEFT}" y="{offset + 24}" class="head">{title}</text>'
    for decade in range(low, high + 1):
        at = y(10.0 ** decade)
        yield f'<line x1="{LEFT}" y1="{at:.1f}" x2="{LEFT + width}" y2="{at:.1f}" class="grid"/>'
        yield f'<text x="{LEFT - 6}" y="{at + 4:.1f}" class="scale">{10.0 ** decade:g} x</text>'
    for decade in range(round(math.log10(most_x)) + 1):
        yield f'<text x="{x(10 ** decade):.1f}" y="{foot + 18}" class="mark">x {10 ** decade}</text>'
    yield f'<text x="{LEFT + width / 2:.1f}" y="{foot + 40}" class="mark">{below}</text>'
    names = list(dict.fromkeys(name.partition(" (")[0] for name in curves))
    for number, (name, points) in enumerate(curves.items()):
        colour = COLOURS[names.index(name.partition(" (")[0]) % len(COLOURS)]
        dashes = ' stroke-dasharray="6 4"' if "(MB" in name else ""
        first_n, first = points[0]
        if not first:
            continue
        line = " ".join(f"{x(n / first_n):.1f},{y(value / first):.1f}" for n, value in points)
        yield f'<polyline points="{line}" class="line" stroke="{colour}"{dashes}/>'
        at = offset + TOP + 16 * number
        yield (f'<line x1="{LEFT + width + 16}" y1="{at + 6}" x2="{LEFT + width + 34}" y2="{at + 6}" class="line" '
               f'stroke="{colour}"{dashes}/>')
        yield f'<text x="{LEFT + width + 38}" y="{at + 10}">{name}: {first:g}</text>'


def draw(path, found):
    """The host's figures above, the kernel's below."""
    def curves(of_host):
        return {f"{name} ({unit}, {axis})": points for (name, axis, unit), points in found.items()
                if (axis == "events") == of_host and len(points) > 1 and points[0][0] > 0}

    panels = [("Host tools: cost of an event, and memory, against the length of the trace",
               "times as many events as the first", curves(True)),
              ("Kernel: instructions against tasks, chunks, filters", "times as many as the first", curves(False))]
    panels = [one for one in panels if one[2]]
    body = "\n".join(line for number, (title, below, of) in enumerate(panels)
                     for line in panel(number * HEIGHT, title, below, of))
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {len(panels) * HEIGHT}" '
                    f'width="{WIDTH}" height="{len(panels) * HEIGHT}">\n<style>{STYLE}</style>\n'
                    f'<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n', encoding="utf-8")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    document, picture = map(pathlib.Path, sys.argv[1:])
    found = read_lines(sys.stdin)
    if not found:
        sys.exit("error: no line SCALE on standard input: one of the measuring programs has failed")
    replace(document, table(HEAD, rows_of(found)))
    draw(picture, found)


if __name__ == "__main__":
    main()
