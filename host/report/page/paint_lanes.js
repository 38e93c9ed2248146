// SPDX-License-Identifier: MIT
// The rows that are no task's: processors, interrupt handlers, owners of mutexes, curves, single events; and the bands
// where records are lost.
"use strict";

function paintProcessor(surface, y, scale, trace) {
    const top = y + 4;
    const height = ROW_HEIGHT - 8;
    let count = 0;
    const inSight = trace.tasks.map((task) => {
        const first = task.at(scale.from);
        const stop = firstAfter(task.begin, scale.to, first);
        count += stop - first;
        return [task, first, stop];
    });
    if (isDense(count / 2, surface)) {
        const layers = inSight.filter(([task, first, stop]) => !task.isIdle && stop > first).map(([task]) => [
            scale.shares(sumOn(task, this.cpu, trace)), pixelOf(taskColour(task.number)), null]);
        surface.shade(top, height, layers);
        return;
    }
    for (const [task, first, stop] of inSight) {
        for (let i = first; i < stop; ++i) {
            if (task.activity[i] === RUNNING && task.cpu[i] === this.cpu) {
                const [x, width] = scale.stretch(task.begin[i], task.end[i]);
                surface.rect(x, top, width, height, task.isIdle ? surface.theme.idle : taskColour(task.number),
                             task.isIdle ? 0.45 : 1);
                surface.text(x + 4, top + height / 2, task.name, task.isIdle ? surface.theme.muted
                    : surface.theme.onColour, width - 6);
            }
        }
    }
}

// How long a task ran on a processor before a time.
function sumOn(task, cpu, trace) {
    if (trace.cpus.length === 1) {
        let index = 0;
        return (time) => {
            index = gallop(task.end, time, index);
            return task.before(RUNNING, time, index);
        };
    }
    task.on = task.on || new Map();
    if (!task.on.has(cpu)) {
        const chosen = Array.from(task.cpu.keys()).filter((i) => task.activity[i] === RUNNING && task.cpu[i] === cpu);
        const sum = new Float64Array(chosen.length + 1);
        chosen.forEach((i, n) => { sum[n + 1] = sum[n] + task.end[i] - task.begin[i]; });
        task.on.set(cpu, [task.begin, task.end].map((all) => Float64Array.from(chosen, (i) => all[i])).concat([sum]));
    }
    return sumBefore(...task.on.get(cpu));
}

function paintHandlers(surface, y, scale, trace) {
    const {begin, end, depth, vector, depthMax, outerBegin, outerEnd, sum} = this.handlers;
    const colour = surface.theme.muted;
    const first = firstAfter(outerEnd, scale.from);
    const stop = firstAfter(outerBegin, scale.to, first);
    if (isDense(stop - first, surface)) {
        const shares = scale.shares(sumBefore(outerBegin, outerEnd, sum));
        surface.shade(y + 4, this.height - 8, [[shares, pixelOf(colour), null]]);
        return;
    }
    const height = (this.height - 6) / Math.min(depthMax, 6);
    // An outer handler that is in sight begins before those that are nested in it.
    const from = first < outerBegin.length ? firstAfter(begin, outerBegin[first]) - 1 : begin.length;
    for (let i = Math.max(from, 0); i < begin.length && begin[i] < scale.to; ++i) {
        if (end[i] >= scale.from) {
            const [x, width] = scale.stretch(begin[i], end[i]);
            const top = y + this.height - 3 - height * Math.min(depth[i], 6);
            surface.rect(x, top, width, height - 1, resourceColour(vector[i]));
            surface.text(x + 3, top + height / 2, trace.name("vectors", vector[i]), surface.theme.onColour, width - 4);
        }
    }
}

function paintHolds(surface, y, scale, trace) {
    const {begin, end, task} = this.holds;
    const colour = colourOfResource(`mutex ${this.label}`);
    eachInSight(begin, end, scale, (i) => {
        const [x, width] = scale.stretch(begin[i], end[i]);
        surface.rect(x, y + 4, width, 13, colour, 0.3);
        surface.rect(x, y + 4, Math.min(width, 3), 13, colour);
        surface.rect(x, y + 15, width, 2, taskColour(task[i]));
        surface.text(x + 5, y + 10, trace.tasks[task[i]].name, surface.theme.text, width - 8);
    });
}

