// SPDX-License-Identifier: MIT
// Decodes the trace for drawing: arrays by task, processor, mutex, server and value; times are ticks since its start. A
// task has intervals, and the sums of what it did before each of them. So what it did between any two times needs two
// look-ups, whatever is between: drawing uses this when much is in sight.
"use strict";

const RUNNING = 0, READY = 1, WAITING = 2, HELD = 3; // HELD is a wait for a resource.
const CAUSES = ["", "", "released", "unblocked", "", "preempted", "slice used up", "waits", "job completed",
                "job aborted", "task ended", "sleeps", "records lost", "end of the trace"];
const OUTCOMES = ["completed", "aborted", "ended with its task", "replaced: its end is missing", "end not recorded",
                  "unfinished"];
const COMPLETED = 0; // This is the index of an outcome.
const EARLY = 3;     // From this reason on, a job is not accounted because of its release.
const HOLD_ENDS = ["unlocked", "taken by another", "owner died", "records lost", "end of the trace"];

// Returns the first index whose value is greater than the limit. The values never fall.
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
        this.colour = number;
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
        const isResource = block.directory.details.map((detail) => resourceOf(detail) !== null);
        this.sums = [RUNNING, READY, WAITING, HELD].map(() => new Float64Array(count + 1));
        for (let i = 0; i < count; ++i) {
            const activity = what[i] & 3;
            const isHeld = activity === WAITING && this.detail[i] > 0 && isResource[this.detail[i] - 1];
            this.activity[i] = isHeld ? HELD : activity;
            this.cause[i] = what[i] >> 2;
            this.sums.forEach((sum) => { sum[i + 1] = sum[i]; });
            this.sums[this.activity[i]][i + 1] += this.end[i] - this.begin[i];
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

    // Returns the index of the first interval that ends after the time.
    at(time) {
        return firstAfter(this.end, time);
    }

    // Returns how many ticks of this activity the task had before the time; `index` is at(time).
    before(activity, time, index) {
        const whole = this.sums[activity][index];
        return index < this.count && this.activity[index] === activity && time > this.begin[index]
            ? whole + time - this.begin[index] : whole;
    }

    // Returns the job that is open at the time. Of several it is the first, because the others wait for it; of none,
    // the latest that was released before. -1 means that there is none.
    jobAt(time) {
        const {release, end} = this.jobs;
        const last = firstAfter(release, time) - 1;
        let first = last;
        while (first > 0 && end[first - 1] > time) {
            --first;
        }
        return first;
    }

    // Returns the time from release to end of a job. NaN means that it is not complete, or its release is not known.
    response(job) {
        const {release, end, outcome, unaccounted} = this.jobs;
        return outcome[job] === COMPLETED && unaccounted[job] < EARLY ? end[job] - release[job] : NaN;
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
        this.isPart = facts.span.from_ns !== null || facts.span.to_ns !== null;
        numberResources(facts);
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

    // Returns [from, to] of the part of which the page has more than an overview.
    get part() {
        const {from_ns: from, to_ns: to} = this.facts.span;
        const times = new Times(this.khz);
        return [[from, 0], [to, this.last]].map(([ns, end]) => ns === null || this.khz === 0
            ? end : Math.min(Math.max(times.ticksOfNs(ns), 0), this.last));
    }

    // Returns the stretches of each table of a name. Within a table they follow each other.
    spans(block, name, others) {
        return block.tables(name).map((table) => {
            const [begin, end] = block.times(table, ["begin", "end"]);
            const spans = {of: table.of, count: table.rows, begin, end};
            others.forEach((other) => { spans[other] = block.column(table, other); });
            return spans;
        });
    }

    // Returns the handlers in the order of their begins, outer ones first.
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
        // Only outer handlers are summed, because they do not overlap.
        const outer = Array.from(handlers.depth.keys()).filter((i) => handlers.depth[i] === 1);
        handlers.outerEnd = Float64Array.from(outer, (i) => handlers.end[i]);
        handlers.outerBegin = Float64Array.from(outer, (i) => handlers.begin[i]);
        handlers.sum = sumsOf(handlers.outerBegin, handlers.outerEnd);
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
        const served = new Map(this.facts.served);
        this.budgets = block.tables("budget").map((table) => ({
            key: `server${table.of}`, of: table.of, name: this.name("servers", table.of), unit: "budget",
            at: block.times(table, ["at"])[0], value: block.column(table, "ticks"), isTime: true,
            served: served.get(table.of) || [],
        }));
        this.plots = block.tables("plot").map((table) => {
            const plot = this.facts.plots[table.of];
            return {
                key: `plot${table.of}`, of: table.of, name: `${plot.event}.${plot.field}`, unit: plot.unit,
                event: plot.event, isBoolean: plot.boolean, at: block.times(table, ["at"])[0],
                value: this.values(block, table, plot),
                isTime: false,
            };
        });
        this.plots.forEach(dropInfinite);
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

    // Returns how many ticks a task ran on each processor, by the processor's number.
    sharesOfProcessors(task) {
        if (!task.onProcessors) {
            task.onProcessors = new Map();
            task.migrations = 0;
            for (let i = 0, before = -1; i < task.count; ++i) {
                if (task.activity[i] === RUNNING) {
                    const cpu = task.cpu[i];
                    const ran = task.end[i] - task.begin[i];
                    task.onProcessors.set(cpu, (task.onProcessors.get(cpu) || 0) + ran);
                    task.migrations += before >= 0 && before !== cpu ? 1 : 0;
                    before = cpu;
                }
            }
        }
        return task.onProcessors;
    }

    // Returns the processor on which a task ran the longest. Null means that it never ran.
    homeOf(task) {
        const [longest] = [...this.sharesOfProcessors(task)].sort((a, b) => b[1] - a[1] || a[0] - b[0]);
        return longest ? longest[0] : null;
    }

    // Returns when the first and the last run of a task began. Nulls mean that it never ran.
    ranWithin(task) {
        const first = task.activity.indexOf(RUNNING);
        return first < 0 ? [null, null] : [task.begin[first], task.begin[task.activity.lastIndexOf(RUNNING)]];
    }

    // Returns the beginnings of the phases that the application marks, as RunPhases of the host has them, or none.
    phases() {
        const {kind, par1, par2, at} = this.marks;
        const isMark = this.facts.kinds.indexOf("user_event_0");
        const marks = d3.range(this.marks.count).filter((i) => kind[i] === isMark);
        const inOrder = marks.every((mark, i) => par1[mark] === i + 1 && par2[mark] === 0);
        return marks.length > 1 && marks.length <= 16 && inOrder ? marks.map((mark) => at[mark]) : [];
    }

    // Returns how many records are missing at a time, as [processor, records].
    lostAt(time) {
        return this.losses.map((losses) => [losses, firstAfter(losses.end, time)])
            .filter(([{begin}, i]) => i < begin.length && begin[i] <= time)
            .map(([{of, records}, i]) => [of, records[i]]);
    }

    // Returns the sentences of `remora why` about a late job. There are none if the page was written without them.
    whyLate(task, index) {
        const found = this.facts.late.find(({context, end}) => context === task.context
            && end === task.jobs.end[index]);
        return found ? found.sentences : [];
    }

    // Returns the task that runs on a processor at a time, as [task, index of the interval], or null.
    runningOn(cpu, time) {
        for (const task of this.tasks) {
            const i = task.at(time);
            if (i < task.count && task.begin[i] <= time && task.activity[i] === RUNNING && task.cpu[i] === cpu) {
                return [task, i];
            }
        }
        return null;
    }

    // Returns what an interval waits for and who its other task is. Null means that it has neither.
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

// Removes values that have no place on a curve, because they are infinite or not numbers.
function dropInfinite(curve) {
    if (curve.value.some((value) => !isFinite(value))) {
        const keep = (_, i) => isFinite(curve.value[i]);
        [curve.at, curve.value] = [curve.at.filter(keep), curve.value.filter(keep)];
    }
}

// Finds the least and greatest of any part of an array by those of blocks of 64 values, of 64 such blocks, and so on.
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
