// SPDX-License-Identifier: MIT
// The strip above the timeline: the load of the whole trace, its misses, its violations, and a brush that is the span
// of time that the timeline shows.
"use strict";

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
        const width = document.getElementById("rows").clientWidth || 600; // without the scroll bar of the rows
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

    // Those that share a pixel are one.
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

    // Share of the processors that ran a task, by bucket.
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
