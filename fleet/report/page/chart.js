// SPDX-License-Identifier: MIT
// Shows misses over time in stacks of tasks or nodes, with the number of jobs below. A brush selects a span of time.
"use strict";

const PARTS_SHOWN = 7; // the others become one part
const LEFT = 56;
const RIGHT = 24; // room for half of the last time
const VOLUME_HEIGHT = 22;
const AXIS_BELOW = 22;

const MEASURES = {
    missed: {title: "misses", of: (series, _, i) => series.missed[i], text: grouped},
    share: {title: "share of jobs that missed", text: percent,
            of: (series, all, i) => all.jobs[i] === 0 ? 0 : series.missed[i] / all.jobs[i]},
    jobs: {title: "jobs", of: (series, _, i) => series.jobs[i], text: grouped},
};

const DAY = d3.utcFormat("%b %-d");

// Returns the day if one begins there, the year if one begins there, else the time.
function tickText(date) {
    return date.getTime() % 86400000 !== 0 ? d3.utcFormat("%H:%M")(date)
        : date.getUTCMonth() === 0 && date.getUTCDate() === 1 ? d3.utcFormat("%Y")(date) : DAY(date);
}

class Chart {
    constructor(fleet, filter) {
        this.fleet = fleet;
        this.filter = filter;
        this.measure = "missed";
        const section = d3.select("#misses");
        this.title = addTitle(section, "Misses over time");
        this.addControls();
        this.svg = section.append("svg").attr("id", "chart").attr("role", "img")
            .attr("aria-label", "Misses over time; a brush chooses a span of time");
        this.layers = {};
        for (const name of ["grid", "bars", "volume", "below", "left", "none", "brush"]) {
            this.layers[name] = this.svg.append("g").attr("class", name);
        }
        this.legend = section.append("div").attr("class", "legend");
        addCuts(section, fleet, "misses");
        this.brush = d3.brushX().on("end", () => this.brushed());
        filter.listen("chart", () => this.draw());
        new ResizeObserver(() => this.draw()).observe(this.svg.node());
    }

    addControls() {
        const {controls} = this.title;
        const choice = (label, entries, changed) => {
            controls.append("label").text(`${label} `).append("select").on("change", function pick() {
                changed(this.value);
            }).selectAll("option").data(entries).join("option").attr("value", ([value]) => value)
                .text(([, text]) => text);
        };
        choice("show", Object.entries(MEASURES).map(([name, {title}]) => [name, title]), (name) => {
            this.measure = name;
            this.draw();
        });
        choice("by", [["task", "task"], ["node", "node"]], (name) => {
            this.by = name;
            this.draw();
        });
        this.by = "task";
    }

    // Returns the greatest parts, and the others as one, each with its values by bucket.
    stacks() {
        const {all, parts} = this.fleet.series(this.by, this.filter);
        const measure = MEASURES[this.measure];
        const values = (series) => Array.from(all.jobs, (_, i) => measure.of(series, all, i));
        const ranked = Array.from(parts, ([key, series]) => ({key, values: values(series)}))
            .map((part) => ({...part, sum: d3.sum(part.values)})).filter((part) => part.sum > 0)
            .sort((a, b) => b.sum - a.sum || a.key - b.key);
        const shown = ranked.slice(0, PARTS_SHOWN).map((part, rank) => ({
            ...part, name: this.by === "task" ? this.fleet.taskName(part.key) : this.fleet.nodeName(part.key),
            colour: taskColour(this.by === "task" ? part.key : rank)}));
        const rest = ranked.slice(PARTS_SHOWN);
        if (rest.length > 0) {
            shown.push({key: null, name: counted(rest.length, `other ${this.by}`, `other ${this.by}s`),
                        colour: theme().idle,
                        values: Array.from(all.jobs, (_, i) => d3.sum(rest, (part) => part.values[i]))});
        }
        return {all, shown, total: Array.from(all.jobs, (_, i) => d3.sum(shown, (part) => part.values[i]))};
    }

    draw() {
        const width = this.svg.node().clientWidth || 800;
        const height = this.svg.node().clientHeight || 236;
        this.drawn = this.stacks();
        const bottom = height - AXIS_BELOW - VOLUME_HEIGHT - 4;
        const {begin_s: begin, end_s: end, bucket_s: size} = this.fleet.facts.counts;
        const times = [begin, Math.max(end, begin + size)].map((time_s) => new Date(1000 * time_s));
        this.x = d3.scaleUtc(times, [LEFT, width - RIGHT]);
        this.y = d3.scaleLinear([0, d3.max(this.drawn.total) || 1], [bottom, 8]).nice(4);
        this.title.note.text(this.fleet.buckets > 0 ? `by ${sizeText(size)}, UTC` : "");
        this.drawAxes(width, height, bottom);
        this.drawBars(bottom, height - AXIS_BELOW);
        this.drawLegend();
        this.brush.extent([[LEFT, 2], [width - RIGHT, height - AXIS_BELOW]]);
        this.layers.brush.call(this.brush);
        this.isMoving = true; // the reader did not select this, although an event of the mouse may be the cause
        this.layers.brush.call(this.brush.move,
                               this.filter.span && this.filter.span.map((bucket) => this.xOf(bucket)));
        this.isMoving = false;
        this.layers.brush.selectAll(".overlay, .selection").on("mousemove", () => this.showTip())
            .on("mouseleave", () => this.hideTip());
    }

    xOf(bucket) {
        return this.x(new Date(1000 * this.fleet.timeOf(bucket)));
    }

