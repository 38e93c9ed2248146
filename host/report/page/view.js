// SPDX-License-Identifier: MIT
// What the reader looks at: the span of time, the rows and their order, the job picked, the two cursors. All of it is
// in the address after #, so a link shows the same. Whoever changes it calls changed(); whoever shows it listens.
"use strict";

class View {
    constructor(trace, times) {
        this.trace = trace;
        this.times = times;
        this.from = 0;
        this.to = trace.last;
        this.row = null;            // key of the row picked
        this.job = null;            // {task, index}
        this.cursors = [null, null];
        this.pinned = new Set();    // keys of rows
        this.hidden = new Set();
        this.order = [];            // keys that were moved, in their order
        this.filter = null;         // [from, to] of a brush: figures are of this span
        this.listeners = d3.dispatch("change");
    }

    listen(name, listener) {
        this.listeners.on(`change.${name}`, listener);
    }

    // what: "span", "rows", "pick", "cursors", "filter".
    changed(what) {
        this.listeners.call("change", this, what);
    }

    show(from, to) {
        const least = 10; // ticks
        const length = Math.min(Math.max(to - from, least), this.trace.last * 1.04);
        const middle = (from + to) / 2;
        const margin = this.trace.last * 0.02;
        const begin = Math.min(Math.max(middle - length / 2, -margin), this.trace.last + margin - length);
        if (begin !== this.from || begin + length !== this.to) {
            this.from = begin;
            this.to = begin + length;
            this.changed("span");
        }
    }

    showAll() {
        this.show(-0.01 * this.trace.last, 1.01 * this.trace.last);
    }

    // Brings a time into sight; around: how much is shown if nothing of the kind is yet.
    reveal(from, to) {
        const length = this.to - this.from;
        if (to - from > length || length > 12 * (to - from) && to > from) {
            const margin = Math.max(to - from, 20);
            this.show(from - margin, to + margin);
        } else if (from < this.from || to > this.to) {
            const middle = (from + to) / 2;
            this.show(middle - length / 2, middle + length / 2);
        }
    }

    pick(row, job) {
        this.row = row;
        this.job = job;
        this.changed("pick");
    }

    toggle(set, key) {
        if (!set.delete(key)) {
            set.add(key);
        }
        this.changed("rows");
    }

    address() {
        const words = new URLSearchParams();
        words.set("t", `${Math.round(this.from)}-${Math.round(this.to)}`);
        if (this.row) {
            words.set("row", this.row);
        }
        if (this.job) {
            words.set("job", `${this.job.task}.${this.trace.tasks[this.job.task].jobs.number[this.job.index]}`);
        }
        this.cursors.forEach((at, i) => at !== null && words.set("ab"[i], Math.round(at)));
        for (const [name, keys] of [["pin", this.pinned], ["hide", this.hidden], ["order", this.order]]) {
            if ([...keys].length > 0) {
                words.set(name, [...keys].join("."));
            }
        }
        return `#${words}`;
    }

    // Parts that make no sense are ignored.
    goTo(address) {
        const words = new URLSearchParams(address.slice(1));
        const span = /^(-?\d+)-(-?\d+)$/.exec(words.get("t") || "");
        this.row = words.get("row");
        this.cursors = ["a", "b"].map((name) => /^-?\d+$/.test(words.get(name) || "") ? Number(words.get(name)) : null);
        const keys = (name) => (words.get(name) || "").split(".").filter((key) => /^[a-z]+\d*$/.test(key));
        this.pinned = new Set(keys("pin"));
        this.hidden = new Set(keys("hide"));
        this.order = keys("order");
        const job = /^(\d+)\.(\d+)$/.exec(words.get("job") || "");
        const task = job && this.trace.tasks[Number(job[1])];
        const index = task ? task.jobs.number.indexOf(Number(job[2])) : -1;
        this.job = index >= 0 ? {task: task.number, index} : null;
        this.changed("rows");
        this.changed("pick");
        this.changed("cursors");
        if (span) {
            this.show(Number(span[1]), Number(span[2]));
        } else {
            this.showAll();
        }
    }
}

// The address follows the view, a moment later: browsers count changes of it.
function keepAddress(view) {
    let timer = 0;
    view.listen("address", () => {
        clearTimeout(timer);
        timer = setTimeout(() => history.replaceState(null, "", view.address()), 150);
    });
    window.addEventListener("hashchange", () => {
        if (location.hash !== view.address()) {
            view.goTo(location.hash);
        }
    });
}