function paintCurve(surface, y, scale, trace) {
    const {at, value, extremes} = this.curve;
    const first = Math.max(firstAfter(at, scale.from) - 1, 0);
    const stop = Math.min(firstAfter(at, scale.to, first) + 1, at.length);
    const colour = this.curve.isTime ? resourceColour(this.curve.of + 1) : taskColour(this.curve.of);
    const [least, greatest] = this.curve.range || (this.curve.range = extremes.of(0, value.length));
    const bottom = Math.min(least, this.curve.isTime ? 0 : least);
    const height = this.height - 12;
    const share = (number) => greatest > bottom ? (number - bottom) / (greatest - bottom) : 0.5;
    const level = (number) => y + 6 + height * (1 - share(number));
    surface.line(scale.left, y + this.height - 5.5, scale.right, y + this.height - 5.5, surface.theme.line);
    if (isDense((stop - first) / 2, surface)) {
        const count = surface.columns;
        for (let i = 0, from = first; i < count; ++i) {
            const to = gallop(at, scale.from + (i + 1) * (scale.to - scale.from) / count, from);
            const [low, high] = extremes.of(Math.max(from - 1, 0), to);
            if (low <= high) {
                surface.rect(scale.left + i / surface.ratio, level(high), 1 / surface.ratio + 0.2,
                             Math.max(level(low) - level(high), 1), colour);
            }
            from = to;
        }
        return;
    }
    const points = [];
    for (let i = first; i < stop; ++i) {
        // A budget falls while it is used, and is refilled at once.
        if (i > first && value[i] > value[i - 1] && this.curve.isTime) {
            points.push(scale.x(at[i]), level(value[i - 1]));
        }
        points.push(scale.x(at[i]), level(value[i]));
    }
    surface.polyline(points, colour);
    for (let i = first; i < stop && !this.curve.isTime; ++i) {
        surface.rect(scale.x(at[i]) - 1.5, level(value[i]) - 1.5, 3, 3, colour);
    }
}

function paintMarks(surface, y, scale, trace) {
    const {at, task} = trace.marks;
    const middle = y + ROW_HEIGHT / 2;
    let free = scale.left;
    eachPointInSight(at, scale, (i) => {
        const x = scale.x(at[i]);
        const colour = task[i] > 0 ? taskColour(task[i] - 1) : surface.theme.muted;
        surface.polygon([x, middle - 5, x + 4, middle, x, middle + 5, x - 4, middle], colour);
        const room = (i + 1 < at.length ? scale.x(at[i + 1]) : scale.right) - x - 12;
        if (x >= free && room > 24) {
            const text = `${trace.markName(i)} ${trace.markText(i)}`;
            surface.text(x + 7, middle, text, surface.theme.muted, room);
            free = x + Math.min(room, surface.textWidth(text));
        }
    });
    for (const violation of trace.facts.oracle.shown) {
        if (violation.at >= scale.from && violation.at <= scale.to) {
            const x = scale.x(violation.at);
            surface.polygon([x, middle - 9, x + 5, middle - 1, x - 5, middle - 1], surface.theme.miss);
        }
    }
}

// Across all rows; of one processor among several only across its own.
function paintLosses(surface, rows, offset, scale, trace, height) {
    for (const losses of trace.losses) {
        eachInSight(losses.begin, losses.end, scale, (i) => {
            const [x, width] = scale.stretch(losses.begin[i], losses.end[i]);
            if (trace.cpus.length === 1) {
                surface.rect(x, 0, width, height, surface.theme.lost, 0.55);
            } else {
                rows.filter((row) => row.cpu === losses.of).forEach(
                    (row) => surface.rect(x, row.y - offset, width, row.height, surface.theme.lost, 0.55));
            }
            surface.text(x + 4, 9, `${losses.records[i]} records lost`, surface.theme.text, width - 6);
        });
    }
}
