// SPDX-License-Identifier: MIT
// Tests that a trace which arrives in parts is the whole one.
"use strict";

const assert = require("node:assert");
const {test} = require("node:test");
const {blockOfTasks, traceOf} = require("../../../../support/page.js");

test("an array grows by doubling, and keeps its values", () => {
    const first = appended(Float64Array.from([1, 2]), [3]);
    const second = appended(first, [4]);
    assert.deepEqual([[...first], [...second], second.buffer === first.buffer], [[1, 2, 3], [1, 2, 3, 4], true]);
    assert.deepEqual([...appended(new Uint8Array(0), [7])], [7]);
    assert.deepEqual([...raised(Float64Array.from([1, 2]), 10)], [11, 12]);
});

// Splits the directory and tables of a trace: the page gets the second half later.
test("a trace that arrives in two blocks is that of one block", () => {
    const jobs = [{release: 2, start: 2, deadline: 20, end: 30, late: 1, shares: [[0, 28, 1]]},
                  {release: 40, start: 41, deadline: 60, end: 50, shares: [[0, 9, 1], [1, 1, 1]]},
                  {release: 70, start: 70, deadline: 80, end: 95, late: 1, shares: [[1, 25, 1]]}];
    const intervals = [[0, 30, RUNNING], [30, 40, READY], [41, 50, RUNNING], [70, 95, RUNNING]];
    const holds = (rows) => ({name: "holds", of: 3, columns: {begin: rows.map(([begin]) => begin),
                                                              end: rows.map(([, end]) => end),
                                                              task: rows.map(() => 0), how: rows.map(() => 0)}});
    const handlers = (rows) => ({name: "handlers", of: 0, columns: Object.fromEntries(
        ["begin", "end", "depth", "vector", "task"].map((name, i) => [name, rows.map((row) => row[i])]))});
    const irqs = [[6, 8, 2, 33, 0], [5, 9, 1, 32, 0], [60, 65, 1, 32, 0]];
    const curve = (rows) => ({name: "budget", of: 1, columns: {at: rows.map(([at]) => at),
                                                               ticks: rows.map(([, ticks]) => ticks)}});
    const facts = {culprits: [{part: "execution"}, {part: "jitter"}], served: [[1, [0, 1]]]};
    const whole = traceOf([{name: "a", intervals, jobs}, {name: "b"}], facts,
                          [holds([[1, 5], [10, 20], [45, 50]]), handlers(irqs), curve([[0, 9], [10, 5], [50, 9]])]);
    const first = traceOf([{name: "a", intervals: intervals.slice(0, 2), jobs: jobs.slice(0, 1)}],
                          {...facts, served: [[1, [0]]]},
                          [holds([[1, 5], [10, 20]]), handlers(irqs.slice(0, 1)), curve([[0, 9], [10, 5]])]);
    const empty = {details: [], culprits: [], kinds: [], texts: [], served: facts.served}; // Only new ones are sent.
    // Numbers that are stored as distances continue from the last one of the part before.
    const others = jobs.slice(1).map((job) => ({...job, release: job.release - 2, deadline: job.deadline - 2}));
    const later = blockOfTasks([{name: "a", intervals: intervals.slice(2), jobs: others}, {name: "b"}],
                               empty, [holds([[45, 50]]), handlers(irqs.slice(1)), curve([[50, 9]])]);
    first.holds[0].sum = sumsOf(first.holds[0].begin, first.holds[0].end);
    appendBlock(first, later);
    for (const [name, of] of Object.entries({
        intervals: ({tasks: [task]}) => [task.count, task.begin, task.end, task.activity, ...task.sums],
        jobs: ({tasks: [task]}) => [task.jobs.count, ...Object.values(task.jobs).slice(1), task.missed, task.missTimes,
                                    task.deadlines],
        shares: ({tasks: [task]}) => Object.values(task.shares),
        names: ({tasks}) => tasks.map((task) => task.name),
        holds: ({holds: [one]}) => [one.begin, one.end, one.count],
        handlers: ({handlers: [one]}) => [one.count, one.begin, one.end, one.vector, one.depthMax,
                                          one.outerBegin, one.sum],
        budgets: ({budgets: [one]}) => [one.at, one.value, one.extremes.of(0, 3), one.served],
    })) {
        const plain = (trace) => JSON.stringify(of(trace).map((one) => ArrayBuffer.isView(one) ? [...one] : one));
        assert.equal(plain(first), plain(whole), name);
    }
    assert.deepEqual([...first.holds[0].sum], [0, 4, 14, 19]);
});
