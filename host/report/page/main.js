// SPDX-License-Identifier: MIT
// Puts the page together once the trace is unpacked. `report` has what a test asks for.
"use strict";

const report = {};

function showCursors(view) {
    const [a, b] = view.cursors;
    const {times} = view;
    const text = [a, b].map((at, i) => at === null ? "" : `${"AB"[i]} ${times.point(at)}`);
    if (a !== null && b !== null) {
        text.push(`B \u2212 A = ${b < a ? "\u2212" : ""}${times.length(Math.abs(b - a))}`);
    }
    document.getElementById("cursors").textContent = text.filter((part) => part !== "").join("   ");
}

function addButtons(actions) {
    for (const [key, text, title] of [["0", "all", "the whole trace (0)"], ["n", "next miss", "n"],
                                      ["f", "figures", "f"],
                                      ["H", "all rows", "show all rows (H)"], ["x", "SVG", "save what is in sight (x)"],
                                      ["?", "keys", "?"]]) {
        d3.select("#buttons").append("button").attr("title", title).text(text)
            .on("click", () => actions[key](d3.event));
    }
}

async function main() {
    const begun = performance.now();
    const block = await Block.of(document.querySelector("script.trace"));
    const trace = new Trace(block);
    const times = new Times(trace.khz);
    const view = new View(trace, times);
    const rows = new Rows(trace, view);
    const timeline = new Timeline(trace, view, rows);
    const search = new Search(timeline);
    const side = new Side(timeline);
    showHead(trace, times, () => side.showViolations());
    showBanners(trace, times);
    new Overview(trace, view, (from, to) => view.show(from, to));
    const actions = actionsOf(timeline, search, side);
    addButtons(actions);
    listenToKeys(actions);
    view.listen("cursors", (what) => what === "cursors" && showCursors(view));
    view.goTo(location.hash);
    keepAddress(view);
    timeline.box.focus();
    Object.assign(report, {trace, view, rows, timeline, side, search, openMs: performance.now() - begun});
    document.body.dataset.state = "ready";
}

main().catch((error) => {
    document.body.dataset.state = "failed";
    d3.select("#banners").append("p").attr("class", "bad").text(`This page cannot be shown: ${error.message}`);
    throw error;
});
