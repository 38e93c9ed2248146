// SPDX-License-Identifier: MIT
// Tests what keys and the pointer choose: misses, jobs, places.
"use strict";

const assert = require("node:assert");
const {test} = require("node:test");
const {traceOf, timelineOf, zigzag} = require("../../../../support/page.js");

const late = (release, deadline) => ({release, start: release, deadline, end: deadline + 10, late: 1});
const first = {name: "first", jobs: [late(100, 140), {release: 200, deadline: 250, end: 220}, late(800, 850)]};
const second = {name: "second", jobs: [late(10, 50), late(500, 600)]};

const picked = ({view}) => [view.trace.tasks[view.job.task].name, view.job.index];

test("misses of all tasks are in the order of time", () => {
    const {view} = timelineOf(traceOf([first, second]));
    assert.deepEqual(allMisses(view).map(({task, job, at}) => [task.name, job, at]),
                     [["second", 0, 50], ["first", 0, 140], ["second", 1, 600], ["first", 2, 850]]);
    view.runs.push(Object.assign(new Run(traceOf([second]), view.times, 1), {at: 70}));
    assert.deepEqual(allMisses(view).map(({run, at}) => [run, at]).slice(0, 3), [[0, 50], [1, 120], [0, 140]]);
    view.runs[1].trace = view.trace;
    assert.equal(allMisses(view).length, 4);
});

test("the next miss follows the picked one, and wraps", () => {
    const timeline = timelineOf(traceOf([first, second]));
    const steps = [1, 1, 1, 1, 1, -1].map((direction) => [pickMiss(timeline, direction), ...picked(timeline)]);
    assert.deepEqual(steps, [["miss 1 of 4", "second", 0], ["miss 2 of 4", "first", 0], ["miss 3 of 4", "second", 1],
                             ["miss 4 of 4", "first", 2], ["miss 1 of 4", "second", 0], ["miss 4 of 4", "first", 2]]);
});

test("with nothing picked it is the first miss in sight, or the last one backwards", () => {
    for (const [from, to, direction, name, index] of [[100, 700, 1, "first", 0], [100, 700, -1, "second", 1],
                                                      [860, 1000, 1, "second", 0], [0, 40, -1, "first", 2]]) {
        const timeline = timelineOf(traceOf([first, second]));
        timeline.view.show(from, to);
        pickMiss(timeline, direction);
        assert.deepEqual(picked(timeline), [name, index]);
    }
});

test("a page without a miss says so", () => {
    const span = {last: 1000, from_ns: 5, to_ns: null, bucket: 100};
    const jobs = [{release: 0, deadline: 50, end: 10}];
    assert.equal(pickMiss(timelineOf(traceOf([{name: "a", jobs}])), 1), "no job missed its deadline");
    assert.equal(pickMiss(timelineOf(traceOf([{name: "a", jobs}], {span})), -1),
                 "no job of this part missed its deadline");
});

test("steps in a row pass the jobs that the brush did not choose", () => {
    const timeline = timelineOf(traceOf([first, second]));
    const {view} = timeline;
    view.pick("task0", {task: 0, index: 0});
    stepJob(timeline, 1);
    assert.deepEqual(picked(timeline), ["first", 1]);
    view.filter = {task: 0, least: 30, greatest: 100};
    view.pick("task0", {task: 0, index: 0});
    stepJob(timeline, 1);
    assert.deepEqual(picked(timeline), ["first", 2]);
    stepJob(timeline, 1);
    assert.deepEqual(picked(timeline), ["first", 2]);
    view.filter = null;
    view.show(180, 280);
    view.pick("task0", null);
    stepJob(timeline, 1);
    assert.deepEqual(picked(timeline), ["first", 1]);
    view.pick("cpu0", null);
    stepJob(timeline, 1);
    assert.equal(view.job, null);
});

test("a picked job that is right of the window comes into sight", () => {
    const timeline = timelineOf(traceOf([first, second]));
    timeline.view.show(0, 90);
    pickJob(timeline, timeline.trace.tasks[0], 2);
    assert.ok(timeline.view.from <= 800 && timeline.view.to >= 860, `${timeline.view.from} ${timeline.view.to}`);
    assert.equal(timeline.view.row, "task0");
});

test("the span of a job ends with it, or with its deadline, or at once", () => {
    const [task] = traceOf([{name: "a", jobs: [{release: 10, deadline: 20, end: 30}, {release: 40, deadline: 60},
                                               {release: 70}, {release: 90, end: 80, deadline: 95}]}]).tasks;
    assert.deepEqual([0, 1, 2, 3].map((job) => spanOfJob(task, job)), [[10, 30], [40, 60], [70, 70], [90, 90]]);
});

test("a click picks the job at the pointer", () => {
    const timeline = timelineOf(traceOf([{...first, intervals: [[0, 10, RUNNING]]}, second]));
    pickAt(timeline, timeline.rows.byKey.get("task1"), 520);
    assert.deepEqual([timeline.view.row, timeline.view.job], ["task1", {task: 1, index: 1, run: 0}]);
    pickAt(timeline, timeline.rows.byKey.get("task1"), 5);
    assert.equal(timeline.view.job, null);
    pickAt(timeline, timeline.rows.byKey.get("cpu0"), 520);
    assert.deepEqual([timeline.view.row, timeline.view.job], ["cpu0", null]);
});

test("zooming keeps the middle, moving keeps the length", () => {
    const {view} = timelineOf(traceOf([first]));
    view.show(100, 300);
    zoomBy({view, pointer: null}, 0.5);
    assert.deepEqual([view.from, view.to], [150, 250]);
    moveBy(view, 0.2);
    assert.deepEqual([view.from, view.to], [170, 270]);
    const pointer = {x: LABELS_WIDTH + 10};
    zoomBy({view, pointer, scale: () => ({time: () => 180})}, 2);
    assert.deepEqual([view.from, view.to], [160, 360]);
    setCursor({view, pointer: null}, 1);
    assert.deepEqual(view.cursors, [null, 260]);
    setCursor({view, pointer, scale: () => ({time: () => 180})}, 0);
    assert.deepEqual(view.cursors, [180, 260]);
    view.job = {task: 0, index: 2, run: 0};
    zoomToJob({view});
    assert.deepEqual([view.from, view.to], [780, 880]);
});
