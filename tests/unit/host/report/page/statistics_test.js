// SPDX-License-Identifier: MIT
// Tests the sentences of a response time's shares, and the figures.
"use strict";

const assert = require("node:assert");
const {test} = require("node:test");
const {traceOf} = require("../../../../support/page.js");

const facts = {mutexes: [[3, "tank"]], vectors: [[33, "disk"]], servers: [[4, "aux"]]};
const names = ["victim", "holder", "end", "other"];
const trace = traceOf(names.map((name) => ({name})), facts);
const link = (name) => names.indexOf(name) + 1;
const culprit = (more) => ({part: "blocking", by: "task", inversion: "none", task: 0, who: 0, object: 3, wait: "",
                            holder: 0, chain_end: 0, ...more});

test("a blocking is described along the chain of holders", () => {
    const said = (more) => sentenceOf(trace, culprit(more));
    assert.equal(said({task: link("holder"), holder: link("holder"), chain_end: link("holder"), inversion: "bounded"}),
                 "held up by mutex tank, held by holder (a bounded inversion)");
    assert.equal(said({task: link("end"), holder: link("holder"), chain_end: link("end")}),
                 "held up by mutex tank, held by holder, which waited in turn for end; meanwhile end ran");
    assert.equal(said({by: "kernel", holder: link("holder"), chain_end: link("end"), wait: "a delay"}),
                 "held up by mutex tank, held by holder, which waited in turn for end, while end waited for a delay; "
                 + "meanwhile the kernel switched");
    assert.equal(said({task: link("other"), holder: link("holder"), wait: "a delay", inversion: "unbounded"}),
                 "held up by mutex tank, held by holder, while holder waited for a delay; meanwhile other ran "
                 + "(an UNBOUNDED inversion)");
    assert.equal(said({by: "self", object: 9, inversion: "unknown"}),
                 "held up by mutex #9 (whether the inversion is bounded is not known)");
    assert.equal(said({by: "kernel", holder: link("holder"), chain_end: link("victim"), wait: "a delay"}),
                 "held up by mutex tank, held by holder, which waited in turn for victim, while victim waited for a "
                 + "delay; meanwhile the kernel switched");
    assert.equal(said({by: "kernel", object: 0}), "held up by a mutex; meanwhile the kernel switched");
});

test("each executor has its words", () => {
    const said = (part, more) => sentenceOf(trace, culprit({part, ...more}));
    assert.equal(said("execution"), "it ran");
    assert.equal(said("interference", {task: link("other")}), "ready, but other ran");
    assert.equal(said("interference", {by: "interrupt", who: 33}), "ready, but the handler of disk ran");
    assert.equal(said("interference", {by: "interrupt", who: 0x10000}), "ready, but the handler of the timer ran");
    assert.equal(said("interference", {by: "kernel"}), "ready, but the kernel switched");
    assert.equal(said("interference", {by: "throttling", who: 4}), "ready, but the budget of server aux was used up");
    assert.equal(said("interference", {by: "unknown"}), "ready, but no record says what ran");
    assert.equal(said("jitter", {by: "section", task: link("other")}), "not yet ready: interrupts were off in other");
    assert.equal(said("jitter", {by: "section"}), "not yet ready: interrupts were off");
    assert.equal(said("jitter", {by: "backlog"}), "not yet ready: an earlier job of the task was not complete");
    assert.equal(said("suspension", {wait: "a message"}), "waited for a message");
    assert.equal(said("suspension"), "waited for something");
});

test("shares with the same sentence are added up, the greatest first", () => {
    const run = {...culprit({part: "execution"})};
    const shares = [{culprit: culprit({part: "interference", by: "kernel"}), ticks: 5, pieces: 1},
                    {culprit: run, ticks: 10, pieces: 2}, {culprit: {...run, who: 7}, ticks: 20, pieces: 1}];
    assert.deepEqual(sentencesOf(trace, shares), [{sentence: "it ran", ticks: 30, pieces: 3},
                                                  {sentence: "ready, but the kernel switched", ticks: 5, pieces: 1}]);
});

