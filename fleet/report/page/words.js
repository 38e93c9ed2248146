// SPDX-License-Identifier: MIT
// Numbers and moments as text. Moments are seconds since 1970, and are shown in UTC, because nodes are in many places.
"use strict";

const grouped = (number) => number.toLocaleString("en");
const counted = (number, one, many) => `${grouped(number)} ${number === 1 ? one : many}`;
const sharePercent = (part, whole) => whole === 0 ? "" : percent(part / whole);
const NS = new Times(1e6); // a tick is a nanosecond

// Returns the text that `remora fleet` prints.
function lengthText(ns) {
    if (ns === null || ns === undefined) {
        return "";
    }
    const [size, unit] = NS.unitFor(Math.abs(ns));
    return `${ns < 0 ? "\u2212" : ""}${(Math.abs(ns) / size).toFixed(size === 1 ? 0 : 2)}\u202f${unit}`;
}

// Returns three digits, but never 0 for a share that is not 0.
function percent(share) {
    const isRound = share === 0 || share >= 0.001;
    const text = isRound ? (100 * share).toFixed(share >= 0.1 ? 1 : 2) : (100 * share).toPrecision(1);
    return `${text}\u202f%`;
}

function momentText(time_s) {
    return new Date(1000 * time_s).toISOString().slice(0, 19).replace("T", " ");
}

// Returns two moments as a span, without the parts that both have in common.
function spanText(from_s, to_s) {
    const [from, to] = [momentText(from_s).slice(0, 16), momentText(to_s).slice(0, 16)];
    return `${from} \u2013 ${from.slice(0, 10) === to.slice(0, 10) ? to.slice(11) : to}`;
}

const SIZES = [[604800, "week", "weeks"], [86400, "day", "days"], [3600, "hour", "hours"], [60, "minute", "minutes"]];

function sizeText(size_s) {
    const [size, one, many] = SIZES.find(([least]) => size_s % least === 0);
    return size_s === size ? one : `${size_s / size} ${many}`;
}

// Adds a command with a button that copies it.
function addCommand(parent, command) {
    parent.append("code").text(command);
    addCopy(parent, command);
}

function addCopy(parent, command) {
    const button = parent.append("button").attr("title", command).text("copy");
    button.on("click", () => {
        d3.event.stopPropagation();
        navigator.clipboard.writeText(command).then(() => button.text("copied"));
    });
}
