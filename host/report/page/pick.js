// SPDX-License-Identifier: MIT
// What the pointer or the keyboard chooses: a job, the next miss, a place.
"use strict";

// From the release to the end, or to the deadline if that is later known.
function spanOfJob(task, index) {
    const {release, end, deadline} = task.jobs;
    const last = !isNaN(end[index]) ? end[index] : !isNaN(deadline[index]) ? deadline[index] : release[index];
    return [release[index], Math.max(last, release[index])];
}

// Of the job that was picked, on the timeline.
function shownSpan(view) {
    const run = view.runOf(view.job);
    return spanOfJob(run.trace.tasks[view.job.task], view.job.index).map((time) => run.shown(time));
}

function pickAt(timeline, row, time) {
    const {number, own} = row.run ? {number: row.run.number, own: row.run.own(time)} : {number: 0, own: time};
    const index = row.task ? row.task.jobAt(own) : -1;
    timeline.view.pick(row.key, index >= 0 ? {task: row.task.number, index, run: number} : null);
}

function pickJob(timeline, task, index, run = 0) {
    const {view, rows} = timeline;
    const row = rows.byKey.get(view.runs[run].key(`task${task.number}`));
    if (row) {
        rows.bringUp(row);
    }
    view.pick(row ? row.key : null, {task: task.number, index, run});
    const [begin, end] = shownSpan(view);
    view.reveal(begin, end);
    if (row) {
        timeline.scrollTo(row);
    }
}

// All misses, of two traces those of both, by time.
function allMisses(view) {
    const runs = view.runs.filter((run, i) => i === 0 || run.trace !== view.runs[0].trace);
    return runs.flatMap((run) => run.trace.tasks.flatMap((task) => task.missed.map(
        (job, n) => ({task, job, run: run.number, at: run.shown(task.missTimes[n])})))).sort((a, b) => a.at - b.at);
}

// From the job that was picked; else the first one in sight, backwards the last one; if none is, the next one there.
function pickMiss(timeline, direction) {
    const {view} = timeline;
    const misses = allMisses(view);
    if (misses.length === 0) {
        return trace.isPart ? "no job of this part missed its deadline" : "no job missed its deadline";
    }
    const at = misses.findIndex(({task, job, run}) => view.job && run === (view.job.run || 0)
        && task.number === view.job.task && job === view.job.index);
    let next = at + direction;
    if (at < 0) {
        const times = misses.map((miss) => miss.at);
        next = direction > 0 ? times.findIndex((time) => time >= view.from) : firstAfter(times, view.to) - 1;
        next = direction > 0 && next < 0 ? 0 : next;
    }
    next = (next + misses.length) % misses.length;
    pickJob(timeline, misses[next].task, misses[next].job, misses[next].run);
    return `miss ${next + 1} of ${misses.length}`;
}

// The job before or after the one picked, in the row.
function stepJob(timeline, direction) {
    const {view, rows} = timeline;
    const row = rows.byKey.get(view.row);
    if (!row || !row.task || row.task.jobs.count === 0) {
        return;
    }
    const run = row.run || view.runs[0];
    const isPicked = view.job && view.job.task === row.task.number && (view.job.run || 0) === run.number;
    const now = isPicked ? view.job.index + direction : row.task.jobAt(run.own((view.from + view.to) / 2));
    let index = Math.min(Math.max(now, 0), row.task.jobs.count - 1);
    while (run.number === 0 && !isChosen(view, row.task, index) && index + direction >= 0
           && index + direction < row.task.jobs.count) {
        index += direction;
    }
    pickJob(timeline, row.task, index, run.number);
}
