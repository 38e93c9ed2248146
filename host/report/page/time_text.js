// SPDX-License-Identifier: MIT
// Times as text. The trace counts ticks; with the rate of its clock they become nanoseconds, by the same rule as
// everywhere in the tools: rounded down. Without a rate ticks remain.
"use strict";

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]];

class Times {
    constructor(khz) {
        this.khz = khz;
    }

    // Exact.
    ns(ticks) {
        return Number(BigInt(Math.round(ticks)) * 1000000n / BigInt(this.khz));
    }

    ticksOfNs(ns) {
        return this.khz === 0 ? ns : ns * this.khz / 1e6;
    }

    // For drawing.
    about(ticks) {
        return this.khz === 0 ? ticks : ticks / this.khz * 1e6;
    }

    unitFor(about) {
        return this.khz === 0 ? [1, "ticks"] : UNITS.find(([size]) => Math.abs(about) >= size) || UNITS[3];
    }

    length(ticks) {
        if (this.khz === 0) {
            return `${Math.round(ticks)} ticks`;
        }
        const about = this.about(ticks);
        const [size, unit] = this.unitFor(about);
        return `${(about / size).toFixed(size === 1 ? 0 : 3)}\u202f${unit}`;
    }

    // Three digits.
    brief(ticks) {
        const about = this.about(ticks);
        const [size, unit] = this.unitFor(about);
        return `${Number((about / size).toPrecision(3)).toLocaleString("en")}\u202f${unit}`;
    }

    // A point in time: to the nanosecond.
    point(ticks) {
        if (this.khz === 0) {
            return `${Math.round(ticks)} ticks`;
        }
        const ns = this.ns(ticks);
        return `${Math.floor(ns / 1e6).toLocaleString("en")}.${String(ns % 1e6).padStart(6, "0")}\u202fms`;
    }
}
