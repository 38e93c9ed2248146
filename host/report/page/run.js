// SPDX-License-Identifier: MIT
// Places a run on the timeline. It has its trace, the part of it that counts, and where its times are. Times of the
// first run are those of the timeline. Times of a second one are converted by the rates of both clocks, from a moment
// that both have in common: the release on which they are aligned.
"use strict";

class Run {
    constructor(trace, times, number = 0) {
        Object.assign(this, {trace, times, number});
        this.title = "";
        this.from = -Infinity; // The part that counts begins here, in ticks of the run.
        this.to = Infinity;
        this.rate = 1;         // A tick of the timeline is so many of the run.
        this.origin = 0;       // This time of the run is shown at `at`.
        this.at = 0;           // The timeline shows `origin` here.
    }

    shown(own) {
        return this.number === 0 ? own : (own - this.origin) / this.rate + this.at;
    }

    own(shown) {
        return this.number === 0 ? shown : (shown - this.at) * this.rate + this.origin;
    }

    // Returns the scale of the timeline for the run's own times.
    scale(scale) {
        return this.number === 0 ? scale : new Scale(scale.surface, this.own(scale.from), this.own(scale.to));
    }

    // Returns the key of one of its rows.
    key(key) {
        return this.number === 0 ? key : `b${key}`;
    }

    get mark() {
        return "\u2212+"[this.number];
    }

    // Returns the jobs of all tasks of a name in the part that counts, in the order of their ends. Two runs are
    // compared by the places of jobs in this order.
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

    // Returns the job of a number, counted from 1, or null if the page does not have it.
    job(name, number) {
        const {before, list} = this.jobs(name);
        return list[number - 1 - before] || null;
    }

    // Returns the place, counted from 1, of a job among those of its name; `number` is its number in the context.
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
