// SPDX-License-Identifier: MIT
// Tests what rows draw, and the arithmetic of pixels.
"use strict";

const assert = require("node:assert");
const {test} = require("node:test");
const {traceOf, timelineOf, surfaceOf, drawn, zigzag} = require("../../../../support/page.js");

const scaleOf = (from, to) => new Scale(surfaceOf(null), from, to); // A thousand pixels, from 100 on.
const rounded = (numbers) => Array.from(numbers, (number) => Math.round(number * 1000) / 1000);

test("times become pixels, and stretches are cut to what is in sight", () => {
    const scale = scaleOf(1000, 2000);
    assert.deepEqual([scale.x(1000), scale.x(1500), scale.time(600)], [100, 600, 1500]);
    assert.deepEqual(scale.stretch(900, 1100), [100, 100]);
    assert.deepEqual(scale.stretch(1900, 2500), [1000, 100]);
    assert.deepEqual(scale.stretch(1500, 1500.2), [600, 1]);
});

test("shares of columns are rises of the sum, the smallest still seen", () => {
    const surface = {...surfaceOf(null), columns: 4, left: 0, width: 4};
    const scale = new Scale(surface, 0, 40);
    const begin = [0, 12, 30], end = [10, 13, 36];
    assert.deepEqual(rounded(scale.shares(sumBefore(begin, end, sumsOf(begin, end)))), [1, 0.12, 0, 0.6]);
    assert.deepEqual([...sumsOf(begin, end)], [0, 10, 11, 17]);
    assert.deepEqual([shareSeen(0.5), shareSeen(2), shareSeen(0.01)], [0.5, 1, 0.12]);
});

test("galloping finds the same as a search from there on", () => {
    const values = Array.from({length: 200}, (_, i) => Math.floor(i / 3) * 2);
    for (let limit = -1; limit < 140; ++limit) {
        for (const from of [0, 1, 50, 199, 200]) {
            if (from <= firstAfter(values, limit)) {
                assert.equal(gallop(values, limit, from), firstAfter(values, limit), `${limit} from ${from}`);
            }
        }
    }
});

test("of stretches and points that share a pixel one is drawn", () => {
    const seen = (each, ...rest) => {
        const found = [];
        each(...rest, scaleOf(0, 10000), (i) => found.push(i)); // A pixel is ten ticks.
        return found;
    };
    assert.deepEqual(seen(eachInSight, [0, 2, 4, 30, 9990, 10001], [1, 3, 25, 40, 9999, 10009]), [0, 2, 3, 4]);
    assert.deepEqual(seen(eachInSight, [-50, -5, 20], [-40, 5, 90]), [1, 2]);
    assert.deepEqual(seen(eachPointInSight, [-5, 0, 4, 9, 11, 500, 10000, 10001]), [2, 5, 6]);
});

test("a task's shares are those of its intervals", () => {
    const [task] = traceOf([{name: "a", intervals: [[0, 10, RUNNING], [10, 15, READY], [20, 40, WAITING]]}]).tasks;
    const surface = {...surfaceOf(null), columns: 4};
    const shares = sharesOfTask(task, new Scale(surface, 0, 40));
    assert.deepEqual(shares.map(rounded), [[1, 0, 0, 0], [0, 0.5, 0, 0], [0, 0, 1, 1], [0, 0, 0, 0]]);
    assert.equal(sharesOfTask(task, new Scale(surface, 0, 40)), shares);
    assert.notEqual(sharesOfTask(task, new Scale(surface, 0, 39)), shares);
});

test("an interval is drawn as what the task did", () => {
    const facts = {details: [{wait: "mutex tank", mutex: 1, other: 2}, {wait: "", mutex: null, other: 2}]};
    const timeline = timelineOf(traceOf([
        {name: "a", intervals: [[0, 100, RUNNING], [100, 200, READY], [200, 300, WAITING, 1], [300, 400, RUNNING, 2]]},
        {name: "b"}], facts));
    const ops = drawn(timeline, "task0", 0, 1000);
    const rects = ops.filter(({op}) => op === "rect").map(({x, width, colour}) => [x, width, colour]);
    const own = taskColour(0);
    assert.deepEqual(rects.slice(0, 1), [[100, 100, own]]);
    assert.deepEqual(rects.slice(-2), [[400, 100, own], [400, 100, taskColour(1)]]);
    assert.deepEqual(ops.filter(({op}) => op === "hatch").map(({x, width}) => [x, width]), [[200, 100]]);
    assert.deepEqual(ops.filter(({op}) => op === "text").map(({text}) => text),
                     ["mutex tank \u00b7 held by b", "for b"]);
});

