// SPDX-License-Identifier: MIT
// Explains what the timeline draws, by pictures that the functions of its rows draw.
"use strict";

const LEGEND_WIDTH = 44;
const LEGEND_HEIGHT = 28;
const BOTTOM = TRACK_TOP + TRACK_HEIGHT; // of a task's track

// Each has a text and paint(surface); `of` says which traces have it, absent: all.
const LEGEND = [
    ["Tasks"],
    ["runs, in the colour of the task", (surface) => surface.rect(4, TRACK_TOP, 36, TRACK_HEIGHT, taskColour(0))],
    ["is ready, but something else runs", (surface) => surface.hatch(4, TRACK_TOP + 3, 36, TRACK_HEIGHT - 3)],
    ["is held up, in the colour of the resource that another task has",
     (surface) => waitBar(surface, 4, TRACK_TOP, 36, resourceColour(0))],
    ["waits for something else: a delay, a signal, a message",
     (surface) => waitBar(surface, 4, TRACK_TOP, 36, null)],
    ["runs in the place of another task, the lower colour, which waits for it", (surface) => {
        surface.rect(4, TRACK_TOP, 36, TRACK_HEIGHT, taskColour(0));
        surface.rect(4, TRACK_TOP + TRACK_HEIGHT / 2, 36, TRACK_HEIGHT / 2, taskColour(1));
    }],
    ["number of the processor; the wedge: it has moved there", (surface) => {
        surface.rect(14, TRACK_TOP, 26, TRACK_HEIGHT, taskColour(0));
        surface.polygon([14, 1, 21, 4.5, 14, 8], surface.theme.text);
        surface.line(14, 1, 14, BOTTOM, surface.theme.text);
        surface.text(18, TRACK_TOP + TRACK_HEIGHT / 2, "1", surface.theme.onColour);
    }, (trace) => trace.cpus.length > 1],
    ["shares of time: many intervals are in each column of pixels", (surface) => [14, 9, 12, 5, 15, 7, 11].forEach(
        (height, i) => surface.rect(4 + 5 * i, BOTTOM - height, 5, height, taskColour(0)))],
    ["release of a job, and its deadline", (surface) => {
        arrow(surface, 12, BOTTOM, 1, surface.theme.text);
        arrow(surface, 32, 2, BOTTOM + 5, surface.theme.muted);
    }],
    ["missed deadline, with a bar until the job ended", (surface) => {
        surface.rect(12, 3, 26, 2, surface.theme.miss);
        missMark(surface, 12, 0);
    }],
    ["a job has executed for longer than its declared worst case", (surface) => overrunMark(surface, 22, 0)],
    ["Other rows"],
    ["interrupt handlers: nested ones are above those that they interrupted", (surface) => {
        surface.rect(4, 16, 36, 9, resourceColour(2));
        surface.rect(16, 6, 12, 9, resourceColour(3));
    }],
    ["a mutex is held, by the task of the colour below",
     (surface) => holdBar(surface, 4, 2, 36, resourceColour(0), taskColour(1)), (trace) => trace.holds.length > 0],
    ["a value, as it was at each event; the band of a truth value is where it is true", (surface) => {
        surface.polyline([4, 20, 16, 20, 16, 8, 30, 8, 30, 14, 40, 14], taskColour(0));
        surface.rect(14.5, 6.5, 3, 3, taskColour(0));
        surface.rect(28.5, 12.5, 3, 3, taskColour(0));
    }, (trace) => trace.plots.length > 0],
    ["the budget of a server: it falls while it is used", (surface) => surface.polyline(
        [4, 8, 12, 8, 26, 22, 30, 22, 30, 8, 40, 8], resourceColour(1)), (trace) => trace.budgets.length > 0],
    ["an event, in the colour of the task that logged it",
     (surface) => eventMark(surface, 22, 14, taskColour(0)), (trace) => trace.marks.count > 0],
    ["a decision that violates the theory", (surface) => violationMark(surface, 22, 18),
     (trace) => trace.facts.oracle.violations > 0],
    ["records are lost here: nothing is known", (surface) => surface.rect(4, 0, 36, 28, surface.theme.lost, 0.55),
     (trace) => trace.losses.length > 0],
];

// Returns the entries that explain something in the trace; a heading has only a text.
function legendOf(trace) {
    return LEGEND.filter(([, , isIn]) => isIn === undefined || isIn(trace));
}

function showLegend(parent, trace) {
    const rows = parent.append("div").attr("class", "legend").selectAll("div").data(legendOf(trace)).join("div")
        .classed("heading", ([, paint]) => paint === undefined);
    rows.filter(([, paint]) => paint !== undefined).append("canvas").attr("aria-hidden", "true")
        .style("width", `${LEGEND_WIDTH}px`).style("height", `${LEGEND_HEIGHT}px`).each(function ([, paint]) {
            const surface = new CanvasSurface(this);
            surface.begin(0, LEGEND_WIDTH, LEGEND_HEIGHT);
            paint(surface);
        });
    rows.append("span").text(([text]) => text);
}
