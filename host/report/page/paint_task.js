// SPDX-License-Identifier: MIT
// Draws the row of a task: running is filled, ready is hatched, a wait for a resource has its colour, another one is a
// thin line. Releases are arrows up, deadlines arrows down, misses red caps, exceeded execution times marks.
"use strict";

const TRACK_TOP = 7;
const TRACK_HEIGHT = 15;

function resourceOf(detail) {
    return detail !== null && /^(mutex|semaphore|condition|receive|send) /.test(detail.wait) ? detail.wait : null;
}

const resourceNumbers = new Map();

// Numbers the resources in the order of the trace, not of drawing: a page has the same colours wherever it opens.
function numberResources(facts) {
    const waits = facts.details.filter((detail) => resourceOf(detail) !== null).map((detail) => detail.wait);
    for (const resource of [...facts.mutexes.map(([, name]) => `mutex ${name}`), ...waits]) {
        if (!resourceNumbers.has(resource)) {
            resourceNumbers.set(resource, resourceNumbers.size);
        }
    }
}

function colourOfResource(resource) {
    return resourceColour(resourceNumbers.get(resource) || 0);
}

function shadeTask(surface, y, scale, trace) {
    const task = this.task;
    const {miss, over} = surface.theme;
    this.areMissesShaded = shadePoints(surface, y, 5, task.missTimes, scale, miss);
    this.areOverrunsShaded = shadePoints(surface, y + TRACK_TOP + TRACK_HEIGHT + 1, 4, task.overruns, scale, over);
    if (task.count === 0 || scale.from >= task.end[task.count - 1] || scale.to <= task.begin[0]) {
        paintOverview(surface, y, scale, trace, task);
        return true;
    }
    const first = task.at(scale.from);
    const isShaded = isDense(firstAfter(task.begin, scale.to, first) - first, surface);
    if (isShaded) {
        paintShares(surface, y, scale, task);
    }
    return isShaded;
}

function paintTask(surface, y, scale, trace) {
    const task = this.task;
    if (!this.isShaded) {
        const first = task.at(scale.from);
        const stop = firstAfter(task.begin, scale.to, first);
        for (let i = first; i < stop; ++i) {
            paintInterval(surface, y + TRACK_TOP, scale, trace, task, i);
        }
        if (trace.cpus.length > 1) {
            paintProcessors(surface, y + TRACK_TOP, scale, task, first, stop);
        }
    }
    surface.line(scale.left, y + TRACK_TOP + TRACK_HEIGHT + 0.5, scale.right, y + TRACK_TOP + TRACK_HEIGHT + 0.5,
                 surface.theme.line);
    paintJobs(surface, y, scale, task);
    if (!this.areOverrunsShaded) {
        paintOverruns(surface, y, scale, task);
    }
    if (!this.areMissesShaded) {
        paintMisses(surface, y, scale, task);
    }
    paintChosen(surface, y, scale, task);
}

// Marks the jobs that a brush across the histogram chose with a bar below them, and fades the others.
function paintChosen(surface, y, scale, task) {
    const {filter} = surface.view;
    if (!filter || filter.task !== task.number) {
        return;
    }
    const [begin, end] = chosenSpans(task, filter);
    let faded = scale.from;
    const fade = (to) => {
        if (to > faded) {
            const [x, width] = scale.stretch(faded, to);
            surface.rect(x, y + 1, width, TRACK_TOP + TRACK_HEIGHT - 1, surface.theme.paper, 0.75);
        }
    };
    eachInSight(begin, end, scale, (i) => {
        const [x, width] = scale.stretch(begin[i], end[i]);
        fade(begin[i]);
        faded = end[i];
        surface.rect(x, y + TRACK_TOP + TRACK_HEIGHT + 2, width, 3, surface.theme.cursor);
    });
    fade(scale.to);
}

// Returns the releases and the ends of the jobs that were chosen.
function chosenSpans(task, filter) {
    if (!filter.spans) {
        const {release, end} = task.jobs;
        const chosen = Array.from(release.keys()).filter((i) => isChosenBy(filter, task, i));
        filter.spans = [release, end].map((all) => Float64Array.from(chosen, (i) => all[i]));
    }
    return filter.spans;
}

function paintShares(surface, y, scale, task) {
    const shares = sharesOfTask(task, scale);
    const {ready, hatch, idle, held} = surface.theme;
    surface.shade(y + TRACK_TOP, TRACK_HEIGHT, [
        [shares[RUNNING], pixelOf(task.isIdle ? idle : taskColour(task.colour)), null],
        [shares[READY], pixelOf(ready), pixelOf(hatch)],
        [shares[HELD], pixelOf(held), null],
    ]);
}

