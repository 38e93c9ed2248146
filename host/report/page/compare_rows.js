// SPDX-License-Identifier: MIT
// The rows of two runs under each other: of the same kind and name, in the order of the first run; what only the second
// one has is below its group. A row is drawn by the functions that draw it alone, on the scale of its run.
"use strict";

const OUTSIDE = 0.65; // how much is left out of what does not count

function comparedRows(comparison, by) {
    const [a, b] = comparison.runs;
    const kind = (row) => `${row.key.replace(/\d+$/, "")} ${row.label}`;
    const partners = d3.group(rowsOfRun(b, by), kind);
    const all = [];
    for (const row of rowsOfRun(a, by)) {
        all.push(rowOfRun(comparison, row, a, row.group));
        const partner = (partners.get(kind(row)) || []).shift();
        if (partner) {
            all.push(rowOfRun(comparison, partner, b, row.group));
        }
    }
    for (const row of [...partners.values()].flat()) {
        const last = d3.max(all.keys(), (i) => all[i].group === row.group ? i : -1);
        all.splice(last === undefined || last < 0 ? all.length : last + 1, 0, rowOfRun(comparison, row, b, row.group));
    }
    return all;
}

// Of a phase without the tasks that others have.
function rowsOfRun(run, by) {
    const isPart = run.from > -Infinity || run.to < Infinity;
    return allRows(run.trace, by).filter((row) => !isPart || !row.task || isInPart(row.task, run));
}

function isInPart(task, run) {
    const ran = (time) => task.before(RUNNING, time, task.at(time));
    return task.isIdle || task.jobs.release.some((at) => at >= run.from && at < run.to)
        || ran(Math.min(run.to, run.trace.last)) > ran(Math.max(run.from, 0));
}

function rowOfRun(comparison, row, run, group) {
    return {
        ...row, key: run.key(row.key), group, run, mark: run.mark,
        shade: row.shade && function (surface, y, scale) {
            return row.shade.call(this, surface, y, run.scale(scale), run.trace);
        },
        paint(surface, y, scale) {
            const own = run.scale(scale);
            const {view} = surface;
            surface.view = run.number === 0 ? view : {...view, filter: null}; // a brush chooses jobs of the first run
            row.paint.call(this, surface, y, own, run.trace);
            surface.view = view;
            paintLossesOf(surface, y, own, run, row);
            paintOutside(surface, y, own, run, row);
            paintDifference(surface, y, own, run, row, comparison);
        },
    };
}

function paintLossesOf(surface, y, scale, run, row) {
    for (const losses of run.trace.losses) {
        if (run.trace.cpus.length === 1 || row.cpu === losses.of) {
            eachInSight(losses.begin, losses.end, scale, (i) => {
                const [x, width] = scale.stretch(losses.begin[i], losses.end[i]);
                surface.rect(x, y, width, row.height, surface.theme.lost, 0.55);
                if (row.cpu === losses.of) {
                    surface.text(x + 4, y + 9, `${losses.records[i]} records lost`, surface.theme.text, width - 6);
                }
            });
        }
    }
}

// Before and after the part that counts, and beyond the trace.
function paintOutside(surface, y, scale, run, row) {
    for (const [begin, end] of [[scale.from, Math.max(run.from, 0)], [Math.min(run.to, run.trace.last), scale.to]]) {
        if (begin < end && end > scale.from && begin < scale.to) {
            const [x, width] = scale.stretch(begin, end);
            surface.rect(x, y, width, row.height, surface.theme.paper, OUTSIDE);
        }
    }
}

// A line through each row at the first decision that differs.
function paintDifference(surface, y, scale, run, row, comparison) {
    const first = comparison.firstDifference;
    const decision = first && first.decisions[run.number];
    if (decision) {
        const x = scale.x(run.times.ticksOfNs(decision.time_ns));
        if (x >= surface.left && x <= surface.width) {
            surface.line(x, y, x, y + row.height, surface.theme.over, 2);
            surface.polygon([x, y, x + 5, y + 4, x, y + 8], surface.theme.over);
        }
    }
}
