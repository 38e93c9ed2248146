// SPDX-License-Identifier: MIT
// The trace as the page draws it: arrays by task, processor, mutex, server, value; times are ticks since its start.
// Beside the intervals of a task are the sums of what it did before each of them, so that what it did between any two
// times is two look-ups, whatever is between: that is what zoomed-out drawing is made of.
"use strict";

const RUNNING = 0, READY = 1, WAITING = 2;
const ACTIVITIES = ["running", "ready", "waits"];
const CAUSES = ["", "", "released", "unblocked", "", "preempted", "slice used up", "waits", "job completed",
                "job aborted", "task ended", "sleeps", "records lost", "end of the trace"];
const OUTCOMES = ["completed", "aborted", "ended with its task", "replaced: its end is missing", "end not recorded",
                  "unfinished"];
const HOLD_ENDS = ["unlocked", "taken by another", "owner died", "records lost", "end of the trace"];

// The first index whose value is greater than the limit; values do not fall.
function firstAfter(values, limit, low = 0, high = values.length) {
    while (low < high) {
        const middle = (low + high) >>> 1;
        if (values[middle] > limit) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return low;
}

class Task {
    constructor(block, number) {
        Object.assign(this, block.directory.tasks[number]);
        this.number = number;
        this.isIdle = this.name === "idle";
        this.readIntervals(block);
        this.readJobs(block);
        this.overview = {};
        for (const name of ["running", "ready", "waiting", "misses"]) {
            this.overview[name] = block.column(block.table("overview", number), name);
        }
    }

    readIntervals(block) {
        const table = block.table("intervals", this.number);
        [this.begin, this.end] = block.times(table, ["begin", "end"]);
        const what = block.column(table, "what");
        const count = what.length;
        this.count = count;
        this.activity = new Uint8Array(count);
        this.cause = new Uint8Array(count);
        this.cpu = Uint16Array.from(block.column(table, "cpu"));
        this.detail = Uint32Array.from(block.column(table, "detail"));
        this.sums = [0, 1, 2].map(() => new Float64Array(count + 1));
        for (let i = 0; i < count; ++i) {
            const activity = what[i] & 3;
            this.activity[i] = activity;
            this.cause[i] = what[i] >> 2;
            this.sums[0][i + 1] = this.sums[0][i];
            this.sums[1][i + 1] = this.sums[1][i];
            this.sums[2][i + 1] = this.sums[2][i];
            this.sums[activity][i + 1] += this.end[i] - this.begin[i];
        }
    }

    readJobs(block) {
        const table = block.table("jobs", this.number);
        const release = block.running(table, "release");
        const [start, end] = block.times(table, ["start", "end"]);
        const state = block.column(table, "state");
        this.jobs = {
            count: release.length,
            number: block.running(table, "number"),
            release,
            start,
            deadline: block.column(table, "deadline").map(
                (value, i) => value === 0 ? NaN : release[i] + unzigzag(value - 1)),
            end,
            outcome: Uint8Array.from(state, (value) => value & 7),
            late: Uint8Array.from(state, (value) => value >> 3 & 1),
            unaccounted: Uint8Array.from(state, (value) => value >> 4),
        };
        const shares = block.table("shares", this.number);
        this.shares = {first: new Uint32Array(release.length + 1)};
        block.column(table, "shares").forEach((count, i) => {
            this.shares.first[i + 1] = this.shares.first[i] + count;
        });
        for (const name of ["culprit", "ticks", "pieces"]) {
            this.shares[name] = block.column(shares, name);
        }
        this.deadlines = this.jobs.deadline.filter((at) => !isNaN(at)).sort();
        this.missed = [];
        for (let i = 0; i < release.length; ++i) {
            if (this.jobs.late[i]) {
                this.missed.push(i);
            }
        }
        this.missTimes = Float64Array.from(this.missed, (job) => this.missTime(job));
    }

    // The first interval that ends after the time.
    at(time) {
        return firstAfter(this.end, time);
    }

    // How long it did this before the time. index: at(time).
    before(activity, time, index) {
        const whole = this.sums[activity][index];
        return index < this.count && this.activity[index] === activity && time > this.begin[index]
            ? whole + time - this.begin[index] : whole;
    }

    // The job that is open at the time, or the latest released before; -1: none.
    jobAt(time) {
        return firstAfter(this.jobs.release, time) - 1;
    }

    missTime(job) {
        const {deadline, end, release} = this.jobs;
        return !isNaN(deadline[job]) ? deadline[job] : !isNaN(end[job]) ? end[job] : release[job];
    }
}

class Trace {
    constructor(block) {
        const facts = block.directory;
        this.facts = facts;
        this.khz = facts.clock.khz;
        this.last = Math.max(facts.span.last, 1);
        this.names = {};
        for (const kind of ["levels", "vectors", "mutexes", "servers"]) {
            this.names[kind] = new Map(facts[kind]);
        }
        this.tasks = facts.tasks.map((_, number) => new Task(block, number));
        this.losses = this.spans(block, "losses", ["records"]);
        this.holds = this.spans(block, "holds", ["task", "how"]);
        this.handlers = block.tables("handlers").map((table) => this.readHandlers(block, table));
        this.readMarks(block);
        this.readCurves(block);
        const cpus = new Set(this.handlers.map((one) => one.of).concat(this.losses.map((one) => one.of)));
        this.tasks.forEach((task) => new Set(task.cpu).forEach((cpu) => cpus.add(cpu)));
        this.cpus = [...cpus].sort((a, b) => a - b);
    }

    // Stretches that follow each other.
    spans(block, name, others) {
        return block.tables(name).map((table) => {
            const [begin, end] = block.times(table, ["begin", "end"]);
            const spans = {of: table.of, count: table.rows, begin, end};
            others.forEach((other) => { spans[other] = block.column(table, other); });
            return spans;
        });
    }

    // In the order of their begins, outer ones first.
    readHandlers(block, table) {
        const [begin, end] = block.times(table, ["begin", "end"]);
        const depth = block.column(table, "depth");
        const order = Uint32Array.from(begin, (_, i) => i)
            .sort((a, b) => begin[a] - begin[b] || depth[a] - depth[b]);
        const sorted = (values) => Float64Array.from(order, (i) => values[i]);
        const handlers = {
            of: table.of, count: table.rows, begin: sorted(begin), depth: sorted(depth),
            end: Float64Array.from(order, (i) => isNaN(end[i]) ? begin[i] : end[i]),
            vector: sorted(block.column(table, "vector")),
            task: sorted(block.column(table, "task")),
        };
        handlers.depthMax = handlers.depth.reduce((a, b) => Math.max(a, b), 1);
        // Of outer handlers, which do not overlap: time before each.
        const outer = Array.from(handlers.depth.keys()).filter((i) => handlers.depth[i] === 1);
        handlers.outerEnd = Float64Array.from(outer, (i) => handlers.end[i]);
        handlers.outerBegin = Float64Array.from(outer, (i) => handlers.begin[i]);
        handlers.sum = new Float64Array(outer.length + 1);
        outer.forEach((i, n) => { handlers.sum[n + 1] = handlers.sum[n] + handlers.end[i] - handlers.begin[i]; });
        return handlers;
    }

    readMarks(block) {
        const table = block.table("marks", 0);
        this.marks = {at: block.times(table, ["at"])[0], count: table ? table.rows : 0};
        for (const name of ["kind", "task", "par1", "par2", "text"]) {
            this.marks[name] = block.column(table, name);
        }
        const overrun = this.facts.kinds.indexOf("task_wcet_violation");
        const times = this.tasks.map(() => []);
        for (let i = 0; i < this.marks.count && overrun >= 0; ++i) {
            if (this.marks.kind[i] === overrun && this.marks.task[i] > 0) {
                times[this.marks.task[i] - 1].push(this.marks.at[i]);
            }
        }
        this.tasks.forEach((task) => { task.overruns = Float64Array.from(times[task.number]); });
    }

    readCurves(block) {
        this.budgets = block.tables("budget").map((table) => ({
            key: `server${table.of}`, of: table.of, name: this.name("servers", table.of), unit: "budget",
            at: block.times(table, ["at"])[0], value: block.column(table, "ticks"), isTime: true,
        }));
        this.plots = block.tables("plot").map((table) => {
            const plot = this.facts.plots[table.of];
            return {
                key: `plot${table.of}`, of: table.of, name: `${plot.event}.${plot.field}`, unit: plot.unit,
                event: plot.event, at: block.times(table, ["at"])[0], value: this.values(block, table, plot),
                isTime: false,
            };
        });
        this.budgets.concat(this.plots).forEach((curve) => { curve.extremes = new Extremes(curve.value); });
    }

    values(block, table, plot) {
        if (!("high" in table.columns)) {
            const scale = 2 ** -plot.fraction_bits;
            return block.running(table, "value").map((value) => value * scale);
        }
        const low = block.column(table, "low");
        const view = new DataView(new ArrayBuffer(8));
        return block.column(table, "high").map((high, i) => {
            view.setUint32(0, high);
            view.setUint32(4, low[i]);
            return view.getFloat64(0);
        });
    }

    name(kind, number) {
        return this.names[kind].get(number) || `#${number}`;
    }

    vectorName(vector) {
        return vector === 0x10000 ? "the timer" : this.name("vectors", vector);
    }

    taskName(link) {
        return link > 0 ? this.tasks[link - 1].name : "";
    }

    // What an interval waits for, and whom its other task is. Null: nothing.
    detailOf(task, index) {
        const number = task.detail[index];
        return number > 0 ? this.facts.details[number - 1] : null;
    }

    markText(i) {
        const {text, par1, par2} = this.marks;
        return text[i] > 0 ? this.facts.texts[text[i] - 1] : `${par1[i]} ${par2[i]}`;
    }

    markName(i) {
        return this.facts.kinds[this.marks.kind[i]];
    }
}

// Least and greatest of any part of an array, by the extremes of blocks of 64, of 64 of them, and so on.
class Extremes {
    constructor(values) {
        this.levels = [[values, values]];
        for (let [low, high] = this.levels[0]; low.length > 64; [low, high] = this.levels[this.levels.length - 1]) {
            const count = Math.ceil(low.length / 64);
            const least = new Float64Array(count).fill(Infinity);
            const greatest = new Float64Array(count).fill(-Infinity);
            for (let i = 0; i < low.length; ++i) {
                const at = i >> 6;
                least[at] = Math.min(least[at], low[i]);
                greatest[at] = Math.max(greatest[at], high[i]);
            }
            this.levels.push([least, greatest]);
        }
    }

    of(from, to) {
        let least = Infinity;
        let greatest = -Infinity;
        const take = (level, i) => {
            least = Math.min(least, this.levels[level][0][i]);
            greatest = Math.max(greatest, this.levels[level][1][i]);
        };
        for (let level = 0; from < to; ++level) {
            const isTop = level + 1 === this.levels.length;
            while (from < to && (isTop || from % 64 !== 0)) {
                take(level, from++);
            }
            while (from < to && to % 64 !== 0) {
                take(level, --to);
            }
            from /= 64;
            to /= 64;
        }
        return [least, greatest];
    }
}
