// SPDX-License-Identifier: MIT
// Defines the rows of the timeline: which there are, in which order, how high each is. A row has a key (for the
// address), a group, a label, and paint(surface, y, scale, trace), which draws it. Some rows have shade(), with the
// same arguments, which draws a row by columns of pixels if too much is in sight, and returns whether it did.
"use strict";

const ROW_HEIGHT = 28;
const GROUP_HEIGHT = 20;

// The rows of tasks are grouped by one of these.
const GROUPINGS = ["level", "phase", "processor", "nothing"];

const groupingAfter = (by, trace) => {
    const next = GROUPINGS[(GROUPINGS.indexOf(by) + 1) % GROUPINGS.length];
    return next === "phase" && trace.phases().length === 0 ? groupingAfter(next, trace) : next;
};

function byPhase(trace) {
    const starts = trace.phases();
    const phaseOf = (time) => d3.bisectRight(starts, time);
    const groupOf = (task) => {
        const [first, last] = trace.ranWithin(task);
        return first === null ? "Never ran" : phaseOf(first) !== phaseOf(last) ? "Several phases"
            : phaseOf(first) === 0 ? "Before the phases" : `Phase ${phaseOf(first)}`;
    };
    const rows = trace.tasks.map((task) => rowOf(task, groupOf(task)));
    const inOrder = ["Several phases", "Before the phases", ...starts.map((_, i) => `Phase ${i + 1}`), "Never ran"];
    return inOrder.flatMap((group) => rows.filter((row) => row.group === group));
}

// Returns all rows of the trace; `by` is one of GROUPINGS.
function allRows(trace, by) {
    const rows = [];
    const processor = (cpu) => `Processor ${cpu}`;
    for (const cpu of trace.cpus) {
        const group = by === "processor" ? processor(cpu) : trace.cpus.length === 1 ? "Processor" : "Processors";
        rows.push({key: `cpu${cpu}`, group, label: `processor ${cpu}`, cpu, height: ROW_HEIGHT,
                   shade: shadeProcessor, paint: paintProcessor});
        const handlers = trace.handlers.find((one) => one.of === cpu);
        if (handlers) {
            const height = Math.max(ROW_HEIGHT, 6 + 12 * Math.min(handlers.depthMax, 6));
            const label = trace.cpus.length === 1 ? "interrupts" : `interrupts of ${cpu}`;
            rows.push({key: `irq${cpu}`, group, label, cpu, handlers, height, shade: shadeHandlers,
                       paint: paintHandlers});
        }
        if (by === "processor") {
            trace.tasks.filter((task) => trace.homeOf(task) === cpu).forEach((task) => rows.push(rowOf(task, group)));
        }
    }
    const level = (task) => task.level === undefined ? Infinity : task.level;
    if (by === "level") {
        for (const task of [...trace.tasks].sort((a, b) => level(a) - level(b) || a.number - b.number)) {
            rows.push(rowOf(task, task.level === undefined ? "Tasks" : `Level ${trace.name("levels", task.level)}`));
        }
    } else if (by === "phase" && trace.phases().length > 0) {
        rows.push(...byPhase(trace));
    } else {
        trace.tasks.filter((task) => by !== "processor" || trace.homeOf(task) === null).forEach(
            (task) => rows.push(rowOf(task, "Tasks")));
    }
    for (const holds of trace.holds) {
        const label = trace.name("mutexes", holds.of);
        rows.push({key: `mutex${holds.of}`, group: "Owners of mutexes", label, holds, height: 22,
                   shade: shadeHolds, paint: paintHolds});
    }
    for (const [group, curves] of [["Budgets of servers", trace.budgets], ["Values", trace.plots]]) {
        for (const curve of curves) {
            rows.push({key: curve.key, group, label: curve.name, unit: curve.unit, curve, height: 44,
                       shade: shadeCurve, paint: paintCurve});
        }
    }
    if (trace.marks.count > 0 || trace.facts.oracle.shown.length > 0) {
        rows.push({key: "marks", group: "Events", label: "events", height: ROW_HEIGHT, shade: shadeMarks,
                   paint: paintMarks});
    }
    return rows;
}

function rowOf(task, group) {
    return {key: `task${task.number}`, group, label: task.name, task, height: ROW_HEIGHT, shade: shadeTask,
            paint: paintTask};
}

// Returns the word for a group in the page's address.
function keyOfGroup(group) {
    return group.toLowerCase().replace(/[^a-z0-9]/g, "") || "other";
}

class Rows {
    constructor(trace, view) {
        this.view = view;
        this.rowsBy = (by) => allRows(trace, by); // It returns all rows, grouped.
        this.arrange();
    }

    // Shows other rows from here on.
    use(rowsBy) {
        this.rowsBy = rowsBy;
        this.by = null;
        this.arrange();
    }

    // Puts the rows in the order in which they are drawn: pinned ones, then the others, with a head where a group
    // begins. Of a folded group only the head is shown.
    arrange() {
        if (this.by !== this.view.by) {
            this.by = this.view.by;
            this.all = this.rowsBy(this.by);
            this.byKey = new Map(this.all.map((row) => [row.key, row]));
        }
        const {pinned, hidden, folded, order} = this.view;
        const moved = new Map(order.map((key, place) => [key, place]));
        const place = (row) => moved.has(row.key) ? moved.get(row.key) : this.all.indexOf(row);
        const inOrder = order.length > 0 ? [...this.all].sort((a, b) => place(a) - place(b)) : this.all;
        const wanted = inOrder.filter((row) => !hidden.has(row.key));
        const isPinned = (row) => pinned.has(row.key);
        this.shown = [];
        this.heads = [];
        let y = 0;
        let head = null;
        for (const row of wanted.filter(isPinned).concat(wanted.filter((one) => !isPinned(one)))) {
            const text = this.groupOf(row);
            if (head === null || head.text !== text) {
                head = {text, y, key: keyOfGroup(text), folded: 0};
                this.heads.push(head);
                y += GROUP_HEIGHT;
            }
            if (folded.has(head.key)) {
                ++head.folded;
                continue;
            }
            this.shown.push(row);
            row.y = y;
            y += row.height;
        }
        this.height = y + 4;
    }

    // Shows the row, if it is hidden or its group is folded.
    bringUp(row) {
        for (const [set, key] of [[this.view.hidden, row.key], [this.view.folded, keyOfGroup(this.groupOf(row))]]) {
            if (set.has(key)) {
                this.view.toggle(set, key);
            }
        }
    }

    groupOf(row) {
        return this.view.pinned.has(row.key) ? "Pinned" : row.group;
    }

    at(y) {
        return this.shown.find((row) => y >= row.y && y < row.y + row.height) || null;
    }

    // Returns the row that is so many steps further, at most the first or the last one; null if no row is shown.
    step(key, steps) {
        const place = this.shown.findIndex((row) => row.key === key);
        const next = place < 0 ? (steps > 0 ? 0 : this.shown.length - 1)
            : Math.min(Math.max(place + steps, 0), this.shown.length - 1);
        return this.shown[next] || null;
    }

    // Moves a row by so many places among those shown.
    move(key, steps) {
        const keys = this.shown.map((row) => row.key);
        const place = keys.indexOf(key);
        const target = place + steps;
        if (place < 0 || target < 0 || target >= keys.length) {
            return;
        }
        keys.splice(target, 0, keys.splice(place, 1)[0]);
        this.view.order = keys.concat([...this.view.hidden].filter((hidden) => this.byKey.has(hidden)));
        this.view.changed("rows");
    }
}
