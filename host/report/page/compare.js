// SPDX-License-Identifier: MIT
// Shows two runs under each other: two traces, or two phases of one. The differences were found when the page was
// written (host/analyse/run_comparison, as `remora diff` shows them). This file chooses the phases, aligns the runs on
// a release, and leads to the first difference. The address has the phases and the alignment.
"use strict";

class Comparison {
    // Returns the comparison, or null if the page has nothing to compare.
    static async of(element, traces, timeline, search) {
        if (element === null) {
            return null;
        }
        const text = new TextDecoder().decode(await inflated(bytesOfBase64(element.textContent)));
        element.remove();
        return new Comparison(JSON.parse(text), traces, timeline, search);
    }

    constructor(data, traces, timeline, search) {
        Object.assign(this, {data, traces, timeline, search});
        this.view = timeline.view;
        this.ownRuns = this.view.runs;
        this.ownRows = timeline.rows.rowsBy;
        this.ownColours = traces[0].tasks.map((task) => task.colour);
        this.pair = null; // It is one of data.pairs; null means that nothing is compared.
        this.on = null;   // It is the job {name, number} that aligns the runs; null means the first release.
        this.view.others.push(this);
    }

    get ofPhases() {
        return this.traces.length === 1;
    }

    get runs() {
        return this.view.runs;
    }

    // Compares the two runs of a pair. Null shows one run again.
    choose(pair) {
        if (pair === this.pair) {
            return;
        }
        const {view, timeline} = this;
        this.pair = pair;
        this.on = null;
        if (view.job && view.job.run) {
            view.job = null;
        }
        view.runs = pair ? pair.of.map((side, number) => this.runOf(this.data.sides[side], number)) : this.ownRuns;
        this.traces[0].tasks.forEach((task) => { task.colour = this.ownColours[task.number]; });
        if (pair) {
            view.runs[1].rate = (view.runs[1].trace.khz || 1e6) / (view.runs[0].trace.khz || 1e6);
            this.align(null);
            this.colourByName();
        }
        timeline.rows.use(pair ? (by) => comparedRows(this, by) : this.ownRows);
        view.changed("rows");
        view.changed("pick");
    }

    runOf(side, number) {
        const trace = this.traces[side.trace];
        const run = new Run(trace, new Times(trace.khz), number);
        run.title = side.title;
        run.from = side.from_ns === null ? -Infinity : run.times.ticksOfNs(side.from_ns);
        run.to = side.to_ns === null ? Infinity : run.times.ticksOfNs(side.to_ns);
        return run;
    }

    // Gives tasks of the same name the same colour.
    colourByName() {
        const colours = new Map();
        for (const {trace} of this.runs) {
            for (const task of trace.tasks) {
                colours.set(task.name, colours.has(task.name) ? colours.get(task.name) : colours.size);
                task.colour = colours.get(task.name);
            }
        }
    }

    // Returns the job that is released earliest in the first run among those that both runs have, or null.
    firstInBoth() {
        const [a, b] = this.runs;
        const names = new Set(a.trace.tasks.filter((task) => !task.isIdle).map((task) => task.name));
        const found = [...names].map((name) => {
            const number = Math.max(a.jobs(name).before, b.jobs(name).before) + 1;
            return {name, number, a: a.job(name, number), b: b.job(name, number)};
        }).filter((job) => job.a && job.b);
        return found.reduce((least, job) => !least || job.a.release < least.a.release ? job : least, null);
    }

    // Aligns both runs on a job; null means the first release. Returns what was done, or why it was not possible.
    align(on) {
        const [a, b] = this.runs;
        const job = on || this.firstInBoth();
        const [inA, inB] = job ? [a, b].map((run) => run.job(job.name, job.number)) : [null, null];
        if (on && !(inA && inB)) {
            return `job ${on.number} of ${on.name} is not in ${inA ? b.mark : a.mark}`;
        }
        const start = (run, one) => one ? one.release : Math.max(run.from, 0);
        this.on = on;
        b.at = start(a, inA);
        b.origin = start(b, inB);
        this.view.changed("align");
        return on ? `aligned on ${on.name}, job ${on.number}` : "aligned on the first release";
    }

    alignOnPicked() {
        const {job} = this.view;
        if (!this.pair) {
            return "nothing is compared";
        }
        if (!job) {
            return "pick a job to align on";
        }
        const run = this.view.runOf(job);
        const task = run.trace.tasks[job.task];
        const number = run.numberOf(task, job.index);
        return number > 0 ? this.align({name: task.name, number}) : `this job is not in ${run.title}`;
    }

    // Aligns both runs on a job, so that they show it under each other, and picks it in the first run that has it.
    showJob(name, job, contexts) {
        const number = this.runs[0].placeOf(name, contexts[0], job);
        const said = this.align({name, number});
        const run = this.runs.find((one) => one.job(name, number));
        if (run) {
            const {task, index} = run.job(name, number);
            pickJob(this.timeline, task, index, run.number);
        }
        this.search.say(said);
    }

    // Returns the time of a decision on the timeline. NaN means that the run ended before it.
    timeOf(number, decision) {
        const run = this.runs[number];
        return decision === null ? NaN : run.shown(run.times.ticksOfNs(decision.time_ns));
    }

    get firstDifference() {
        return this.pair ? this.pair.diff.first_difference : null;
    }

    goToTime(at) {
        const {view} = this;
        const length = Math.min(view.to - view.from, this.traces[0].last / 10);
        view.show(at - length / 2, at + length / 2);
    }