test("releases are arrows up, deadlines arrows down, misses caps with a bar until the end", () => {
    const timeline = timelineOf(traceOf([{name: "a", intervals: [[0, 1000, READY]], jobs: [
        {release: 100, deadline: 300, end: 200}, {release: 500, deadline: 600, end: 700, late: 1}]}]));
    const ops = drawn(timeline, "task0", 0, 1000);
    const heads = (colour) => ops.filter((one) => one.op === "polygon" && one.colour === THEMES.light[colour])
        .map(({points}) => points.slice(0, 2));
    assert.deepEqual(heads("text"), [[200, 1], [600, 1]]);
    assert.deepEqual(heads("muted"), [[400, 27], [700, 27]]);
    assert.deepEqual(heads("miss"), [[695, 0]]);
    const [bar] = ops.filter(({op, colour}) => op === "rect" && colour === THEMES.light.miss);
    assert.deepEqual([bar.x, bar.width], [700, 100]);
});

test("so many jobs that arrows would hide each other have none", () => {
    const jobs = (count) => d3.range(count).map((i) => ({release: 5 * i, deadline: 5 * i + 3, end: 5 * i + 2}));
    const heads = (count) => drawn(timelineOf(traceOf([{name: "a", jobs: jobs(count)}])), "task0", -1, 1000)
        .filter(({op}) => op === "polygon").length;
    assert.deepEqual([heads(125), heads(126)], [250, 0]); // An arrow needs four of the 1000 pixels.
});

test("the picked job has a frame, which is not drawn when it is out of sight", () => {
    const {view, trace, rows} = timelineOf(traceOf([{name: "a", jobs: [{release: 100, start: 100, end: 200}]}]));
    view.pick("task0", {task: 0, index: 0, run: 0});
    const frames = (from, to) => {
        const surface = surfaceOf(view);
        paintPicked(surface, view, trace, rows, 0, new Scale(surface, from, to));
        return surface.ops.map(({points}) => points.slice(0, 3));
    };
    const [[left, top, right]] = frames(0, 1000);
    assert.deepEqual([left, top, right], [200, rows.byKey.get("task0").y + 2, 300]);
    assert.deepEqual([frames(150, 1150).length, frames(300, 1300), frames(-1000, 50)], [1, [], []]);
});

test("the shapes of arrows, waits and runs are exact", () => {
    const surface = surfaceOf(null);
    missMark(surface, 50, 10);
    holdBar(surface, 10, 2, 30, "tint", "owner");
    eventMark(surface, 50, 20, "event");
    violationMark(surface, 50, 20);
    const {miss} = THEMES.light;
    assert.deepEqual(surface.ops.splice(0), [
        {op: "polygon", points: [45, 10, 55, 10, 55, 13, 50, 17, 45, 13], colour: miss},
        {op: "line", x: 50, y: 14, x2: 50, y2: 34, colour: miss},
        {op: "rect", x: 10, y: 6, width: 30, height: 13, colour: "tint", opacity: 0.3},
        {op: "rect", x: 10, y: 6, width: 3, height: 13, colour: "tint", opacity: undefined},
        {op: "rect", x: 10, y: 17, width: 30, height: 2, colour: "owner", opacity: undefined},
        {op: "polygon", points: [50, 15, 54, 20, 50, 25, 46, 20], colour: "event"},
        {op: "polygon", points: [50, 11, 55, 19, 45, 19], colour: miss}]);
    arrow(surface, 50, 22, 1, "up");
    arrow(surface, 60, 2, 27, "down");
    waitBar(surface, 10, 7, 30, "tint");
    waitBar(surface, 10, 7, 30, null);
    const {muted} = THEMES.light;
    assert.deepEqual(surface.ops, [
        {op: "line", x: 50, y: 22, x2: 50, y2: 1, colour: "up"},
        {op: "polygon", points: [50, 1, 47, 5, 53, 5], colour: "up"},
        {op: "line", x: 60, y: 2, x2: 60, y2: 27, colour: "down"},
        {op: "polygon", points: [60, 27, 57, 23, 63, 23], colour: "down"},
        {op: "rect", x: 10, y: 7, width: 30, height: 15, colour: "tint", opacity: 0.3},
        {op: "rect", x: 10, y: 20, width: 30, height: 2, colour: "tint", opacity: 1},
        {op: "rect", x: 10, y: 20, width: 30, height: 2, colour: muted, opacity: 0.35}]);
});

