// SPDX-License-Identifier: MIT
// Acts on the pointer and the keyboard: they choose a job, the next miss or a place. Shows what is under the pointer.
"use strict";

// Returns the span of a job: from its release to its end or, if that is not known, to its deadline. If neither is
// known, the span is empty.
function spanOfJob(task, index) {
    const {release, end, deadline} = task.jobs;
    const last = !isNaN(end[index]) ? end[index] : !isNaN(deadline[index]) ? deadline[index] : release[index];
    return [release[index], Math.max(last, release[index])];
}

// Returns the span of the picked job on the timeline.
function shownSpan(view) {
    const run = view.runOf(view.job);
    return spanOfJob(run.trace.tasks[view.job.task], view.job.index).map((time) => run.shown(time));
}

function pickAt(timeline, row, time) {
    const {number, own} = row.run ? {number: row.run.number, own: row.run.own(time)} : {number: 0, own: time};
    const index = row.task ? row.task.jobAt(own) : -1;
    timeline.view.pick(row.key, index >= 0 ? {task: row.task.number, index, run: number} : null);
}

function pickJob(timeline, task, index, run = 0) {
    const {view, rows} = timeline;
    const row = rows.byKey.get(view.runs[run].key(`task${task.number}`));
    if (row) {
        rows.bringUp(row);
    }
    view.pick(row ? row.key : null, {task: task.number, index, run});
    const [begin, end] = shownSpan(view);
    view.reveal(begin, end);
    if (row) {
        timeline.scrollTo(row);
    }
}

// Returns all misses, sorted by time. If two traces are compared, it has those of both.
function allMisses(view) {
    const runs = view.runs.filter((run, i) => i === 0 || run.trace !== view.runs[0].trace);
    return runs.flatMap((run) => run.trace.tasks.flatMap((task) => task.missed.map(
        (job, n) => ({task, job, run: run.number, at: run.shown(task.missTimes[n])})))).sort((a, b) => a.at - b.at);
}

// Picks the next miss after the picked one, or after the left edge if none is picked. Direction -1 picks the previous
// one, or the last one before the right edge. It wraps at both ends, and returns what to say.
function pickMiss(timeline, direction) {
    const {view} = timeline;
    const misses = allMisses(view);
    if (misses.length === 0) {
        return view.trace.isPart ? "no job of this part missed its deadline" : "no job missed its deadline";
    }
    const at = misses.findIndex(({task, job, run}) => view.job && run === (view.job.run || 0)
        && task.number === view.job.task && job === view.job.index);
    let next = at + direction;
    if (at < 0) {
        const times = misses.map((miss) => miss.at);
        next = direction > 0 ? times.findIndex((time) => time >= view.from) : firstAfter(times, view.to) - 1;
        next = direction > 0 && next < 0 ? 0 : next;
    }
    next = (next + misses.length) % misses.length;
    pickJob(timeline, misses[next].task, misses[next].job, misses[next].run);
    return `miss ${next + 1} of ${misses.length}`;
}

// Picks the job before or after the picked one in the row. If none is picked, it picks the one in the middle.
function stepJob(timeline, direction) {
    const {view, rows} = timeline;
    const row = rows.byKey.get(view.row);
    if (!row || !row.task || row.task.jobs.count === 0) {
        return;
    }
    const run = row.run || view.runs[0];
    const isPicked = view.job && view.job.task === row.task.number && (view.job.run || 0) === run.number;
    const now = isPicked ? view.job.index + direction : row.task.jobAt(run.own((view.from + view.to) / 2));
    let index = Math.min(Math.max(now, 0), row.task.jobs.count - 1);
    while (run.number === 0 && !isChosen(view, row.task, index) && index + direction >= 0
           && index + direction < row.task.jobs.count) {
        index += direction;
    }
    pickJob(timeline, row.task, index, run.number);
}

