// SPDX-License-Identifier: MIT
// Shows a run that continues: the page asks its server for what is new, and adds it to the trace that it shows. A block
// is decoded as a trace of its own, whose rows are then appended. So each row is decoded once, and what was picked,
// marked or hidden stays, because tasks and jobs keep their numbers.
"use strict";

const LIVE_PAUSE_MS = 500;
const LIVE_RETRY_MS = 2000;

const LIVE_STATES = {
    waiting: "waiting for a machine to start its kernel",
    running: "the run continues",
    ended: "the run has ended",
    reset: "the machine was reset",
};

const after = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

// Returns the array with more values after it. Its memory doubles when it is full, so only what is added costs time.
function appended(values, more) {
    const length = values.length + more.length;
    let whole = new values.constructor(values.buffer);
    if (whole.length < length) {
        whole = new values.constructor(2 * length);
        whole.set(values);
    }
    whole.set(more, values.length);
    return whole.subarray(0, length);
}

// Appends each array of the part to that of the whole, and adds its count.
function appendAll(whole, part) {
    for (const [name, values] of Object.entries(part)) {
        if (ArrayBuffer.isView(values)) {
            whole[name] = appended(whole[name], values);
        }
    }
    whole.count += part.count;
}

// Appends stretches of time, and their sums if they were drawn already, because only drawing makes sums of them.
function appendSpans(spans, part) {
    if (spans.sum) {
        const sums = sumsOf(part.begin, part.end).subarray(1);
        spans.sum = appended(spans.sum, raised(sums, spans.sum[spans.count]));
    }
    appendAll(spans, part);
}

// Returns the values plus a base: sums, and numbers stored as distances, begin with 0 in each part.
function raised(values, base) {
    return base === 0 ? values : values.map((value) => value + base);
}

function appendJobs(task, part) {
    const {jobs} = task;
    const known = jobs.count;
    const release = known > 0 ? jobs.release[known - 1] : 0;
    appendAll(jobs, {...part.jobs, number: raised(part.jobs.number, known > 0 ? jobs.number[known - 1] : 0),
                     release: raised(part.jobs.release, release), deadline: raised(part.jobs.deadline, release)});
    task.shares.first = appended(task.shares.first, raised(part.shares.first.subarray(1), task.shares.first[known]));
    for (const name of ["culprit", "ticks", "pieces"]) {
        task.shares[name] = appended(task.shares[name], part.shares[name]);
    }
    const deadlines = raised(part.deadlines, release);
    const place = deadlines.length > 0 ? firstAfter(task.deadlines, deadlines[0]) : 0;
    task.deadlines = appended(task.deadlines, deadlines);
    if (deadlines.length > 0) {
        task.deadlines.subarray(place).sort();
    }
    const missed = part.missed.map((job) => job + known);
    task.missed.push(...missed);
    task.missTimes = appended(task.missTimes, Float64Array.from(missed, (job) => task.missTime(job)));
}

function appendTask(task, part, facts) {
    Object.assign(task, facts);
    for (const name of ["begin", "end", "activity", "cause", "cpu", "detail", "overruns"]) {
        task[name] = appended(task[name], part[name]);
    }
    task.sums = task.sums.map((sums, i) => appended(sums, raised(part.sums[i].subarray(1), sums[task.count])));
    task.count += part.count;
    task.overview = part.overview;
    // These three were made of the old intervals.
    Object.assign(task, {inColumns: null, on: null, onProcessors: undefined});
    appendJobs(task, part);
}

// Appends handlers and sorts them again. A handler is recorded when it has ended: one that was interrupted comes after
// those that interrupted it, maybe in a later part.
function appendHandlers(handlers, part) {
    const first = part.count > 0 ? firstAfter(handlers.begin, part.begin[0] - 1) : handlers.count;
    const names = ["begin", "end", "depth", "vector", "task"];
    for (const name of names) {
        handlers[name] = appended(handlers[name], part[name]);
    }
    handlers.count += part.count;
    const {begin, depth} = handlers;
    const order = Uint32Array.from({length: handlers.count - first}, (_, i) => first + i)
        .sort((a, b) => begin[a] - begin[b] || depth[a] - depth[b]);
    for (const name of names) {
        handlers[name].set(Float64Array.from(order, (i) => handlers[name][i]), first);
    }
    handlers.depthMax = Math.max(handlers.depthMax, part.depthMax);
    const sum = handlers.sum[handlers.outerBegin.length];
    handlers.outerBegin = appended(handlers.outerBegin, part.outerBegin);
    handlers.outerEnd = appended(handlers.outerEnd, part.outerEnd);
    handlers.sum = appended(handlers.sum, raised(part.sum.subarray(1), sum));
}

