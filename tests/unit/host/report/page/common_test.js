// SPDX-License-Identifier: MIT
// Tests what the pages of a run and of a fleet share: the packed block, times as text, colours.
"use strict";

const assert = require("node:assert");
const {test} = require("node:test");
const {blockOf, zigzag} = require("../../../../support/page.js");

test("varints are read one after another, beyond 32 bits too", () => {
    const bytes = Uint8Array.from([0x05, 0x80, 0x01, 0xFF, 0x7F, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0x07]);
    assert.deepEqual([...varints(bytes, 0, 5)], [5, 128, 16383, 2 ** 35, 7]);
    assert.deepEqual([...varints(bytes, 11, 1)], [7]);
    assert.deepEqual([...varints(bytes, 1, 0)], []);
});

test("zigzag has both signs", () => {
    for (const value of [0, 1, -1, 2, -2, 1000, -(2 ** 40)]) {
        assert.equal(unzigzag(zigzag(value)), value);
    }
});

test("base64 becomes bytes", () => {
    assert.deepEqual([...bytesOfBase64("AP+Afw==")], [0, 255, 128, 127]);
});

test("times of a table are places in one sorted list, and may be unknown", () => {
    const columns = {begin: [50, 7, null], end: [60, 50, 7], other: [1, 300, 2]};
    const block = blockOf({}, [{name: "x", of: 3, columns}, {name: "x", of: 4, columns: {at: [60]}}]);
    const table = block.table("x", 3);
    assert.deepEqual(block.times(table, ["begin", "end"]).map((times) => [...times]), [[50, 7, NaN], [60, 50, 7]]);
    assert.deepEqual([...block.column(table, "other")], [1, 300, 2]);
    assert.deepEqual([...block.times(block.table("x", 4), ["at"])[0]], [60]);
    assert.deepEqual(block.tables("x").map(({of}) => of), [3, 4]);
    assert.deepEqual([...block.column(block.table("x", 5), "at")], []);
});

test("running columns add up", () => {
    const block = blockOf({}, [{name: "x", of: 0, columns: {value: [zigzag(5), zigzag(-2), zigzag(0)]}}]);
    assert.deepEqual([...block.running(block.table("x", 0), "value")], [5, 3, 3]);
});

const SPACE = "\u202f";
const times = new Times(1000000); // A tick is a nanosecond.

test("a point in time keeps the zeros of its fraction, and groups its milliseconds", () => {
    assert.equal(times.point(12000005), `12.000005${SPACE}ms`);
    assert.equal(times.point(5), `0.000005${SPACE}ms`);
    assert.equal(times.point(1234500000), `1,234.500000${SPACE}ms`);
    assert.equal(times.point(999999999999), `999,999.999999${SPACE}ms`);
    assert.equal(new Times(0).point(7.6), "8 ticks");
});

test("nanoseconds are exact, and rounded down", () => {
    assert.equal(new Times(3000000).ns(10), 3);
    assert.equal(new Times(2400000).ns(2 ** 52), Number(2n ** 52n * 1000000n / 2400000n));
    assert.equal(new Times(2400000).ticksOfNs(1000), 2400);
    assert.equal(new Times(0).ticksOfNs(1000), 1000);
    assert.equal(new Times(500000).about(10), 20);
    assert.equal(new Times(0).about(10), 10);
});

test("a length has the unit that fits", () => {
    assert.equal(times.length(999), `999${SPACE}ns`);
    assert.equal(times.length(0), `0${SPACE}ns`);
    assert.equal(times.length(1000), `1.000${SPACE}\u00b5s`);
    assert.equal(times.length(1234567), `1.235${SPACE}ms`);
    assert.equal(times.length(2e9), `2.000${SPACE}s`);
    assert.equal(new Times(0).length(12.4), "12 ticks");
});

test("a brief length has three digits", () => {
    assert.equal(times.brief(1234567), `1.23${SPACE}ms`);
    assert.equal(times.brief(999), `999${SPACE}ns`);
    assert.equal(times.brief(123456), `123${SPACE}\u00b5s`);
    assert.equal(times.brief(5000000000000), `5,000${SPACE}s`);
});

test("more tasks than colours reuse them darker, then lighter", () => {
    const colours = [0, 8, 16, 24].map((number) => taskColour(number));
    assert.equal(colours[0], "#0072b2");
    assert.equal(new Set(colours.slice(0, 3)).size, 3);
    assert.equal(colours[3], colours[0]);
    assert.equal(resourceColour(8), resourceColour(0));
    assert.equal(pixelOf("#010203"), 0xFF030201);
});