test("an exceeded execution time is marked where it was, and jobs that a brush chose are underlined", () => {
    const marks = {at: [300, 800], kind: [0, 0], task: [1, 2], par1: [0, 0], par2: [0, 0], text: [0, 0]};
    const jobs = [{release: 100, end: 200}, {release: 400, end: 700}];
    const timeline = timelineOf(traceOf([{name: "a", intervals: [[0, 1000, READY]], jobs}, {name: "b"}],
                                        {kinds: ["task_wcet_violation"]}, [{name: "marks", of: 0, columns: marks}]));
    const overruns = () => drawn(timeline, "task0", 0, 1000).filter(({colour}) => colour === THEMES.light.over);
    assert.deepEqual(overruns().map(({points}) => points), [[400, 7, 404, 14, 396, 14]]);
    timeline.view.filter = {task: 0, least: 250, greatest: 350};
    const ops = drawn(timeline, "task0", 0, 1000).filter(({op}) => op === "rect");
    assert.deepEqual(ops.filter(({colour}) => colour === THEMES.light.cursor).map(({x, width, y}) => [x, width, y]),
                     [[500, 300, 24]]);
    assert.deepEqual(ops.filter(({opacity}) => opacity === 0.75).map(({x, width}) => [x, width]),
                     [[100, 400], [800, 300]]);
});

test("a task that begins ready has not moved", () => {
    const timeline = timelineOf(traceOf([
        {name: "a", intervals: [[0, 100, READY, 0, 0, 0], [100, 200, RUNNING, 0, 0, 1]]},
        {name: "b", intervals: [[0, 100, RUNNING, 0, 0, 0]]}]));
    assert.equal(drawn(timeline, "task0", 100, 1000).filter(({op}) => op === "polygon").length, 0);
});

test("a task shows on which of several processors it runs, and where it moved", () => {
    const timeline = timelineOf(traceOf([{name: "a", intervals: [
        [0, 100, RUNNING, 0, 0, 0], [100, 200, READY, 0, 0, 0], [200, 300, RUNNING, 0, 0, 1],
        [400, 500, RUNNING, 0, 0, 1]]}]));
    const seen = (from) => drawn(timeline, "task0", from, from + 1000);
    assert.deepEqual(seen(0).filter(({op}) => op === "text").map(({x, text}) => [x, text]),
                     [[104, "0"], [304, "1"], [504, "1"]]);
    const wedges = (from) => seen(from).filter(({op, points}) => op === "polygon" && points.length === 6);
    assert.deepEqual(wedges(0).map(({points}) => points), [[300, 1, 307, 4.5, 300, 8]]);
    assert.deepEqual(seen(0).filter(({op, x, x2}) => op === "line" && x === 300 && x2 === 300)
        .map(({y, y2}) => [y, y2]), [[1, 22]]);
    assert.deepEqual([wedges(150).map(({points: [x]}) => x), wedges(250)], [[150], []]);
});

test("where the page has no intervals it draws the buckets", () => {
    const overview = {running: [255, 0, 51], ready: [0, 102, 0], waiting: [0, 0, 0], misses: [0, 0, 0]};
    const timeline = timelineOf(traceOf([{name: "a"}], {}, [{name: "overview", of: 0, columns: overview}]));
    const [{y, height, layers}] = drawn(timeline, "task0", 0, 400).filter(({op}) => op === "shade");
    assert.deepEqual([y, height, layers.map(([, , hatch]) => hatch === null)],
                     [TRACK_TOP, TRACK_HEIGHT, [true, false]]);
    const at = (layer, column) => Math.round(100 * layers[layer][0][column]) / 100;
    assert.deepEqual([0, 249, 250, 500, 749, 750].map((column) => at(0, column)), [1, 1, 0, 0.2, 0.2, 0]);
    assert.deepEqual([249, 250, 499, 500].map((column) => at(1, column)), [0, 0.4, 0.4, 0]);
});

