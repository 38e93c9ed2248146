// SPDX-License-Identifier: MIT
// Shows the head of the page: what ran, whether everything is here, the clock, losses, the oracle's result, and the
// share of the tracing. The banners state what a reader must know before any figure.
"use strict";

const grouped = (number) => number.toLocaleString("en");

function chip(head, {style, name, text, title}) {
    const box = head.append("span").attr("class", `chip ${style}`).attr("title", title || null);
    box.append("b").text(name);
    box.append("span").text(text);
    return box;
}

// Returns the chips of a trace. Only what was decided, and is as it should be, is green; of a run that ended badly, and
// of a trace that is not whole, nothing is.
function chipsOf(trace) {
    const isBad = endedBadly(trace.facts) || trace.facts.verdict_style === "bad";
    return allChipsOf(trace).map((one) => isBad && one.style === "good" ? {...one, style: "plain"} : one);
}

function allChipsOf(trace) {
    const {facts} = trace;
    const ended = {completed: "good", failed: "bad", panicked: "bad"}[facts.ended];
    return [
        ...ended ? [{style: ended, name: "run", text: facts.ended}] : [],
        {style: facts.verdict_style, name: "trace", text: facts.verdict},
        deadlinesOf(trace),
        oracleOf(facts),
        {style: facts.clock.exact ? "good" : "bad", name: "clock",
         text: `${facts.clock.mode}${clockRate(facts.clock)}`},
        {style: facts.lost > 0 ? "bad" : "good", name: "lost",
         text: facts.lost > 0 ? `${grouped(facts.lost)} records` : "nothing"},
        {style: "plain", name: "tracing", text: tracingText(facts.tracing)},
    ];
}

function deadlinesOf(trace) {
    const misses = trace.tasks.reduce((sum, task) => sum + task.misses, 0);
    if (misses > 0) {
        const where = trace.isPart ? " in the whole trace" : "";
        return {style: "bad", name: "deadlines", text: `${grouped(misses)} missed${where} (n: next)`};
    }
    const isKnown = trace.facts.verdict_style === "good" && trace.tasks.some((task) => task.deadlines.length > 0);
    return {style: isKnown ? "good" : "plain", name: "deadlines", text: "no miss recorded"};
}

// Under a clock that does not count instructions any delay may be the host's, so the oracle judges the order alone.
function oracleOf({oracle, clock}) {
    const {checked, undecided, violations, relaxed} = oracle;
    const title = `${undecided} undecided; ${relaxed.join("; ")}`;
    if (violations > 0) {
        const noun = violations === 1 ? "violation" : "violations";
        return {style: "bad", name: "oracle", text: `${grouped(violations)} ${noun} of ${grouped(checked)}`, title};
    }
    if (checked === 0) {
        return {style: "warning", name: "oracle", text: "nothing was decided", title};
    }
    return clock.exact
        ? {style: "good", name: "oracle", text: `${grouped(checked)} decisions as the theory says`, title}
        : {style: "warning", name: "oracle", text: `times are not judged; ${grouped(checked)} decisions are in order`,
           title};
}

// Returns the time at which the collector received the first packet, in UTC.
function dateText(seconds) {
    return `${new Date(1000 * seconds).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function clockRate(clock) {
    return clock.khz === 0 ? ", rate not known: times are ticks" : `, ${(clock.khz / 1000).toLocaleString("en")} MHz`;
}

function tracingText(tracing) {
    return !tracing || tracing.share === null ? "share not known"
        : `about ${(100 * tracing.share).toFixed(2)} % of the run`;
}

function showHead(trace, times, showViolations) {
    const {facts} = trace;
    const head = d3.select("#head");
    const title = head.append("h1").text(facts.application || facts.trace);
    document.title = `${title.text()} \u2013 Remora report`;
    head.append("p").attr("class", "what").text([
        facts.application ? facts.trace : "", facts.kernel ? `${facts.kernel}, seed ${facts.seed}` : "",
        facts.started_s > 0 ? dateText(facts.started_s) : "",
        `${grouped(facts.events)} events in ${times.length(trace.last)}`,
    ].filter((text) => text !== "").join("  \u00b7  "));
    const chips = head.append("div").attr("class", "chips");
    for (const one of chipsOf(trace)) {
        if (one.name === "oracle" && one.style === "bad") {
            chip(chips, {...one, text: "", title: "show them"}).append("button").attr("id", "violations").text(one.text)
                .on("click", showViolations);
        } else {
            chip(chips, one);
        }
    }
}

const CLOCK_BANNERS = {
    emulated: "Times show the host: the clock is emulated, and follows whatever else the host did. Only the order of "
        + "events is the kernel's.",
    hardware: "Times show the host machine: they are different in each run.",
    unknown: "It is not known whether times show the host: the trace does not state its clock.",
};

// Returns the banners of a trace: [style, text].
function bannersOfTrace(trace, times) {
    return [...bannersOfCrashes(trace.facts), ...bannersOfLimits(trace, times)];
}

// Returns what limits the figures.
function bannersOfLimits(trace, times) {
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
    return banners;
}

function showBanners(banners) {
    d3.select("#banners").selectAll("p").data(banners).join("p").attr("class", ([style]) => style)
        .text(([, text]) => text);
}
