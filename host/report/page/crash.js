// SPDX-License-Identifier: MIT
// Shows how a run ended badly (panic, hang, failure, killed task): first of all on the page, with the place in the
// source, how the machine came there, and what ran before. Of two runs compared it shows both.
"use strict";

const CRASH_SPAN_NS = 5e6; // So much is shown around a crash.

// Returns whether the run failed, panicked or hung, or a task of it was killed.
function endedBadly({ended, crashes}) {
    return ended === "failed" || ended === "panicked" || crashes.length > 0;
}

// Returns the banners: [style, text]. If only the end of the run is known, they say that.
function bannersOfCrashes({ended, crashes}) {
    const banners = crashes.map(({kind, text, where}) => [kind === "killed" ? "warning" : "bad",
                                                          `${text}${where ? `, in ${where}` : ""}`]);
    if ((ended === "failed" || ended === "panicked") && !banners.some(([style]) => style === "bad")) {
        banners.unshift(["bad", ended === "failed" ? "The application reports that it failed."
            : "The run ended in a panic, of which the trace has no record."]);
    }
    return banners;
}

// Returns an instruction as text: the function and its line, or what is known of it.
function frameText({address, function: name, line}) {
    return `${name || `0x${address.toString(16)}`}${line ? ` (${line})` : ""}`;
}

function runText({interrupt, number, name}) {
    return `${interrupt ? "the handler of " : ""}${name || `#${number}`}`;
}

// Returns the runs that have crashes. Phases are runs of one trace, of which the first has them all.
function crashedRuns({runs}) {
    return runs.filter(({trace}, i) => trace.facts.crashes.length > 0
        && runs.findIndex((run) => run.trace === trace) === i);
}

// Adds the panel of the crashes if there are any. It replaces what is shown, unless that is a job of the address.
function openCrashes(side) {
    const {view} = side.timeline;
    if (crashedRuns(view).length > 0 && !side.tabs.has("crash")) {
        side.addTab("crash", "Crash", () => showCrashes(side), []);
        side.choose(view.job ? side.chosen : "crash");
    }
}

// Shows the crashes in the panel, each with a link to its place on the timeline.
function showCrashes(side) {
    const {runs} = side.timeline.view;
    side.clear("How the run ended");
    for (const run of crashedRuns({runs})) {
        side.run = run;
        if (runs.length > 1 && run.title !== "") {
            side.box.append("h3").text(`${run.mark} ${run.title}`);
        }
        run.trace.facts.crashes.forEach((crash) => showCrash(side, run, crash));
        side.commands([commandOf(run.trace, "why", "--crash")]);
    }
}

function showCrash(side, run, crash) {
    const {times} = run;
    side.box.append("p").attr("class", "cause").text(crash.text);
    side.facts([["task", crash.task || "\u2013"], ["where", crash.where || "not known"]]);
    if (crash.time_ns !== null) {
        const at = times.ticksOfNs(crash.time_ns);
        side.box.append("p").append("button").attr("class", "place crashed").text(`at ${times.point(at)}`)
            .on("click", () => goToCrash(side.timeline.view, run, crash, at));
    }
    if (crash.stack.length > 0) {
        side.box.append("h3").text("How it came there");
        side.box.append("ol").attr("class", "stack").selectAll("li").data(crash.stack).join("li").text(frameText);
    }
    if (crash.before.length > 0) {
        side.box.append("h3").text("What ran before");
        const list = side.box.append("dl").attr("class", "before");
        for (const before of crash.before) {
            const at = times.ticksOfNs(before.begin_ns);
            list.append("dt").text(runText(before));
            list.append("dd").append("button").attr("class", "place").attr("title", times.point(at))
                .text(times.length(times.ticksOfNs(before.length_ns)))
                .on("click", () => side.timeline.view.reveal(run.shown(at), run.shown(at)));
        }
    }
}

// Shows the last milliseconds before a crash, with the cursor where it is, and picks the row of its task.
function goToCrash(view, run, {context}, own) {
    const task = run.trace.tasks.find((one) => one.context === context);
    const at = run.shown(own);
    view.row = task ? run.key(`task${task.number}`) : view.row;
    view.cursors[0] = at;
    view.changed("cursors");
    const length = view.times.ticksOfNs(CRASH_SPAN_NS);
    view.show(at - 0.8 * length, at + 0.2 * length);
}
