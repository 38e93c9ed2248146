// SPDX-License-Identifier: MIT
// The packed block of the page: base64, raw deflate, then a directory and columns of varints (host/report/columns.hpp).
"use strict";

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

// Numbers below 2^53 are exact.
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

// Columns are decoded when they are asked for.
class Block {
    static async of(element) {
        const bytes = await inflated(bytesOfBase64(element.textContent));
        element.remove(); // its text is large
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

    // All tables of a name, each with what it is about.
    tables(name) {
        return this.directory.tables.filter((table) => table.name === name);
    }

    table(name, of) {
        return this.directory.tables.find((table) => table.name === name && table.of === of);
    }

    // An absent table has no rows.
    column(table, name) {
        return table ? varints(this.bytes, table.at[name], table.rows) : new Float64Array(0);
    }

    // The columns of a table that are times; NaN: not known.
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

    // Each value is given as its distance from the one before.
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
