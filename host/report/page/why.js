// SPDX-License-Identifier: MIT
// Why a job took as long as it did: its response time as a bar divided among its culprits, each share as a sentence.
// The shares are those of host/schedule/accounting.hpp: R = jitter + C + I + B + S, without residue.
"use strict";

const PARTS = [
    ["jitter", "release jitter", "#999999"], ["execution", "execution C", "#0072b2"],
    ["interference", "interference I", "#e69f00"], ["blocking", "blocking B", "#cc3b6f"],
    ["suspension", "suspension S", "#8a63b0"],
];

// Of a job: {culprit, ticks, pieces}, in the order in which they first appeared.
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
        return `held up by mutex ${trace.name("mutexes", culprit.object)}${holder}${end}${waited}${ran}`
            + INVERSIONS[culprit.inversion];
    }
    default:
        return `waited for ${culprit.wait || "something"}`;
    }
}

const UNACCOUNTED = ["", "Its end is not recorded, or records within it are lost: its parts are not known.",
                     "Stamps within it fall: its parts are not known.",
                     "Its release is later than its record: its parts are not known."];

// What has the same sentence is one share, the greatest first.
function sentencesOf(trace, shares) {
    const sums = new Map();
    for (const {culprit, ticks, pieces} of shares) {
        const sentence = sentenceOf(trace, culprit);
        const sum = sums.get(sentence) || {sentence, ticks: 0, pieces: 0};
        sums.set(sentence, {sentence, ticks: sum.ticks + ticks, pieces: sum.pieces + pieces});
    }
    return [...sums.values()].sort((a, b) => b.ticks - a.ticks);
}

function showWhy(side, task, index) {
    const {trace, times} = side.run;
    side.box.append("h3").text(task.jobs.late[index] ? "Why late?" : "Where the time went");
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

// The response time from the left, the deadline as a line across it.
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