test("events are marks with their texts where there is room, violations are above them", () => {
    const shown = [{at: 500, task: 0, rule: "r", text: "t"}, {at: 1500, task: 0, rule: "r", text: "t"}];
    const facts = {kinds: ["note"], texts: ["hello"],
                   oracle: {checked: 1, undecided: 0, violations: 2, relaxed: [], shown}};
    const marks = {at: [100, 110, 600], kind: [0, 0, 0], task: [0, 1, 0], par1: [7, 0, 0], par2: [8, 0, 0],
                   text: [0, 0, 1]};
    const timeline = timelineOf(traceOf([{name: "a"}], facts, [{name: "marks", of: 0, columns: marks}]));
    const ops = drawn(timeline, "marks", 0, 1000);
    assert.deepEqual(ops.filter(({op}) => op === "text").map(({x, text, room}) => [x, text, room]),
                     [[217, "note 0 0", 478], [707, "note hello", 388]]);
    const {muted, miss} = THEMES.light;
    assert.deepEqual(ops.filter(({op}) => op === "polygon").map(({points, colour}) => [points[0], points[1], colour]),
                     [[200, 9, muted], [210, 9, taskColour(0)], [700, 9, muted], [600, 5, miss]]);
});

test("a budget falls while its tasks run, and is refilled at once", () => {
    const trace = traceOf([{name: "a", intervals: [[0, 10, RUNNING], [20, 30, RUNNING]]}]);
    const points = (at, value) => budgetPoints({at, value, served: [0]}, 0, at.length > 1, trace);
    assert.deepEqual(points([0, 40], [100, 60]), [[0, 100], [0, 100], [10, 80], [20, 80], [30, 60]]);
    assert.deepEqual(points([32, 40], [100, 60]), [[32, 100], [40, 100]]);
    assert.deepEqual(points([0, 40], [50, 60]), [[0, 50], [40, 50]]);
    assert.deepEqual(points([0], [50]), [[0, 50]]);
    assert.deepEqual(points([7, 7], [50, 60]), [[7, 50]]);
    assert.deepEqual(runsOf(trace.tasks[0], 5, 25), [[5, 10], [20, 25]]);
});

test("a curve that begins before what is in sight is cut there", () => {
    assert.deepEqual(inSight([[0, 10], [10, 20], [20, 0]], 5), [[5, 15], [10, 20], [20, 0]]);
    assert.deepEqual(inSight([[0, 10], [10, 20]], 0), [[0, 10], [10, 20]]);
    assert.deepEqual(inSight([[0, 10], [10, 20]], 50), [[0, 10], [10, 20]]);
});

test("a value stays until the next one", () => {
    const curve = {at: [10, 20, 40], value: [1, 5, 5]};
    assert.deepEqual(stepPoints(curve, 0, 3, 100), [[10, 1], [20, 1], [20, 5], [40, 5], [40, 5], [100, 5]]);
    assert.deepEqual(stepPoints(curve, 1, 2, 30), [[20, 5], [30, 5]]);
    const plots = [{event: "e", field: "x", unit: "mm", fraction_bits: 0},
                   {event: "e", field: "on", unit: "", fraction_bits: 0, boolean: true}];
    const timeline = timelineOf(traceOf([{name: "a"}], {plots}, [
        {name: "plot", of: 0, columns: {at: [100, 200], value: [zigzag(5), zigzag(10)]}},
        {name: "plot", of: 1, columns: {at: [100, 300, 500], value: [zigzag(1), zigzag(-1), zigzag(1)]}}]));
    const [line] = drawn(timeline, "plot0", 0, 2000).filter(({op}) => op === "polyline");
    assert.deepEqual(line.points, [150, 38, 200, 38, 200, 6, 600, 6]); // It ends with the trace, at 1000.
    const steps = drawn(timeline, "plot0", 0, 2000).filter(({op, width}) => op === "rect" && width === 3);
    assert.deepEqual(steps.map(({x, y}) => [x + 1.5, y + 1.5]), [[150, 38], [200, 6]]);
    const bands = drawn(timeline, "plot1", 0, 1000).filter(({op}) => op === "rect");
    assert.deepEqual(bands.map(({x, width}) => [x, width]), [[200, 200], [600, 500]]);
    assert.equal(drawn(timeline, "plot1", 320, 450).filter(({op}) => op === "rect").length, 0);
});