function extremesOfBlocks(values, pick) {
    return Float64Array.from({length: Math.ceil(values.length / 64)},
                             (_, i) => values.subarray(64 * i, 64 * i + 64).reduce((a, b) => pick(a, b)));
}

// Updates the extremes after values were added from index `first` on: at each level, the blocks that have some of them.
function extendExtremes({levels}, values, first) {
    levels[0] = [values, values];
    for (let level = 0; levels[level][0].length > 64; ++level) {
        const isKnown = level + 1 < levels.length;
        first = isKnown ? first >> 6 : 0; // A new level has blocks of old values too.
        const old = isKnown ? levels[level + 1] : [new Float64Array(0), new Float64Array(0)];
        levels[level + 1] = [Math.min, Math.max].map((pick, i) => appended(
            old[i].subarray(0, first), extremesOfBlocks(levels[level][i].subarray(64 * first), pick)));
    }
}

function appendCurve(curve, part, isRunning) {
    const known = curve.value.length;
    curve.at = appended(curve.at, part.at);
    const base = isRunning && known > 0 ? curve.value[known - 1] : 0;
    curve.value = appended(curve.value, raised(part.value, base));
    extendExtremes(curve.extremes, curve.value, known);
    curve.range = null; // It was made of the old values to draw them.
    curve.served = part.served;
}

// Calls `append` for each part that is about the same as one that there is already, and adds the other parts.
function appendEach(all, parts, append) {
    for (const part of parts) {
        const known = all.find((one) => one.of === part.of);
        known ? append(known, part) : all.push(part);
    }
    all.sort((a, b) => a.of - b.of);
}

// Appends a block to the trace. The block is of the same run, and begins where the trace ends.
function appendBlock(trace, block) {
    const facts = block.directory;
    for (const name of ["details", "culprits", "kinds", "texts"]) {
        for (const one of facts[name]) {
            trace.facts[name].push(one);
        }
        facts[name] = trace.facts[name];
    }
    const part = new Trace(block);
    part.tasks.forEach((task, number) => {
        if (number < trace.tasks.length) {
            appendTask(trace.tasks[number], task, facts.tasks[number]);
        } else {
            trace.tasks.push(task);
        }
    });
    appendEach(trace.losses, part.losses, appendSpans);
    appendEach(trace.holds, part.holds, appendSpans);
    appendEach(trace.handlers, part.handlers, appendHandlers);
    appendAll(trace.marks, part.marks);
    appendEach(trace.budgets, part.budgets, (curve, more) => appendCurve(curve, more, false));
    appendEach(trace.plots, part.plots, (curve, more) => appendCurve(
        curve, more, !("high" in block.table("plot", more.of).columns)));
    trace.cpus = [...new Set(trace.cpus.concat(part.cpus))].sort((a, b) => a - b);
    Object.assign(trace, {facts, khz: part.khz, last: part.last, names: part.names, misses: null});
}

class Live {
    constructor() {
        this.follows = true; // The end of the run stays in sight.
        this.cut = null;     // The page has the trace up to this cut; null means that it has none.
        this.updates = 0;
    }

    // Returns what is new as a block. Null means that there is nothing new.
    async ask() {
        const response = await fetch(this.cut === null ? "data" : `data?after=${this.cut}`, {cache: "no-store"});
        if (!response.ok) {
            throw new Error(`the server answers ${response.status}`);
        }
        return response.status === 204 ? null
            : new Block(await inflated(new Uint8Array(await response.arrayBuffer())));
    }

