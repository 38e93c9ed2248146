// SPDX-License-Identifier: MIT
// What the pointer or the keyboard chooses: a job, the next miss, a place.
"use strict";

// From the release to the end, or to the deadline if that is later known.
function spanOfJob(task, index) {
    const {release, end, deadline} = task.jobs;
    const last = !isNaN(end[index]) ? end[index] : !isNaN(deadline[index]) ? deadline[index] : release[index];
    return [release[index], Math.max(last, release[index])];
}

function pickAt(timeline, row, time) {
    const index = row.task ? row.task.jobAt(time) : -1;
    timeline.view.pick(row.key, index >= 0 ? {task: row.task.number, index} : null);
}

function pickJob(timeline, task, index) {
    const {view, rows} = timeline;
    const row = rows.byKey.get(`task${task.number}`);
    if (view.hidden.has(row.key)) {
        view.toggle(view.hidden, row.key);
    }
    view.pick(row.key, {task: task.number, index});
    const [begin, end] = spanOfJob(task, index);
    view.reveal(begin, end);
    timeline.scrollTo(row);
}

// All misses, by time.
function allMisses(trace) {
    if (!trace.misses) {
        trace.misses = trace.tasks.flatMap((task) => task.missed.map((job, n) => ({task, job, at: task.missTimes[n]})))
            .sort((a, b) => a.at - b.at);
    }
    return trace.misses;
}

// From the job that was picked, else from the middle of what is in sight.
function pickMiss(timeline, direction) {
    const {view, trace} = timeline;
    const misses = allMisses(trace);
    const at = misses.findIndex(({task, job}) => view.job && task.number === view.job.task && job === view.job.index);
    const middle = (view.from + view.to) / 2;
    let next = at + direction;
    if (at < 0) {
        const after = firstAfter(misses.map((miss) => miss.at), middle);
        next = direction > 0 ? after : after - 1;
    }
    if (misses.length === 0) {
        return "no job missed its deadline";
    }
    next = (next + misses.length) % misses.length;
    pickJob(timeline, misses[next].task, misses[next].job);
    return `miss ${next + 1} of ${misses.length}`;
}

// The job before or after the one picked, in the row.
function stepJob(timeline, direction) {
    const {view, trace, rows} = timeline;
    const row = rows.byKey.get(view.row);
    if (!row || !row.task || row.task.jobs.count === 0) {
        return;
    }
    const now = view.job && view.job.task === row.task.number ? view.job.index + direction
        : row.task.jobAt((view.from + view.to) / 2);
    let index = Math.min(Math.max(now, 0), row.task.jobs.count - 1);
    while (!isChosen(view, row.task, index) && index + direction >= 0 && index + direction < row.task.jobs.count) {
        index += direction;
    }
    pickJob(timeline, row.task, index);
}
