// SPDX-License-Identifier: MIT
// Tests the search, and the commands that cards offer.
"use strict";

const assert = require("node:assert");
const crypto = require("node:crypto");
const {test} = require("node:test");
const {traceOf, timelineOf, surfaceOf} = require("../../../../support/page.js");

const facts = {kinds: ["trace_printf", "user_event_1"], texts: ["Speed 5", "stop"]};
const marks = {name: "marks", of: 0, columns: {at: [10, 20, 30, 40], kind: [0, 1, 0, 0], task: [0, 0, 1, 0],
                                               par1: [0, 3, 0, 0], par2: [0, 4, 0, 0], text: [1, 0, 2, 1]}};

// Returns a search whose input has no element.
function searchOf(timeline) {
    const search = Object.assign(Object.create(Search.prototype), {timeline, place: -1, said: []});
    search.say = (text) => search.said.push(text);
    return search;
}

const timeline = () => timelineOf(traceOf([{name: "speedometer"}, {name: "brake"}], facts, [marks]));

test("rows are found before events, by names and texts in any case", () => {
    const search = searchOf(timeline());
    const found = (words) => search.find(words).map(({row, at}) => row ? row.label : at);
    assert.deepEqual(found("speed"), ["speedometer", 10, 40]);
    assert.deepEqual(found("user_event"), [20]);
    assert.deepEqual(found("stop"), [30]);
    assert.deepEqual(found("trace_printf"), [10, 30, 40]);
    assert.deepEqual(found(""), []);
    assert.deepEqual(found("none"), []);
});

test("steps lead through the results, backwards from the last one", () => {
    for (const [directions, places] of [[[1, 1, 1, 1], [1, 2, 3, 1]], [[-1, -1, -1, -1], [3, 2, 1, 3]],
                                        [[1, -1], [1, 3]]]) {
        const search = searchOf(timeline());
        search.results = search.find("speed");
        directions.forEach((direction) => search.step(direction));
        assert.deepEqual(search.said.map((text) => Number(text[0])), places);
    }
    const search = searchOf(timeline());
    search.results = [];
    search.step(1);
    assert.deepEqual(search.said, []);
});

test("a result is shown: a row is picked, an event has the cursor", () => {
    const search = searchOf(timeline());
    const {view} = search.timeline;
    view.show(500, 700);
    search.results = search.find("speed");
    search.step(1);
    assert.deepEqual([view.row, search.said[0]], ["task0", "1 of 3: speedometer"]);
    search.step(1);
    assert.deepEqual([view.cursors[0], search.said[1]], [10, "2 of 3: trace_printf Speed 5"]);
    assert.ok(view.from <= 10 && view.to >= 10);
});

test("words of a command are quoted unless they are plain", () => {
    assert.equal(quoted("out/udp-1.rpk:3@+"), "out/udp-1.rpk:3@+");
    assert.equal(quoted("it's"), "'it'\\''s'");
    assert.equal(quoted("a b"), "'a b'");
    assert.equal(quoted(""), "''");
});

test("commands have the options of the trace, and a span in the option that is free", () => {
    const trace = (options) => traceOf([{name: "a"}], {trace: "my trace", options});
    assert.equal(commandOf(trace(["--strict"]), "print", "--show", 5), "remora print 'my trace' --show 5 --strict");
    assert.deepEqual(spanOptions(trace([]), 5, 9), ["--from", 5, "--to", 9]);
    assert.deepEqual(spanOptions(trace(["--from", "records"]), 5, 9), ["--from-time", 5, "--to", 9]);
});

test("the legend explains what the trace has", () => {
    const texts = (trace) => legendOf(trace).map(([text]) => text).join("\n");
    const plain = texts(traceOf([{name: "a", intervals: [[0, 1, RUNNING]]}]));
    const intervals = [[0, 1, RUNNING, 0, 0, 0], [1, 2, RUNNING, 0, 0, 1]];
    const once = {begin: [1], end: [2]};
    for (const [words, trace] of [
        ["number of the processor", traceOf([{name: "a", intervals}])],
        ["an event, in", timeline().trace],
        ["a mutex is held", traceOf([{name: "a"}], {}, [{name: "holds", of: 3,
                                                         columns: {...once, task: [0], how: [0]}}])],
        ["a value", traceOf([{name: "a"}], {plots: [{}]}, [{name: "plot", of: 0, columns: {at: [1], value: [2]}}])],
        ["the budget", traceOf([{name: "a"}], {}, [{name: "budget", of: 3, columns: {at: [1], ticks: [2]}}])],
        ["violates", traceOf([{name: "a"}], {oracle: {violations: 1, shown: []}})],
        ["records are lost", traceOf([{name: "a"}], {}, [{name: "losses", of: 0, columns: {...once, records: [3]}}])],
    ]) {
        assert.ok(!plain.includes(words) && texts(trace).includes(words), words);
    }
    for (const words of ["is ready", "held up", "in the place of", "release", "missed deadline", "declared worst"]) {
        assert.ok(plain.includes(words), words);
    }
    const surface = surfaceOf(null, {left: 0, width: LEGEND_WIDTH});
    LEGEND.filter(([, paint]) => paint !== undefined).forEach(([, paint]) => paint(surface));
    // The digest changes with the pictures: look at them in a browser, then write it anew.
    const digest = crypto.createHash("sha256").update(JSON.stringify(surface.ops)).digest("hex").slice(0, 16);
    assert.equal(digest, "75410ee481ac30c5");
});

test("a task is named by its context if its name is not plain", () => {
    assert.deepEqual(["load-a", "17", "a b", "a17"].map((name) => taskOption({name, context: 9})[1]),
                     ["load-a", 9, 9, "a17"]);
});
