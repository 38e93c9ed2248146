// SPDX-License-Identifier: MIT
// Shows figures at the side: why a job took as long as it did, and the statistics of what is in sight.
"use strict";

// The response time of a job is shown as a bar divided into its parts, and the share of each culprit as a sentence. The
// shares are those of host/schedule/accounting.hpp: R = J + C + I + B + S, without residue. J, called jitter there, is
// the delay from the release to the time when the job is ready; on the page a jitter is a difference between jobs.

const PARTS = [
    ["jitter", "release delay J", "#999999"], ["execution", "execution C", "#0072b2"],
    ["interference", "interference I", "#e69f00"], ["blocking", "blocking B", "#cc3b6f"],
    ["suspension", "suspension S", "#8a63b0"],
];

// Returns the shares of a response time, {culprit, ticks, pieces}, in the order in which culprits first appeared.
function sharesOf(trace, task, index) {
    const {first, culprit, ticks, pieces} = task.shares;
    const shares = [];
    for (let i = first[index]; i < first[index + 1]; ++i) {
        shares.push({culprit: trace.facts.culprits[culprit[i]], ticks: ticks[i], pieces: pieces[i]});
    }
    return shares;
}

function partOf(trace, task, index, part) {
    return d3.sum(sharesOf(trace, task, index).filter((share) => share.culprit.part === part), (share) => share.ticks);
}

function executorOf(trace, {by, who, task}) {
    switch (by) {
    case "task":
        return `${trace.taskName(task)} ran`;
    case "interrupt":
        return `the handler of ${trace.vectorName(who)} ran`;
    case "kernel":
        return "the kernel switched";
    case "section":
        return `interrupts were off${task > 0 ? ` in ${trace.taskName(task)}` : ""}`;
    case "throttling":
        return `the budget of server ${trace.name("servers", who)} was used up`;
    case "backlog":
        return "an earlier job of the task was not complete";
    default:
        return "no record says what ran";
    }
}

const INVERSIONS = {
    none: "", bounded: " (a bounded inversion)", unbounded: " (an UNBOUNDED inversion)",
    unknown: " (whether the inversion is bounded is not known)",
};

function sentenceOf(trace, culprit) {
    switch (culprit.part) {
    case "jitter":
        return `not yet ready: ${executorOf(trace, culprit)}`;
    case "execution":
        return "it ran";
    case "interference":
        return `ready, but ${executorOf(trace, culprit)}`;
    case "blocking": {
        const holder = culprit.holder > 0 ? `, held by ${trace.taskName(culprit.holder)}` : "";
        const end = culprit.chain_end > 0 && culprit.chain_end !== culprit.holder
            ? `, which waited in turn for ${trace.taskName(culprit.chain_end)}` : "";
        const last = culprit.chain_end > 0 ? culprit.chain_end : culprit.holder;
        const waited = culprit.wait && last > 0 ? `, while ${trace.taskName(last)} waited for ${culprit.wait}`
            : "";
        const ran = culprit.by === "self" || (culprit.by === "task" && culprit.task === culprit.holder) ? ""
            : `; meanwhile ${executorOf(trace, culprit)}`;
        const mutex = culprit.object > 0 ? `mutex ${trace.name("mutexes", culprit.object)}` : "a mutex";
        return `held up by ${mutex}${holder}${end}${waited}${ran}`
            + INVERSIONS[culprit.inversion];
    }
    default:
        return `waited for ${culprit.wait || "something"}`;
    }
}

const UNACCOUNTED = ["", "Its end is not recorded, or records within it are lost: its parts are not known.",
                     "Stamps within it fall: its parts are not known.",
                     "Its release is later than its record: its parts are not known.",
                     "How long ago it was released is not recorded: its parts are not known.",
                     "The chunk in which it began is damaged: its times are not known."];

// Returns the sentences of the shares, the greatest first. Shares with the same sentence are added up.
function sentencesOf(trace, shares) {
    const sums = new Map();
    for (const {culprit, ticks, pieces} of shares) {
        const sentence = sentenceOf(trace, culprit);
        const sum = sums.get(sentence) || {sentence, ticks: 0, pieces: 0};
        sums.set(sentence, {sentence, ticks: sum.ticks + ticks, pieces: sum.pieces + pieces});
    }
    return [...sums.values()].sort((a, b) => b.ticks - a.ticks);
}

// Returns why the page does not have the cause of a late job.
function withoutCause({live, trace}) {
    return live && live.state === "running" ? "The cause is here once the run has ended."
        : trace === "-" ? "The cause is not here: a trace from standard input cannot be read again for it."
        : "The page does not have the cause: see the command.";
}

