// SPDX-License-Identifier: MIT
// Shows the timeline: rows on a canvas that covers what is in sight of them, labels beside it, the axis above. d3.zoom
// turns wheel and drag into a transform, whose span of time the view takes.
"use strict";

const LABELS_WIDTH = 172;

class Timeline {
    constructor(trace, view, rows) {
        Object.assign(this, {trace, view, rows});
        this.box = document.getElementById("rows");
        this.sheet = document.getElementById("sheet");
        this.labels = d3.select("#labels");
        this.axis = new CanvasSurface(document.getElementById("axis"));
        this.surface = new CanvasSurface(document.getElementById("canvas"));
        this.pointer = null; // It is {x, y} on the canvas; null means that the pointer is elsewhere.
        this.frames = 0;
        this.showRange = seldom(() => this.nameRange());
        this.prepareZoom();
        this.preparePointer();
        view.listen("timeline", (what) => {
            if (what === "rows") {
                this.rows.arrange();
                this.showLabels();
            }
            this.followView();
            this.draw();
        });
        new ResizeObserver(() => this.resize()).observe(this.box);
        darkness.addEventListener("change", () => this.draw());
        this.box.addEventListener("scroll", () => this.draw());
        this.showLabels();
        this.resize();
    }

    // Prepares the zoom. Its transform with x = 0 and k = 1 shows the whole trace; the view's span is another one.
    prepareZoom() {
        this.zoom = d3.zoom().scaleExtent([0.5, this.trace.last])
            .filter(() => !d3.event.button && !(d3.event.type === "wheel" && d3.event.shiftKey) && !d3.event.ctrlKey)
            .wheelDelta(() => -d3.event.deltaY * (d3.event.deltaMode === 1 ? 0.05 : 0.002))
            .on("zoom", () => {
                if (d3.event.sourceEvent) { // Only the reader's input has a sourceEvent.
                    const {k, x} = d3.event.transform;
                    this.fromTransform(k, x);
                }
            });
        d3.select(this.box).call(this.zoom).on("dblclick.zoom", null);
    }

    fromTransform(k, x) {
        const perTick = this.room * k / this.trace.last;
        const from = (LABELS_WIDTH * (1 - k) - x) / perTick;
        this.view.show(from, from + this.room / perTick);
    }

    followView() {
        const k = this.trace.last / (this.view.to - this.view.from);
        const x = LABELS_WIDTH * (1 - k) - this.view.from * this.room * k / this.trace.last;
        const now = d3.zoomTransform(this.box);
        if (now.k !== k || now.x !== x) {
            this.box.__zoom = d3.zoomIdentity.translate(x, 0).scale(k); // This sets zoom.transform without its events.
        }
    }

    preparePointer() {
        this.box.addEventListener("mousemove", (event) => {
            const box = this.box.getBoundingClientRect();
            this.pointer = {x: event.clientX - box.left, y: event.clientY - box.top};
            showTip(this, event);
            this.draw();
        });
        this.box.addEventListener("mouseleave", () => {
            this.pointer = null;
            hideTip();
            this.draw();
        });
        this.box.addEventListener("click", () => {
            const row = this.pointer && this.rows.at(this.pointer.y + this.box.scrollTop);
            if (row) {
                pickAt(this, row, this.scale().time(this.pointer.x));
            }
        });
        // Rows scroll with shift and the wheel, because the wheel alone zooms.
        this.box.addEventListener("wheel", (event) => {
            if (event.shiftKey) {
                this.box.scrollTop += event.deltaY || event.deltaX;
                event.preventDefault();
            }
        }, {passive: false});
    }

    get room() {
        return Math.max(this.width - LABELS_WIDTH, 50);
    }

    resize() {
        this.width = this.box.clientWidth;
        this.height = this.box.clientHeight;
        this.axis.canvas.style.width = `${this.width}px`; // The rows have a scroll bar, the axis has none.
        this.sheet.style.height = `${this.rows.height}px`;
        this.followView();
        this.draw();
    }

    scale() {
        return new Scale({left: LABELS_WIDTH, width: this.width}, this.view.from, this.view.to);
    }

    // Paints once a frame, however often it is asked for.
    draw() {
        if (!this.asked) {
            this.asked = true;
            requestAnimationFrame(() => {
                this.asked = false;
                this.paint();
            });
        }
    }

    paint() {
        const offset = this.box.scrollTop;
        this.surface.begin(LABELS_WIDTH, this.width, this.height);
        paintRows(this.surface, this, offset, this.height);
        this.axis.begin(LABELS_WIDTH, this.width, AXIS_HEIGHT);
        paintAxis(this.axis, this.view, this.trace);
        this.showRange();
        ++this.frames;
    }