// Returns the lines of text that describe what is under the pointer; marks are found up to `near` ticks from it.
function tipOf(trace, times, row, time, near) {
    if (row.task) {
        return [...tipOfTask(trace, times, row.task, time), ...tipOfJobMarks(times, row.task, time, near)];
    }
    if (row.curve) {
        return tipOfCurve(times, row, time);
    }
    if (row.key.endsWith("marks")) {
        return tipOfMarks(trace, times, time, near);
    }
    if (row.holds || row.handlers) {
        return tipOfStretch(trace, times, row, time, near);
    }
    const found = trace.runningOn(row.cpu, time);
    if (found === null) {
        return [];
    }
    const [task, i] = found;
    return [`${task.name} runs ${times.length(task.end[i] - task.begin[i])}`, `since ${times.point(task.begin[i])}`,
            `then: ${causeText(task, i, trace.detailOf(task, i))}`];
}

// Returns the stretch at a time, the innermost one; else one that begins or ended near it, because a short one is drawn
// wider than it is; -1: there is none.
function stretchAt({begin, end}, time, near) {
    const next = firstAfter(begin, time);
    const latest = (least) => d3.range(next - 1, Math.max(next - 33, -1), -1).find((i) => end[i] >= least);
    const found = latest(time) ?? (begin[next] <= time + near ? next : latest(time - near));
    return found ?? -1;
}

function tipOfStretch(trace, times, {holds, handlers}, time, near) {
    const stretches = holds || handlers;
    const i = stretchAt(stretches, time, near);
    if (i < 0) {
        return [];
    }
    const length = times.length(stretches.end[i] - stretches.begin[i]);
    return holds ? [`held by ${trace.tasks[holds.task[i]].name}`, length, HOLD_ENDS[holds.how[i]]]
        : [`the handler of ${trace.name("vectors", handlers.vector[i])}`, length, `depth ${handlers.depth[i]}`];
}

// A value is that of the latest event. Where columns share many values, the line says between which they are.
function tipOfCurve(times, {label, curve}, time) {
    const i = firstAfter(curve.at, time) - 1;
    if (i < 0) {
        return [];
    }
    const value = curve.value[i];
    const text = curve.isTime ? times.length(value) : curve.isBoolean ? String(value !== 0)
        : `${Number.isInteger(value) ? grouped(value) : value} ${curve.unit}`.trim();
    return [`${label} = ${text}`, `since ${times.point(curve.at[i])}`];
}

const TIP_MARKS = 8; // Further marks near the pointer are only counted.

// Returns what the events near a time are, with their whole texts.
function tipOfMarks(trace, times, time, near) {
    const {at, task} = trace.marks;
    const first = firstAfter(at, time - near - 1);
    const stop = firstAfter(at, time + near, first);
    const lines = d3.range(first, Math.min(stop, first + TIP_MARKS)).map((i) => {
        const who = task[i] > 0 ? ` (${trace.taskName(task[i])})` : "";
        return `${times.point(at[i])} ${trace.markName(i)} ${trace.markText(i)}${who}`;
    });
    if (stop - first > TIP_MARKS) {
        lines.push(`and ${grouped(stop - first - TIP_MARKS)} more`);
    }
    const violations = trace.facts.oracle.shown.filter((one) => Math.abs(one.at - time) <= near);
    return [...violations.slice(0, TIP_MARKS).map(({rule, text}) => `violation of ${rule}: ${text}`), ...lines];
}

// Returns what the marks of a task near a time mean: missed deadlines, exceeded execution times.
function tipOfJobMarks(times, task, time, near) {
    const {jobs, missTimes, missed, overruns} = task;
    const lines = [];
    for (let n = firstAfter(missTimes, time - near - 1); n < missed.length && missTimes[n] <= time + near; ++n) {
        const job = missed[n];
        const lateness = jobs.end[job] - jobs.deadline[job];
        lines.push(`job ${jobs.number[job]} missed its deadline${lateness > 0 ? ` by ${times.length(lateness)}` : ""}`);
    }
    const n = firstAfter(overruns, time - near - 1);
    if (n < overruns.length && overruns[n] <= time + near) {
        const declared = task.wcet_ns ? ` of ${times.length(times.ticksOfNs(task.wcet_ns))}` : "";
        lines.push(`has executed for longer than the declared worst case${declared}, at ${times.point(overruns[n])}`);
    }
    return lines;
}