function showWhy(side, task, index) {
    const {trace, times} = side.run;
    side.box.append("h3").text(task.jobs.late[index] ? "Why late?" : "Where the time went");
    const why = trace.whyLate(task, index);
    side.box.selectAll("p.cause").data(why).join("p").attr("class", "cause")
        .text((sentence) => sentence.replace(/^ *./, (first) => first.trim().toUpperCase()));
    if (task.jobs.late[index] && why.length === 0) {
        side.box.append("p").attr("class", "muted").text(withoutCause(trace.facts));
    }
    const reason = task.jobs.unaccounted[index];
    const shares = sharesOf(trace, task, index);
    if (reason > 0 || shares.length === 0) {
        side.box.append("p").attr("class", "muted").text(UNACCOUNTED[reason] || "Its parts are not in this page.");
        return;
    }
    const response = task.jobs.end[index] - task.jobs.release[index];
    showBar(side, task, index, shares, response);
    const list = side.box.append("ul").attr("class", "why");
    for (const [part, name, colour] of PARTS) {
        const own = sentencesOf(trace, shares.filter((share) => share.culprit.part === part && share.ticks > 0));
        if (own.length > 0) {
            const item = list.append("li");
            const line = item.append("div").attr("class", "part");
            line.append("i").style("background", colour);
            line.append("b").text(name);
            line.append("b").text(times.length(d3.sum(own, (share) => share.ticks)));
            for (const {sentence, ticks, pieces} of own) {
                const row = item.append("div").attr("class", "share");
                row.append("span").text(sentence + (pieces > 1 ? `, ${grouped(pieces)} times` : ""));
                row.append("span").text(times.length(ticks));
            }
        }
    }
    const residue = response - d3.sum(shares, (share) => share.ticks);
    side.box.append("p").attr("class", residue === 0 ? "muted" : "bad").text(residue === 0
        ? "The parts add up to the response time, to the tick."
        : `A residue of ${residue} ticks: an error of these tools; please report it.`);
}

// Draws the response time from the left, and the deadline as a line across it.
function showBar(side, task, index, shares, response) {
    const width = 288;
    const deadline = task.jobs.deadline[index] - task.jobs.release[index];
    const x = d3.scaleLinear([0, Math.max(response, deadline || 0, 1)], [0, width]);
    const svg = side.box.append("svg").attr("class", "whybar").attr("width", width).attr("height", 30)
        .attr("role", "img").attr("aria-label", "Parts of the response time");
    let at = 0;
    for (const [part, name, colour] of PARTS) {
        const ticks = d3.sum(shares.filter((share) => share.culprit.part === part), (share) => share.ticks);
        svg.append("rect").attr("x", x(at)).attr("y", 6).attr("width", Math.max(x(ticks), ticks > 0 ? 1 : 0))
            .attr("height", 16).attr("fill", colour).append("title").text(name);
        at += ticks;
    }
    if (!isNaN(deadline)) {
        svg.append("path").attr("class", "deadline").attr("d", `M${x(deadline)} 0V28`).append("title").text("deadline");
    }
}

// The figures are of what is in sight: for each task its jobs, load, response times and execution times; for the picked
// task the histogram of its responses, its jitters and its worst jobs, each a link to its place. A brush across the
// histogram chooses jobs: the timeline marks them, and the arrow keys step through them.

// Returns the figures of the jobs that were released in the span. Only complete jobs have response times.
function figuresOf(trace, task, from, to) {
    const {release, start, end, deadline, late} = task.jobs;
    const first = firstAfter(release, from);
    const stop = firstAfter(release, to, first);
    const figures = {jobs: stop - first, missed: 0, responses: [], indexes: [], executed: null, worst: {}};
    const take = (name, value, index) => {
        if (!isNaN(value) && (!figures.worst[name] || value > figures.worst[name].value)) {
            figures.worst[name] = {value, index};
        }
    };
    for (let i = first; i < stop; ++i) {
        figures.missed += late[i];
        const response = task.response(i);
        if (!isNaN(response)) {
            figures.responses.push(response);
            figures.indexes.push(i);
            take("response", response, i);
            take("latest start", start[i] - release[i], i);
            take("lateness", end[i] - deadline[i], i);
            if (task.jobs.unaccounted[i] === 0) {
                take("release delay", partOf(trace, task, i, "jitter"), i);
                take("execution", partOf(trace, task, i, "execution"), i);
                take("blocking", partOf(trace, task, i, "blocking"), i);
            }
        }
    }
    const ran = task.before(RUNNING, to, task.at(to)) - task.before(RUNNING, from, task.at(from));
    figures.load = ran / Math.max(to - from, 1);
    return figures;
}