    goToFirst() {
        const first = this.firstDifference;
        if (!this.pair) {
            return "nothing is compared";
        }
        if (!first) {
            return "no decision differs";
        }
        const at = first.decisions.map((decision, i) => this.timeOf(i, decision)).filter((time) => !isNaN(time));
        this.goToTime(d3.mean(at));
        return `the first difference: ${first.what}`;
    }

    // Writes the pair and the alignment into the words of the address.
    write(words) {
        if (this.ofPhases) {
            words.set("pair", this.pair ? this.pair.of.join(".") : "none");
        }
        if (this.on) {
            words.set("align", `${this.on.number}.${this.on.name}`);
        }
    }

    read(words) {
        const chosen = this.data.chosen === null ? null : this.data.pairs[this.data.chosen];
        const named = words.get("pair");
        this.choose(named === null || !this.ofPhases ? chosen : this.pairOf(named));
        const on = /^(\d+)\.(.*)$/s.exec(words.get("align") || "");
        if (this.pair) {
            this.align(on ? {name: on[2], number: Number(on[1])} : null);
        }
    }

    pairOf(sides) {
        return this.data.pairs.find((pair) => pair.of.join(".") === sides) || null;
    }
}

// Returns the actions of the keys that compare. If the page has nothing to compare, they only say so.
function actionsOfComparison(comparison, side, search) {
    const withOne = (action) => () => search.say(comparison ? action() : "nothing is compared: name a second trace");
    return {
        "v": withOne(() => {
            side.choose(side.chosen === "compare" ? "pick" : "compare");
            return "";
        }),
        "V": withOne(() => comparison.goToFirst()),
        "l": withOne(() => comparison.alignOnPicked()),
        "L": withOne(() => comparison.pair ? comparison.align(null) : "nothing is compared"),
    };
}

// Rows of two runs with the same kind and name are under each other, in the order of the first run. What only the
// second one has is at the end of its group. The functions that draw a row alone draw it, on the scale of its run.

const OUTSIDE = 0.65; // It is the opacity of the paper over what does not count.

function comparedRows(comparison, by) {
    const [a, b] = comparison.runs;
    const kind = (row) => `${row.key.replace(/\d+$/, "")} ${row.label}`;
    const partners = d3.group(rowsOfRun(b, by), kind);
    const all = [];
    for (const row of rowsOfRun(a, by)) {
        all.push(rowOfRun(comparison, row, a, row.group));
        const partner = (partners.get(kind(row)) || []).shift();
        if (partner) {
            all.push(rowOfRun(comparison, partner, b, row.group));
        }
    }
    for (const row of [...partners.values()].flat()) {
        const last = d3.max(all.keys(), (i) => all[i].group === row.group ? i : -1);
        all.splice(last === undefined || last < 0 ? all.length : last + 1, 0, rowOfRun(comparison, row, b, row.group));
    }
    return all;
}

// Returns the rows of a run. If it is a part of its trace, tasks that have nothing in the part are left out.
function rowsOfRun(run, by) {
    const isPart = run.from > -Infinity || run.to < Infinity;
    return allRows(run.trace, by).filter((row) => !isPart || !row.task || isInPart(row.task, run));
}

function isInPart(task, run) {
    const ran = (time) => task.before(RUNNING, time, task.at(time));
    return task.isIdle || task.jobs.release.some((at) => at >= run.from && at < run.to)
        || ran(Math.min(run.to, run.trace.last)) > ran(Math.max(run.from, 0));
}

function rowOfRun(comparison, row, run, group) {
    return {
        ...row, key: run.key(row.key), group, run, mark: run.mark,
        shade: row.shade && function (surface, y, scale) {
            return row.shade.call(this, surface, y, run.scale(scale), run.trace);
        },
        paint(surface, y, scale) {
            const own = run.scale(scale);
            const {view} = surface;
            surface.view = run.number === 0 ? view : {...view, filter: null}; // A brush chooses jobs of the first run.
            row.paint.call(this, surface, y, own, run.trace);
            surface.view = view;
            paintLossesOf(surface, y, own, run, row);
            paintOutside(surface, y, own, run, row);
            paintDifference(surface, y, own, run, row, comparison);
        },
    };
}

function paintLossesOf(surface, y, scale, run, row) {
    for (const losses of run.trace.losses) {
        if (run.trace.cpus.length === 1 || row.cpu === losses.of) {
            eachInSight(losses.begin, losses.end, scale, (i) => {
                const [x, width] = scale.stretch(losses.begin[i], losses.end[i]);
                surface.rect(x, y, width, row.height, surface.theme.lost, 0.55);
                if (row.cpu === losses.of) {
                    surface.text(x + 4, y + 9, `${losses.records[i]} records lost`, surface.theme.text, width - 6);
                }
            });
        }
    }
}

// Fades what is before and after the part that counts, and what is beyond the trace.
function paintOutside(surface, y, scale, run, row) {
    for (const [begin, end] of [[scale.from, Math.max(run.from, 0)], [Math.min(run.to, run.trace.last), scale.to]]) {
        if (begin < end && end > scale.from && begin < scale.to) {
            const [x, width] = scale.stretch(begin, end);
            surface.rect(x, y, width, row.height, surface.theme.paper, OUTSIDE);
        }
    }
}

// Draws a line through the row at the first decision that differs.
function paintDifference(surface, y, scale, run, row, comparison) {
    const first = comparison.firstDifference;
    const decision = first && first.decisions[run.number];
    if (decision) {
        const x = scale.x(run.times.ticksOfNs(decision.time_ns));
        if (x >= surface.left && x <= surface.width) {
            surface.line(x, y, x, y + row.height, surface.theme.over, 2);
            surface.polygon([x, y, x + 5, y + 4, x, y + 8], surface.theme.over);
        }
    }
}
