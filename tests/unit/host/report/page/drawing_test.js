// SPDX-License-Identifier: MIT
// Compares each row of one scene, drawn wide and narrow, with the drawings that were looked at: a digest of each. After
// an intended change the test prints the new digests: look at the page, then write them here.
"use strict";

const assert = require("node:assert");
const crypto = require("node:crypto");
const {test} = require("node:test");
const {traceOf, timelineOf, surfaceOf, drawn, zigzag} = require("../../../../support/page.js");

const many = (count, each) => Array.from({length: count}, (_, i) => each(i));
const marks = (rows) => ({name: "marks", of: 0, columns: Object.fromEntries(
    ["at", "kind", "task", "par1", "par2", "text"].map((name, i) => [name, rows.map((row) => row[i])]))});

// Two processors; `a` does everything that a task can do, `busy` so much that columns are drawn.
function scene() {
    resourceNumbers.clear(); // Resources have numbers in the order of the traces of this process.
    const details = [{wait: "mutex bus", mutex: 3, other: 2}, {wait: "a delay", mutex: null, other: 0},
                     {wait: "", mutex: null, other: 2}];
    const a = {name: "a", level: 1, wcet_ns: 50, intervals: [
        [20, 80, RUNNING, 0, 5, 0], [80, 140, READY, 0, 2, 0], [140, 300, RUNNING, 0, 7, 1],
        [300, 420, WAITING, 1, 7, 1], [420, 480, RUNNING, 3, 8, 1], [500, 700, WAITING, 2, 7, 1],
        [700, 900, RUNNING, 0, 8, 0]], jobs: [
        {release: 10, start: 20, deadline: 250, end: 300}, {release: 310, start: 420, deadline: 440, end: 480, late: 1},
        {release: 650, start: 700, deadline: 950, end: 900}]};
    const busy = {name: "busy", level: 2, intervals: many(160, (i) => [6 * i, 6 * i + 2 + i % 4, i % 3, 0, 0, 0]),
                  jobs: many(40, (i) => ({release: 24 * i, start: 24 * i, deadline: 24 * i + 9, end: 24 * i + 8 + i % 3,
                                          late: i % 3 === 2 ? 1 : 0}))};
    const facts = {
        details, kinds: ["note", "task_wcet_violation"], texts: ["a text"], mutexes: [[3, "bus"]],
        servers: [[4, "aux"]], vectors: [[32, "timer"], [33, "disk"]], served: [[4, [0]]],
        levels: [[1, "EDF"], [2, "RR"]],
        plots: [{event: "e", field: "x", unit: "mm", fraction_bits: 1},
                {event: "e", field: "on", unit: "", fraction_bits: 0, boolean: true}],
        oracle: {checked: 1, undecided: 0, violations: 1, relaxed: [],
                 shown: [{at: 600, task: 0, rule: "r", text: "t"}]}};
    return timelineOf(traceOf([a, busy, {name: "idle", intervals: [[480, 500, RUNNING, 0, 0, 1]]}], facts, [
        {name: "handlers", of: 0, columns: {begin: many(60, (i) => 16 * i), end: many(60, (i) => 16 * i + 9 - i % 4),
                                            depth: many(60, () => 1), vector: many(60, (i) => 32 + i % 2),
                                            task: many(60, () => 0)}},
        {name: "handlers", of: 1, columns: {begin: [100, 120, 130], end: [200, 180, 150], depth: [1, 2, 3],
                                            vector: [32, 33, 32], task: [0, 0, 0]}},
        {name: "holds", of: 3, columns: {begin: many(30, (i) => 32 * i), end: many(30, (i) => 32 * i + 5 + i % 20),
                                         task: many(30, (i) => i % 2), how: many(30, () => 0)}},
        {name: "losses", of: 0, columns: {begin: [850], end: [930], records: [7]}},
        {name: "budget", of: 4, columns: {at: [0, 150, 400, 800], ticks: [100, 40, 100, 20]}},
        {name: "plot", of: 0, columns: {at: many(50, (i) => 15 * i), value: many(50, (i) => zigzag(i % 7 - 2))}},
        {name: "plot", of: 1, columns: {at: [50, 200, 700], value: [zigzag(1), zigzag(-1), zigzag(1)]}},
        {name: "overview", of: 2, columns: {running: [255, 10, 0, 80], ready: [0, 90, 5, 0], waiting: [0, 0, 0, 0],
                                            misses: [0, 0, 1, 0]}},
        marks([[40, 0, 1, 3, 4, 0], [130, 0, 0, 0, 0, 1], [260, 1, 1, 0, 0, 0],
               ...many(30, (i) => [300 + 8 * i, 0, 2, i, 0, 0])])]));
}

const digestOf = (ops) => crypto.createHash("sha256").update(JSON.stringify(ops)).digest("hex").slice(0, 12);
const SIZES = [[0, 1000, {}], [-40, 1040, {left: 100, width: 150}], [230, 460, {left: 50, width: 350}]];

function digests(timeline) {
    const found = timeline.rows.all.map(({key}) => [key, digestOf(SIZES.map((size) => drawn(timeline, key, ...size)))]);
    const {view, trace, rows} = timeline;
    const surface = surfaceOf(view);
    Object.assign(view, {row: "task0", job: {task: 0, index: 1, run: 0}, cursors: [100, 400]});
    paintRows(surface, {...timeline, pointer: {x: 300, y: 40}}, 30, rows.height);
    paintAxis(surface, view, trace);
    return {...Object.fromEntries(found), all: digestOf(surface.ops)};
}

test("each row is drawn as it was when it was looked at", () => {
    const timeline = scene();
    timeline.view.show(0, 1000);
    timeline.view.filter = {task: 0, least: 150, greatest: 270};
    assert.deepEqual(digests(timeline), {
        all: "10aa360c5df6", cpu0: "cd9320642bc7", cpu1: "6c958074bc9b", irq0: "b084bd52cdd1", irq1: "770f26efe211",
        marks: "3fbe83a2ceda", mutex3: "fd61f2f99267", plot0: "ef90c623c01d", plot1: "cdec2af51dd9",
        server4: "98beaee4d80a",
        task0: "7b1a08e138af", task1: "3229cc9bbdec", task2: "41fd2bd433fc"});
});