// Returns the jitters, or null if fewer than two values are known. The absolute one is the greatest value less the
// least, the relative one the greatest change from one job to the next.
function jittersOf(values) {
    const known = values.filter((value) => !isNaN(value));
    return known.length < 2 ? null : {
        absolute: d3.max(known) - d3.min(known),
        relative: d3.max(d3.pairs(known, (a, b) => Math.abs(a - b))),
    };
}

const worstOf = (name) => ({figures: {worst}}) => worst[name] ? worst[name].value : -1;

// The columns of the figures, with what they are sorted by.
const FIGURES = [["task", ({task}) => task.name], ["jobs", ({figures}) => figures.jobs],
                 ["miss", ({figures}) => figures.missed], ["load", ({figures}) => figures.load],
                 ["worst R", worstOf("response")], ["worst C", worstOf("execution")]];

// Returns the lines sorted by a column: numbers from the greatest, names from the first. Without a column they are in
// the order of the trace.
function sortedFigures(lines, column) {
    const found = FIGURES.find(([name]) => name === column);
    const order = column === "task" ? d3.ascending : d3.descending;
    return found ? [...lines].sort((a, b) => order(found[1](a), found[1](b))) : lines;
}

function showStatistics(side) {
    const {trace, view, rows} = side.timeline;
    const {times} = view;
    const [from, to] = [Math.max(view.from, trace.part[0]), Math.min(view.to, trace.part[1])];
    if (from >= to) {
        side.clear("No figures");
        side.box.append("p").attr("class", "muted").text("Of what is in sight the page has only an overview.");
        return;
    }
    side.clear(`Figures of what is in sight${view.runs.length > 1 ? ", of \u2212" : ""}`);
    if (trace.isPart) {
        side.box.append("p").attr("class", "muted")
            .text(`Of the part that the page has: ${rangeText({from, to, times}, trace)}.`);
    }
    const table = side.box.append("table");
    table.append("tr").selectAll("th").data(FIGURES).join("th").append("button").attr("title", "sort")
        .classed("chosen", ([name]) => name === side.sortedBy).text(([name]) => name).on("click", ([name]) => {
            side.sortedBy = side.sortedBy === name ? null : name;
            side.show();
        });
    const lines = trace.tasks.map((task) => ({task, figures: figuresOf(trace, task, from, to)}))
        .filter(({figures}) => figures.jobs > 0 || figures.load > 0);
    for (const {task, figures} of sortedFigures(lines, side.sortedBy)) {
        const line = table.append("tr").attr("class", view.row === `task${task.number}` ? "picked" : null);
        line.append("td").append("button").text(task.name).on("click", () => view.pick(`task${task.number}`, null));
        line.append("td").text(figures.jobs || "");
        line.append("td").attr("class", figures.missed > 0 ? "bad" : null).text(figures.missed || "");
        line.append("td").text(`${(100 * figures.load).toFixed(1)}\u202f%`);
        addWorst(side, line.append("td"), task, figures.worst.response);
        const declared = task.wcet_ns ? times.ticksOfNs(task.wcet_ns) : 0;
        const cell = line.append("td");
        addWorst(side, cell, task, figures.worst.execution);
        if (declared > 0 && figures.worst.execution) {
            const share = figures.worst.execution.value / declared;
            cell.append("div").attr("class", share > 1 ? "bad" : "muted")
                .text(`${(100 * share).toFixed(0)}\u202f% of C`);
        }
    }
    const row = rows.byKey.get(view.row);
    if (row && row.task) {
        side.run = row.run || view.runs[0];
        const own = side.run.trace;
        const span = [view.from, view.to].map((time) => Math.min(Math.max(side.run.own(time), 0), own.last));
        showTaskFigures(side, row.task, figuresOf(own, row.task, ...span));
        showLoad(side, row.task, ...span);
        showLatencies(side, row.task);
    } else {
        side.box.append("p").attr("class", "muted").text("Pick a task for its histogram.");
        showLoad(side, null, from, to);
    }
}