function tipOfTask(trace, times, task, time) {
    const lines = [];
    const i = task.at(time);
    if (i < task.count && task.begin[i] <= time) {
        const detail = trace.detailOf(task, i);
        const length = times.length(task.end[i] - task.begin[i]);
        const other = detail && detail.other > 0 ? trace.taskName(detail.other) : "";
        if (task.activity[i] === RUNNING) {
            const where = trace.cpus.length > 1 ? ` on processor ${task.cpu[i]}` : "";
            lines.push(`runs ${length}${where}${other ? ` in the place of ${other}` : ""}`,
                       `then: ${causeText(task, i, detail)}`);
        } else if (task.activity[i] === READY) {
            lines.push(`ready ${length}`, causeText(task, i, detail));
        } else {
            lines.push(`waits ${length}: ${detail ? detail.wait : ""}${other ? `, held by ${other}` : ""}`);
        }
    }
    const job = task.jobAt(time);
    if (job >= 0) {
        const response = task.response(job);
        lines.push(`job ${task.jobs.number[job]}${isNaN(response) ? "" : `: response ${times.length(response)}`}`);
    }
    return lines;
}

function causeText(task, i, detail) {
    return task.cause[i] === 7 && detail ? `waits for ${detail.wait}` : CAUSES[task.cause[i]];
}

