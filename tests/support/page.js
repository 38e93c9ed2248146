// SPDX-License-Identifier: MIT
// Loads the scripts of the page of `remora report` without a browser, for unit tests under node: their functions and
// classes become global names, as in the page. main.js is left out, because it builds the page when it is loaded. Also
// makes traces as the page gets them, and a surface that records what is drawn.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const ROOT = path.resolve(__dirname, "../..");
const BUILD = process.env.BUILD || "build";

global.window = {matchMedia: () => ({matches: false, addEventListener() {}}), devicePixelRatio: 1};

function load(file) {
    vm.runInThisContext(fs.readFileSync(path.join(ROOT, file), "utf8"), {filename: path.join(ROOT, file)});
}

global.d3 = require(path.join(ROOT, BUILD, "d3.min.js"));
const frame = fs.readFileSync(path.join(ROOT, "host/report/frame.cpp"), "utf8");
for (const [, file] of frame.matchAll(/"(host\/report\/page\/\w+\.js)"/g)) {
    if (!file.endsWith("/main.js")) {
        load(file);
    }
}

// The block is packed as host/report/columns.hpp says; a time of null is not known.

const TIMES = ["begin", "end", "start", "at"];
const zigzag = (value) => value < 0 ? -2 * value - 1 : 2 * value;

function packed(numbers) {
    const bytes = [];
    for (let number of numbers) {
        while (number >= 0x80) {
            bytes.push(number % 0x80 + 0x80);
            number = Math.floor(number / 0x80);
        }
        bytes.push(number);
    }
    return bytes;
}

// Returns each value as its distance from the one before.
const distances = (values) => values.map((value, i) => zigzag(value - (i > 0 ? values[i - 1] : 0)));

// Packs tables {name, of, columns}: a column has numbers, or times if it is one of TIMES.
function blockOf(facts, tables) {
    const isTime = ({name}, column) => name !== "times" && TIMES.includes(column);
    const all = [...new Set(tables.flatMap((table) => Object.entries(table.columns)
        .flatMap(([column, values]) => isTime(table, column) ? values.filter((at) => at !== null) : [])))]
        .sort((a, b) => a - b);
    const directory = {...facts, tables: []};
    const bytes = [];
    const distance = all.map((at, i) => at - (i > 0 ? all[i - 1] : 0));
    for (const table of [{name: "times", of: 0, columns: {distance}}, ...tables]) {
        const rows = Object.values(table.columns)[0].length;
        const times = Object.keys(table.columns).filter((column) => isTime(table, column));
        const columns = {...table.columns};
        times.forEach((column) => { columns[column] = []; });
        for (let row = 0, place = 0; row < rows; ++row) {
            for (const column of times) {
                const at = table.columns[column][row];
                const next = at === null ? place : all.indexOf(at);
                columns[column].push(at === null ? 0 : zigzag(next - place) + 1);
                place = next;
            }
        }
        const sizes = {};
        for (const [column, numbers] of Object.entries(columns)) {
            const packedNumbers = packed(numbers);
            sizes[column] = packedNumbers.length;
            bytes.push(...packedNumbers);
        }
        directory.tables.push({name: table.name, of: table.of, rows, columns: sizes});
    }
    const text = new TextEncoder().encode(JSON.stringify(directory));
    const block = new Uint8Array(4 + text.length + bytes.length);
    new DataView(block.buffer).setUint32(0, text.length, true);
    block.set(text, 4);
    block.set(bytes, 4 + text.length);
    return new Block(block);
}

const FACTS = {
    trace: "out/udp", options: [], verdict: "complete", verdict_style: "good", events: 10, lost: 0,
    clock: {khz: 1000000, mode: "instructions", exact: true, host: false},
    oracle: {checked: 5, undecided: 0, violations: 0, shown: [], relaxed: []}, tracing: null, late: [], ended: null,
    started_s: 0, crashes: [],
    span: {last: 1000, cut: false, from_ns: null, to_ns: null, full: false, intervals: 0, bucket: 100},
    levels: [], vectors: [], mutexes: [], servers: [], details: [], culprits: [], served: [], plots: [], kinds: [],
    texts: [], latencies: {missing: null, pairs: []},
};

