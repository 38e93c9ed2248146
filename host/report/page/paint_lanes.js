// SPDX-License-Identifier: MIT
// Draws the rows that are not of tasks: processors, interrupt handlers, owners of mutexes, curves, single events. It
// also draws the bands where records are lost.
"use strict";

// Returns for each task which of its intervals are in sight: [task, first, stop].
function tasksInSight(trace, scale) {
    return trace.tasks.map((task) => {
        const first = task.at(scale.from);
        return [task, first, firstAfter(task.begin, scale.to, first)];
    });
}

function shadeProcessor(surface, y, scale, trace) {
    const inSight = tasksInSight(trace, scale);
    const isShaded = isDense(inSight.reduce((sum, [, first, stop]) => sum + stop - first, 0) / 2, surface);
    if (isShaded) {
        const layers = inSight.filter(([task, first, stop]) => !task.isIdle && stop > first).map(([task]) => [
            sharesOn(task, this.cpu, trace, scale), pixelOf(taskColour(task.colour)), null]);
        surface.shade(y + 4, ROW_HEIGHT - 8, layers);
    }
    return isShaded;
}

function paintProcessor(surface, y, scale, trace) {
    const top = y + 4;
    const height = ROW_HEIGHT - 8;
    for (const [task, first, stop] of this.isShaded ? [] : tasksInSight(trace, scale)) {
        for (let i = first; i < stop; ++i) {
            if (task.activity[i] === RUNNING && task.cpu[i] === this.cpu) {
                const [x, width] = scale.stretch(task.begin[i], task.end[i]);
                surface.rect(x, top, width, height, task.isIdle ? surface.theme.idle : taskColour(task.colour),
                             task.isIdle ? 0.45 : 1);
                surface.text(x + 4, top + height / 2, task.name, task.isIdle ? surface.theme.muted
                    : surface.theme.onColour, width - 6);
            }
        }
    }
}

// Returns the share of each column in which a task ran on a processor.
function sharesOn(task, cpu, trace, scale) {
    if (trace.cpus.length === 1) {
        return sharesOfTask(task, scale)[RUNNING];
    }
    task.on = task.on || new Map();
    if (!task.on.has(cpu)) {
        const chosen = Array.from(task.cpu.keys()).filter((i) => task.activity[i] === RUNNING && task.cpu[i] === cpu);
        const [begin, end] = [task.begin, task.end].map((all) => Float64Array.from(chosen, (i) => all[i]));
        task.on.set(cpu, [begin, end, sumsOf(begin, end)]);
    }
    return scale.shares(sumBefore(...task.on.get(cpu)));
}

// Returns for each of the stretches, which do not overlap, the length of all before it; the last sum is that of all.
function sumsOf(begin, end) {
    const sums = new Float64Array(begin.length + 1);
    for (let i = 0; i < begin.length; ++i) {
        sums[i + 1] = sums[i] + end[i] - begin[i];
    }
    return sums;
}

function shadeHandlers(surface, y, scale) {
    const {outerBegin, outerEnd, sum} = this.handlers;
    const first = firstAfter(outerEnd, scale.from);
    const isShaded = isDense(firstAfter(outerBegin, scale.to, first) - first, surface);
    if (isShaded) {
        const shares = scale.shares(sumBefore(outerBegin, outerEnd, sum));
        surface.shade(y + 4, this.height - 8, [[shares, pixelOf(surface.theme.muted), null]]);
    }
    return isShaded;
}