function showTip(timeline, event) {
    const tip = document.getElementById("tip");
    const {x, y} = timeline.pointer;
    const row = x > LABELS_WIDTH ? timeline.rows.at(y + timeline.box.scrollTop) : null;
    const scale = timeline.scale();
    const run = row && row.run ? row.run : timeline.view.runs[0];
    const own = run.own(scale.time(x));
    const near = run.own(scale.time(x + 5)) - own;
    const lines = row ? tipOf(run.trace, run.times, row, own, near) : [];
    for (const [cpu, records] of x > LABELS_WIDTH ? run.trace.lostAt(own) : []) {
        lines.push(`${grouped(records)} records of processor ${cpu} are lost here`);
    }
    tip.hidden = lines.length === 0;
    d3.select(tip).selectAll("div").data([run.times.point(own), ...lines]).join("div").text((line) => line);
    tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 16, window.innerHeight - tip.offsetHeight - 8)}px`;
}

function hideTip() {
    document.getElementById("tip").hidden = true;
}

// The keyboard has a key for everything that the pointer does.

const KEYS = [
    ["w", "s", "zoom in, zoom out"],
    ["a", "d", "move left, right"],
    ["0", "", "the whole trace"],
    ["\u2191", "\u2193", "row above, below"],
    ["\u2190", "\u2192", "job before, after, in the row"],
    ["Enter", "", "zoom to the job"],
    ["n", "N", "next miss, previous miss"],
    ["/", "", "search a task or an event; Enter: next, Shift Enter: previous"],
    ["[", "]", "cursor A, cursor B at the pointer (or in the middle)"],
    ["c", "", "remove the cursors"],
    ["f", "", "figures, or the selection"],
    ["m", "", "the meaning of what is drawn, or the selection"],
    ["p", "h", "pin the row, hide the row"],
    ["H", "", "show all rows, in their own order"],
    ["Shift \u2191", "Shift \u2193", "move the row"],
    ["g", "", "group the tasks by level, by phase, by processor, by nothing"],
    ["z", "", "fold or unfold the group of the row"],
    ["v", "V", "the comparison, its first difference"],
    ["l", "L", "align the runs on the picked job, on the first release"],
    ["x", "", "save what is in sight as SVG"],
    ["?", "", "these keys"],
];

function zoomBy(timeline, factor) {
    const {view, pointer} = timeline;
    const at = pointer && pointer.x > LABELS_WIDTH ? timeline.scale().time(pointer.x) : (view.from + view.to) / 2;
    view.show(at - (at - view.from) * factor, at + (view.to - at) * factor);
}

function moveBy(view, share) {
    const step = (view.to - view.from) * share;
    view.show(view.from + step, view.to + step);
}

function setCursor(timeline, which) {
    const {view, pointer} = timeline;
    view.cursors[which] = pointer && pointer.x > LABELS_WIDTH ? timeline.scale().time(pointer.x)
        : (view.from + view.to) / 2;
    view.changed("cursors");
}

function stepRow(timeline, steps, moves) {
    const {view, rows} = timeline;
    if (moves) {
        rows.move(view.row, steps);
    }
    const row = moves ? rows.byKey.get(view.row) : rows.step(view.row, steps);
    if (row) {
        if (!moves) {
            view.pick(row.key, null);
        }
        timeline.scrollTo(row);
    }
}

function toggleRow(timeline, set) {
    const {view, rows} = timeline;
    if (rows.byKey.has(view.row)) {
        view.toggle(set, view.row);
    }
}

function groupByNext({view, trace}) {
    view.by = groupingAfter(view.by, trace);
    view.order = [];
    view.changed("rows");
}

function foldGroup({view, rows}) {
    const row = rows.byKey.get(view.row);
    if (row) {
        view.toggle(view.folded, keyOfGroup(rows.groupOf(row)));
    }
}

function showAllRows(view) {
    view.hidden.clear();
    view.folded.clear();
    view.order = [];
    view.changed("rows");
}

function zoomToJob({view}) {
    if (view.job) {
        const [begin, end] = shownSpan(view);
        const margin = Math.max((end - begin) * 0.3, 20);
        view.show(begin - margin, end + margin);
    }
}

function showHelp() {
    const help = document.getElementById("help");
    const rows = d3.select(help).selectAll("p").data(KEYS).join("p");
    rows.selectAll("kbd").data(([one, other]) => [one, other].filter((key) => key !== "")).join("kbd")
        .text((key) => key);
    rows.selectAll("span").data(([, , meaning]) => [meaning]).join("span").text((meaning) => meaning);
    help.open ? help.close() : help.showModal();
}

function showMiss(timeline, search, side, direction) {
    search.say(pickMiss(timeline, direction));
    if (timeline.view.job) {
        side.choose("pick");
    }
}

function actionsOf(timeline, search, side) {
    const {view} = timeline;
    return {
        "w": () => zoomBy(timeline, 0.75), "s": () => zoomBy(timeline, 1 / 0.75),
        "a": () => moveBy(view, -0.15), "d": () => moveBy(view, 0.15),
        "0": () => view.showAll(),
        "n": () => showMiss(timeline, search, side, 1), "N": () => showMiss(timeline, search, side, -1),
        "ArrowUp": (event) => stepRow(timeline, -1, event.shiftKey),
        "ArrowDown": (event) => stepRow(timeline, 1, event.shiftKey),
        "ArrowLeft": () => stepJob(timeline, -1), "ArrowRight": () => stepJob(timeline, 1),
        "Enter": () => zoomToJob(timeline),
        "/": () => search.focus(),
        "[": () => setCursor(timeline, 0), "]": () => setCursor(timeline, 1),
        "c": () => { view.cursors = [null, null]; view.changed("cursors"); },
        "p": () => toggleRow(timeline, view.pinned), "h": () => toggleRow(timeline, view.hidden),
        "H": () => showAllRows(view),
        "g": () => groupByNext(timeline), "z": () => foldGroup(timeline),
        "x": () => saveSvg(timeline),
        "f": () => side.choose(side.chosen === "statistics" ? "pick" : "statistics"),
        "m": () => side.choose(side.chosen === "legend" ? "pick" : "legend"),
        "?": showHelp,
    };
}

function listenToKeys(actions) {
    document.addEventListener("keydown", (event) => {
        const isTyping = event.target.matches("input, textarea, select");
        const isPressed = event.target.matches("button, a, summary") && (event.key === "Enter" || event.key === " ");
        const action = actions[event.key];
        const isHelp = document.getElementById("help").open && event.key !== "?";
        if (action && !isHelp && !isTyping && !isPressed && !event.ctrlKey && !event.metaKey && !event.altKey) {
            event.preventDefault();
            action(event);
        }
    });
}
