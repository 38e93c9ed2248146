// SPDX-License-Identifier: MIT
// A table of the tasks, each with its jobs and its response times, in a strip on a logarithmic scale, which is the same
// for all.
"use strict";

const STRIP = {least: 150, most: 640, height: 22};

class Tasks {
    constructor(fleet, filter) {
        this.fleet = fleet;
        this.filter = filter;
        this.domain = this.domainOf();
        const section = d3.select("#tasks");
        this.title = addTitle(section, "Tasks");
        this.scale = d3.scaleLog();
        this.table = new Table(section, this.columns(), {
            sort: 2, descending: true, click: (row) => filter.toggle("task", row.task),
            picked: (row) => row.task === filter.task, empty: () => "No jobs."});
        addCuts(section, fleet, "tasks");
        filter.listen("tasks", () => this.show());
        this.section = section.node();
        new ResizeObserver(() => this.width !== this.widthOfStrips() && this.show()).observe(this.section);
    }

    // Returns the width that the figures leave in the line.
    widthOfStrips() {
        return Math.min(Math.max(this.section.clientWidth - 640, STRIP.least), STRIP.most);
    }

    columns() {
        const length = (title, value, help) => ({title, value, help, text: (row) => lengthText(value(row))});
        return [
            {title: "task", words: true, kind: "name", value: (row) => row.name, tip: (row) => row.name,
             cell: (cell, row) => {
                 const button = cell.append("button").attr("class", "place");
                 button.append("i").style("background", taskColour(row.task));
                 button.append("span").text(row.name);
             }},
            {title: "jobs", value: (row) => row.jobs, text: (row) => grouped(row.jobs)},
            {title: "misses", value: (row) => row.missed, text: (row) => grouped(row.missed),
             style: (row) => row.missed > 0 ? "bad" : "",
             tip: (row) => `${sharePercent(row.missed, row.jobs)} of its jobs`},
            length("p50", (row) => row.p50, "half of the responses are not longer"),
            length("p99", (row) => row.p99, "99 % of the responses are not longer"),
            length("p99.9", (row) => row.p999, "99.9 % of the responses are not longer"),
            length("worst", (row) => row.longest, "the longest response"),
            {title: "responses", words: true, kind: "strips", head: (cell) => {
                this.head = cell.append("svg").attr("class", "strip").attr("height", 20);
            }, cell: (cell, row) => this.addStrip(cell, row), tip: (row) => this.stripText(row)},
        ];
    }

    row(task, sum) {
        const {node} = this.filter;
        const known = node === null ? this.fleet.percentiles.get(task)
            : this.fleet.nodePercentiles.get(`${node}.${task}`);
        const whole = this.whole[task].longest;
        const limited = (ns) => !known ? null : Math.min(ns, whole || ns);
        return {task, name: this.fleet.taskName(task), ...sum, p50: limited(known && known.p50),
                p99: limited(known && known.p99), p999: limited(known && known.p999),
                longest: sum.longest || null};
    }

    show() {
        this.whole = this.fleet.sumsBy("task", {...this.filter, span: null});
        const sums = this.fleet.sumsBy("task", this.filter);
        const rows = sums.map((sum, task) => this.row(task, sum)).filter((row) => row.jobs > 0);
        this.width = this.widthOfStrips();
        this.scale.domain(this.domain).range([6, this.width - 8]);
        const single = this.filter.node === null ? "" : "of the node; ";
        this.title.note.text(`${single}lines: p50, p99, p99.9; triangle: worst`
            + `${this.filter.span === null ? "" : "; percentiles are of all times: they are not stored by time"}`);
        this.drawHead();
        this.table.show(rows);
    }

    // Returns the domain of the whole fleet, so that the strips do not move when the filter changes.
    domainOf() {
        const {classes, counts} = this.fleet.facts;
        const ends = classes.class_ns.filter((ns) => ns > 0);
        const most = d3.max(counts.longest_ns);
        return ends.length === 0 ? [1e3, 1e6] : [d3.min(ends) / 1.3, 1.3 * Math.max(d3.max(ends), most || 0)];
    }

    // Returns powers of ten and, where there is room, twice and five times as much.
    ticks() {
        const [low, high] = this.scale.domain();
        const powers = d3.range(Math.floor(Math.log10(low)), Math.ceil(Math.log10(high)))
            .map((power) => Math.pow(10, power));
        const isWide = this.width / powers.length > 150;
        return powers.flatMap((power) => isWide ? [power, 2 * power, 5 * power] : [power])
            .filter((ns) => ns >= low && ns <= high);
    }

    drawHead() {
        const ticks = this.ticks();
        const step = Math.ceil(ticks.length * 52 / this.width);
        this.head.attr("width", this.width);
        this.head.selectAll("text").data(ticks.filter((_, i) => i % step === 0)).join("text")
            .attr("x", (ns) => this.scale(ns)).attr("y", 14).text((ns) => NS.brief(ns))
            .attr("text-anchor", (ns) => this.scale(ns) > this.width - 24 ? "end"
                : this.scale(ns) < 20 ? "start" : "middle");
    }

    addStrip(cell, row) {
        if (row.p50 === null && row.longest === null) {
            cell.append("span").attr("class", "muted").text("no job was completed");
            return;
        }
        const svg = cell.append("svg").attr("class", "strip").attr("width", this.width).attr("height", STRIP.height);
        const base = STRIP.height - 3;
        svg.selectAll("line.grid").data(this.ticks()).join("line").attr("class", "grid").attr("x1", this.scale)
            .attr("x2", this.scale).attr("y1", 0).attr("y2", STRIP.height);
        if (this.filter.node === null) {
            svg.append("path").attr("d", this.densityOf(row.task, base)).attr("fill", taskColour(row.task));
        }
        const x = (ns) => this.scale(Math.max(ns, this.scale.domain()[0]));
        if (row.p50 !== null) {
            svg.append("line").attr("class", "range").attr("x1", x(row.p50)).attr("x2", x(row.p999)).attr("y1", base)
                .attr("y2", base);
            svg.selectAll("line.mark").data([row.p50, row.p99, row.p999]).join("line").attr("class", "mark")
                .attr("x1", x).attr("x2", x).attr("y1", (_, i) => base - (i === 0 ? 8 : 5)).attr("y2", base + 2);
        }
        if (row.longest !== null) {
            svg.append("path").attr("class", row.missed > 0 ? "longest bad" : "longest")
                .attr("transform", `translate(${x(row.longest)}, ${base})`).attr("d", "M-4 2L4 2L0 -5Z");
        }
    }

    // Draws a column for each class, as wide as the class. Its height is the square root of its jobs, so that rare
    // classes are visible, too.
    densityOf(task, base) {
        const {class_ns: ends, jobs} = this.fleet.facts.classes;
        const rows = this.fleet.classes.get(task) || [];
        const most = d3.max(rows, (row) => jobs[row]) || 1;
        return rows.filter((row) => ends[row] > 0).map((row) => {
            const to = Math.max(this.scale(ends[row]), 0);
            const from = Math.max(Math.min(this.scale(ends[row] / 1.0625), to - 1.5), 0);
            const high = Math.max((base - 2) * Math.sqrt(jobs[row] / most), 1.5);
            return `M${from.toFixed(1)} ${base}V${(base - high).toFixed(1)}H${to.toFixed(1)}V${base}Z`;
        }).join("");
    }

    stripText(row) {
        return row.p50 === null ? "" : `p50 ${lengthText(row.p50)}, p99 ${lengthText(row.p99)}, `
            + `p99.9 ${lengthText(row.p999)}, worst ${lengthText(row.longest)}`;
    }
}