// Draws the buckets of the whole trace where the page has no intervals.
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
            [shares(task.overview.running), pixelOf(taskColour(task.colour)), null],
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
        waitBar(surface, x, y, width, resource === null ? null : colourOfResource(resource));
        const holder = detail !== null && detail.other > 0 ? ` \u00b7 held by ${trace.taskName(detail.other)}` : "";
        surface.text(x + 4, y + TRACK_HEIGHT / 2, detail === null ? "" : detail.wait + holder,
                     resource === null ? surface.theme.muted : surface.theme.text, width - 6);
    }
}

// Draws a wait. The colour is that of the resource; null means that the task waits for something else.
function waitBar(surface, x, y, width, colour) {
    if (colour !== null) {
        surface.rect(x, y, width, TRACK_HEIGHT, colour, 0.3);
    }
    surface.rect(x, y + TRACK_HEIGHT - 2, width, 2, colour || surface.theme.muted, colour === null ? 0.35 : 1);
}

function paintRunning(surface, x, y, width, trace, task, detail) {
    const colour = task.isIdle ? surface.theme.idle : taskColour(task.colour);
    surface.rect(x, y, width, TRACK_HEIGHT, colour);
    if (detail !== null && detail.other > 0) {
        const other = trace.tasks[detail.other - 1];
        surface.rect(x, y + TRACK_HEIGHT / 2, width, TRACK_HEIGHT / 2, taskColour(other.colour));
        surface.text(x + 4, y + TRACK_HEIGHT / 2, `for ${trace.taskName(detail.other)}`, surface.theme.onColour,
                     width - 6);
    }
}

// Shows on which of several processors the task runs, with a wedge where it has moved.
function paintProcessors(surface, y, scale, task, first, stop) {
    let before = first - 1;
    while (before >= 0 && task.activity[before] !== RUNNING) {
        --before;
    }
    for (let i = first; i < stop; ++i) {
        if (task.activity[i] === RUNNING) {
            const [x, width] = scale.stretch(task.begin[i], task.end[i]);
            const moved = before >= 0 && task.cpu[before] !== task.cpu[i];
            if (moved && task.begin[i] >= scale.from) {
                surface.polygon([x, y - 6, x + 7, y - 2.5, x, y + 1], surface.theme.text);
                surface.line(x, y - 6, x, y + TRACK_HEIGHT, surface.theme.text);
            }
            surface.text(x + 4, y + TRACK_HEIGHT / 2, `${task.cpu[i]}`, task.isIdle ? surface.theme.muted
                : surface.theme.onColour, width - 2);
            before = i;
        }
    }
}

function paintJobs(surface, y, scale, task) {
    const {release, deadline} = task.jobs;
    const {text, muted} = surface.theme;
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
}

function paintMisses(surface, y, scale, task) {
    const {end, late} = task.jobs;
    const {miss} = surface.theme;
    const times = task.missTimes;
    eachPointInSight(times, scale, (n) => {
        const job = task.missed[n];
        const x = scale.x(times[n]);
        if (!isNaN(end[job]) && late[job] && end[job] > times[n]) {
            const [begin, width] = scale.stretch(times[n], end[job]);
            surface.rect(begin, y + 3, width, 2, miss);
        }
        missMark(surface, x, y);
    });
}

function missMark(surface, x, y) {
    const {miss} = surface.theme;
    surface.polygon([x - 5, y, x + 5, y, x + 5, y + 3, x, y + 7, x - 5, y + 3], miss);
    surface.line(x, y + 4, x, y + TRACK_TOP + TRACK_HEIGHT + 2, miss, 1.5);
}

function paintOverruns(surface, y, scale, task) {
    eachPointInSight(task.overruns, scale, (n) => {
        overrunMark(surface, scale.x(task.overruns[n]), y);
    });
}

function overrunMark(surface, x, y) {
    surface.polygon([x, y + TRACK_TOP, x + 4, y + TRACK_TOP + 7, x - 4, y + TRACK_TOP + 7], surface.theme.over);
}

function arrow(surface, x, from, to, colour) {
    const head = to > from ? -4 : 4;
    surface.line(x, from, x, to, colour);
    surface.polygon([x, to, x - 3, to + head, x + 3, to + head], colour);
}
