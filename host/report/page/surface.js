// SPDX-License-Identifier: MIT
// Provides what rows are drawn on: a canvas, or an SVG document that is saved. Both have the same few operations.
// Coordinates are CSS pixels; rows begin at `left` and end at `width`.
"use strict";

const FONT = "11px system-ui, sans-serif";

class CanvasSurface {
    constructor(canvas) {
        this.canvas = canvas;
        this.context = canvas.getContext("2d");
        this.widths = new Map();
    }

    begin(left, width, height) {
        const ratio = window.devicePixelRatio || 1;
        this.left = left;
        this.width = width;
        this.height = height;
        if (this.ratio !== ratio || this.canvas.width !== Math.round(width * ratio) ||
            this.canvas.height !== Math.round(height * ratio)) {
            this.ratio = ratio;
            this.canvas.width = Math.round(width * ratio);
            this.canvas.height = Math.round(height * ratio);
            this.pattern = null;
        }
        this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
        this.context.font = FONT;
        this.context.textBaseline = "middle";
        if (this.theme !== theme()) {
            this.theme = theme();
            this.pattern = null;
        }
        this.rect(0, 0, width, height, this.theme.paper);
    }

    rect(x, y, width, height, colour, opacity = 1) {
        this.context.globalAlpha = opacity;
        this.context.fillStyle = colour;
        this.context.fillRect(x, y, width, height);
        this.context.globalAlpha = 1;
    }

    hatch(x, y, width, height) {
        this.pattern = this.pattern || this.makePattern();
        this.context.fillStyle = this.pattern;
        this.context.fillRect(x, y, width, height);
    }

    makePattern() {
        const tile = document.createElement("canvas");
        tile.width = tile.height = 5;
        const context = tile.getContext("2d");
        context.fillStyle = this.theme.ready;
        context.fillRect(0, 0, 5, 5);
        context.fillStyle = this.theme.hatch;
        for (let i = 0; i < 5; ++i) {
            context.fillRect(i, 4 - i, 1, 1);
        }
        return this.context.createPattern(tile, "repeat");
    }

    line(x1, y1, x2, y2, colour, width = 1) {
        this.context.strokeStyle = colour;
        this.context.lineWidth = width;
        this.context.beginPath();
        this.context.moveTo(x1, y1);
        this.context.lineTo(x2, y2);
        this.context.stroke();
    }

    // Fills a polygon. The points are x and y in turn.
    polygon(points, colour) {
        this.path(points);
        this.context.fillStyle = colour;
        this.context.fill();
    }

    polyline(points, colour, width = 1.2) {
        this.path(points);
        this.context.strokeStyle = colour;
        this.context.lineWidth = width;
        this.context.stroke();
    }

    path(points) {
        this.context.beginPath();
        for (let i = 0; i < points.length; i += 2) {
            this.context.lineTo(points[i], points[i + 1]);
        }
    }

    // Writes text, cut to the room, or nothing if the room is small.
    text(x, y, text, colour, room = Infinity) {
        const fitting = this.fit(text, room);
        if (fitting) {
            this.context.fillStyle = colour;
            this.context.fillText(fitting, x, y);
        }
    }

    textWidth(text) {
        let width = this.widths.get(text);
        if (width === undefined) {
            width = this.context.measureText(text).width;
            this.widths.set(text, width);
        }
        return width;
    }

    fit(text, room) {
        if (room < 14) {
            return "";
        }
        if (this.textWidth(text) <= room) {
            return text;
        }
        const part = Math.floor(text.length * room / this.textWidth(text)) - 1;
        return part >= 2 ? `${text.slice(0, part)}\u2026` : "";
    }

    // Returns how many columns a row has: one for each pixel of the device.
    get columns() {
        return Math.floor((this.width - this.left) * this.ratio);
    }

