// SPDX-License-Identifier: MIT
// The axis of time above the rows, drawn on any surface: text of the document would be laid out again in each frame.
"use strict";

const AXIS_HEIGHT = 26;

// Round times in sight, how each is written, and the unit of them all.
function axisOf(view, trace, room) {
    const {times} = view;
    const [size, unit] = times.unitFor(times.about(view.to - view.from) / 5);
    const [from, to] = [view.from, view.to].map((time) => times.about(time) / size);
    const scale = d3.scaleLinear([from, to], [0, 1]);
    const count = Math.max(Math.floor(room / 110), 2);
    const text = scale.tickFormat(count);
    const points = scale.ticks(count);
    const ticks = points.map((point) => times.ticksOfNs(point * size));
    return [ticks, (_, i) => text(points[i]), unit];
}

function paintAxis(surface, view, trace) {
    const scale = new Scale(surface, view.from, view.to);
    const {muted, line} = surface.theme;
    const [ticks, text, unit] = axisOf(view, trace, surface.width - surface.left);
    ticks.forEach((tick, i) => {
        const x = scale.x(tick);
        const label = text(tick, i);
        surface.line(x, AXIS_HEIGHT - 7, x, AXIS_HEIGHT - 1, line);
        const left = x - surface.textWidth(label) / 2;
        if (left >= surface.left) { // else it would cover the unit
            surface.text(left, 10, label, muted);
        }
    });
    surface.text(surface.left - 10 - surface.textWidth(unit), 10, unit, muted);
}