    // Returns everything so far. It waits until there is a trace.
    async first() {
        for (;;) {
            const block = await this.ask();
            if (block && block.directory.span) {
                this.take(block.directory.live);
                d3.select("#banners").selectAll("p").remove();
                return block;
            }
            d3.select("#banners").selectAll("p").data([0]).join("p").attr("class", "note").text(LIVE_STATES.waiting);
            document.body.dataset.live = "waiting";
            await after(LIVE_PAUSE_MS);
        }
    }

    take({state, cut, run}) {
        Object.assign(this, {state, cut, run});
        this.say(LIVE_STATES[state]);
    }

    say(text) {
        const again = this.run > 1 ? `run ${this.run}, the machine was started anew: ` : "";
        document.getElementById("live").textContent = again + text;
        document.body.dataset.live = this.state || "";
    }

    // Begins to follow the run, once the page has all its parts.
    begin(parts, actions) {
        Object.assign(this, parts);
        const button = d3.select("#buttons").insert("button", ":first-child").attr("id", "follow").attr("title", "e")
            .text("follow").on("click", () => this.toggle());
        this.button = button;
        KEYS.push(["e", "", "follow the end of the run, or stop"]);
        actions.e = () => this.toggle();
        this.view.listen("live", (what) => what === "span" && !this.isMoving && this.choose(this.isEndInSight()));
        this.choose(this.isEndInSight());
        this.poll();
    }

    isEndInSight() {
        return this.view.to >= this.trace.last;
    }

    choose(follows) {
        this.follows = follows;
        this.button.classed("chosen", follows).attr("aria-pressed", String(follows));
    }

    toggle() {
        this.choose(!this.follows);
        this.follows && this.moveToEnd(this.isWhole());
    }

    isWhole() {
        return this.view.from <= 0 && this.isEndInSight();
    }

    // Moves to the end of the run. A span that was the whole run stays the whole run; another one keeps its length.
    moveToEnd(isWhole) {
        const {view, trace} = this;
        const length = view.to - view.from;
        this.isMoving = true;
        if (isWhole) {
            view.showAll();
        } else {
            view.show(trace.last - 0.98 * length, trace.last + 0.02 * length);
        }
        this.isMoving = false;
    }

    async poll() {
        for (;;) {
            await after(LIVE_PAUSE_MS);
            const block = await this.ask().catch(() => undefined);
            if (block === undefined) {
                this.say("remora report --live does not answer: the page shows what it has");
                await after(LIVE_RETRY_MS);
            } else if (block === null) {
                this.say(LIVE_STATES[this.state]);
            } else if (!block.directory.span) {
                this.say("the machine is started anew");
            } else if (block.directory.live.first) {
                this.beginAnew(block.directory.live.run);
                return;
            } else {
                this.add(block);
            }
        }
    }

    // Loads the page anew: for another run, or because it slept for so long that its place in the trace is forgotten.
    beginAnew(run) {
        if (run === this.run) {
            location.reload();
        } else {
            location.replace(`${location.pathname}?run=${run}`);
        }
    }

    add(block) {
        const {trace, view, rows, timeline, side, overview} = this;
        const isWhole = this.isWhole();
        const before = rows.all.map((row) => `${row.key} ${row.label} ${row.height}`).join("\n");
        this.take(block.directory.live);
        appendBlock(trace, block);
        view.times.khz = trace.khz;
        timeline.zoom.scaleExtent([0.5, trace.last]);
        Object.assign(rows, new Rows(trace, view));
        if (before !== rows.all.map((row) => `${row.key} ${row.label} ${row.height}`).join("\n")) {
            view.changed("rows");
        }
        d3.select("#head").selectAll("*").remove();
        showHead(trace, view.times, () => side.showViolations());
        showBanners(bannersOfTrace(trace, view.times));
        openCrashes(side);
        this.follows && this.moveToEnd(isWhole);
        overview.resize();
        timeline.followView();
        timeline.draw();
        const row = rows.byKey.get(view.row);
        const showsTask = row && row.task && side.box.select("h2").text() === row.task.name;
        if (side.chosen === "pick" && (view.job ? this.state === "ended" : showsTask)) {
            side.show();
        }
        ++this.updates;
    }
}
