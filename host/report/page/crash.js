// SPDX-License-Identifier: MIT
// Shows how a run ended badly (panic, hang, failure, killed task): first of all on the page, with the place in the
// source, how the machine came there, and what ran before.
"use strict";

const CRASH_SPAN_NS = 5e6; // So much is shown around a crash.

// Returns whether the run did not end well. A task that was killed does not end the run.
function endedBadly({ended, crashes}) {
    return ended === "failed" || ended === "panicked" || crashes.some(({kind}) => kind !== "killed");
}

// Returns the banners: [style, text]. If only the end of the run is known, they say that.
function bannersOfCrashes({ended, crashes}) {
    const banners = crashes.map(({kind, text, where}) => [kind === "killed" ? "warning" : "bad",
                                                          `${text}${where ? `, in ${where}` : ""}`]);
    if (endedBadly({ended, crashes}) && !banners.some(([style]) => style === "bad")) {
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

// Shows the crashes in the panel, each with a link to its place on the timeline.
function showCrashes(side) {
    const {trace, times} = side.run;
    side.clear("How the run ended");
    for (const crash of trace.facts.crashes) {
        side.box.append("p").attr("class", "cause").text(crash.text);
        side.facts([["task", crash.task || "\u2013"], ["where", crash.where || "not known"]]);
        if (crash.time_ns !== null) {
            const at = times.ticksOfNs(crash.time_ns);
            side.box.append("p").append("button").attr("class", "place crashed").text(`at ${times.point(at)}`)
                .on("click", () => goToCrash(side, crash, at));
        }
        if (crash.stack.length > 0) {
            side.box.append("h3").text("How it came there");
            side.box.append("ol").attr("class", "stack").selectAll("li").data(crash.stack).join("li").text(frameText);
        }
        if (crash.before.length > 0) {
            side.box.append("h3").text("What ran before");
            const list = side.box.append("dl").attr("class", "before");
            for (const run of crash.before) {
                const at = times.ticksOfNs(run.begin_ns);
                list.append("dt").text(runText(run));
                list.append("dd").append("button").attr("class", "place").attr("title", times.point(at))
                    .text(times.length(times.ticksOfNs(run.length_ns)))
                    .on("click", () => side.timeline.view.reveal(at, at));
            }
        }
    }
    side.commands([commandOf(trace, "why", "--crash")]);
}

// Shows the last milliseconds before a crash, with the cursor where it is, and picks the row of its task.
function goToCrash(side, {context}, at) {
    const {view, trace} = side.timeline;
    const task = trace.tasks.find((one) => one.context === context);
    view.row = task ? `task${task.number}` : view.row;
    view.cursors[0] = at;
    view.changed("cursors");
    const length = side.run.times.ticksOfNs(CRASH_SPAN_NS);
    view.show(at - 0.8 * length, at + 0.2 * length);
}
