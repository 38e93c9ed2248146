// SPDX-License-Identifier: MIT
// Tests the chips and the banners at the head of the page.
"use strict";

const assert = require("node:assert");
const {test} = require("node:test");
const {traceOf} = require("../../../../support/page.js");

const jobs = [{release: 0, deadline: 50, end: 10}];
const chipsNamed = (name, facts = {}, task = {name: "a", jobs}) => chipsOf(traceOf([task], facts))
    .filter((chip) => chip.name === name).map(({style, text}) => [style, text])[0];
const oracle = (more) => ({checked: 0, undecided: 0, violations: 0, shown: [], relaxed: [], ...more});
const host = {khz: 2400000, mode: "emulated", exact: false, host: true};

test("the oracle is green only where times are judged", () => {
    assert.deepEqual(chipsNamed("oracle", {oracle: oracle({checked: 2465})}),
                     ["good", "2,465 decisions as the theory says"]);
    assert.deepEqual(chipsNamed("oracle", {oracle: oracle({checked: 2465}), clock: host}),
                     ["warning", "times are not judged; 2,465 decisions are in order"]);
    assert.deepEqual(chipsNamed("oracle", {oracle: oracle()}), ["warning", "nothing was decided"]);
    assert.deepEqual(chipsNamed("oracle", {oracle: oracle({checked: 9, violations: 1})}), ["bad", "1 violation of 9"]);
    assert.deepEqual(chipsNamed("oracle", {oracle: oracle({checked: 9, violations: 2}), clock: host}),
                     ["bad", "2 violations of 9"]);
    const [chip] = chipsOf(traceOf([{name: "a"}], {oracle: oracle({undecided: 3, relaxed: ["x", "y"]})}))
        .filter(({name}) => name === "oracle");
    assert.equal(chip.title, "3 undecided; x; y");
});

test("no miss is good only of a whole trace that has deadlines", () => {
    assert.deepEqual(chipsNamed("deadlines"), ["good", "no miss recorded"]);
    assert.deepEqual(chipsNamed("deadlines", {verdict_style: "warning"}), ["plain", "no miss recorded"]);
    assert.deepEqual(chipsNamed("deadlines", {}, {name: "a"}), ["plain", "no miss recorded"]);
    const late = {name: "a", jobs: [{release: 0, deadline: 5, end: 9, late: 1}]};
    assert.deepEqual(chipsNamed("deadlines", {}, late), ["bad", "1 missed (n: next)"]);
    const span = {last: 1000, from_ns: 5, to_ns: null, bucket: 100};
    assert.deepEqual(chipsNamed("deadlines", {span}, late), ["bad", "1 missed in the whole trace (n: next)"]);
});

test("clock, losses and the share of the tracing are stated", () => {
    assert.deepEqual(chipsNamed("clock"), ["good", "instructions, 1,000 MHz"]);
    assert.deepEqual(chipsNamed("clock", {clock: {...host, khz: 0}}),
                     ["bad", "emulated, rate not known: times are ticks"]);
    assert.deepEqual(chipsNamed("lost"), ["good", "nothing"]);
    assert.deepEqual(chipsNamed("lost", {lost: 1234}), ["bad", "1,234 records"]);
    assert.deepEqual(chipsNamed("tracing"), ["plain", "share not known"]);
    assert.deepEqual(chipsNamed("tracing", {tracing: {share: null}}), ["plain", "share not known"]);
    assert.deepEqual(chipsNamed("tracing", {tracing: {share: 0.01234}}), ["plain", "about 1.23 % of the run"]);
});

test("a run that did not end well is red, whatever else is complete", () => {
    assert.deepEqual(["completed", "failed", "panicked", null].map((ended) => chipsNamed("run", {ended})),
                     [["good", "completed"], ["bad", "failed"], ["bad", "panicked"], undefined]);
    assert.ok(chipsOf(traceOf([{name: "a", jobs}], {ended: "panicked"})).every(({style}) => style !== "good"));
    for (const kind of ["panic", "hang", "failed", "killed"]) {
        const facts = {ended: "completed", crashes: [{kind, text: "x"}]};
        assert.ok(chipsOf(traceOf([{name: "a", jobs}], facts)).every(({style}) => style !== "good"), kind);
    }
    assert.ok(chipsOf(traceOf([{name: "a", jobs}], {ended: "completed", verdict: "incomplete", verdict_style: "bad"}))
        .every(({style}) => style !== "good"), "a trace that is cut");
    assert.ok(chipsOf(traceOf([{name: "a", jobs}], {ended: "completed"})).some(({style}) => style === "good"));
    assert.equal(dateText(1795827898), "2026-11-28 01:04 UTC");
});

test("an instruction is named as far as it is known", () => {
    assert.equal(frameText({address: 4096, function: "f()+0x1c", line: "x.cpp:3"}), "f()+0x1c (x.cpp:3)");
    assert.equal(frameText({address: 4096, function: "", line: ""}), "0x1000");
    const runs = [{interrupt: true, number: 3, name: "timer"}, {interrupt: false, number: 4, name: ""}];
    assert.deepEqual(runs.map(runText),
                     ["the handler of timer", "#4"]);
});

test("banners say what limits the figures", () => {
    const banners = (facts) => {
        const trace = traceOf([{name: "a"}], facts);
        return bannersOfTrace(trace, new Times(trace.khz))
            .map(([style, text]) => [style, text.replace(/\u202f/g, " ")]);
    };
    const span = {last: 1000, from_ns: null, to_ns: null, bucket: 100, intervals: 0, full: false, cut: false};
    assert.deepEqual(banners({}), []);
    const killed = {kind: "killed", text: "task a was killed: wcet", where: null};
    const panic = {kind: "panic", text: "panic in task b: divide error", where: "f (x.cpp:3)"};
    assert.deepEqual(banners({ended: "panicked", crashes: [panic, killed]}),
                     [["bad", "panic in task b: divide error, in f (x.cpp:3)"], ["warning", killed.text]]);
    assert.deepEqual(banners({ended: "failed", crashes: [killed]}),
                     [["bad", "The application reports that it failed."], ["warning", killed.text]]);
    assert.match(banners({ended: "panicked"})[0][1], /no record/);
    assert.deepEqual(banners({ended: "completed", crashes: [killed]}), [["warning", killed.text]]);
    assert.deepEqual(banners({clock: host}), [["bad", CLOCK_BANNERS.emulated]]);
    assert.deepEqual(banners({clock: {...host, mode: "x"}}), [["bad", CLOCK_BANNERS.unknown]]);
    assert.match(banners({span: {...span, cut: true}})[0][1], /2\^53/);
    assert.deepEqual(banners({span: {...span, from_ns: 5e6}}),
                     [["note", "A part of the trace from 5.000000 ms; of the rest the page has an overview."]]);
    assert.deepEqual(banners({span: {...span, from_ns: 5e6, to_ns: 6e6}}),
                     [["note", "A part of the trace from 5.000000 ms to 6.000000 ms; of the rest the page has an "
                       + "overview."]]);
    assert.deepEqual(banners({span: {...span, full: true, intervals: 1234, to_ns: 6e6}}),
                     [["warning", "1,234 intervals are more than one page holds: it has those before 6.000000 ms; of "
                       + "the rest it has an overview. For another part: remora report out/udp -o part.html --from "
                       + "6000000 --to TIME"]]);
});
