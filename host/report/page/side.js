// SPDX-License-Identifier: MIT
// The panel at the side: the job that was picked, or the violations, with commands to copy.
"use strict";

class Side {
    constructor(timeline) {
        this.timeline = timeline;
        const side = d3.select("#side");
        const tabs = side.append("nav");
        this.tabs = new Map([["pick", "Selection"], ["statistics", "Figures"]].map(([name, text]) => [
            name, tabs.append("button").text(text).on("click", () => this.choose(name))]));
        this.box = side.append("div");
        let timer = 0;
        timeline.view.listen("side", (what) => {
            if (this.chosen === "pick" ? what === "pick" : what === "pick" || what === "span") {
                clearTimeout(timer); // figures are of what is in sight, once that is at rest
                timer = setTimeout(() => this.show(), this.chosen === "pick" ? 0 : 200);
            }
        });
        this.choose("pick");
    }

    choose(name) {
        this.chosen = name;
        this.tabs.forEach((tab, its) => tab.classed("chosen", its === name));
        this.show();
    }

    show() {
        this.chosen === "pick" ? this.showPick() : showStatistics(this);
    }

    clear(title) {
        this.box.selectAll("*").remove();
        this.box.append("h2").text(title);
    }

    showPick() {
        const {view, rows, trace} = this.timeline;
        const row = rows.byKey.get(view.row);
        if (view.job) {
            showJob(this, trace.tasks[view.job.task], view.job.index);
        } else if (row && row.task) {
            showTask(this, row.task);
        } else {
            this.clear(row ? row.label : "Nothing is picked");
            this.box.append("p").attr("class", "muted")
                .text("Click a job, or press n for the next miss, ? for the keys.");
        }
    }

    facts(pairs) {
        const list = this.box.append("dl");
        for (const [name, value, style] of pairs) {
            list.append("dt").text(name);
            list.append("dd").attr("class", style || null).text(value);
        }
    }

    // Commands, each with a button that copies it.
    commands(lines) {
        const list = this.box.append("div").attr("class", "commands");
        for (const line of lines) {
            const row = list.append("div");
            row.append("code").text(line);
            row.append("button").attr("title", "copy").text("copy")
                .on("click", () => navigator.clipboard.writeText(line));
        }
    }

    showViolations() {
        const {trace, view} = this.timeline;
        this.choose("pick");
        this.clear("Violations of the theory");
        const list = this.box.append("ol").attr("class", "violations");
        for (const {at, task, rule, text, file, record} of trace.facts.oracle.shown) {
            const item = list.append("li");
            item.append("button").text(`${view.times.point(at)} ${rule}`).on("click", () => {
                view.cursors[0] = at;
                view.changed("cursors");
                view.row = task > 0 ? `task${task - 1}` : view.row;
                view.reveal(at, at);
            });
            item.append("p").text(`${trace.taskName(task)} ${text} (${file}, record ${record})`);
        }
        const more = trace.facts.oracle.violations - trace.facts.oracle.shown.length;
        if (more > 0) {
            this.box.append("p").text(`${grouped(more)} more: remora check ${trace.facts.trace} --show 1000000`);
        }
    }
}

// A word for the shell: quoted unless it is plain.
function quoted(word) {
    return /^[\w./:@+-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}

function spanOptions(times, from, to) {
    return times.khz === 0 ? "" : ` --from ${times.ns(from)} --to ${times.ns(to) + 1}`;
}

function showTask(side, task) {
    const {times} = side.timeline.view;
    const ns = (value) => value ? times.length(times.ticksOfNs(value)) : "\u2013";
    side.clear(task.name);
    side.facts([
        ["jobs", grouped(task.jobs.count)], ["missed", grouped(task.misses), task.misses > 0 ? "bad" : ""],
        ["context", task.context], ["C declared", ns(task.wcet_ns)], ["T", ns(task.period_ns)],
        ["D", ns(task.deadline_ns)], ["budget", ns(task.budget_ns)],
        ["ran", times.length(task.sums[RUNNING][task.count])],
        ["was ready", times.length(task.sums[READY][task.count])],
        ["waited", times.length(task.sums[WAITING][task.count])],
    ]);
    const trace = quoted(side.timeline.trace.facts.trace);
    side.commands([`remora print ${trace} --task ${quoted(task.name)}`]);
}

function showJob(side, task, index) {
    const {trace, view} = side.timeline;
    const {times} = view;
    const {number, release, start, deadline, end, outcome, late} = task.jobs;
    const at = (time) => isNaN(time) ? "\u2013" : times.point(time);
    side.clear(`${task.name}, job ${number[index]}`);
    const lateness = end[index] - deadline[index];
    side.facts([
        ["outcome", OUTCOMES[outcome[index]] + (late[index] ? ", MISSED" : ""), late[index] ? "bad" : ""],
        ["release", at(release[index])], ["start", at(start[index])], ["end", at(end[index])],
        ["deadline", at(deadline[index])],
        ["response", isNaN(end[index]) ? "\u2013" : times.length(end[index] - release[index])],
        [lateness > 0 ? "late by" : "slack", isNaN(lateness) ? "\u2013" : times.length(Math.abs(lateness)),
         lateness > 0 ? "bad" : ""],
    ]);
    showWhy(side, task, index);
    const [begin, last] = spanOfJob(task, index);
    const name = quoted(trace.facts.trace);
    side.box.append("h3").text("Commands");
    side.commands([
        `remora print ${name}${spanOptions(times, begin, last)}`,
        `remora sql ${name} "select * from intervals where context = ${task.context} and begin_ns < ${
            times.khz ? times.ns(last) : last} and end_ns > ${times.khz ? times.ns(begin) : begin}"`,
    ]);
}
