// SPDX-License-Identifier: MIT
// Tests how a packed trace becomes arrays, and what is looked up in them.
"use strict";

const assert = require("node:assert");
const {test} = require("node:test");
const {traceOf, zigzag} = require("../../../../support/page.js");

const worker = {
    name: "worker",
    intervals: [[0, 10, RUNNING], [10, 15, READY], [20, 30, WAITING, 1], [30, 32, WAITING, 2], [40, 50, RUNNING]],
    jobs: [{release: 0, start: 0, deadline: 40, end: 10}, {release: 20, start: 40, deadline: 45, end: 50, late: 1},
           {release: 60, outcome: 5}],
};
const facts = {details: [{wait: "mutex tank", mutex: 1, other: 2}, {wait: "a delay", mutex: null, other: 0}]};

test("the first value above a limit is found, in a part too", () => {
    const values = [1, 3, 3, 5];
    assert.deepEqual([0, 1, 2, 3, 4, 5, 6].map((limit) => firstAfter(values, limit)), [0, 1, 1, 3, 3, 4, 4]);
    assert.equal(firstAfter(values, 0, 2), 2);
    assert.equal(firstAfter(values, 9, 0, 2), 2);
    assert.equal(firstAfter([], 1), 0);
});

test("what a task did before a time is the sum of its intervals, the open one included", () => {
    const [task] = traceOf([worker], facts).tasks;
    const before = (activity, time) => task.before(activity, time, task.at(time));
    assert.deepEqual([5, 10, 12, 45, 99].map((time) => before(RUNNING, time)), [5, 10, 10, 15, 20]);
    assert.deepEqual([10, 12, 15, 18].map((time) => before(READY, time)), [0, 2, 5, 5]);
    assert.deepEqual([25, 31, 99].map((time) => before(HELD, time)), [5, 10, 10]);
    assert.deepEqual([25, 31, 99].map((time) => before(WAITING, time)), [0, 1, 2]);
});

test("a wait for a resource is distinguished from another one", () => {
    const [task] = traceOf([worker], facts).tasks;
    assert.deepEqual([...task.activity], [RUNNING, READY, HELD, WAITING, RUNNING]);
    assert.deepEqual(["mutex m", "semaphore s", "condition c", "receive q", "send q", "a delay", "mutexes"].map(
        (wait) => resourceOf({wait}) !== null), [true, true, true, true, true, false, false]);
    assert.equal(resourceOf(null), null);
});

test("cause and processor of an interval are separate", () => {
    const [task] = traceOf([{name: "a", intervals: [[0, 5, RUNNING, 0, 7, 3], [5, 6, READY, 0, 13, 1]]}]).tasks;
    assert.deepEqual([[...task.activity], [...task.cause], [...task.cpu]], [[RUNNING, READY], [7, 13], [3, 1]]);
});

test("jobs have their numbers, times and states", () => {
    const [{jobs}] = traceOf([{name: "a", jobs: [
        {number: 7, release: 100, start: 105, deadline: 90, end: 120, outcome: 1, late: 1, unaccounted: 2},
        {number: 9, release: 130, start: 130}]}]).tasks;
    assert.deepEqual([...jobs.number], [7, 9]);
    assert.deepEqual([...jobs.release], [100, 130]);
    assert.deepEqual([...jobs.deadline], [90, NaN]);
    assert.deepEqual([...jobs.end], [120, NaN]);
    assert.deepEqual([jobs.outcome[0], jobs.late[0], jobs.unaccounted[0]], [1, 1, 2]);
    assert.deepEqual([jobs.outcome[1], jobs.late[1], jobs.unaccounted[1]], [0, 0, 0]);
});

test("of several open jobs the first one is at a time, of none the latest before", () => {
    const jobs = [{release: 10, end: 30}, {release: 20, end: 40}, {release: 50, end: 60}];
    const [task] = traceOf([{name: "a", jobs}]).tasks;
    assert.deepEqual([5, 10, 25, 30, 35, 45, 55, 99].map((time) => task.jobAt(time)), [-1, 0, 0, 1, 1, 1, 2, 2]);
});

test("only a complete job whose release is known has a response time", () => {
    const [task] = traceOf([{name: "a", jobs: [{release: 10, end: 30}, {release: 20, end: 40, outcome: 1},
                                               {release: 50, end: 60, unaccounted: EARLY}, {release: 70, end: 90,
                                                unaccounted: 1}]}]).tasks;
    assert.deepEqual([0, 1, 2, 3].map((job) => task.response(job)), [20, NaN, NaN, 20]);
});

test("a miss is at the deadline, else at the end, else at the release", () => {
    const [task] = traceOf([{name: "a", jobs: [{release: 10, deadline: 20, end: 30, late: 1}, {release: 40, end: 50},
                                               {release: 60, end: 70, late: 1}, {release: 80, late: 1}]}]).tasks;
    assert.deepEqual(task.missed, [0, 2, 3]);
    assert.deepEqual([...task.missTimes], [20, 70, 80]);
    assert.deepEqual([...task.deadlines], [20]);
});

