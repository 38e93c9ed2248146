// SPDX-License-Identifier: MIT
// What all rows have in common: where a time is, which entries of a sorted array are in sight, and shares of columns.
"use strict";

// Times to pixels of a surface.
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

    // Left edge and width of a stretch, cut to what is in sight; at least one pixel wide.
    stretch(begin, end) {
        const x = Math.max(this.x(begin), this.left);
        return [x, Math.max(Math.min(this.x(end), this.right) - x, 1)];
    }

    // For each column, sum(time) at its edges, as a share of the column. sum does not fall.
    shares(sum) {
        const count = this.surface.columns;
        const shares = new Float32Array(count);
        const step = (this.to - this.from) / count;
        let before = sum(this.from);
        for (let i = 0; i < count; ++i) {
            const after = sum(this.from + (i + 1) * step);
            // What is there at all is seen.
            shares[i] = after > before ? Math.max(Math.min((after - before) / step, 1), 0.12) : 0;
            before = after;
        }
        return shares;
    }
}

// Of stretches that do not overlap, with the sum of their lengths before each: how much of them is before a time.
// Called with rising times.
function sumBefore(begin, end, sum) {
    let index = 0;
    return (time) => {
        index = gallop(end, time, index);
        return index < end.length && time > begin[index] ? sum[index] + time - begin[index] : sum[index];
    };
}

// firstAfter(), from an index that is not beyond it.
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

// Calls for each stretch in sight; of those that share a pixel, for one.
function eachInSight(begin, end, scale, call) {
    const pixel = 1 / scale.perTick;
    for (let i = firstAfter(end, scale.from); i < begin.length && begin[i] < scale.to;) {
        call(i);
        const next = begin[i] + pixel;
        i = end[i] < next ? Math.max(firstAfter(end, next, i), i + 1) : i + 1;
    }
}

// Likewise of points.
function eachPointInSight(at, scale, call) {
    const pixel = 1 / scale.perTick;
    for (let i = firstAfter(at, scale.from); i < at.length && at[i] <= scale.to;) {
        call(i);
        i = Math.max(firstAfter(at, at[i] + pixel, i), i + 1);
    }
}

// So many entries that they would be narrower than a few pixels: columns are drawn instead.
function isDense(count, surface) {
    return count > (surface.width - surface.left) / 4;
}
