// SPDX-License-Identifier: MIT
// Tests the comparison of two runs: alignment, rows, banners.
"use strict";

const assert = require("node:assert");
const {test} = require("node:test");
const {traceOf, timelineOf, drawn} = require("../../../../support/page.js");

const jobsAt = (...releases) => releases.map((release) => ({release, start: release, end: release + 10}));
const before = [{name: "idle"}, {name: "a", jobs: jobsAt(100, 200)}, {name: "b", jobs: jobsAt(50)}];
const after = [{name: "b", jobs: jobsAt(70)}, {name: "new", jobs: jobsAt(5)}, {name: "a", jobs: jobsAt(130, 230)}];
const side = (trace, title) => ({trace, title, from_ns: null, to_ns: null});

function compared(first = before, second = after, facts = {}) {
    const traces = [traceOf(first), traceOf(second, facts)];
    const pairs = [{of: [0, 1], diff: {first_difference: null}}];
    const data = {sides: [side(0, "x"), side(1, "y")], chosen: 0, pairs};
    const said = [];
    const timeline = timelineOf(traces[0]);
    const comparison = new Comparison(data, traces, timeline, {say: (text) => said.push(text)});
    comparison.choose(data.pairs[0]);
    return {comparison, timeline, said};
}

test("runs are aligned on the first release that both have", () => {
    const {comparison} = compared();
    assert.equal(comparison.firstInBoth().name, "b");
    assert.equal(comparison.runs[1].shown(70), 50);
    assert.equal(comparison.align({name: "a", number: 2}), "aligned on a, job 2");
    assert.equal(comparison.runs[1].shown(230), 200);
    assert.equal(comparison.align({name: "new", number: 1}), "job 1 of new is not in \u2212");
    assert.equal(comparison.align({name: "a", number: 3}), "job 3 of a is not in \u2212");
    assert.equal(comparison.align(null), "aligned on the first release");
});

test("another choice is shown, and forgets a job of the second run", () => {
    const {comparison, timeline: {view}} = compared(before, after.slice(0, 2));
    const heard = [];
    view.listen("test", (what) => heard.push(what));
    view.job = {task: 0, index: 0, run: 1};
    comparison.traces[0].tasks[1].colour = 9;
    comparison.choose(null);
    assert.deepEqual(comparison.traces[0].tasks.map(({colour}) => colour), [0, 1, 2]);
    assert.deepEqual([view.job, view.runs.length, heard], [null, 1, ["rows", "pick"]]);
    view.job = {task: 1, index: 0, run: 0};
    comparison.choose(comparison.data.pairs[0]);
    assert.deepEqual([view.job.index, view.runs.length, heard.slice(2)], [0, 2, ["align", "rows", "pick"]]);
    assert.deepEqual(view.runs.map(({title}) => title), ["x", "y"]);
});

test("times of the second run are converted by the rate of its clock", () => {
    const {comparison} = compared(before, after, {clock: {khz: 2000000, mode: "x", exact: true}});
    assert.equal(comparison.runs[1].rate, 2);
    assert.equal(comparison.runs[1].shown(90), 60);
});

test("a picked job aligns both runs", () => {
    const {comparison, timeline} = compared();
    assert.equal(comparison.alignOnPicked(), "pick a job to align on");
    timeline.view.job = {task: 2, index: 1, run: 1};
    assert.equal(comparison.alignOnPicked(), "aligned on a, job 2");
    timeline.view.job = {task: 1, index: 0, run: 1};
    assert.equal(comparison.alignOnPicked(), "job 1 of new is not in \u2212");
    comparison.choose(null);
    assert.equal(comparison.alignOnPicked(), "nothing is compared");
});

test("rows of one name are under each other, those of the second run alone are last of their group", () => {
    const {timeline} = compared();
    assert.deepEqual(timeline.rows.all.map(({mark, label}) => mark + label),
                     ["\u2212idle", "\u2212a", "+a", "\u2212b", "+b", "+new"]);
    const [, , second] = timeline.trace.tasks;
    assert.deepEqual(timeline.view.runs[1].trace.tasks.map((task) => task.colour), [second.colour, 3, 1]);
});

test("a row of a part fades what does not count, and has a line at the first difference", () => {
    const {comparison, timeline} = compared([{name: "a", intervals: [[0, 900, RUNNING]], jobs: jobsAt(100)}],
                                            [{name: "a", intervals: [[0, 900, RUNNING]], jobs: jobsAt(150)}]);
    const [first, second] = timeline.view.runs;
    second.from = 200;
    second.to = 600;
    comparison.pair.diff.first_difference = {what: "x", decisions: [{time_ns: 250}, {time_ns: 300}]};
    const seen = (key) => drawn(timeline, key, 0, 1000);
    const lines = (key) => seen(key).filter(({op, colour}) => op === "line" && colour === THEMES.light.over)
        .map(({x}) => Math.round(x));
    assert.deepEqual([lines("task0"), lines("btask0")], [[350], [350]]); // The second run is 50 ticks later.
    const within = (from) => drawn(timeline, "task0", from, from + 100).filter(
        ({op, colour}) => op === "line" && colour === THEMES.light.over).length;
    assert.deepEqual([within(100), within(200), within(300)], [0, 1, 0]);
    assert.ok(OUTSIDE > 0 && OUTSIDE < 1);
    const faded = (key) => seen(key).filter(({opacity}) => opacity === OUTSIDE)
        .map(({x, width}) => [Math.round(x), Math.round(width)]);
    assert.deepEqual(faded("btask0"), [[100, 150], [650, 450]]);
    assert.equal(first.from, -Infinity);
    assert.deepEqual(faded("task0"), []);
    assert.equal(comparison.timeOf(1, {time_ns: 300}), 250);
    assert.ok(isNaN(comparison.timeOf(1, null)));
});

