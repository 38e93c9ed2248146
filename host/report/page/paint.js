// SPDX-License-Identifier: MIT
// Does what all rows need: finds where a time is and what of a sorted array is in sight, computes shares of columns.
"use strict";

// Converts times to pixels of a surface.
class Scale {
    constructor(surface, from, to) {
        this.surface = surface;
        this.from = from;
        this.to = to;
        this.left = surface.left;
        this.right = surface.width;
        this.perTick = (this.right - this.left) / (to - from);
    }

    x(time) {
        return this.left + (time - this.from) * this.perTick;
    }

    time(x) {
        return this.from + (x - this.left) / this.perTick;
    }

    // Returns the left edge and the width of a stretch. It is cut to what is in sight, and at least one pixel wide.
    stretch(begin, end) {
        const x = Math.max(this.x(begin), this.left);
        return [x, Math.max(Math.min(this.x(end), this.right) - x, 1)];
    }

    // Returns for each column by how much sum(time) rises in it, as a share of the column. The sum never falls.
    shares(sum) {
        const count = this.surface.columns;
        const shares = new Float32Array(count);
        const step = (this.to - this.from) / count;
        let before = sum(this.from);
        for (let i = 0; i < count; ++i) {
            const after = sum(this.from + (i + 1) * step);
            shares[i] = after > before ? shareSeen((after - before) / step) : 0;
            before = after;
        }
        return shares;
    }
}

// Returns a function that says how much of the stretches is before a time. The stretches do not overlap, `sum` has the
// lengths of all before each, and the function must be called with rising times.
function sumBefore(begin, end, sum) {
    let index = 0;
    return (time) => {
        index = gallop(end, time, index);
        return index < end.length && time > begin[index] ? sum[index] + time - begin[index] : sum[index];
    };
}

// Returns the same as firstAfter(), faster if the result is near `index`, which must not be beyond it.
function gallop(values, limit, index) {
    let step = 1;
    let low = index;
    while (index < values.length && values[index] <= limit) {
        low = index + 1;
        index += step;
        step *= 2;
    }
    return firstAfter(values, limit, low, Math.min(index, values.length));
}

// Calls the function for each stretch in sight, but only once for all that share a pixel.
function eachInSight(begin, end, scale, call) {
    const pixel = 1 / scale.perTick;
    for (let i = firstAfter(end, scale.from); i < begin.length && begin[i] < scale.to;) {
        call(i);
        const next = begin[i] + pixel;
        i = end[i] < next ? Math.max(firstAfter(end, next, i), i + 1) : i + 1;
    }
}

// Calls the function for each point in sight, but only once for all that share a pixel.
function eachPointInSight(at, scale, call) {
    const pixel = 1 / scale.perTick;
    for (let i = firstAfter(at, scale.from); i < at.length && at[i] <= scale.to;) {
        call(i);
        i = Math.max(firstAfter(at, at[i] + pixel, i), i + 1);
    }
}

// Returns whether so many entries would be narrower than a few pixels: columns are drawn instead.
function isDense(count, surface) {
    return count > (surface.width - surface.left) / 4;
}

// Shades each column that has a point, if the row has many points in sight. Returns whether it did.
function shadePoints(surface, top, height, at, scale, colour) {
    const first = firstAfter(at, scale.from);
    const isShaded = isDense(firstAfter(at, scale.to, first) - first, surface);
    if (isShaded) {
        const count = surface.columns;
        const step = (scale.to - scale.from) / count;
        const shares = new Float32Array(count);
        for (let i = 0, index = first; i < count; ++i) {
            const after = gallop(at, scale.from + (i + 1) * step, index);
            shares[i] = after > index ? 1 : 0;
            index = after;
        }
        surface.shade(top, height, [[shares, pixelOf(colour), null]]);
    }
    return isShaded;
}

// Returns for each column the shares of a task's activities: it ran, was ready, waited or was held up. They are kept
// while the same part is in sight, because the task's row and the processor's row draw them.
function sharesOfTask(task, scale) {
    const count = scale.surface.columns;
    const kept = task.inColumns;
    if (kept && kept.from === scale.from && kept.to === scale.to && kept.count === count) {
        return kept.shares;
    }
    const {begin, end, sums} = task;
    const step = (scale.to - scale.from) / count;
    const shares = sums.map(() => new Float32Array(count));
    const before = sums.map(() => 0);
    let index = task.at(scale.from);
    for (let i = 0; i <= count; ++i) {
        const time = scale.from + i * step;
        index = gallop(end, time, index);
        for (let what = 0; what < sums.length; ++what) {
            const sum = task.before(what, time, index);
            if (i > 0 && sum > before[what]) {
                shares[what][i - 1] = shareSeen((sum - before[what]) / step);
            }
            before[what] = sum;
        }
    }
    task.inColumns = {from: scale.from, to: scale.to, count, shares};
    return shares;
}

// Returns the share, but not less than 0.12, because even the smallest one must be seen.
function shareSeen(share) {
    return Math.max(Math.min(share, 1), 0.12);
}

// The axis of time is above the rows, drawn on any surface: text of the document would be laid out again in each frame.

const AXIS_HEIGHT = 26;

// Returns the round times in sight, a function that writes each of them, and the unit of them all. It is that of every
// point in time on the page: milliseconds, with as many decimals as are needed.
function axisOf(view, trace, room) {
    const {times} = view;
    const [size, unit] = times.pointUnit;
    const [from, to] = [view.from, view.to].map((time) => times.about(time) / size);
    const scale = d3.scaleLinear([from, to], [0, 1]);
    const count = Math.max(Math.floor(room / 110), 2);
    const text = scale.tickFormat(count);
    const points = scale.ticks(count);
    const ticks = points.map((point) => times.ticksOfNs(point * size));
    return [ticks, (_, i) => text(points[i]), unit];
}

// Returns the part of the trace that is in sight as text. It has as many decimals as its length needs.
function rangeText({from, to, times}, trace) {
    const [size, unit] = times.pointUnit;
    const [begin, end] = [Math.max(from, 0), Math.min(to, trace.last)].map((time) => times.about(time) / size);
    const decimals = size === 1 ? 0 : Math.min(Math.max(Math.ceil(5 - Math.log10(end - begin)), 3), 6);
    const text = (number) => number.toLocaleString("en", {minimumFractionDigits: decimals,
                                                          maximumFractionDigits: decimals});
    return `${text(begin)} \u2013 ${text(end)}\u202f${unit} (${text(end - begin)})`;
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
        // Otherwise it would cover the unit, or be cut.
        if (left >= surface.left && left + surface.textWidth(label) <= surface.width) {
            surface.text(left, 10, label, muted);
        }
    });
    surface.text(surface.left - 10 - surface.textWidth(unit), 10, unit, muted);
}
