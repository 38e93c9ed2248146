// SPDX-License-Identifier: MIT
// The part of the fleet that the page shows: a node, a task, a span of time, or all. It is in the address after #, so
// that a link shows the same. The parts of the page listen to its changes.
"use strict";

class Filter {
    constructor(fleet) {
        this.fleet = fleet;
        this.node = null;
        this.task = null;
        this.span = null; // buckets [from, to)
        this.listeners = d3.dispatch("change");
        this.box = d3.select("#filters");
        this.listen("filter", () => this.show());
        window.addEventListener("hashchange", () => location.hash !== this.address() && this.goTo(location.hash));
    }

    listen(name, listener) {
        this.listeners.on(`change.${name}`, listener);
    }

    set(name, value) {
        this[name] = value;
        history.replaceState(null, "", this.address());
        this.listeners.call("change", this, name);
    }

    // Selects a row that is clicked, or everything if it was selected.
    toggle(name, value) {
        this.set(name, this[name] === value ? null : value);
    }

    clear() {
        this.node = this.task = this.span = null;
        this.set("node", null);
    }

    // Returns whether a row of this node and task, at this time, is shown.
    has(node, task, time_s) {
        const bucket = this.span && this.fleet.bucketOf(time_s);
        return (this.node === null || node === this.node) && (this.task === null || task === this.task) &&
            (this.span === null || bucket >= this.span[0] && bucket < this.span[1]);
    }

    times() {
        return this.span.map((bucket) => this.fleet.timeOf(bucket));
    }

    parts() {
        const parts = [["node", this.node, () => this.fleet.nodeName(this.node)],
                       ["task", this.task, () => this.fleet.taskName(this.task)],
                       ["span", this.span, () => `${spanText(...this.times())} UTC`]];
        return parts.filter(([, value]) => value !== null).map(([name, , text]) => [name, text()]);
    }

    show() {
        const parts = this.parts();
        const names = {node: "node", task: "task", span: "time"};
        this.box.text("");
        this.box.append("span").attr("class", "muted").text(parts.length > 0 ? "Only" : "All nodes, all tasks, all "
            + "times. Click a node or a task, or draw across the chart, to see less.");
        for (const [name, text] of parts) {
            const chip = this.box.append("span").attr("class", "chip");
            chip.append("b").text(names[name]);
            chip.append("span").text(text);
            chip.append("button").attr("aria-label", `all ${names[name]}s`).text("\u00d7")
                .on("click", () => this.set(name, null));
        }
        if (parts.length > 0) {
            this.box.append("button").attr("id", "all").text("show all").on("click", () => this.clear());
        }
    }

    address() {
        const words = new URLSearchParams();
        this.node !== null && words.set("node", this.fleet.nodeName(this.node));
        this.task !== null && words.set("task", this.fleet.taskName(this.task));
        this.span !== null && words.set("t", this.times().join("-"));
        return words.toString() === "" ? "#" : `#${words}`;
    }

    // Parts that make no sense are ignored.
    goTo(address) {
        const words = new URLSearchParams(address.slice(1));
        const number = (name, names) => words.has(name) && names.includes(words.get(name))
            ? names.indexOf(words.get(name)) : null;
        this.node = number("node", this.fleet.nodeNames);
        this.task = number("task", this.fleet.facts.names.task);
        const span = /^(\d{1,12})-(\d{1,12})$/.exec(words.get("t") || "");
        const [from, to] = span ? [this.fleet.bucketOf(Number(span[1])), this.fleet.bucketOf(Number(span[2]))] : [0, 0];
        this.span = from < to && to > 0 && from < this.fleet.buckets
            ? [Math.max(from, 0), Math.min(to, this.fleet.buckets)] : null;
        this.listeners.call("change", this, "node");
    }
}