function paintHandlers(surface, y, scale, trace) {
    if (this.isShaded) {
        return;
    }
    const {begin, end, depth, vector, depthMax, outerBegin, outerEnd} = this.handlers;
    const first = firstAfter(outerEnd, scale.from);
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

function shadeHolds(surface, y, scale) {
    const {holds} = this;
    const first = firstAfter(holds.end, scale.from);
    const isShaded = isDense(firstAfter(holds.begin, scale.to, first) - first, surface);
    if (isShaded) {
        holds.sum = holds.sum || sumsOf(holds.begin, holds.end);
        const shares = scale.shares(sumBefore(holds.begin, holds.end, holds.sum));
        surface.shade(y + 4, 13, [[shares, pixelOf(colourOfResource(`mutex ${this.label}`)), null]]);
    }
    return isShaded;
}

function paintHolds(surface, y, scale, trace) {
    if (this.isShaded) {
        return;
    }
    const {begin, end, task} = this.holds;
    const colour = colourOfResource(`mutex ${this.label}`);
    eachInSight(begin, end, scale, (i) => {
        const [x, width] = scale.stretch(begin[i], end[i]);
        holdBar(surface, x, y, width, colour, taskColour(trace.tasks[task[i]].colour));
        surface.text(x + 5, y + 10, trace.tasks[task[i]].name, surface.theme.text, width - 8);
    });
}

function holdBar(surface, x, y, width, colour, owner) {
    surface.rect(x, y + 4, width, 13, colour, 0.3);
    surface.rect(x, y + 4, Math.min(width, 3), 13, colour);
    surface.rect(x, y + 15, width, 2, owner);
}

// Returns which entries of a curve are in sight, its colour, and a function from a value to its share of the height.
function curveInSight(curve, scale) {
    const {at, value, extremes} = curve;
    const first = Math.max(firstAfter(at, scale.from) - 1, 0);
    const stop = Math.min(firstAfter(at, scale.to, first) + 1, at.length);
    const colour = curve.isTime ? resourceColour(curve.of + 1) : taskColour(curve.of);
    curve.range = curve.range || extremes.of(0, value.length);
    const [least, greatest] = curve.range;
    const bottom = Math.min(least, curve.isTime ? 0 : least);
    const share = (number) => greatest > bottom ? (number - bottom) / (greatest - bottom) : 0.5;
    return {first, stop, colour, share};
}

function shadeCurve(surface, y, scale) {
    const {at, extremes} = this.curve;
    const {first, stop, colour, share} = curveInSight(this.curve, scale);
    const isShaded = isDense((stop - first) / 2, surface);
    if (isShaded) {
        const count = surface.columns;
        const height = this.height - 12;
        const below = new Float32Array(count);
        const between = new Float32Array(count);
        for (let i = 0, from = first; i < count; ++i) {
            const to = gallop(at, scale.from + (i + 1) * (scale.to - scale.from) / count, from);
            const [low, high] = extremes.of(Math.max(from - 1, 0), to);
            if (low <= high) {
                below[i] = share(low) * (1 - 1 / height);
                between[i] = Math.max(share(high) - share(low), 1 / height);
            }
            from = to;
        }
        surface.shade(y + 6, height, [[below, pixelOf(surface.theme.paper), null], [between, pixelOf(colour), null]]);
    }
    return isShaded;
}

// Returns the points of a curve from where it comes into sight.
function inSight(points, from) {
    const first = points.findIndex(([time]) => time >= from);
    if (first <= 0) {
        return points;
    }
    const [[before, low], [after, high]] = [points[first - 1], points[first]];
    return [[from, low + (high - low) * (from - before) / (after - before)], ...points.slice(first)];
}

// Returns the points of values that stay until the next one: what is between two events is not known to be otherwise.
function stepPoints({at, value}, first, stop, to) {
    const points = [];
    for (let i = first; i < stop; ++i) {
        points.push([at[i], value[i]], [i + 1 < stop ? at[i + 1] : Math.max(to, at[i]), value[i]]);
    }
    return points;
}

// Returns a value as text: whole numbers grouped, others with four digits.
function valueText(value) {
    return Number.isInteger(value) ? grouped(value) : Number(value.toPrecision(4)).toLocaleString("en", {
        maximumFractionDigits: 9});
}

// Returns the texts at the upper and the lower end of a curve's axis.
function axisOfCurve(curve, times) {
    if (curve.isBoolean) {
        return ["true", "false"];
    }
    const [least, greatest] = curve.range || curve.extremes.of(0, curve.value.length);
    if (curve.isTime) {
        return [times.brief(greatest), times.brief(Math.min(least, 0))];
    }
    return [`${valueText(greatest)} ${curve.unit}`.trim(), greatest > least ? valueText(least) : ""];
}

function paintAxisOfCurve(surface, y, curve, height, times) {
    axisOfCurve(curve, times).forEach((text, i) => {
        const fitting = text.length > 12 ? `${text.slice(0, 11)}\u2026` : text;
        surface.text(surface.left - 6 - surface.textWidth(fitting), y + (i === 0 ? 8 : height - 8), fitting,
                     surface.theme.muted);
    });
}

// Returns the points from one record of a budget up to the next one. The budget falls while a task of the server runs,
// and stays otherwise; it is refilled at once.
function budgetPoints({at, value, served}, i, hasNext, trace) {
    const points = [[at[i], value[i]]];
    if (!hasNext || at[i + 1] === at[i]) {
        return points;
    }
    const [from, to, used] = [at[i], at[i + 1], value[i] - value[i + 1]];
    const runs = served.flatMap((number) => runsOf(trace.tasks[number], from, to)).sort((a, b) => a[0] - b[0]);
    const ran = runs.reduce((sum, [begin, end]) => sum + end - begin, 0);
    let left = value[i];
    for (const [begin, end] of used > 0 ? runs : []) {
        points.push([begin, left]);
        left -= used * (end - begin) / ran;
        points.push([end, left]);
    }
    if (used < 0 || ran === 0) {
        points.push([to, value[i]]);
    }
    return points;
}

// Returns the stretches in which a task ran between two times, at most a thousand.
function runsOf(task, from, to) {
    const runs = [];
    for (let i = task.at(from); i < task.count && task.begin[i] < to && runs.length < 1000; ++i) {
        if (task.activity[i] === RUNNING) {
            runs.push([Math.max(task.begin[i], from), Math.min(task.end[i], to)]);
        }
    }
    return runs;
}

function paintCurve(surface, y, scale, trace) {
    const {curve} = this;
    surface.line(scale.left, y + this.height - 5.5, scale.right, y + this.height - 5.5, surface.theme.line);
    paintAxisOfCurve(surface, y, curve, this.height, new Times(trace.khz));
    if (this.isShaded) {
        return;
    }
    const {at, value, isTime} = curve;
    const {first, stop, colour, share} = curveInSight(curve, scale);
    const level = (number) => y + 6 + (this.height - 12) * (1 - share(number));
    if (curve.isBoolean) {
        paintBand(surface, y, scale, this, first, stop, Math.min(scale.to, trace.last), colour);
        return;
    }
    const points = [];
    for (let i = first; i < stop && isTime; ++i) {
        points.push(...budgetPoints(curve, i, i + 1 < stop, trace));
    }
    const all = isTime ? points : stepPoints(curve, first, stop, Math.min(scale.to, trace.last));
    surface.polyline(inSight(all, scale.from).flatMap(([time, number]) => [scale.x(time), level(number)]), colour);
    for (let i = firstAfter(at, scale.from); i < stop && !isTime; ++i) {
        surface.rect(scale.x(at[i]) - 1.5, level(value[i]) - 1.5, 3, 3, colour);
    }
}

// Fills the stretches in which a truth value is true.
function paintBand(surface, y, scale, {curve: {at, value}, height}, first, stop, to, colour) {
    for (let i = first; i < stop; ++i) {
        const end = i + 1 < stop ? at[i + 1] : to;
        if (value[i] !== 0 && end > scale.from && at[i] < scale.to) {
            const [x, width] = scale.stretch(at[i], end);
            surface.rect(x, y + 8, width, height - 14, colour, 0.75);
        }
    }
}

function shadeMarks(surface, y, scale, trace) {
    return shadePoints(surface, y + ROW_HEIGHT / 2 - 4, 8, trace.marks.at, scale, surface.theme.muted);
}

function paintMarks(surface, y, scale, trace) {
    const middle = y + ROW_HEIGHT / 2;
    if (!this.isShaded) {
        paintSingleMarks(surface, middle, scale, trace);
    }
    for (const violation of trace.facts.oracle.shown) {
        if (violation.at >= scale.from && violation.at <= scale.to) {
            violationMark(surface, scale.x(violation.at), middle);
        }
    }
}

function violationMark(surface, x, middle) {
    surface.polygon([x, middle - 9, x + 5, middle - 1, x - 5, middle - 1], surface.theme.miss);
}

function eventMark(surface, x, middle, colour) {
    surface.polygon([x, middle - 5, x + 4, middle, x, middle + 5, x - 4, middle], colour);
}

function paintSingleMarks(surface, middle, scale, trace) {
    const {at, task} = trace.marks;
    let free = scale.left;
    eachPointInSight(at, scale, (i) => {
        const x = scale.x(at[i]);
        const colour = task[i] > 0 ? taskColour(trace.tasks[task[i] - 1].colour) : surface.theme.muted;
        eventMark(surface, x, middle, colour);
        const room = (i + 1 < at.length ? scale.x(at[i + 1]) : scale.right) - x - 12;
        if (x >= free && room > 24) {
            const text = `${trace.markName(i)} ${trace.markText(i)}`;
            surface.text(x + 7, middle, text, surface.theme.muted, room);
            free = x + Math.min(room, surface.textWidth(text));
        }
    });
}

// Draws a loss across all rows; if it concerns one of several processors, across the rows of that one only.
function paintLosses(surface, rows, offset, scale, trace, height) {
    if (rows.some((row) => row.run)) {
        return; // Each row of two compared runs draws its own losses.
    }
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
