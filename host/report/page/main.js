// SPDX-License-Identifier: MIT
// Shows the head of the page, and puts the page together.
"use strict";

// The head states what ran, whether everything is here, the clock, losses, the oracle's result, and the share of the
// tracing. The banners state what a reader must know before any figure.

const grouped = (number) => number.toLocaleString("en");

function chip(head, style, name, text, title) {
    const box = head.append("span").attr("class", `chip ${style}`).attr("title", title || null);
    box.append("b").text(name);
    box.append("span").text(text);
    return box;
}

function showHead(trace, times, showViolations) {
    const {facts} = trace;
    const head = d3.select("#head");
    const title = head.append("h1").text(facts.application || facts.trace);
    document.title = `${title.text()} \u2013 Remora report`;
    const misses = trace.tasks.reduce((sum, task) => sum + task.misses, 0);
    head.append("p").attr("class", "what").text([
        facts.application ? facts.trace : "", facts.kernel ? `${facts.kernel}, seed ${facts.seed}` : "",
        `${grouped(facts.events)} events in ${times.length(trace.last)}`,
    ].filter((text) => text !== "").join("  \u00b7  "));
    const chips = head.append("div").attr("class", "chips");
    chip(chips, facts.verdict_style, "trace", facts.verdict);
    const where = trace.isPart ? " in the whole trace" : "";
    const isKnown = facts.verdict_style === "good" && trace.tasks.some((task) => task.deadlines.length > 0);
    chip(chips, misses > 0 ? "bad" : isKnown ? "good" : "plain", "deadlines",
         misses > 0 ? `${grouped(misses)} missed${where} (n: next)` : "no miss recorded");
    showOracle(chips, facts.oracle, showViolations);
    chip(chips, facts.clock.exact ? "good" : "bad", "clock", `${facts.clock.mode}${clockRate(facts.clock)}`);
    chip(chips, facts.lost > 0 ? "bad" : "good", "lost", facts.lost > 0 ? `${grouped(facts.lost)} records` : "nothing");
    chip(chips, "plain", "tracing", tracingText(facts.tracing));
}

function clockRate(clock) {
    return clock.khz === 0 ? ", rate not known: times are ticks" : `, ${(clock.khz / 1000).toLocaleString("en")} MHz`;
}

function tracingText(tracing) {
    return !tracing || tracing.share === null ? "share not known"
        : `about ${(100 * tracing.share).toFixed(2)} % of the run`;
}

function showOracle(chips, oracle, showViolations) {
    if (oracle.violations === 0) {
        chip(chips, oracle.checked > 0 ? "good" : "warning", "oracle",
             oracle.checked > 0 ? `${grouped(oracle.checked)} decisions as the theory says` : "nothing was decided",
             `${oracle.undecided} undecided; ${oracle.relaxed.join("; ")}`);
        return;
    }
    const noun = oracle.violations === 1 ? "violation" : "violations";
    const text = `${grouped(oracle.violations)} ${noun} of ${grouped(oracle.checked)}`;
    const box = chip(chips, "bad", "oracle", "", "show them");
    box.append("button").attr("id", "violations").text(text).on("click", showViolations);
}

const CLOCK_BANNERS = {
    emulated: "Times show the host: the clock is emulated, and follows whatever else the host did. Only the order of "
        + "events is the kernel's.",
    hardware: "Times show the host machine: they are different in each run.",
    unknown: "It is not known whether times show the host: the trace does not state its clock.",
};

function showBanners(trace, times) {
    const {facts} = trace;
    const banners = [];
    if (!facts.clock.exact) {
        banners.push(["bad", CLOCK_BANNERS[facts.clock.mode] || CLOCK_BANNERS.unknown]);
    }
    const {from_ns: from, to_ns: to, full, intervals, cut} = facts.span;
    if (cut) {
        banners.push(["bad", "Some stamps are greater than 2^53 ticks: they are drawn at the right end. Stamps are so "
            + "great only in a damaged trace."]);
    }
    const ticks = (ns) => times.point(times.ticksOfNs(ns));
    if (full) {
        banners.push(["warning", `${grouped(intervals)} intervals are more than one page holds: it has those before `
            + `${ticks(to)}; of the rest it has an overview. For another part: `
            + commandOf(trace, "report", "-o", "part.html", ...spanOptions(trace, to, "TIME"))]);
    } else if (from !== null || to !== null) {
        banners.push(["note", `A part of the trace${from === null ? "" : ` from ${ticks(from)}`}`
            + `${to === null ? "" : ` to ${ticks(to)}`}; of the rest the page has an overview.`]);
    }
    d3.select("#banners").selectAll("p").data(banners).join("p").attr("class", ([style]) => style)
        .text(([, text]) => text);
}

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
                                      ["f", "figures", "f"], ["g", "by level", "what tasks are grouped by (g)"],
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
    showBanners(trace, times);
    const overview = new Overview(trace, view, (from, to) => view.show(from, to));
    const comparison = await Comparison.of(document.querySelector("script.comparison"), traces, timeline, search);
    if (comparison) {
        showComparedHead(comparison);
        new ComparePanel(side, comparison);
    }
    const actions = {...actionsOf(timeline, search, side), ...actionsOfComparison(comparison, side, search)};
    addButtons(actions, comparison !== null);
    listenToKeys(actions);
    view.listen("cursors", (what) => what === "cursors" && showCursors(view));
    view.listen("grouping", (what) => what === "rows" && d3.select("#buttons [data-key=g]").text(`by ${view.by}`));
    view.goTo(location.hash);
    if (comparison && comparison.pair) {
        side.choose("compare");
    }
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