test("a curve has an axis with its least, greatest and unit", () => {
    const times = new Times(1000000);
    const axis = (curve) => axisOfCurve(
        {unit: "", extremes: new Extremes(Float64Array.from(curve.value)), ...curve}, times);
    assert.deepEqual(axis({value: [3, 1234.5678, -7], unit: "mm"}), ["1,235 mm", "-7"]);
    assert.deepEqual(axis({value: [12345678, 12345678]}), ["12,345,678", ""]);
    assert.deepEqual(axis({value: [0, 1], isBoolean: true}), ["true", "false"]);
    assert.deepEqual(axis({value: [2000, 5000], isTime: true}), ["5\u202f\u00b5s", "0\u202fns"]);
    assert.deepEqual([0.0000123462, 1.5, 1e6].map(valueText), ["0.00001235", "1.5", "1,000,000"]);
    const plots = [{event: "e", field: "x", unit: "a very long unit", fraction_bits: 0}];
    const timeline = timelineOf(traceOf([{name: "a"}], {plots}, [
        {name: "plot", of: 0, columns: {at: [100, 200], value: [zigzag(5), zigzag(10)]}}]));
    const texts = drawn(timeline, "plot0", 0, 1000).filter(({op}) => op === "text");
    assert.deepEqual(texts.map(({x, y, text}) => [x, y, text]), [[22, 8, "15 a very l\u2026"], [88, 36, "5"]]);
});

test("points in time have one unit, with as many decimals as their span needs", () => {
    const view = ({from, to}) => ({from, to, times: new Times(1000000)});
    const range = (from, to, last = 303901234) => rangeText(view({from, to}), {last});
    assert.equal(range(-3000000, 307000000), "0.000 \u2013 303.901\u202fms (303.901)");
    assert.equal(range(5033763, 56105763), "5.0338 \u2013 56.1058\u202fms (51.0720)");
    assert.equal(range(75000000, 75000400), "75.000000 \u2013 75.000400\u202fms (0.000400)");
    assert.equal(rangeText({from: -3, to: 10, times: new Times(0)}, {last: 8}), "0 \u2013 8\u202fticks (8)");
    assert.equal(rangeText({from: 5.2, to: 1999.7, times: new Times(0)}, {last: 5000}),
                 "5 \u2013 2,000\u202fticks (1,995)");
    const axis = (from, to) => {
        const [ticks, text, unit] = axisOf(view({from, to}), null, 440);
        return [ticks.map(text).join(" "), unit, ticks[1]];
    };
    assert.deepEqual(axis(75000000, 75200000), ["75.00 75.05 75.10 75.15 75.20", "ms", 75050000]);
    assert.deepEqual(axis(0, 303901234), ["0 100 200 300", "ms", 100000000]);
});

test("the axis has no text that would be cut", () => {
    const span = {last: 300000000, bucket: 100, from_ns: null, to_ns: null};
    const {view, trace} = timelineOf(traceOf([{name: "a"}], {span}));
    view.show(0, 300000000);
    const surface = surfaceOf(view);
    paintAxis(surface, view, trace);
    const texts = surface.ops.filter(({op}) => op === "text");
    assert.ok(texts.length > 5);
    for (const {x, text} of texts.slice(0, -1)) {
        assert.ok(x >= 100 && x + 6 * text.length <= 1100, `${text} at ${x}`);
    }
    assert.equal(texts[texts.length - 1].text, "ms");
});