test("the part of which the page has more than an overview ends within the trace", () => {
    const span = {last: 1000, bucket: 100, cut: false, full: false, intervals: 0};
    const part = (from_ns, to_ns, khz = 1000000) => {
        const clock = {khz, mode: "x", exact: true};
        const trace = traceOf([worker], {...facts, clock, span: {...span, from_ns, to_ns}});
        return [trace.isPart, ...trace.part];
    };
    assert.deepEqual(part(null, null), [false, 0, 1000]);
    assert.deepEqual(part(100, null), [true, 100, 1000]);
    assert.deepEqual(part(-5, 5000), [true, 0, 1000]);
    assert.deepEqual(part(100, 200, 500000), [true, 50, 100]);
    assert.deepEqual(part(100, 200, 0), [true, 0, 1000]);
});

test("handlers are in the order of their begins, the outer one first", () => {
    const trace = traceOf([worker], facts, [{name: "handlers", of: 1, columns: {
        begin: [12, 10, 10, 40], end: [13, 14, 20, null], depth: [3, 2, 1, 1], vector: [33, 34, 32, 35],
        task: [0, 0, 1, 0]}}]);
    const [handlers] = trace.handlers;
    assert.deepEqual([...handlers.vector], [32, 34, 33, 35]);
    assert.deepEqual([...handlers.end], [20, 14, 13, 40]);
    assert.equal(handlers.depthMax, 3);
    assert.deepEqual([...handlers.outerBegin], [10, 40]);
    assert.deepEqual([...handlers.sum], [0, 10, 10]);
    assert.deepEqual(trace.cpus, [0, 1]);
    assert.equal(trace.taskName(1), "worker");
    assert.equal(trace.taskName(0), "");
});

test("a task has the overruns that are about it", () => {
    const marks = {at: [5, 10, 20], kind: [1, 0, 1], task: [2, 1, 1], par1: [0, 0, 0], par2: [0, 0, 0],
                   text: [0, 1, 0]};
    const trace = traceOf([worker, {name: "other"}], {...facts, kinds: ["trace_printf", "task_wcet_violation"],
                                                      texts: ["hello"]}, [{name: "marks", of: 0, columns: marks}]);
    assert.deepEqual(trace.tasks.map((task) => [...task.overruns]), [[20], [5]]);
    assert.deepEqual([trace.markName(1), trace.markText(1), trace.markText(0)], ["trace_printf", "hello", "0 0"]);
});

test("values are numbers of their declared kind", () => {
    const plots = [{event: "e", field: "x", unit: "", fraction_bits: 3, is_floating: false},
                   {event: "e", field: "y", unit: "V", fraction_bits: 0, is_floating: true}];
    const bits = new DataView(new ArrayBuffer(8));
    const halves = [1.5, Infinity, -2].map((value) => {
        bits.setFloat64(0, value);
        return [bits.getUint32(0), bits.getUint32(4)];
    });
    const trace = traceOf([worker], {...facts, plots}, [
        {name: "plot", of: 0, columns: {at: [1, 2], value: [zigzag(12), zigzag(-8)]}},
        {name: "plot", of: 1, columns: {at: [1, 2, 3], high: halves.map(([high]) => high),
                                        low: halves.map(([, low]) => low)}}]);
    assert.deepEqual(trace.plots.map(({name, at, value}) => [name, [...at], [...value]]),
                     [["e.x", [1, 2], [1.5, 0.5]], ["e.y", [1, 3], [1.5, -2]]]);
});

test("extremes of any part are those of its values", () => {
    const values = Float64Array.from({length: 9000}, (_, i) => (i * 7919) % 4001);
    const extremes = new Extremes(values);
    for (const [from, to] of [[0, 9000], [0, 1], [63, 65], [64, 128], [100, 5000], [4095, 8193], [8999, 9000],
                              [5, 5]]) {
        const part = values.subarray(from, to);
        assert.deepEqual(extremes.of(from, to), [part.reduce((a, b) => Math.min(a, b), Infinity),
                                                 part.reduce((a, b) => Math.max(a, b), -Infinity)], `${from} ${to}`);
    }
});

