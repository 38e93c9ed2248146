// SPDX-License-Identifier: MIT
// What the head of the page says of a second trace, and the banners of a comparison: what a reader must know before a
// difference means anything.
"use strict";

function showComparedHead(comparison) {
    const {data, traces} = comparison;
    if (comparison.ofPhases) {
        return;
    }
    const [a, b] = traces;
    const head = d3.select("#head");
    head.select(".chips").insert("b", ":first-child").attr("class", "mark0").text("\u2212");
    const line = head.append("div").attr("class", "chips").attr("id", "other");
    line.append("b").attr("class", "mark1").text("+");
    line.append("span").attr("class", "what").attr("title", data.sides[1].title).text(data.sides[1].title);
    const misses = d3.sum(b.tasks, (task) => task.misses);
    chip(line, b.facts.verdict_style, "trace", b.facts.verdict);
    chip(line, misses > 0 ? "bad" : "good", "deadlines", misses > 0 ? `${grouped(misses)} missed` : "none missed");
    const {violations, checked} = b.facts.oracle;
    chip(line, violations > 0 ? "bad" : checked > 0 ? "good" : "warning", "oracle", violations > 0
        ? `${grouped(violations)} of ${grouped(checked)}` : `${grouped(checked)} decisions as the theory says`);
    chip(line, b.facts.clock.exact ? "good" : "bad", "clock", `${b.facts.clock.mode}${clockRate(b.facts.clock)}`);
    chip(line, b.facts.lost > 0 ? "bad" : "good", "lost",
         b.facts.lost > 0 ? `${grouped(b.facts.lost)} records` : "nothing");
    d3.select("#banners").selectAll("p.compared").data(bannersOf(data, [a.facts, b.facts])).join("p")
        .attr("class", ([style]) => `compared ${style}`).text(([, text]) => text);
}

function bannersOf({sides}, facts) {
    const banners = [];
    const [a, b] = facts.map(({clock}) => clock);
    if (sides[0].title === sides[1].title) {
        banners.push(["note", "Both runs are the same trace: nothing can differ."]);
    }
    facts.forEach(({verdict, verdict_style: style}, i) => {
        if (style !== "good") {
            banners.push(["warning", `${"\u2212+"[i]} ${sides[i].title} is not complete: ${verdict}. A difference may `
                + "be of what is missing."]);
        }
    });
    if (a.mode !== b.mode) {
        banners.push(["warning", `The clocks are of different kinds: \u2212 ${a.mode}, + ${b.mode}. Decisions can be `
            + "compared, their times cannot."]);
    } else if (!b.exact) {
        banners.push(["bad", `+ ${sides[1].title}: ${CLOCK_BANNERS[b.mode] || CLOCK_BANNERS.unknown}`]);
    }
    if ((a.khz === 0) !== (b.khz === 0)) {
        banners.push(["warning", `The rate of ${a.khz === 0 ? "\u2212" : "+"} is not known: its ticks are shown as `
            + "nanoseconds."]);
    } else if (a.khz !== b.khz) {
        const rate = ({khz}) => `${(khz / 1000).toLocaleString("en")} MHz`;
        banners.push(["note", `The clocks have different rates: \u2212 ${rate(a)}, + ${rate(b)}. The times of each run `
            + "are converted by its own."]);
    }
    if (facts[1].span.full) {
        banners.push(["warning", `+ ${sides[1].title} has more intervals than one page holds: it has the first ones, `
            + "and an overview of the rest."]);
    }
    return banners;
}