    nameRange() {
        document.getElementById("range").textContent = rangeText(this.view, this.trace);
    }

    showLabels() {
        const {view, rows} = this;
        this.sheet.style.height = `${rows.height}px`;
        this.labels.selectAll(".group").data(rows.heads).join("div").attr("class", "group")
            .style("top", (head) => `${head.y}px`).attr("title", "fold, unfold (z)")
            .classed("folded", (head) => head.folded > 0)
            .text((head) => head.folded > 0 ? `${head.text} (${head.folded})` : head.text)
            .on("click", (head) => {
                d3.event.stopPropagation();
                view.toggle(view.folded, head.key);
            });
        this.labels.selectAll(".label").data(rows.shown, (row) => row.key).join((enter) => {
            const label = enter.append("div").attr("class", "label").attr("data-key", (row) => row.key);
            label.append("span").attr("class", "swatch");
            label.append("span").attr("class", "name");
            for (const [action, sign, title] of [["pin", "\u2191", "pin to the top (p)"],
                                                 ["hide", "\u00d7", "hide (h)"]]) {
                label.append("button").attr("class", action).attr("tabindex", -1).attr("title", title).text(sign)
                    .on("click", (row) => {
                        d3.event.stopPropagation();
                        view.toggle(action === "pin" ? view.pinned : view.hidden, row.key);
                    });
            }
            return label.on("click", (row) => {
                d3.event.stopPropagation();
                view.pick(row.key, null);
            }).call(dragRows, this);
        }).style("top", (row) => `${row.y}px`).style("height", (row) => `${row.height}px`)
            .attr("data-mark", (row) => row.mark || null)
            .classed("pinned", (row) => view.pinned.has(row.key))
            .each(function (row) {
                const name = d3.select(this).select(".name").text("").attr("title", row.label);
                name.classed("broken", row.curve !== undefined); // The axis of a curve needs room beside its name.
                row.label.split(/(?<=[._])/).forEach((part, i) => {
                    i > 0 && row.curve && name.append("wbr");
                    name.append(() => document.createTextNode(part));
                });
                d3.select(this).select(".swatch").style("background", row.task && !row.task.isIdle
                    ? taskColour(row.task.colour) : "transparent");
            });
    }

    // Scrolls until the row is in sight.
    scrollTo(row) {
        if (row.y < this.box.scrollTop) {
            this.box.scrollTop = Math.max(row.y - GROUP_HEIGHT, 0);
        } else if (row.y + row.height > this.box.scrollTop + this.box.clientHeight) {
            this.box.scrollTop = row.y + row.height - this.box.clientHeight;
        }
    }
}

// Moves a row past others when its label is dragged up or down.
function dragRows(labels, timeline) {
    labels.call(d3.drag().container(() => timeline.sheet).clickDistance(4).on("drag", (row) => {
        const target = timeline.rows.at(d3.event.y);
        if (target && target !== row) {
            const shown = timeline.rows.shown;
            timeline.rows.move(row.key, shown.indexOf(target) - shown.indexOf(row));
        }
    }));
}

// Draws all rows in sight, on any surface; `offset` is the height that is scrolled away above.
function paintRows(surface, {view, trace, rows, pointer}, offset, height) {
    const scale = new Scale(surface, view.from, view.to);
    surface.view = view;
    const shown = rows.shown.filter((row) => row.y + row.height > offset && row.y < offset + height);
    const picked = rows.byKey.get(view.row);
    if (picked && shown.includes(picked)) {
        surface.rect(0, picked.y - offset, surface.width, picked.height, surface.theme.pick, 0.6);
    }
    const [ticks] = axisOf(view, trace, surface.width - surface.left);
    ticks.forEach((tick) => surface.line(scale.x(tick), 0, scale.x(tick), height, surface.theme.line, 0.5));
    // All pixels are drawn first, because a canvas finishes what was asked of it before it takes pixels.
    for (const row of shown) {
        row.isShaded = row.shade !== undefined && row.shade(surface, row.y - offset, scale, trace);
    }
    for (const row of shown) {
        row.paint(surface, row.y - offset, scale, trace);
    }
    paintLosses(surface, shown, offset, scale, trace, height);
    paintPicked(surface, view, trace, rows, offset, scale);
    paintCursors(surface, view, scale, height);
    if (pointer && pointer.x > surface.left) {
        surface.line(pointer.x + 0.5, 0, pointer.x + 0.5, height, surface.theme.muted, 0.6);
    }
}