// Intervals are [begin, end, activity, detail, cause, cpu]. Jobs are {number, release, start, deadline, end, outcome,
// late, unaccounted, shares: [[culprit, ticks, pieces], ...]}.
function tablesOfTask({intervals = [], jobs = []}, of) {
    const column = (rows, place) => rows.map((row) => row[place] || 0);
    const of_jobs = (name) => jobs.map((job) => job[name] === undefined ? null : job[name]);
    const shares = jobs.flatMap((job) => job.shares || []);
    return [
        {name: "intervals", of, columns: {
            begin: column(intervals, 0), end: column(intervals, 1), detail: column(intervals, 3),
            what: intervals.map(([, , activity, , cause = 0]) => activity | cause << 2), cpu: column(intervals, 5)}},
        {name: "jobs", of, columns: {
            number: distances(jobs.map((job, i) => job.number || i + 1)), release: distances(of_jobs("release")),
            start: of_jobs("start"), end: of_jobs("end"),
            deadline: jobs.map((job) => job.deadline === undefined ? 0 : zigzag(job.deadline - job.release) + 1),
            state: jobs.map((job) => (job.outcome || 0) | (job.late ? 8 : 0) | (job.unaccounted || 0) << 4),
            shares: jobs.map((job) => (job.shares || []).length)}},
        {name: "shares", of, columns: {
            culprit: column(shares, 0), ticks: column(shares, 1), pieces: column(shares, 2)}},
    ].filter((table) => Object.values(table.columns)[0].length > 0);
}

// Packs tasks {name, intervals, jobs, ...}; `facts` replace those above, `tables` are added.
function blockOfTasks(tasks, facts = {}, tables = []) {
    const named = tasks.map(({intervals, jobs = [], ...task}, number) => ({
        context: number + 2, misses: jobs.filter((job) => job.late).length, jobs_before: 0, ...task}));
    return blockOf({...FACTS, ...facts, tasks: named}, [...tasks.flatMap(tablesOfTask), ...tables]);
}

function traceOf(...contents) {
    return new Trace(blockOfTasks(...contents));
}

// Returns what takes the place of the timeline, without anything that is drawn.
function timelineOf(trace, times = new Times(trace.khz)) {
    const view = new View(trace, times);
    return {trace, view, rows: new Rows(trace, view), pointer: null, scrollTo() {}, box: {focus() {}}};
}

function surfaceOf(view, {left = 100, width = 1100} = {}) {
    const ops = [];
    const note = (op, names) => (...values) => ops.push(
        {op, ...Object.fromEntries(names.map((name, i) => [name, values[i]]))});
    return {
        ops, view, left, width, ratio: 1, columns: width - left, theme: THEMES.light,
        rect: note("rect", ["x", "y", "width", "height", "colour", "opacity"]),
        hatch: note("hatch", ["x", "y", "width", "height"]), line: note("line", ["x", "y", "x2", "y2", "colour"]),
        polygon: note("polygon", ["points", "colour"]), polyline: note("polyline", ["points", "colour"]),
        text: note("text", ["x", "y", "text", "colour", "room"]), textWidth: (text) => 6 * text.length,
        shade: note("shade", ["y", "height", "layers"]),
    };
}

// Draws one row of the timeline from time to time, and returns what was drawn.
function drawn(timeline, key, from, to, size) {
    const surface = surfaceOf(timeline.view, size);
    const scale = new Scale(surface, from, to);
    const row = timeline.rows.byKey.get(key);
    row.isShaded = row.shade !== undefined && row.shade(surface, 0, scale, timeline.trace);
    row.paint(surface, 0, scale, timeline.trace);
    return surface.ops;
}

module.exports = {blockOf, blockOfTasks, traceOf, timelineOf, surfaceOf, drawn, zigzag};

// Run as a program, it runs the files of tests that are named on the command line, all in this process.
if (require.main === module) {
    process.argv.slice(2).forEach((file) => require(path.resolve(file)));
}