test("shares of processors and migrations are those of what ran", () => {
    const trace = traceOf([{name: "a", intervals: [[0, 10, RUNNING, 0, 0, 0], [10, 20, READY, 0, 0, 1],
                                                   [20, 50, RUNNING, 0, 0, 1], [50, 60, RUNNING, 0, 0, 1],
                                                   [60, 65, RUNNING, 0, 0, 0]]}, {name: "idle"},
                           {name: "b", intervals: [[65, 70, RUNNING, 0, 0, 1], [70, 75, RUNNING, 0, 0, 2],
                                                   [75, 80, RUNNING, 0, 0, 1]]}]);
    const [task, idle, other] = trace.tasks;
    assert.deepEqual([...trace.sharesOfProcessors(other)], [[1, 10], [2, 5]]);
    assert.equal(other.migrations, 2);
    assert.deepEqual([...trace.sharesOfProcessors(task)], [[0, 15], [1, 40]]);
    assert.equal(task.migrations, 2);
    assert.equal(trace.homeOf(task), 1);
    assert.equal(trace.homeOf(idle), null);
    assert.deepEqual([trace.ranWithin(task), trace.ranWithin(idle)], [[0, 60], [null, null]]);
    assert.deepEqual([[5, 0], [15, 1], [25, 1], [25, 0], [65, 0], [99, 0]].map(([time, cpu]) => {
        const found = trace.runningOn(cpu, time);
        return found && found[1];
    }), [0, null, 2, null, null, null]);
    assert.deepEqual([task.isIdle, idle.isIdle], [false, true]);
});

test("phases are numbered from 1 in order, or there are none", () => {
    const phases = (numbers, second = 0) => {
        const each = (value) => [0, ...numbers.map(() => value)];
        const columns = {at: [1, ...numbers.map((_, i) => 10 * i + 10)], kind: each(1), task: each(0),
                         par1: [9, ...numbers], par2: each(second), text: each(0)};
        return [...traceOf([worker], {...facts, kinds: ["x", "user_event_0"]}, [{name: "marks", of: 0, columns}])
            .phases()];
    };
    assert.deepEqual(phases([1, 2, 3]), [10, 20, 30]);
    assert.deepEqual(phases([1]), []);
    assert.deepEqual(phases([1, 3]), []);
    assert.deepEqual(phases([1, 2], 5), []);
    assert.deepEqual(phases(Array.from({length: 16}, (_, i) => i + 1)).length, 16);
    assert.deepEqual(phases(Array.from({length: 17}, (_, i) => i + 1)), []);
});

test("why a job was late is found by its context and end", () => {
    const late = [{context: 2, end: 50, sentences: ["cause: x"]}, {context: 3, end: 9, sentences: ["cause: y"]}];
    const trace = traceOf([worker, {name: "#3", jobs: [{release: 1, end: 9}]}], {...facts, late});
    const [first, second] = trace.tasks;
    assert.deepEqual([trace.whyLate(first, 1), trace.whyLate(first, 0), trace.whyLate(second, 0)],
                     [["cause: x"], [], ["cause: y"]]);
});

test("lost records are found by the time", () => {
    const trace = traceOf([worker], facts, [{name: "losses", of: 2, columns: {begin: [10, 50], end: [20, 60],
                                                                              records: [7, 3]}}]);
    assert.deepEqual([9, 10, 19, 20, 55].map((time) => trace.lostAt(time)), [[], [[2, 7]], [[2, 7]], [], [[2, 3]]]);
});

test("the second run has times of its own", () => {
    const trace = traceOf([worker], facts);
    const first = new Run(trace, new Times(1000000));
    const second = Object.assign(new Run(trace, new Times(2000000), 1), {rate: 2, origin: 100, at: 30});
    assert.deepEqual([first.shown(7), first.own(7), first.key("task0"), first.mark], [7, 7, "task0", "\u2212"]);
    assert.deepEqual([second.shown(140), second.own(50), second.key("task0"), second.mark], [50, 140, "btask0", "+"]);
    const scale = second.scale(new Scale({left: 0, width: 100}, 30, 50));
    assert.deepEqual([scale.from, scale.to], [100, 140]);
});

test("jobs of a name are counted in the order of their ends, from the part's first", () => {
    const trace = traceOf([{name: "a", context: 5, jobs_before: 2, jobs: [{release: 0, end: 50}, {release: 10}]},
                           {name: "a", context: 6, jobs: [{release: 5, end: 20}, {release: 90, end: 95}]}]);
    const run = new Run(trace, new Times(1000000));
    assert.deepEqual(run.jobs("a").list.map(({task, index}) => [task.context, index]),
                     [[6, 0], [5, 0], [6, 1], [5, 1]]);
    assert.equal(run.job("a", 3).task.context, 6);
    assert.deepEqual([run.job("a", 2), run.job("a", 7), run.job("b", 1)], [null, null, null]);
    assert.equal(run.placeOf("a", 5, 1), 4);
    assert.equal(run.numberOf(trace.tasks[0], 0), 4);
    const part = Object.assign(new Run(trace, new Times(1000000)), {from: 5, to: 90});
    assert.deepEqual(part.jobs("a").list.map(({release}) => release), [5, 10]);
    assert.equal(part.numberOf(trace.tasks[0], 0), 0);
});