test("of a part only tasks with something in it are shown", () => {
    const [idle, a, b] = traceOf(before).tasks;
    const run = (from, to) => Object.assign(new Run(traceOf(before), new Times(1000000)), {from, to});
    assert.deepEqual([idle, a, b].map((task) => isInPart(task, run(60, 150))), [true, true, false]);
    const [c] = traceOf([{name: "c", intervals: [[0, 100, RUNNING]]}]).tasks;
    assert.deepEqual([isInPart(c, run(50, 60)), isInPart(c, run(200, 300))], [true, false]);
});

test("the address has the pair and the alignment", () => {
    const {comparison, timeline} = compared();
    comparison.align({name: "a", number: 2});
    const address = timeline.view.address();
    assert.match(address, /align=2\.a/);
    comparison.align(null);
    timeline.view.goTo(address);
    assert.deepEqual(comparison.on, {name: "a", number: 2});
});

test("the first difference is gone to, if there is one", () => {
    const {comparison, timeline} = compared();
    assert.equal(comparison.goToFirst(), "no decision differs");
    comparison.pair.diff.first_difference = {what: "the task", decisions: [{time_ns: 400}, null]};
    assert.equal(comparison.goToFirst(), "the first difference: the task");
    assert.deepEqual([timeline.view.from, timeline.view.to], [350, 450]);
    comparison.choose(null);
    assert.equal(comparison.goToFirst(), "nothing is compared");
});

test("banners say what makes a difference doubtful", () => {
    const facts = (more = {}) => ({verdict: "complete", verdict_style: "good", span: {full: false},
                                   clock: {khz: 1000000, mode: "instructions", exact: true}, ...more});
    const sides = [{title: "x"}, {title: "y"}];
    const styles = (a, b, both = sides) => bannersOf({sides: both}, [a, b]).map(([style]) => style);
    assert.deepEqual(styles(facts(), facts()), []);
    assert.deepEqual(styles(facts(), facts(), [sides[0], sides[0]]), ["note"]);
    assert.match(bannersOf({sides}, [facts(), facts({verdict_style: "bad"})])[0][1], /^\+ y is not complete/);
    const clock = (more) => facts({clock: {...facts().clock, ...more}});
    assert.deepEqual(styles(facts(), clock({mode: "emulated", exact: false})), ["warning"]);
    assert.deepEqual(styles(clock({exact: false}), clock({exact: false})), ["bad"]);
    assert.deepEqual(styles(facts(), clock({khz: 0})), ["warning"]);
    assert.match(bannersOf({sides}, [facts(), clock({khz: 0})])[0][1], /The rate of \+/);
    assert.match(bannersOf({sides}, [facts(), clock({khz: 2400000})])[0][1], /\u2212 1,000 MHz, \+ 2,400 MHz/);
    assert.deepEqual(styles(facts(), facts({span: {full: true}})), ["warning"]);
});

const panic = {kind: "panic", text: "panic in task a", where: "f (x.cpp:3)", context: 4, time_ns: 230, stack: [],
               before: []};

test("a crash of either run comes before anything else, with the name of the run", () => {
    const texts = (facts) => comparedBanners(compared(before, after, facts).comparison).map(([, text]) => text);
    assert.deepEqual(texts({}), []);
    const [first, ...others] = texts({crashes: [panic], verdict_style: "bad", verdict: "incomplete"});
    assert.equal(first, "+ y: panic in task a, in f (x.cpp:3)");
    assert.match(others.join(), /is not complete/);
    const {comparison} = compared(before, after, {ended: "failed"});
    comparison.traces[0].facts.ended = "panicked";
    comparison.traces[0].facts.clock = {khz: 1000000, mode: "emulated", exact: false};
    assert.deepEqual(comparedBanners(comparison).map(([, text]) => text.slice(0, 14)),
                     ["\u2212 x: The run e", "+ y: The appli", "Times show the", "The clocks are"]);
    comparison.traces.pop();
    assert.equal(comparedBanners(comparison).length, 2, "phases are of one run");
});

test("the panel of crashes has both runs, and its links lead to the place on the timeline", () => {
    const {comparison, timeline} = compared(before, after, {crashes: [panic]});
    const {view} = timeline;
    assert.deepEqual(crashedRuns(view).map(({title}) => title), ["y"]);
    goToCrash(view, view.runs[1], panic, 230); // The second run is 20 ticks later.
    assert.deepEqual([view.row, view.cursors[0]], ["btask2", 210]);
    assert.ok(view.from <= 210 && view.to >= 210);
    comparison.traces[0].facts.crashes = [panic];
    assert.deepEqual(crashedRuns(view).map(({title}) => title), ["x", "y"]);
    view.runs[1] = view.runs[0];
    assert.equal(crashedRuns(view).length, 1, "phases are of one trace");
    goToCrash(view, view.runs[0], {context: null}, 400);
    assert.deepEqual([view.row, view.cursors[0]], ["btask2", 400]);
});
