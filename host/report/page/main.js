// SPDX-License-Identifier: MIT
// Puts the page together.
"use strict";

// The page is put together once the trace is unpacked. `report` has what a test asks for. It is a property of the
// window, because scripts of a browser's automation may see nothing else.

var report = {};

function showCursors(view) {
    const [a, b] = view.cursors;
    const {times} = view;
    const text = [a, b].map((at, i) => at === null ? "" : `${"AB"[i]} ${times.point(at)}`);
    if (a !== null && b !== null) {
        text.push(`B \u2212 A = ${b < a ? "\u2212" : ""}${times.length(Math.abs(b - a))}`);
    }
    document.getElementById("cursors").textContent = text.filter((part) => part !== "").join("   ");
}

function addButtons(actions, compares) {
    for (const [key, text, title] of [["0", "all", "the whole trace (0)"], ["n", "next miss", "n"],
                                      ["f", "figures", "f"], ["g", "rows by level", "what tasks are grouped by (g)"],
                                      ...(compares ? [["v", "compare", "v"]] : []),
                                      ["H", "all rows", "show all rows (H)"], ["x", "SVG", "save what is in sight (x)"],
                                      ["?", "keys", "?"]]) {
        d3.select("#buttons").append("button").attr("data-key", key).attr("title", title).text(text)
            .on("click", () => actions[key](d3.event));
    }
}

async function main() {
    const begun = performance.now();
    const stored = Array.from(document.querySelectorAll("script.trace"));
    const live = stored.length > 0 ? null : new Live();
    const blocks = await Promise.all(live ? [live.first()] : stored.map((element) => Block.of(element)));
    const traces = blocks.map((block) => new Trace(block));
    const [trace] = traces;
    const times = new Times(trace.khz);
    const view = new View(trace, times);
    const rows = new Rows(trace, view);
    const timeline = new Timeline(trace, view, rows);
    const search = new Search(timeline);
    const side = new Side(timeline);
    showHead(trace, times, () => side.showViolations());
    const overview = new Overview(trace, view, (from, to) => view.show(from, to));
    const comparison = await Comparison.of(document.querySelector("script.comparison"), traces, timeline, search);
    if (comparison) {
        showComparedHead(comparison);
        new ComparePanel(side, comparison);
    }
    showBanners(comparison ? comparedBanners(comparison) : bannersOfTrace(trace, times));
    const actions = {...actionsOf(timeline, search, side), ...actionsOfComparison(comparison, side, search)};
    addButtons(actions, comparison !== null);
    listenToKeys(actions);
    view.listen("cursors", (what) => what === "cursors" && showCursors(view));
    view.listen("grouping", (what) => what === "rows" && d3.select("#buttons [data-key=g]").text(`rows by ${view.by}`));
    view.goTo(location.hash);
    if (comparison && comparison.pair) {
        side.choose("compare");
    }
    openCrashes(side);
    keepAddress(view);
    printAsSvg(timeline);
    timeline.box.focus();
    live && live.begin({trace, view, rows, timeline, side, overview}, actions);
    Object.assign(report, {trace, view, rows, timeline, side, search, live, comparison,
                           openMs: performance.now() - begun});
    document.body.dataset.state = "ready";
}

main().catch((error) => {
    document.body.dataset.state = "failed";
    d3.select("#banners").append("p").attr("class", "bad").text(`This page cannot be shown: ${error.message}`);
    throw error;
});
