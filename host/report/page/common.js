// SPDX-License-Identifier: MIT
// Provides what the pages of a run and of a fleet share: the reader of the packed block, times as text, and colours.
"use strict";

// The packed block of the page is base64 of raw deflate: a directory and columns of varints (host/report/columns.hpp).

function bytesOfBase64(text) {
    if (Uint8Array.fromBase64) {
        return Uint8Array.fromBase64(text);
    }
    const characters = atob(text);
    const bytes = new Uint8Array(characters.length);
    for (let i = 0; i < bytes.length; ++i) {
        bytes[i] = characters.charCodeAt(i);
    }
    return bytes;
}

async function inflated(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

// Returns `count` varints, the first one at index `at`. Numbers below 2^53 are exact.
function varints(bytes, at, count) {
    const numbers = new Float64Array(count);
    for (let i = 0; i < count; ++i) {
        let byte = bytes[at++];
        let value = byte & 0x7F;
        for (let scale = 0x80; byte >= 0x80; scale *= 0x80) {
            byte = bytes[at++];
            value += (byte & 0x7F) * scale;
        }
        numbers[i] = value;
    }
    return numbers;
}

function unzigzag(value) {
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
}

// Holds a block. Its columns are decoded only when they are asked for.
class Block {
    static async of(element) {
        const bytes = await inflated(bytesOfBase64(element.textContent));
        element.remove(); // The text is large, so it is not kept.
        return new Block(bytes);
    }

    constructor(bytes) {
        const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
        this.bytes = bytes;
        this.directory = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
        let at = 4 + size;
        for (const table of this.directory.tables) {
            table.at = {};
            for (const [name, length] of Object.entries(table.columns)) {
                table.at[name] = at;
                at += length;
            }
        }
    }

    // Returns all tables of a name. The member `of` of each one says what it is about.
    tables(name) {
        return this.directory.tables.filter((table) => table.name === name);
    }

    table(name, of) {
        return this.directory.tables.find((table) => table.name === name && table.of === of);
    }

    // Returns the numbers of a column. An absent table has no rows.
    column(table, name) {
        return table ? varints(this.bytes, table.at[name], table.rows) : new Float64Array(0);
    }

    // Returns the columns of a table that are times, in ticks. NaN means that a time is not known.
    times(table, names) {
        this.all = this.all || this.summed(this.table("times", 0), "distance");
        const columns = names.map((name) => this.column(table, name));
        let place = 0;
        for (let row = 0; row < columns[0].length; ++row) {
            for (const column of columns) {
                if (column[row] === 0) {
                    column[row] = NaN;
                } else {
                    place += unzigzag(column[row] - 1);
                    column[row] = this.all[place];
                }
            }
        }
        return columns;
    }

    summed(table, name) {
        const numbers = this.column(table, name);
        for (let i = 1; i < numbers.length; ++i) {
            numbers[i] += numbers[i - 1];
        }
        return numbers;
    }

    // Returns the values of a column that has each value as its distance from the one before.
    running(table, name) {
        const numbers = this.column(table, name);
        let sum = 0;
        for (let i = 0; i < numbers.length; ++i) {
            sum += unzigzag(numbers[i]);
            numbers[i] = sum;
        }
        return numbers;
    }
}

// The trace counts ticks. The rate of its clock converts them to nanoseconds, which are rounded down, as everywhere in
// the tools. Without a rate, khz is 0 and times remain ticks.

const UNITS = [[1e9, "s"], [1e6, "ms"], [1e3, "\u00b5s"], [1, "ns"]];

class Times {
    constructor(khz) {
        this.khz = khz;
    }

    // Returns the exact nanoseconds, rounded down, because it calculates with integers.
    ns(ticks) {
        return Number(BigInt(Math.round(ticks)) * 1000000n / BigInt(this.khz));
    }

    ticksOfNs(ns) {
        return this.khz === 0 ? ns : ns * this.khz / 1e6;
    }

    // Returns nanoseconds, or ticks without a rate. Floating point is exact enough to draw them.
    about(ticks) {
        return this.khz === 0 ? ticks : ticks / this.khz * 1e6;
    }

    unitFor(about) {
        return this.khz === 0 ? [1, "ticks"] : UNITS.find(([size]) => Math.abs(about) >= size) || UNITS[3];
    }

    // Returns the unit of points in time: every one has the same.
    get pointUnit() {
        return this.khz === 0 ? [1, "ticks"] : UNITS[1];
    }

    length(ticks) {
        if (this.khz === 0) {
            return `${Math.round(ticks)} ticks`;
        }
        const about = this.about(ticks);
        const [size, unit] = this.unitFor(about);
        return `${(about / size).toFixed(size === 1 ? 0 : 3)}\u202f${unit}`;
    }

    // Returns a length of time as text with three digits.
    brief(ticks) {
        const about = this.about(ticks);
        const [size, unit] = this.unitFor(about);
        return `${Number((about / size).toPrecision(3)).toLocaleString("en")}\u202f${unit}`;
    }

    // Returns a point in time as text, to the nanosecond, or in ticks without a rate.
    point(ticks) {
        if (this.khz === 0) {
            return `${Math.round(ticks)} ticks`;
        }
        const ns = this.ns(ticks);
        return `${Math.floor(ns / 1e6).toLocaleString("en")}.${String(ns % 1e6).padStart(6, "0")}\u202fms`;
    }
}

// Most colours of tasks are Okabe and Ito's, most of resources are Paul Tol's muted ones: both sets are distinct for
// the common kinds of colour blindness. What matters most has a shape as well: a miss is a cap, ready is hatched.

const TASK_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a63b0", "#8f8f2f"];
const RESOURCE_COLOURS = ["#aa4499", "#44aa99", "#cc6677", "#999933", "#5b8fd6", "#117733", "#882255", "#c8a22c"];

const THEMES = {
    light: {paper: "#ffffff", band: "#f6f7f9", line: "#e3e6ea", text: "#1b1f24", muted: "#69727d", ready: "#e9ecef",
            hatch: "#8d96a0", idle: "#d5d9de", lost: "#c3c7cc", miss: "#d1242f", cursor: "#7a3cff", pick: "#fff3c4",
            over: "#b35900", held: "#c9a9c4", onColour: "#ffffff"},
    dark: {paper: "#16191d", band: "#1c2025", line: "#2c3238", text: "#e6e9ec", muted: "#98a2ad", ready: "#2a2f36",
           hatch: "#7c8793", idle: "#3a4149", lost: "#4b525a", miss: "#ff6b6b", cursor: "#b592ff", pick: "#3d3413",
           over: "#ffb454", held: "#6d5069", onColour: "#ffffff"},
};

const darkness = window.matchMedia("(prefers-color-scheme: dark)");

function theme() {
    return darkness.matches ? THEMES.dark : THEMES.light;
}

// More tasks than colours reuse the colours, first darker, then lighter.
const SHADES = [0, 0.9, -0.7];

function taskColour(number) {
    const shade = SHADES[Math.floor(number / TASK_COLOURS.length) % SHADES.length];
    return d3.color(TASK_COLOURS[number % TASK_COLOURS.length]).darker(shade).hex();
}

function resourceColour(number) {
    return RESOURCE_COLOURS[number % RESOURCE_COLOURS.length];
}

// Returns a colour as a pixel of a picture: alpha in the highest byte, then blue, green and red.
function pixelOf(colour) {
    const {r, g, b} = d3.color(colour);
    return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
}