// Shows the latencies from the raise of an interrupt to the first instruction of the task that its handler wakes.
function showLatencies(side, task) {
    const {view} = side.timeline;
    const {run} = side;
    const {trace, times} = run;
    const pairs = trace.facts.latencies.pairs.filter(({context}) => context === task.context);
    if (pairs.length === 0) {
        return;
    }
    side.box.append("h3").text("Latencies in the whole trace");
    if (trace.facts.latencies.missing !== null) {
        side.box.append("p").attr("class", "muted").text(`Raise: not known: ${trace.facts.latencies.missing}`);
    }
    const table = side.box.append("table").attr("class", "latencies");
    table.append("tr").selectAll("th").data(["interrupt", "leg", "count", "least", "mean", "greatest"]).join("th")
        .text((name) => name);
    for (const {vector, legs} of pairs) {
        for (const {name, count, least, mean, greatest, at} of legs) {
            const line = table.append("tr");
            line.selectAll("td").data([trace.name("vectors", vector), name, count, times.brief(least),
                                       times.brief(mean)]).join("td").text((text) => text);
            line.append("td").append("button").attr("class", "place").text(times.brief(greatest))
                .on("click", () => view.reveal(run.shown(at), run.shown(at)));
        }
    }
}

// Adds a figure that is a link to its job.
function addWorst(side, parent, task, worst) {
    if (worst) {
        const {run} = side;
        parent.append("button").attr("class", "place").attr("title", `job ${task.jobs.number[worst.index]}`)
            .text(run.times.brief(worst.value))
            .on("click", () => pickJob(side.timeline, task, worst.index, run.number));
    }
}

function showTaskFigures(side, task, figures) {
    const {times} = side.run;
    side.box.append("h3").text(`${task.name}: response times`);
    if (figures.responses.length === 0) {
        side.box.append("p").attr("class", "muted").text("No complete job in sight.");
        return;
    }
    showHistogram(side, task, figures);
    const {start, release} = task.jobs;
    const finishing = jittersOf(figures.responses);
    const starting = jittersOf(figures.indexes.map((i) => start[i] - release[i]));
    const both = (jitters) => jitters
        ? `${times.brief(jitters.absolute)} / ${times.brief(jitters.relative)}` : "\u2013";
    side.facts([["least R", times.length(d3.min(figures.responses))],
                ["mean R", times.length(d3.mean(figures.responses))],
                ["finishing jitter abs. / rel.", both(finishing)], ["start jitter abs. / rel.", both(starting)],
                ["release delay, greatest", figures.worst["release delay"]
                    ? times.brief(figures.worst["release delay"].value) : "\u2013"]]);
    side.box.append("h3").text("Worst jobs in sight");
    const list = side.box.append("dl");
    for (const [name, worst] of Object.entries(figures.worst)) {
        list.append("dt").text(name);
        addWorst(side, list.append("dd"), task, worst);
    }
}

function showHistogram(side, task, figures) {
    const {view} = side.timeline;
    const {times} = side.run;
    const [width, height, bottom] = [288, 96, 76];
    const relative = task.deadline_ns ? times.ticksOfNs(task.deadline_ns) : 0;
    const greatest = Math.max(d3.max(figures.responses), relative) * 1.04 || 1;
    const x = d3.scaleLinear([0, greatest], [0, width]);
    const step = relative > 0 ? relative / Math.max(Math.round(46 * relative / greatest), 1) : greatest / 46;
    const edges = d3.range(step, greatest, step); // The deadline is between two bins.
    const bins = d3.histogram().domain(x.domain()).thresholds(edges)(figures.responses);
    const y = d3.scaleSqrt([0, d3.max(bins, (bin) => bin.length)], [bottom, 6]);
    const svg = side.box.append("svg").attr("class", "histogram").attr("width", width).attr("height", height);
    svg.selectAll("rect.bin").data(bins).join("rect")
        .attr("class", (bin) => relative > 0 && bin.x0 >= relative ? "bin late" : "bin")
        .attr("x", (bin) => x(bin.x0)).attr("width", (bin) => Math.max(x(bin.x1) - x(bin.x0) - 1, 1))
        .attr("y", (bin) => bin.length > 0 ? Math.min(y(bin.length), bottom - 2) : bottom)
        .attr("height", (bin) => bin.length > 0 ? Math.max(bottom - y(bin.length), 2) : 0)
        .append("title").text((bin) => `${bin.length} jobs: ${times.length(bin.x0)} to ${times.length(bin.x1)}`);
    if (relative > 0) {
        svg.append("path").attr("class", "deadline").attr("d", `M${x(relative)} 0V${bottom}`);
        svg.append("text").attr("x", Math.min(x(relative), width - 14) + 3).attr("y", 9).text("D");
    }
    const [size, unit] = times.unitFor(times.about(greatest));
    svg.append("g").attr("transform", `translate(0, ${bottom})`).call(d3.axisBottom(
        d3.scaleLinear([0, times.about(greatest) / size], [0, width])).ticks(5).tickFormat((at) => `${at} ${unit}`)
        .tickSizeOuter(0));
    if (side.run.number !== 0) {
        return; // A brush chooses jobs of the first run.
    }
    const brush = d3.brushX().extent([[0, 0], [width, bottom]]).on("end", () => {
        if (d3.event.sourceEvent) {
            view.filter = d3.event.selection
                ? {task: task.number, least: x.invert(d3.event.selection[0]), greatest: x.invert(d3.event.selection[1])}
                : null;
            view.changed("filter");
            sayChosen();
        }
    });
    const chosen = side.box.append("p").attr("class", "muted");
    const sayChosen = () => chosen.text(!view.filter || view.filter.task !== task.number
        ? "Drag across the bars to choose jobs."
        : `${grouped(figures.indexes.filter((i) => isChosenBy(view.filter, task, i)).length)} of ${
            grouped(figures.indexes.length)} jobs are chosen: the timeline shows them alone, left and right step `
            + "through them.");
    sayChosen();
    const brushed = svg.append("g").attr("class", "brush").call(brush);
    if (view.filter && view.filter.task === task.number) {
        brushed.call(brush.move, [x(view.filter.least), x(view.filter.greatest)]);
    }
}

