// SPDX-License-Identifier: MIT
// A run on the timeline: its trace, which part of it counts, and where its times are. Times of the first run are those
// of the timeline; those of a second one are converted by the rates of both clocks, from a moment that both have in
// common: the release on which they are aligned.
"use strict";

class Run {
    constructor(trace, times, number = 0) {
        Object.assign(this, {trace, times, number});
        this.title = "";
        this.from = -Infinity; // of the part that counts, in its own ticks
        this.to = Infinity;
        this.rate = 1;         // its ticks in one of the timeline
        this.origin = 0;       // its time, and
        this.at = 0;           // where it is on the timeline
    }

    shown(own) {
        return this.number === 0 ? own : (own - this.origin) / this.rate + this.at;
    }

    own(shown) {
        return this.number === 0 ? shown : (shown - this.at) * this.rate + this.origin;
    }

    // The scale of the timeline for its own times.
    scale(scale) {
        return this.number === 0 ? scale : new Scale(scale.surface, this.own(scale.from), this.own(scale.to));
    }

    // Of one of its rows.
    key(key) {
        return this.number === 0 ? key : `b${key}`;
    }

    get mark() {
        return "\u2212+"[this.number];
    }

    // The jobs of all tasks of a name in the part that counts, in the order of their end: their places in it are the
    // numbers by which two runs are compared.
    jobs(name) {
        if (!this.byName) {
            this.byName = d3.rollup(this.trace.tasks, (tasks) => this.jobsOf(tasks), (task) => task.name);
        }
        return this.byName.get(name) || {before: 0, list: []};
    }

    jobsOf(tasks) {
        const endOf = ({task, index}) => isNaN(task.jobs.end[index]) ? Infinity : task.jobs.end[index];
        const list = tasks.flatMap((task) => Array.from(task.jobs.release, (release, index) => ({task, index, release}))
            .filter(({release}) => release >= this.from && release < this.to));
        list.sort((a, b) => endOf(a) < endOf(b) ? -1 : endOf(a) > endOf(b) ? 1 : 0);
        return {before: d3.sum(tasks, (task) => task.jobs_before), list};
    }

    // From 1; nothing if the page does not have it.
    job(name, number) {
        const {before, list} = this.jobs(name);
        return list[number - 1 - before] || null;
    }

    // Of the job with this number of the task in this context.
    placeOf(name, context, number) {
        const {before, list} = this.jobs(name);
        return list.findIndex(({task, index}) => task.context === context && task.jobs.number[index] === number) + 1
            + before;
    }

    numberOf(task, index) {
        const {before, list} = this.jobs(task.name);
        const place = list.findIndex((job) => job.task === task && job.index === index);
        return place < 0 ? 0 : place + 1 + before;
    }
}
