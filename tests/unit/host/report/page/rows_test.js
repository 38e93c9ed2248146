// SPDX-License-Identifier: MIT
// Tests which rows there are, in which groups and order.
"use strict";

const assert = require("node:assert");
const {test} = require("node:test");
const {traceOf, timelineOf, zigzag} = require("../../../../support/page.js");

const ran = (begin, cpu = 0) => [begin, begin + 5, RUNNING, 0, 0, cpu];
const tasks = [{name: "low", level: 2, intervals: [ran(10), ran(30)]},
               {name: "high", level: 1, intervals: [ran(20, 1)]}, {name: "init"},
               {name: "middle", level: 1, intervals: [ran(40)]}];
const facts = {levels: [[1, "EDF"], [2, "RR"]], kinds: ["user_event_0"], mutexes: [[3, "bus"]], servers: [[4, "aux"]],
               plots: [{event: "e", field: "x", unit: "mm", fraction_bits: 0}]};
const marks = (at) => ({name: "marks", of: 0, columns: {at, kind: at.map(() => 0), task: at.map(() => 0),
                                                        par1: at.map((_, i) => i + 1), par2: at.map(() => 0),
                                                        text: at.map(() => 0)}});
const tables = [{name: "holds", of: 3, columns: {begin: [1], end: [2], task: [0], how: [0]}},
                {name: "handlers", of: 0, columns: {begin: [1], end: [2], depth: [3], vector: [7], task: [0]}},
                {name: "budget", of: 4, columns: {at: [1], ticks: [5]}},
                {name: "plot", of: 0, columns: {at: [1], value: [zigzag(5)]}}];

const timeline = (more = [marks([15, 35])]) => timelineOf(traceOf(tasks, facts, [...tables, ...more]));

function groups(rows) {
    return rows.heads.map((head, i) => {
        const next = rows.heads[i + 1] || {y: Infinity};
        return [head.text, ...rows.shown.filter((row) => row.y > head.y && row.y < next.y).map((row) => row.label)];
    });
}

function groupedBy(by, more) {
    const {view, rows} = timeline(more);
    view.by = by;
    rows.arrange();
    return groups(rows);
}

const LANES = [["Owners of mutexes", "bus"], ["Budgets of servers", "aux"], ["Values", "e.x"], ["Events", "events"]];

test("tasks are below their levels, those without one last", () => {
    assert.deepEqual(groupedBy("level"), [
        ["Processors", "processor 0", "interrupts of 0", "processor 1"], ["Level EDF", "high", "middle"],
        ["Level RR", "low"], ["Tasks", "init"], ...LANES]);
});

test("tasks are below the processor on which they ran the longest", () => {
    assert.deepEqual(groupedBy("processor").slice(0, 3), [
        ["Processor 0", "processor 0", "interrupts of 0", "low", "middle"], ["Processor 1", "processor 1", "high"],
        ["Tasks", "init"]]);
});

test("tasks are below the phase in which they ran", () => {
    assert.deepEqual(groupedBy("phase").slice(1, 6), [
        ["Several phases", "low"], ["Phase 1", "high"], ["Phase 2", "middle"], ["Never ran", "init"], LANES[0]]);
    assert.deepEqual(groupedBy("phase", [marks([15])]).slice(1, 2), [["Tasks", "low", "high", "init", "middle"]]);
});

test("the groupings follow each other, phases only of a run that has them", () => {
    const order = (trace) => ["level", "phase", "processor", "nothing"].map((by) => groupingAfter(by, trace));
    assert.deepEqual(order(timeline().trace), ["phase", "processor", "nothing", "level"]);
    assert.deepEqual(order(timeline([]).trace), ["processor", "processor", "nothing", "level"]);
    assert.deepEqual(groupedBy("nothing")[1], ["Tasks", "low", "high", "init", "middle"]);
});

test("pinned rows come first, hidden and folded ones are not shown", () => {
    const {view, rows} = timeline();
    view.pinned.add("task0");
    view.hidden.add("task1");
    view.folded.add("processors");
    rows.arrange();
    assert.deepEqual(groups(rows).slice(0, 3), [["Pinned", "low"], ["Processors"], ["Level EDF", "middle"]]);
    assert.equal(rows.heads[1].folded, 3);
    assert.equal(rows.shown[0].y, GROUP_HEIGHT);
    rows.bringUp(rows.byKey.get("task1"));
    rows.bringUp(rows.byKey.get("cpu1"));
    assert.deepEqual([view.hidden.size, view.folded.size], [0, 0]);
});

test("a row is found by its height, and by steps", () => {
    const {rows} = timeline();
    const [first, second] = rows.shown;
    assert.equal(rows.at(first.y), first);
    assert.equal(rows.at(second.y), second);
    assert.deepEqual([rows.at(0), rows.at(rows.height)], [null, null]);
    assert.equal(rows.height, d3.sum(rows.shown, (row) => row.height) + rows.heads.length * GROUP_HEIGHT + 4);
    assert.equal(rows.step(first.key, 1), second);
    assert.equal(rows.step(first.key, -1), first);
    assert.equal(rows.step(null, 1), first);
    assert.equal(rows.step(null, -1), rows.shown[rows.shown.length - 1]);
    rows.shown = [];
    assert.equal(rows.step(null, 1), null);
});

test("a row is moved past others, and not beyond the ends", () => {
    const {view, rows} = timeline();
    const keys = rows.shown.map((row) => row.key);
    view.hidden.add("task2");
    rows.move(keys[0], -1);
    assert.deepEqual(view.order, []);
    rows.move(keys[1], 1);
    assert.deepEqual(view.order.slice(0, 3), [keys[0], keys[2], keys[1]]);
    rows.move(keys[0], 2);
    assert.deepEqual(view.order.slice(0, 3), [keys[1], keys[2], keys[0]]);
    assert.equal(view.order.length, keys.length + 1);
    rows.move(keys[0], keys.length);
    assert.equal(view.order.indexOf(keys[0]), 2);
});

test("a row stays at its place when another one is moved or hidden", () => {
    const {view, rows} = timeline();
    view.order = ["task1", "task0"];
    rows.arrange();
    const keys = rows.shown.map((row) => row.key);
    assert.ok(keys.indexOf("task1") < keys.indexOf("task0"));
    assert.equal(keys.length, rows.all.length);
    rows.use(() => rows.all.slice(0, 2));
    assert.equal(rows.shown.length, 2);
});

test("nested handlers need a higher row", () => {
    assert.equal(timeline().rows.byKey.get("irq0").height, 42);
    assert.equal(keyOfGroup("Level EDF"), "leveledf");
    assert.equal(keyOfGroup("\u00e4"), "other");
});
