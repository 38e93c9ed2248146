// SPDX-License-Identifier: MIT
// Tests the span of time that is in sight, and the address that has it.
"use strict";

const assert = require("node:assert");
const {test} = require("node:test");
const {traceOf, timelineOf} = require("../../../../support/page.js");

const jobs = [{number: 4, release: 100, end: 130}, {number: 5, release: 600, end: 700}];

function viewOf() {
    const {view} = timelineOf(traceOf([{name: "a/b", jobs}, {name: "c", jobs: [{number: 9, release: 5, end: 6}]}]));
    view.show(0, 200);
    return view;
}

const span = ({from, to}) => [from, to];

test("a span is at least ten ticks, and not far beyond the trace", () => {
    const view = viewOf();
    view.show(500, 502);
    assert.deepEqual(span(view), [496, 506]);
    view.show(-5000, 5000);
    assert.deepEqual(span(view), [-20, 1020]);
    view.show(-300, -100);
    assert.deepEqual(span(view), [-20, 180]);
    view.show(1300, 1500);
    assert.deepEqual(span(view), [820, 1020]);
    view.showAll();
    assert.deepEqual(span(view), [-10, 1010]);
    view.showPart();
    assert.deepEqual(span(view), [-10, 1010]);
});

test("listeners hear of a change once, and of no change not at all", () => {
    const view = viewOf();
    const heard = [];
    view.listen("test", (what) => heard.push(what));
    view.show(10, 210);
    view.show(10, 210);
    view.pick("task0", null);
    view.toggle(view.pinned, "task0");
    assert.deepEqual(heard, ["span", "pick", "rows"]);
    assert.ok(view.pinned.has("task0"));
    view.toggle(view.pinned, "task0");
    assert.ok(!view.pinned.has("task0"));
});

test("what is right or left of the window is brought into its middle", () => {
    const view = viewOf();
    view.reveal(600, 700);
    assert.deepEqual(span(view), [550, 750]);
    view.reveal(100, 130);
    assert.deepEqual(span(view), [15, 215]);
    view.reveal(180, 216);
    assert.deepEqual(span(view), [98, 298]);
});

test("what is in sight stays where it is", () => {
    const view = viewOf();
    view.reveal(0, 200);
    view.reveal(50, 80);
    view.reveal(70, 70);
    assert.deepEqual(span(view), [0, 200]);
});

test("what does not fit, or is tiny, is zoomed to", () => {
    const view = viewOf();
    view.reveal(100, 400);
    assert.deepEqual(span(view), [-20, 880]);
    view.show(0, 600);
    view.reveal(300, 340);
    assert.deepEqual(span(view), [260, 380]);
    view.show(0, 600);
    view.reveal(300, 301);
    assert.deepEqual(span(view), [280, 321]);
});

test("the address shows the same again", () => {
    const view = viewOf();
    Object.assign(view, {row: "task0", job: {task: 0, index: 1, run: 0}, cursors: [10.4, null], by: "nothing",
                         order: ["task1", "task0"]});
    view.pinned.add("task1");
    view.hidden.add("cpu0");
    view.folded.add("tasks");
    const address = view.address();
    assert.equal(address, "#t=0-200&row=task0&job=0.5&a=10&pin=task1&hide=cpu0&fold=tasks&order=task1.task0"
        + "&by=nothing");
    assert.equal(viewOf().address(), "#t=0-200");
    const again = viewOf();
    const heard = [];
    again.listen("test", (what) => heard.push(what));
    again.goTo(address);
    assert.equal(again.address(), address);
    assert.deepEqual(heard, ["rows", "pick", "cursors"]); // The span is the same as before.
    assert.deepEqual(again.job, view.job);
    assert.deepEqual(again.cursors, [10, null]);
});

test("an address that makes no sense shows the whole trace", () => {
    const view = viewOf();
    view.goTo("#t=9-3&a=x&b=99999999999999999&by=colour&pin=A.b%20c.d1&job=7.1");
    assert.deepEqual(span(view), [-10, 1010]);
    assert.deepEqual([view.cursors, view.by, [...view.pinned], view.job], [[null, null], "level", ["d1"], null]);
    view.goTo("#t=9-9");
    assert.deepEqual(span(view), [-10, 1010]);
    view.goTo("#t=-3-50&a=-7");
    assert.deepEqual([span(view), view.cursors], [[-3, 50], [-7, null]]);
});

test("a page of a part opens with the part", () => {
    const facts = {span: {last: 1000, from_ns: 200, to_ns: 300, bucket: 100}};
    const {view} = timelineOf(traceOf([{name: "a"}], facts));
    view.goTo("");
    assert.deepEqual(span(view), [199, 301]);
});

test("a job is named by its task's number or name", () => {
    const view = viewOf();
    assert.deepEqual(view.jobOf("0.5"), {task: 0, index: 1, run: 0});
    assert.deepEqual(view.jobOf("a/b/4"), {task: 0, index: 0, run: 0});
    assert.deepEqual(view.jobOf("c/9"), {task: 1, index: 0, run: 0});
    for (const text of ["", "0.6", "2.5", "b/4", "a/b/x", "0.5.b", "0.5.c", "c"]) {
        assert.equal(view.jobOf(text), null, text);
    }
    view.runs.push(new Run(traceOf([{name: "c", jobs}]), view.times, 1));
    assert.deepEqual(view.jobOf("0.5.b"), {task: 0, index: 1, run: 1});
    view.goTo("#job=c/9");
    assert.equal(view.row, "task1");
});

test("calls that are seldom made are made once at first, and with the last state later", (context) => {
    const waiting = [];
    context.mock.method(global, "setTimeout", (call, ms) => waiting.push([call, ms]));
    const pass = () => waiting.splice(0).forEach(([due, ms]) => assert.equal(ms, 80) || due());
    let calls = 0;
    const call = seldom(() => { ++calls; });
    call();
    call();
    call();
    assert.equal(calls, 1);
    pass();
    assert.equal(calls, 2);
    pass();
    assert.equal(calls, 2);
    call();
    assert.equal(calls, 3);
});
