// SPDX-License-Identifier: MIT
// The row of a task: running filled, ready hatched, held up in the colour of the resource, otherwise empty; releases as
// arrows up, deadlines as arrows down, misses as red caps, exceeded execution times as marks.
"use strict";

const TRACK_TOP = 7;
const TRACK_HEIGHT = 15;

function resourceOf(detail) {
    return detail !== null && /^(mutex|semaphore|condition|receive|send) /.test(detail.wait) ? detail.wait : null;
}

const resourceNumbers = new Map();

function colourOfResource(resource) {
    if (!resourceNumbers.has(resource)) {
        resourceNumbers.set(resource, resourceNumbers.size);
    }
    return resourceColour(resourceNumbers.get(resource));
}

function paintTask(surface, y, scale, trace) {
    const task = this.task;
    const first = task.at(scale.from);
    const stop = firstAfter(task.begin, scale.to, first);
    if (task.count === 0 || scale.from >= task.end[task.count - 1] || scale.to <= task.begin[0]) {
        paintOverview(surface, y, scale, trace, task);
    } else if (isDense(stop - first, surface)) {
        paintShares(surface, y, scale, task);
    } else {
        for (let i = first; i < stop; ++i) {
            paintInterval(surface, y + TRACK_TOP, scale, trace, task, i);
        }
    }
    surface.line(scale.left, y + TRACK_TOP + TRACK_HEIGHT + 0.5, scale.right, y + TRACK_TOP + TRACK_HEIGHT + 0.5,
                 surface.theme.line);
    paintJobs(surface, y, scale, task);
    paintChosen(surface, y, scale, task);
}

// The jobs that a brush across the histogram chose: a bar below each.
function paintChosen(surface, y, scale, task) {
    const {filter} = surface.view;
    if (filter && filter.task === task.number) {
        const {release, end} = task.jobs;
        const stop = firstAfter(release, scale.to);
        for (let i = Math.max(firstAfter(release, scale.from) - 1, 0); i < stop; ++i) {
            if (end[i] >= scale.from && isChosen(surface.view, task, i)) {
                const [x, width] = scale.stretch(release[i], end[i]);
                surface.rect(x, y + TRACK_TOP + TRACK_HEIGHT + 2, width, 3, surface.theme.cursor);
            }
        }
    }
}

function paintShares(surface, y, scale, task) {
    const index = [0, 0, 0];
    const shares = [RUNNING, READY, WAITING].map((activity) => scale.shares((time) => {
        index[activity] = gallop(task.end, time, index[activity]);
        return task.before(activity, time, index[activity]);
    }));
    const {ready, hatch, idle} = surface.theme;
    surface.shade(y + TRACK_TOP, TRACK_HEIGHT, [
        [shares[RUNNING], pixelOf(task.isIdle ? idle : taskColour(task.number)), null],
        [shares[READY], pixelOf(ready), pixelOf(hatch)],
        [shares[WAITING], pixelOf(colourOfResource("")), null],
    ]);
}

// Where the page has no intervals, by the buckets of the whole trace.
function paintOverview(surface, y, scale, trace, task) {
    const bucket = trace.facts.span.bucket;
    const count = surface.columns;
    const step = (scale.to - scale.from) / count;
    const shares = (values) => Float32Array.from({length: count}, (_, i) => {
        const at = Math.floor((scale.from + i * step) / bucket);
        return at >= 0 && at < values.length ? values[at] / 255 : 0;
    });
    if (task.overview.running.length > 0) {
        const {ready, hatch} = surface.theme;
        surface.shade(y + TRACK_TOP, TRACK_HEIGHT, [
            [shares(task.overview.running), pixelOf(taskColour(task.number)), null],
            [shares(task.overview.ready), pixelOf(ready), pixelOf(hatch)],
        ]);
    }
}

function paintInterval(surface, y, scale, trace, task, i) {
    const [x, width] = scale.stretch(task.begin[i], task.end[i]);
    const detail = trace.detailOf(task, i);
    if (task.activity[i] === RUNNING) {
        paintRunning(surface, x, y, width, trace, task, detail);
    } else if (task.activity[i] === READY) {
        surface.hatch(x, y + 3, width, TRACK_HEIGHT - 3);
    } else {
        const resource = resourceOf(detail);
        const colour = resource === null ? surface.theme.muted : colourOfResource(resource);
        if (resource !== null) {
            surface.rect(x, y, width, TRACK_HEIGHT, colour, 0.3);
        }
        surface.rect(x, y + TRACK_HEIGHT - 2, width, 2, colour, resource === null ? 0.35 : 1);
        const holder = detail !== null && detail.other > 0 ? ` \u00b7 held by ${trace.taskName(detail.other)}` : "";
        surface.text(x + 4, y + TRACK_HEIGHT / 2, detail === null ? "" : detail.wait + holder,
                     resource === null ? surface.theme.muted : surface.theme.text, width - 6);
    }
}

function paintRunning(surface, x, y, width, trace, task, detail) {
    const colour = task.isIdle ? surface.theme.idle : taskColour(task.number);
    surface.rect(x, y, width, TRACK_HEIGHT, colour);
    if (detail !== null && detail.other > 0) {
        surface.rect(x, y + TRACK_HEIGHT / 2, width, TRACK_HEIGHT / 2, taskColour(detail.other - 1));
        surface.text(x + 4, y + TRACK_HEIGHT / 2, `for ${trace.taskName(detail.other)}`, surface.theme.onColour,
                     width - 6);
    }
}

function paintJobs(surface, y, scale, task) {
    const {release, deadline, end, late} = task.jobs;
    const {text, muted, miss} = surface.theme;
    const first = firstAfter(release, scale.from);
    const stop = firstAfter(release, scale.to, first);
    if (!isDense((stop - first) * 2, surface)) {
        for (let i = first; i < stop; ++i) {
            arrow(surface, scale.x(release[i]), y + TRACK_TOP + TRACK_HEIGHT, y + 1, text);
        }
        // A deadline may be in sight whose release is not.
        for (let i = Math.max(first - 2, 0); i < Math.min(stop + 1, release.length); ++i) {
            if (deadline[i] >= scale.from && deadline[i] <= scale.to) {
                arrow(surface, scale.x(deadline[i]), y + 2, y + TRACK_TOP + TRACK_HEIGHT + 5, muted);
            }
        }
    }
    eachPointInSight(task.overruns, scale, (n) => {
        const x = scale.x(task.overruns[n]);
        surface.polygon([x, y + TRACK_TOP, x + 4, y + TRACK_TOP + 7, x - 4, y + TRACK_TOP + 7], surface.theme.over);
    });
    const times = task.missTimes;
    eachPointInSight(times, scale, (n) => {
        const job = task.missed[n];
        const x = scale.x(times[n]);
        if (!isNaN(end[job]) && late[job] && end[job] > times[n]) {
            const [begin, width] = scale.stretch(times[n], end[job]);
            surface.rect(begin, y + 3, width, 2, miss);
        }
        surface.polygon([x - 5, y, x + 5, y, x + 5, y + 3, x, y + 7, x - 5, y + 3], miss);
        surface.line(x, y + 4, x, y + TRACK_TOP + TRACK_HEIGHT + 2, miss, 1.5);
    });
}

function arrow(surface, x, from, to, colour) {
    const head = to > from ? -4 : 4;
    surface.line(x, from, x, to, colour);
    surface.polygon([x, to, x - 3, to + head, x + 3, to + head], colour);
}