test("the processor shows who runs on it", () => {
    const timeline = timelineOf(traceOf([
        {name: "a", intervals: [[0, 100, RUNNING, 0, 0, 0], [100, 200, RUNNING, 0, 0, 1]]},
        {name: "idle", intervals: [[100, 200, RUNNING, 0, 0, 0]]}]));
    const bars = (key) => drawn(timeline, key, 0, 1000).filter(({op}) => op === "text").map(({x, text}) => [x, text]);
    assert.deepEqual(bars("cpu0"), [[104, "a"], [204, "idle"]]);
    assert.deepEqual(bars("cpu1"), [[204, "a"]]);
});

test("handlers that are nested are drawn above those that they interrupted", () => {
    const timeline = timelineOf(traceOf([{name: "a"}], {vectors: [[32, "timer"], [33, "disk"]]}, [
        {name: "handlers", of: 0, columns: {begin: [100, 200, 900], end: [400, 300, 950], depth: [1, 2, 1],
                                            vector: [32, 33, 32], task: [0, 0, 0]}}]));
    const bars = (from, to) => drawn(timeline, "irq0", from, to).filter(({op}) => op === "text")
        .map(({y, text}) => [y, text]);
    const [[below, outer], [above, inner], [, last]] = bars(0, 1000);
    assert.deepEqual([outer, inner, last], ["timer", "disk", "timer"]);
    assert.ok(above < below);
    assert.equal(bars(250, 350).length, 2);
    assert.equal(bars(500, 800).length, 0);
});

test("an owner of a mutex is named where it holds it", () => {
    const timeline = timelineOf(traceOf([{name: "a"}, {name: "b"}], {mutexes: [[3, "bus"]]}, [
        {name: "holds", of: 3, columns: {begin: [100, 500], end: [300, 600], task: [1, 0], how: [0, 0]}}]));
    assert.deepEqual(drawn(timeline, "mutex3", 0, 1000).filter(({op}) => op === "text").map(({x, text}) => [x, text]),
                     [[205, "b"], [605, "a"]]);
});

test("lost records are a band", () => {
    const timeline = timelineOf(traceOf([{name: "a", intervals: [[0, 900, RUNNING]]}], {}, [
        {name: "losses", of: 0, columns: {begin: [200], end: [300], records: [7]}}]));
    const surface = surfaceOf(timeline.view);
    paintLosses(surface, timeline.rows.shown, 0, new Scale(surface, 0, 1000), timeline.trace, 300);
    assert.deepEqual(surface.ops.map(({x, width, text}) => [x, width || text]), [[300, 100], [304, "7 records lost"]]);
    paintLosses(surface, timeline.rows.shown, 0, new Scale(surface, 250, 1250), timeline.trace, 300);
    assert.deepEqual([surface.ops[2].x, surface.ops[2].width], [100, 50], "its begin is out of sight");
});

test("a row with very much in sight is shaded by columns", () => {
    const intervals = Array.from({length: 600}, (_, i) => [i, i + 1, RUNNING]);
    const timeline = timelineOf(traceOf([{name: "a", intervals}]));
    for (const key of ["task0", "cpu0"]) {
        const ops = drawn(timeline, key, 0, 1000).filter(({op}) => op === "shade");
        assert.equal(ops.length, 1, key);
        assert.equal(drawn(timeline, key, 0, 100).filter(({op}) => op === "shade").length, 0, key);
    }
    const at = Array.from({length: 300}, (_, i) => i + 0.5);
    const surface = surfaceOf(null);
    assert.ok(shadePoints(surface, 0, 8, at, new Scale(surface, 0, 1000), "#000000"));
    const [[shares]] = surface.ops[0].layers;
    assert.deepEqual([shares[0], shares[299], shares[300]], [1, 1, 0]);
    const curve = timelineOf(traceOf([{name: "a"}], {plots: [{event: "e", field: "x", unit: "", fraction_bits: 0}]}, [
        {name: "plot", of: 0, columns: {at: Array.from({length: 900}, (_, i) => i),
                                        value: Array.from({length: 900}, (_, i) => zigzag(i % 2 ? -1 : 1))}}]));
    assert.equal(drawn(curve, "plot0", 0, 1000).filter(({op}) => op === "shade").length, 1);
});
