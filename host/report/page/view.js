// SPDX-License-Identifier: MIT
// Holds what the reader looks at: the span of time, the rows and their order, the picked job, the two cursors. All of
// it is in the address after #, so a link shows the same. Code that changes it calls changed(), which calls the
// listeners of the code that shows it.
"use strict";

class View {
    constructor(trace, times) {
        this.trace = trace;
        this.times = times;
        this.from = 0;
        this.to = trace.last;
        this.row = null;            // It is the key of the picked row, or null.
        this.job = null;            // It is the picked job: {task, index, run}, or null.
        this.cursors = [null, null];
        this.pinned = new Set();    // This and `hidden` have keys of rows.
        this.hidden = new Set();
        this.folded = new Set();    // It has keys of groups.
        this.by = "level";          // The rows of tasks are grouped by it.
        this.order = [];            // It has the keys of rows in order, once one was moved.
        this.runs = [new Run(trace, times)];
        this.others = [];           // Each has words in the address, and write(words) and read(words).
        this.filter = null;         // The brush of a histogram sets it: {task, least, greatest}, in ticks.
        this.listeners = d3.dispatch("change");
    }

    // Returns the run of a job {task, index, run}; without a run it is the first one.
    runOf(job) {
        return this.runs[job.run || 0];
    }

    listen(name, listener) {
        this.listeners.on(`change.${name}`, listener);
    }

    // Calls the listeners; `what` is "span", "rows", "pick", "cursors", "filter" or "align".
    changed(what) {
        this.listeners.call("change", this, what);
    }

    show(from, to) {
        const least = 10; // These are ticks.
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

    // Shows the part of which the page has more than an overview, because a page opens with it.
    showPart() {
        const [from, to] = this.trace.part;
        this.show(from - 0.01 * (to - from), to + 0.01 * (to - from));
    }

    // Brings a span into sight. It zooms only if the span does not fit, or is less than a twelfth of what is in sight.
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
            const {jobs} = this.runOf(this.job).trace.tasks[this.job.task];
            words.set("job", `${this.job.task}.${jobs.number[this.job.index]}${this.job.run ? ".b" : ""}`);
        }
        this.cursors.forEach((at, i) => at !== null && words.set("ab"[i], Math.round(at)));
        for (const [name, keys] of [["pin", this.pinned], ["hide", this.hidden], ["fold", this.folded],
                                    ["order", this.order]]) {
            if ([...keys].length > 0) {
                words.set(name, [...keys].join("."));
            }
        }
        if (this.by !== "level") {
            words.set("by", this.by);
        }
        this.others.forEach((other) => other.write(words));
        return `#${words}`;
    }

    // Returns the job that a text names, or null. 3.14 is number 14 of task 3, and 3.14.b that of the second run. Other
    // pages write control/14: it is number 14 of the first task called control that has it.
    jobOf(text) {
        const numbers = /^(\d+)\.(\d+)(\.b)?$/.exec(text);
        const names = numbers ? null : /^(.*)\/(\d+)$/s.exec(text);
        const run = numbers && numbers[3] ? 1 : 0;
        const tasks = this.runs[run] ? this.runs[run].trace.tasks : [];
        const [, , number] = numbers || names || [];
        for (const task of tasks.filter((one) => numbers ? one.number === Number(numbers[1])
                                                         : names && one.name === names[1])) {
            const index = task.jobs.number.indexOf(Number(number));
            if (index >= 0) {
                return {task: task.number, index, run};
            }
        }
        return null;
    }

    // Shows what an address says. Parts that make no sense are ignored.
    goTo(address) {
        const words = new URLSearchParams(address.slice(1));
        this.others.forEach((other) => other.read(words));
        const span = /^(-?\d{1,16})-(-?\d{1,16})$/.exec(words.get("t") || "");
        this.row = words.get("row");
        this.cursors = ["a", "b"].map((name) => /^-?\d{1,16}$/.test(words.get(name) || "") ? Number(words.get(name))
            : null);
        const keys = (name) => (words.get(name) || "").split(".").filter((key) => /^[a-z0-9]+$/.test(key));
        this.pinned = new Set(keys("pin"));
        this.hidden = new Set(keys("hide"));
        this.folded = new Set(keys("fold"));
        this.by = GROUPINGS.includes(words.get("by")) ? words.get("by") : "level";
        this.order = keys("order");
        this.job = this.jobOf(words.get("job") || "");
        if (this.job && this.row === null) {
            this.row = `task${this.job.task}`;
        }
        this.changed("rows");
        this.changed("pick");
        this.changed("cursors");
        if (span && Number(span[1]) < Number(span[2])) {
            this.show(Number(span[1]), Number(span[2]));
        } else {
            this.showPart();
        }
    }
}

// Returns a function that makes the call at most once in 80 ms, the last time with what is then true. The browser lays
// out text and SVG again after each change, for which no frame has time.
function seldom(call) {
    let timer = 0;
    let isAsked = false;
    const now = () => {
        isAsked = false;
        timer = setTimeout(() => {
            timer = 0;
            if (isAsked) {
                now();
            }
        }, 80);
        call();
    };
    return () => {
        isAsked = true;
        if (timer === 0) {
            now();
        }
    };
}

// Writes the view to the address 150 ms after its last change, because browsers limit changes of the address.
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