// Draws the frame around the picked job.
function paintPicked(surface, view, trace, rows, offset, scale) {
    const row = view.job && rows.byKey.get(view.runOf(view.job).key(`task${view.job.task}`));
    if (row && rows.shown.includes(row)) {
        const [begin, end] = shownSpan(view);
        const [x, width] = scale.stretch(begin, end);
        const top = row.y - offset + 2;
        if (scale.x(end) > surface.left && x < surface.width) {
            surface.polyline([x, top, x + width, top, x + width, top + ROW_HEIGHT - 4, x, top + ROW_HEIGHT - 4, x, top],
                             surface.theme.cursor, 1.5);
        }
    }
}

function paintCursors(surface, view, scale, height) {
    view.cursors.forEach((at, i) => {
        if (at !== null && at >= scale.from && at <= scale.to) {
            const x = scale.x(at);
            surface.line(x, 0, x, height, surface.theme.cursor, 1.2);
            surface.rect(x, 0, 13, 14, surface.theme.cursor);
            surface.text(x + 3, 7, "AB"[i], surface.theme.onColour);
        }
    });
}

// Shows the strip above the timeline: the load of the whole trace, its misses, losses and violations, and a brush that
// is the span of time that the timeline shows.
class Overview {
    constructor(trace, view, onBrush) {
        this.trace = trace;
        this.view = view;
        this.svg = d3.select("#overview");
        this.load = this.svg.append("path").attr("class", "load");
        this.lost = this.svg.append("g");
        this.marks = this.svg.append("g");
        this.brush = d3.brushX().on("brush", () => {
            if (d3.event.sourceEvent && d3.event.selection) {
                const [from, to] = d3.event.selection.map((x) => this.scale.invert(x));
                onBrush(from, to);
            }
        });
        this.brushed = this.svg.append("g").attr("class", "brush");
        new ResizeObserver(() => this.resize()).observe(this.svg.node());
        const follow = seldom(() => this.showSpan());
        view.listen("overview", (what) => what === "span" && follow());
        this.resize();
    }

    resize() {
        const width = document.getElementById("rows").clientWidth || 600; // The scroll bar is not included.
        const height = 44;
        this.scale = d3.scaleLinear([0, this.trace.last], [LABELS_WIDTH, width]);
        this.brush.extent([[LABELS_WIDTH, 2], [width, height - 2]]);
        const busy = this.busy();
        const bucket = this.trace.facts.span.bucket;
        const x = (i) => this.scale(Math.min(i * bucket, this.trace.last));
        this.load.attr("d", d3.area().x((_, i) => x(i)).y0(height - 4).y1((share) => height - 4 - 30 * share)
            .curve(d3.curveStepAfter)([...busy, 0]));
        const marks = this.missBuckets().map((i) => ({x: x(i), kind: "miss"}))
            .concat(this.trace.facts.oracle.shown.map(({at}) => ({x: this.scale(at), kind: "violation"})));
        this.marks.selectAll("path").data(marks).join("path").attr("class", (mark) => mark.kind)
            .attr("transform", (mark) => `translate(${mark.x}, 3)`).attr("d", "M-4 0L4 0L0 6Z");
        this.lost.selectAll("rect").data(this.lostBands()).join("rect").attr("class", "lost").attr("y", 2)
            .attr("x", ([from]) => from).attr("width", ([from, to]) => to - from).attr("height", height - 4);
        this.brushed.call(this.brush);
        this.showSpan();
    }

    // Returns the bands of lost records. Those that share a pixel are one.
    lostBands() {
        const bands = [];
        for (const {begin, end} of this.trace.losses) {
            for (let i = 0; i < begin.length; ++i) {
                const [from, to] = [this.scale(begin[i]), Math.max(this.scale(end[i]), this.scale(begin[i]) + 1)];
                const before = bands[bands.length - 1];
                if (before && from >= before[0] && from <= before[1]) {
                    before[1] = Math.max(before[1], to);
                } else {
                    bands.push([from, to]);
                }
            }
        }
        return bands;
    }

    // Returns for each bucket the share of the processors that ran a task.
    busy() {
        const working = this.trace.tasks.filter((task) => !task.isIdle);
        const count = Math.max(...this.trace.tasks.map((task) => task.overview.running.length), 1);
        return Array.from({length: count}, (_, i) => Math.min(1, working.reduce(
            (sum, task) => sum + (task.overview.running[i] || 0) / 255, 0) / Math.max(this.trace.cpus.length, 1)));
    }

    missBuckets() {
        const buckets = new Set();
        this.trace.tasks.forEach((task) => task.overview.misses.forEach((count, i) => count > 0 && buckets.add(i)));
        return [...buckets];
    }

    showSpan() {
        const [low, high] = this.scale.range();
        const [from, to] = [this.view.from, this.view.to].map((at) => Math.min(Math.max(this.scale(at), low), high));
        this.brushed.call(this.brush.move, [from, Math.max(to, Math.min(from + 1, high))]);
    }
}