const culprits = [culprit({part: "jitter"}), culprit({part: "execution"}), culprit({part: "blocking"})];
const jobs = [
    {number: 1, release: 100, start: 105, deadline: 140, end: 130, shares: [[0, 5, 1], [1, 20, 1], [2, 5, 1]]},
    {number: 2, release: 200, start: 200, deadline: 240, end: 250, late: 1, shares: [[0, 1, 1], [1, 49, 1]]},
    {number: 3, release: 300, start: 302, deadline: 350, end: 320, unaccounted: 1},
    {number: 4, release: 400, start: 401, deadline: 440},
];
const worker = {name: "worker", intervals: [[100, 130, RUNNING], [200, 250, RUNNING], [300, 320, RUNNING]], jobs};

test("the shares of a job are its own", () => {
    const own = traceOf([worker, {...worker, name: "again"}], {...facts, culprits});
    assert.deepEqual(sharesOf(own, own.tasks[1], 1).map(({culprit: {part}, ticks}) => [part, ticks]),
                     [["jitter", 1], ["execution", 49]]);
    assert.deepEqual(sharesOf(own, own.tasks[0], 2), []);
    assert.deepEqual([partOf(own, own.tasks[0], 0, "blocking"), partOf(own, own.tasks[0], 1, "blocking")], [5, 0]);
});

test("figures are of the jobs that are released in the span", () => {
    const own = traceOf([worker], {...facts, culprits});
    const figures = figuresOf(own, own.tasks[0], 0, 1000);
    assert.deepEqual([figures.jobs, figures.missed, figures.responses, figures.indexes],
                     [4, 1, [30, 50, 20], [0, 1, 2]]);
    assert.deepEqual(figures.worst, {
        "response": {value: 50, index: 1}, "latest start": {value: 5, index: 0}, "lateness": {value: 10, index: 1},
        "release delay": {value: 5, index: 0}, "execution": {value: 49, index: 1}, "blocking": {value: 5, index: 0}});
    assert.equal(figures.load, 0.1);
    const part = figuresOf(own, own.tasks[0], 100, 300);
    assert.deepEqual([part.jobs, part.indexes], [2, [1, 2]]);
    assert.equal(part.load, 0.4);
    assert.equal(figuresOf(own, own.tasks[0], 110, 210).load, 0.3);
});

test("figures are sorted by any column, and back", () => {
    const line = (name, jobs, response) => ({task: {name}, figures: {
        jobs, missed: 3 - jobs, load: jobs / 10, worst: response ? {response: {value: response}} : {}}});
    const lines = [line("b", 1, 20), line("a", 2, null), line("c", 3, 30)];
    const order = (column) => sortedFigures(lines, column).map(({task}) => task.name).join("");
    assert.deepEqual([null, "task", "jobs", "miss", "load", "worst R", "worst C"].map(order),
                     ["bac", "abc", "cab", "bac", "cab", "cba", "bac"]);
});

test("jitters are of rises as of falls", () => {
    assert.deepEqual(jittersOf([10, 30, 25]), {absolute: 20, relative: 20});
    assert.deepEqual(jittersOf([30, 10, 15]), {absolute: 20, relative: 20});
    assert.deepEqual(jittersOf([10, 12, 17, 20]), {absolute: 10, relative: 5});
    assert.deepEqual(jittersOf([NaN, 10, NaN, 14]), {absolute: 4, relative: 4});
    assert.equal(jittersOf([10, NaN]), null);
});

test("the load of a window is what ran in it", () => {
    const [task] = traceOf([worker]).tasks;
    const windows = loadOf([task], 0, 720, 2);
    assert.equal(windows.length, LOAD_WINDOWS);
    assert.deepEqual([9, 10, 12, 13, 20].map((i) => windows[i].share), [0, 0.5, 0.5, 0, 0.5]);
    assert.deepEqual([windows[10].begin, windows[10].end], [100, 110]);
});

test("a brush chooses jobs by their response times", () => {
    const [task, other] = traceOf([worker, {...worker, name: "again"}]).tasks;
    const filter = {task: 0, least: 30, greatest: 49};
    assert.deepEqual([0, 1, 2, 3].map((job) => isChosen({filter}, task, job)), [true, false, false, false]);
    assert.deepEqual([isChosen({filter}, other, 1), isChosen({filter: null}, task, 1)], [true, true]);
    assert.deepEqual(chosenSpans(task, filter).map((all) => [...all]), [[100], [130]]);
});

test("a card without a cause says why there is none", () => {
    assert.match(withoutCause({trace: "ram", live: {state: "running"}}), /once the run has ended/);
    assert.match(withoutCause({trace: "-"}), /standard input/);
    assert.match(withoutCause({trace: "ram", live: {state: "ended"}}), /see the command/);
});