    // Fills each column from the bottom with layers: [shares, pixel, pixel of the hatch or null]. The shares are those
    // of the height, one for each column.
    shade(y, height, layers) {
        const rows = Math.round(height * this.ratio);
        const count = this.columns;
        if (!this.image || this.image.width !== count || this.image.height < rows) {
            this.image = this.context.createImageData(count, rows);
            this.pixels = new Uint32Array(this.image.data.buffer);
        }
        const paper = pixelOf(this.theme.paper);
        const pixels = this.pixels;
        for (let x = 0; x < count; ++x) {
            let row = rows - 1;
            let sum = 0;
            for (const [shares, pixel, hatch] of layers) {
                const share = shares[x];
                if (share > 0) {
                    sum += share;
                    const stop = Math.max(Math.min(rows - 1 - Math.round(sum * rows), row - 1), -1);
                    for (; row > stop; --row) {
                        pixels[row * count + x] = hatch !== null && (x + row) % 5 === 0 ? hatch : pixel;
                    }
                }
            }
            for (; row >= 0; --row) {
                pixels[row * count + x] = paper;
            }
        }
        const [left, top] = [this.left, y].map((at) => Math.round(at * this.ratio));
        this.context.putImageData(this.image, left, top, 0, 0, count, rows);
    }
}

class SvgSurface {
    constructor() {
        this.ratio = 1;
    }

    begin(left, width, height) {
        this.left = left;
        this.width = width;
        this.theme = THEMES.light;
        this.root = d3.create("svg:svg").attr("xmlns", "http://www.w3.org/2000/svg").attr("width", width)
            .attr("height", height).attr("viewBox", `0 0 ${width} ${height}`).attr("font-family", "sans-serif")
            .attr("font-size", 11);
        const pattern = this.root.append("defs").append("pattern").attr("id", "ready").attr("width", 5)
            .attr("height", 5).attr("patternUnits", "userSpaceOnUse");
        pattern.append("rect").attr("width", 5).attr("height", 5).attr("fill", this.theme.ready);
        pattern.append("path").attr("d", "M0 5L5 0").attr("stroke", this.theme.hatch);
        this.rect(0, 0, width, height, this.theme.paper);
    }

    get columns() {
        return Math.floor(this.width - this.left);
    }

    rect(x, y, width, height, colour, opacity = 1) {
        this.root.append("rect").attr("x", x.toFixed(2)).attr("y", y).attr("width", width.toFixed(2))
            .attr("height", height).attr("fill", colour).attr("fill-opacity", opacity === 1 ? null : opacity);
    }

    hatch(x, y, width, height) {
        this.rect(x, y, width, height, "url(#ready)");
    }

    line(x1, y1, x2, y2, colour, width = 1) {
        this.polyline([x1, y1, x2, y2], colour, width);
    }

    polygon(points, colour) {
        this.root.append("polygon").attr("points", points.map((at) => at.toFixed(2)).join(" ")).attr("fill", colour);
    }

    polyline(points, colour, width = 1.2) {
        this.root.append("polyline").attr("points", points.map((at) => at.toFixed(2)).join(" ")).attr("fill", "none")
            .attr("stroke", colour).attr("stroke-width", width);
    }

    text(x, y, text, colour, room = Infinity) {
        const part = Math.floor(room / 6);
        if (room >= 14) {
            this.root.append("text").attr("x", x.toFixed(2)).attr("y", y + 4).attr("fill", colour)
                .text(text.length <= part ? text : `${text.slice(0, part - 1)}\u2026`);
        }
    }

    textWidth(text) {
        return text.length * 6;
    }

    // Draws the same as the canvas does, but neighbours of equal height are one rectangle.
    shade(y, height, layers) {
        const below = new Float64Array(this.columns);
        for (const [shares, pixel, hatch] of layers) {
            const colour = `rgb(${pixel & 255}, ${pixel >> 8 & 255}, ${pixel >> 16 & 255})`;
            for (let x = 0; x < shares.length;) {
                const begin = x;
                while (x < shares.length && shares[x] === shares[begin] && below[x] === below[begin]) {
                    ++x;
                }
                if (shares[begin] > 0) {
                    const top = height * (1 - below[begin] - shares[begin]);
                    this.rect(this.left + begin, y + top, x - begin, height * shares[begin],
                              hatch === null ? colour : "url(#ready)");
                }
            }
            shares.forEach((share, x) => { below[x] += share; });
        }
    }

    toText() {
        return new XMLSerializer().serializeToString(this.root.node());
    }
}