const LOAD_WINDOWS = 72;

// Returns for each of LOAD_WINDOWS windows of equal length the share of the processors that the tasks used.
function loadOf(tasks, from, to, processors) {
    const length = (to - from) / LOAD_WINDOWS;
    const ran = (task, time) => task.before(RUNNING, time, task.at(time));
    return d3.range(LOAD_WINDOWS).map((i) => {
        const [begin, end] = [from + i * length, from + (i + 1) * length];
        return {begin, end, share: d3.sum(tasks, (task) => ran(task, end) - ran(task, begin)) / length / processors};
    });
}

// Shows the load of all tasks and of the picked one. A brush over it shows the span in the timeline.
function showLoad(side, task, from, to) {
    const {view} = side.timeline;
    const {run} = side;
    const {trace, times} = run;
    if (to - from < LOAD_WINDOWS) {
        return;
    }
    const [width, height, bottom, left] = [288, 84, 64, 36]; // The labels are left of the bars.
    const working = trace.tasks.filter((one) => !one.isIdle);
    const all = loadOf(working, from, to, trace.cpus.length);
    const x = d3.scaleLinear([from, to], [left, width]);
    const y = d3.scaleLinear([0, 1], [bottom, 4]);
    side.box.append("h3").text("Load over what is in sight");
    const svg = side.box.append("svg").attr("class", "histogram load").attr("width", width).attr("height", height)
        .attr("role", "img").attr("aria-label", "Load over what is in sight");
    const area = d3.area().x((_, i) => left + i * (width - left) / LOAD_WINDOWS).y0(bottom)
        .y1((window) => y(Math.min(window ? window.share : 0, 1))).curve(d3.curveStepAfter);
    svg.append("path").attr("class", "all").attr("d", area([...all, null]));
    if (task) {
        svg.append("path").attr("fill", taskColour(task.colour))
            .attr("d", area([...loadOf([task], from, to, trace.cpus.length), null]));
    }
    svg.append("g").attr("transform", `translate(${left}, 0)`)
        .call(d3.axisLeft(y).tickValues([0.5, 1]).tickFormat(d3.format(".0%")).tickSize(0));
    svg.append("path").attr("class", "domain").attr("fill", "none").attr("d", `M${left} ${bottom}H${width}`);
    const text = (time, anchor) => svg.append("text").attr("x", x(time)).attr("y", height - 6)
        .attr("text-anchor", anchor).text(times.point(time));
    text(from, "start");
    text(to, "end");
    svg.append("g").attr("class", "brush").call(d3.brushX().extent([[left, 0], [width, bottom]]).on("end", () => {
        if (d3.event.sourceEvent && d3.event.selection) {
            view.show(...d3.event.selection.map((at) => run.shown(x.invert(at))));
        }
    }));
    const greatest = all.reduce((a, b) => b.share > a.share ? b : a);
    const line = side.box.append("p").attr("class", "muted");
    line.append("span").text(`Greatest in a window of ${times.brief(greatest.end - greatest.begin)}: `);
    line.append("button").attr("class", "place").text(`${(100 * greatest.share).toFixed(0)}\u202f%`)
        .on("click", () => view.show(run.shown(greatest.begin), run.shown(greatest.end)));
}

// Returns whether a brush chose the job. If no brush chose any, all are chosen.
function isChosen({filter}, task, index) {
    return !filter || filter.task !== task.number || isChosenBy(filter, task, index);
}

function isChosenBy(filter, task, index) {
    const response = task.response(index);
    return response >= filter.least && response <= filter.greatest;
}