    drawAxes(width, height, bottom) {
        const {text} = MEASURES[this.measure];
        const ticks = this.y.ticks(4).filter((tick) => this.measure === "share" || Number.isInteger(tick));
        const below = d3.axisBottom(this.x).ticks(Math.max(Math.floor(width / 110), 2)).tickSizeOuter(0)
            .tickFormat(tickText);
        this.layers.below.attr("transform", `translate(0, ${height - AXIS_BELOW})`).call(below);
        this.layers.left.attr("transform", `translate(${LEFT}, 0)`)
            .call(d3.axisLeft(this.y).tickValues(ticks).tickFormat(text).tickSize(0).tickPadding(8))
            .select(".domain").remove();
        this.layers.grid.selectAll("line").data(ticks.filter((tick) => tick > 0)).join("line").attr("class", "grid")
            .attr("x1", LEFT).attr("x2", width - RIGHT).attr("y1", this.y).attr("y2", this.y);
        const isEmpty = d3.max(this.drawn.total) === 0 || this.drawn.total.length === 0;
        this.layers.left.style("display", isEmpty ? "none" : null);
        this.layers.grid.style("display", isEmpty ? "none" : null);
        this.layers.below.style("display", this.fleet.buckets === 0 ? "none" : null);
        this.layers.none.selectAll("text").data(isEmpty ? [0] : []).join("text").attr("class", "none")
            .attr("x", width / 2).attr("y", bottom / 2 + 8).text(this.emptyText());
    }

    emptyText() {
        if (this.fleet.buckets === 0) {
            return "No jobs are stored: a run has some when its session has ended and all of its chunks are stored.";
        }
        return this.measure === "jobs" ? "No jobs." : "No job missed its deadline.";
    }

    drawBars(bottom, base) {
        const {shown, all} = this.drawn;
        const below = new Float64Array(this.fleet.buckets);
        const bars = [];
        for (const part of shown) {
            part.values.forEach((value, i) => {
                if (value > 0) {
                    bars.push({i, low: below[i], high: below[i] + value, colour: part.colour});
                    below[i] += value;
                }
            });
        }
        const gap = this.xOf(1) - this.xOf(0) > 5 ? 1 : 0;
        const left = (i) => this.xOf(i) + gap / 2;
        const wide = Math.max(this.xOf(1) - this.xOf(0) - gap, 1);
        this.layers.bars.selectAll("rect").data(bars).join("rect").attr("x", (bar) => left(bar.i)).attr("width", wide)
            .attr("y", (bar) => this.y(bar.high))
            .attr("height", (bar) => Math.max(this.y(bar.low) - this.y(bar.high), 1)).attr("fill", (bar) => bar.colour);
        const most = d3.max(all.jobs) || 1;
        const volume = Array.from(all.jobs, (jobs, i) => [jobs, i]).filter(([jobs]) => jobs > 0);
        this.layers.volume.selectAll("rect").data(volume).join("rect").attr("class", "volume")
            .attr("x", ([, i]) => left(i)).attr("width", wide)
            .attr("y", ([jobs]) => base - Math.max(VOLUME_HEIGHT * jobs / most, 1))
            .attr("height", ([jobs]) => Math.max(VOLUME_HEIGHT * jobs / most, 1));
        this.layers.volume.selectAll("text").data(volume.length > 0 ? ["jobs"] : []).join("text")
            .attr("x", LEFT - 8).attr("y", base - 6).attr("text-anchor", "end").text((text) => text);
    }

    drawLegend() {
        this.legend.text("");
        for (const {name, colour} of this.drawn.shown) {
            const entry = this.legend.append("span").attr("title", name);
            entry.append("i").style("background", colour);
            entry.append("span").text(name);
        }
    }

    // Selects whole buckets. A brush without a width, or a click, selects all of the time.
    brushed() {
        if (this.isMoving || !d3.event.sourceEvent) {
            return;
        }
        const {selection} = d3.event;
        if (!selection) {
            this.filter.span !== null && this.filter.set("span", null);
            return;
        }
        const [from, to] = selection.map((x) => (this.x.invert(x) / 1000 - this.fleet.facts.counts.begin_s)
            / this.fleet.facts.counts.bucket_s);
        const first = Math.min(Math.max(Math.floor(from), 0), this.fleet.buckets - 1);
        this.filter.set("span", [first, Math.min(Math.max(Math.ceil(to), first + 1), this.fleet.buckets)]);
    }

    showTip() {
        const [x] = d3.mouse(this.svg.node());
        const bucket = this.fleet.bucketOf(this.x.invert(x) / 1000);
        if (bucket < 0 || bucket >= this.fleet.buckets) {
            this.hideTip();
            return;
        }
        const {all, shown} = this.drawn;
        const {text} = MEASURES[this.measure];
        const tip = d3.select("#tip").text("").attr("hidden", null);
        tip.append("div").text(`${spanText(this.fleet.timeOf(bucket), this.fleet.timeOf(bucket + 1))} UTC`);
        tip.append("div").text(`${counted(all.jobs[bucket], "job", "jobs")}, ${grouped(all.missed[bucket])} missed`
            + (all.missed[bucket] > 0 ? `, ${sharePercent(all.missed[bucket], all.jobs[bucket])}` : ""));
        for (const {name, colour, values} of shown.filter((part) => part.values[bucket] > 0)) {
            const line = tip.append("div").attr("class", "part");
            line.append("i").style("background", colour);
            line.append("span").text(name);
            line.append("span").text(text(values[bucket]));
        }
        const box = tip.node().getBoundingClientRect();
        const left = d3.event.clientX + 14;
        tip.style("left", `${left + box.width > window.innerWidth ? left - box.width - 28 : left}px`)
            .style("top", `${Math.min(d3.event.clientY + 14, window.innerHeight - box.height - 4)}px`);
    }

    hideTip() {
        d3.select("#tip").attr("hidden", "");
    }
}
