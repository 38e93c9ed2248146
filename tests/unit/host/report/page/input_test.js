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
                                                      [860, 1000, 1, "second", 0], [0, 40, -1, "first", 2],
                                                      [140, 240, 1, "first", 0], [140, 240, -1, "first", 0]]) {
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

const SPACE = "\u202f";

test("the tip of a task says what it does, and which job it is", () => {
    const facts = {details: [{wait: "mutex tank", mutex: 1, other: 2}, {wait: "a delay", mutex: null, other: 0},
                             {wait: "", mutex: null, other: 2}]};
    const trace = traceOf([{name: "a", wcet_ns: 15, intervals: [
        [0, 10, RUNNING, 0, 8], [10, 20, READY, 0, 2], [20, 30, WAITING, 1], [30, 40, WAITING, 2],
        [40, 50, RUNNING, 3, 7], [50, 55, RUNNING, 3, 5]],
        jobs: [{release: 0, deadline: 25, end: 45, late: 1}, {release: 60}]}, {name: "b"}], {...facts,
        kinds: ["task_wcet_violation"]}, [{name: "marks", of: 0, columns: {at: [35], kind: [0], task: [1], par1: [0],
                                                                           par2: [0], text: [0]}}]);
    const times = new Times(trace.khz);
    const tip = (time, near = 0) => tipOf(trace, times, {key: "task0", task: trace.tasks[0]}, time, near)
        .map((line) => line.replace(/\u202f/g, " "));
    assert.deepEqual(tip(5), ["runs 10 ns", "then: job completed", "job 1: response 45 ns"]);
    assert.deepEqual(tip(15), ["ready 10 ns", "released", "job 1: response 45 ns"]);
    assert.deepEqual(tip(22), ["waits 10 ns: mutex tank, held by b", "job 1: response 45 ns"]);
    assert.deepEqual(tip(32), ["waits 10 ns: a delay", "job 1: response 45 ns"]);
    assert.deepEqual(tip(45)[0], "runs 10 ns in the place of b");
    assert.deepEqual([tip(45)[1], tip(52)[1]], ["then: waits for ", "then: preempted"]);
    assert.deepEqual(tip(70), ["job 2"]);
    assert.deepEqual(tip(23, 2).slice(2), ["job 1 missed its deadline by 20 ns"]);
    assert.deepEqual(tip(22, 2).slice(2), []);
    assert.deepEqual(tip(28, 2).slice(2), []);
    assert.deepEqual(tip(33, 2).slice(2), [
        "has executed for longer than the declared worst case of 15 ns, at 0.000035 ms"]);
    assert.deepEqual(tip(38, 2).slice(2), []);
});

test("the tip of the events has their whole texts", () => {
    const facts = {kinds: ["trace_printf", "user_event_1"], texts: ["a text that is longer than its place in the row"],
                   oracle: {checked: 1, undecided: 0, violations: 1, relaxed: [], shown: [
                       {at: 30, task: 0, rule: "edf-order", text: "x ran before y", file: "", chunk: 0, record: 0}]}};
    const ten = (value) => Array(10).fill(value);
    const marks = {at: [10, 12, ...ten(50)], kind: [0, 1, ...ten(1)], task: [1, 0, ...ten(0)], par1: [0, 3, ...ten(0)],
                   par2: [0, 4, ...ten(0)], text: [1, 0, ...ten(0)]};
    const trace = traceOf([{name: "a"}], facts, [{name: "marks", of: 0, columns: marks}]);
    const tip = (time, near) => tipOf(trace, new Times(trace.khz), {key: "marks"}, time, near);
    const first = `0.000010${SPACE}ms trace_printf a text that is longer than its place in the row (a)`;
    assert.deepEqual(tip(9, 1), [first]);
    assert.deepEqual(tip(11, 1), [first, `0.000012${SPACE}ms user_event_1 3 4`]);
    assert.deepEqual(tip(8, 1), []);
    assert.deepEqual([tip(50, 0).length, tip(50, 0)[8]], [9, "and 2 more"]);
    assert.deepEqual(tip(31, 1), ["violation of edf-order: x ran before y"]);
    assert.deepEqual(tip(32, 1), []);
});

test("tips of the other rows name what is there", () => {
    const plots = [{event: "e", field: "x", unit: "mm", fraction_bits: 0},
                   {event: "e", field: "on", unit: "", boolean: true, fraction_bits: 0}];
    const timeline = timelineOf(traceOf([{name: "a", intervals: [[10, 30, RUNNING, 0, 5]]}], {
        plots, vectors: [[33, "disk"]], mutexes: [[3, "bus"]], servers: [[4, "aux"]]}, [
        {name: "handlers", of: 0, columns: {begin: [12, 14, 90, 95], end: [20, 16, 99, 99],
                                            depth: [1, 2, 1, 2], vector: [32, 33, 34, 34], task: [0, 0, 0, 0]}},
        {name: "holds", of: 3, columns: {begin: [10], end: [30], task: [0], how: [2]}},
        {name: "budget", of: 4, columns: {at: [10], ticks: [5]}},
        {name: "plot", of: 0, columns: {at: [10], value: [zigzag(1234)]}},
        {name: "plot", of: 1, columns: {at: [10], value: [zigzag(0)]}}]));
    const tip = (key, time, near = 0) => tipOf(timeline.trace, timeline.view.times, timeline.rows.byKey.get(key), time,
                                               near)
        .map((line) => line.replace(/\u202f/g, " "));
    assert.deepEqual(tip("cpu0", 15), ["a runs 20 ns", "since 0.000010 ms", "then: preempted"]);
    assert.deepEqual(tip("cpu0", 35), []);
    assert.deepEqual(tip("irq0", 15), ["the handler of disk", "2 ns", "depth 2"]);
    assert.deepEqual(tip("irq0", 18), ["the handler of #32", "8 ns", "depth 1"]);
    assert.deepEqual(tip("irq0", 25), []);
    assert.deepEqual(tip("irq0", 25, 4), [], "nothing is so near");
    assert.deepEqual(tip("irq0", 25, 5), ["the handler of #32", "8 ns", "depth 1"], "it has just ended");
    assert.deepEqual(tip("irq0", 87, 2), []);
    assert.deepEqual(tip("irq0", 87, 3), ["the handler of #34", "9 ns", "depth 1"], "it is about to begin");
    assert.deepEqual(tip("irq0", 13, 9), ["the handler of #32", "8 ns", "depth 1"], "what is there comes first");
    assert.deepEqual(tip("irq0", 9, 2), []);
    assert.deepEqual(tip("irq0", 103, 4), ["the handler of #34", "4 ns", "depth 2"]);
    assert.deepEqual(tip("mutex3", 15), ["held by a", "20 ns", "owner died"]);
    assert.deepEqual(tip("mutex3", 5), []);
    assert.deepEqual([tip("mutex3", 5, 5)[0], tip("mutex3", 35, 5)[0], tip("mutex3", 36, 5)[0]],
                     ["held by a", "held by a", undefined]);
    assert.deepEqual(tip("server4", 15), ["aux = 5 ns", "since 0.000010 ms"]);
    assert.deepEqual(tip("plot0", 15), ["e.x = 1,234 mm", "since 0.000010 ms"]);
    assert.deepEqual(tip("plot1", 15), ["e.on = false", "since 0.000010 ms"]);
    assert.deepEqual(tip("plot1", 5), []);
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
