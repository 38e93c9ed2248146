// SPDX-License-Identifier: MIT
// The rows of the timeline: which there are, in which order, how high each is. A row has a key (for the address), a
// group, a label, and paint(surface, y, scale, trace), which draws it.
"use strict";

const ROW_HEIGHT = 28;
const GROUP_HEIGHT = 20;

function allRows(trace) {
    const rows = [];
    for (const cpu of trace.cpus) {
        const group = trace.cpus.length === 1 ? "Processor" : "Processors";
        rows.push({key: `cpu${cpu}`, group, label: `processor ${cpu}`, cpu, height: ROW_HEIGHT, paint: paintProcessor});
        const handlers = trace.handlers.find((one) => one.of === cpu);
        if (handlers) {
            const height = Math.max(ROW_HEIGHT, 6 + 12 * Math.min(handlers.depthMax, 6));
            rows.push({key: `irq${cpu}`, group, label: "interrupts", cpu, handlers, height, paint: paintHandlers});
        }
    }
    const level = (task) => task.level === undefined ? Infinity : task.level;
    for (const task of [...trace.tasks].sort((a, b) => level(a) - level(b) || a.number - b.number)) {
        const group = task.level === undefined ? "Tasks" : `Level ${trace.name("levels", task.level)}`;
        rows.push({key: `task${task.number}`, group, label: task.name, task, height: ROW_HEIGHT, paint: paintTask});
    }
    for (const holds of trace.holds) {
        const label = trace.name("mutexes", holds.of);
        rows.push({key: `mutex${holds.of}`, group: "Owners of mutexes", label, holds, height: 22, paint: paintHolds});
    }
    for (const [group, curves] of [["Budgets of servers", trace.budgets], ["Values", trace.plots]]) {
        for (const curve of curves) {
            rows.push({key: curve.key, group, label: curve.name, unit: curve.unit, curve, height: 44,
                       paint: paintCurve});
        }
    }
    if (trace.marks.count > 0 || trace.facts.oracle.shown.length > 0) {
        rows.push({key: "marks", group: "Events", label: "events", height: ROW_HEIGHT, paint: paintMarks});
    }
    return rows;
}

class Rows {
    constructor(trace, view) {
        this.all = allRows(trace);
        this.byKey = new Map(this.all.map((row) => [row.key, row]));
        this.view = view;
        this.arrange();
    }

    // In the order in which they are drawn: pinned ones, then the others, groups together.
    arrange() {
        const {pinned, hidden, order} = this.view;
        const moved = new Map(order.map((key, place) => [key, place]));
        const place = (row) => moved.has(row.key) ? moved.get(row.key) : this.all.indexOf(row);
        const inOrder = order.length > 0 ? [...this.all].sort((a, b) => place(a) - place(b)) : this.all;
        const shown = inOrder.filter((row) => !hidden.has(row.key));
        this.shown = shown.filter((row) => pinned.has(row.key)).concat(shown.filter((row) => !pinned.has(row.key)));
        this.heads = [];
        let y = 0;
        let group = null;
        for (const row of this.shown) {
            const itsGroup = pinned.has(row.key) ? "Pinned" : row.group;
            if (itsGroup !== group) {
                group = itsGroup;
                this.heads.push({text: group, y});
                y += GROUP_HEIGHT;
            }
            row.y = y;
            y += row.height;
        }
        this.height = y + 4;
    }

    at(y) {
        return this.shown.find((row) => y >= row.y && y < row.y + row.height) || null;
    }

    // The row so many steps further.
    step(key, steps) {
        const place = this.shown.findIndex((row) => row.key === key);
        const next = place < 0 ? (steps > 0 ? 0 : this.shown.length - 1)
            : Math.min(Math.max(place + steps, 0), this.shown.length - 1);
        return this.shown[next] || null;
    }

    // Moves a row by one place among those shown.
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
