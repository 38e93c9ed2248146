// SPDX-License-Identifier: MIT
// Shows the panel of the comparison: what is compared, the first decision that differs, what changed in each task, and
// its job that changed most, with buttons that lead to their places. The figures are those of `remora diff`.
"use strict";

class ComparePanel {
    constructor(side, comparison) {
        Object.assign(this, {side, comparison});
        side.addTab("compare", "Compare", () => this.show(), ["align", "rows"]);
    }

    // Returns whether both clocks have a rate.
    get isTimed() {
        return this.comparison.runs.every((run) => run.trace.khz !== 0);
    }

    // Returns a time as `remora diff` prints it. Null becomes a dash: the run has no such job, so there is no time.
    ms(ns) {
        if (ns === null) {
            return "\u2013";
        }
        return this.isTimed ? (Math.round(ns / 1e3) / 1e3).toFixed(3) : grouped(ns);
    }

    show() {
        const {side, comparison} = this;
        side.clear("Two runs compared");
        if (comparison.ofPhases) {
            this.addChoice();
        }
        if (!comparison.pair) {
            side.box.append("p").attr("class", "muted").text("Choose two phases of the run.");
            return;
        }
        if (!comparison.ofPhases) {
            comparison.runs.forEach((run) => this.marked(side.box.append("p"), run.number, run.title));
        }
        this.addFirst();
        this.addAlignment();
        this.addTasks(comparison.pair.diff.tasks);
    }

    // Adds a text of one of the runs, with its mark.
    marked(line, number, text) {
        line.classed("ofrun", true).append("b").attr("class", `mark${number}`).text("\u2212+"[number]);
        line.append("span").text(text);
        return line;
    }

    button(parent, id, text, key, action) {
        parent.append("button").attr("id", id).attr("title", key).text(text).on("click", action);
    }

    addChoice() {
        const {side, comparison} = this;
        const {sides} = comparison.data;
        const line = side.box.append("p").attr("class", "phases");
        const chosen = comparison.pair ? comparison.pair.of : [-1, -1];
        const choices = [0, 1].map((number) => {
            line.append("b").attr("class", `mark${number}`).text("\u2212+"[number]);
            const select = line.append("select").attr("aria-label", `${number === 0 ? "first" : "second"} phase`)
                .attr("id", `phase${number}`);
            select.selectAll("option").data([[-1, "\u2013"], ...sides.map(({title}, i) => [i, title])]).join("option")
                .attr("value", ([i]) => i).property("selected", ([i]) => i === chosen[number])
                .text(([, title]) => title);
            return select.node();
        });
        const choose = () => {
            const values = choices.map((select) => Number(select.value));
            const isWhole = values.every((value) => value >= 0);
            comparison.choose(isWhole ? comparison.pairOf(values.join(".")) : null);
            if (comparison.pair) {
                const run = comparison.runs[0];
                comparison.view.show(Math.max(run.from, 0), Math.min(run.to, run.trace.last));
            }
        };
        choices.forEach((select) => select.addEventListener("change", choose));
    }

    addFirst() {
        const {side, comparison} = this;
        const {diff} = comparison.pair;
        const first = diff.first_difference;
        side.box.append("h3").text("First difference");
        if (!first) {
            side.box.append("p").text(`${grouped(diff.decisions[0])} decisions, the same in the same order`);
            return;
        }
        const number = first.decisions.map((one) => one && one.decision).find((one) => one);
        side.box.append("p").attr("id", "difference").text(`decision ${number} differs: ${first.what}`);
        this.addDecisions(first.decisions, "(the end)");
        this.button(side.box.append("p"), "goto", "go to it (V)", "V",
                    () => comparison.search.say(comparison.goToFirst()));
    }

    // Adds the decisions of both runs. Each line leads to its place, or says `missing` if the run has no decision.
    addDecisions(decisions, missing) {
        decisions.forEach((decision, number) => {
            const line = this.side.box.append("p").attr("class", "decision");
            this.marked(line, number, decision ? "" : missing);
            if (decision) {
                line.append("button").attr("class", "place").text(
                    `${this.ms(decision.time_ns)}${this.isTimed ? " ms" : ""} ${decision.text.replace(/ +/g, " ")}`)
                    .on("click", () => this.comparison.goToTime(this.comparison.timeOf(number, decision)));
            }
        });
    }

    addAlignment() {
        const {side, comparison} = this;
        const {on} = comparison;
        const say = (text) => comparison.search.say(text);
        side.box.append("h3").text("Aligned");
        side.box.append("p").attr("id", "aligned").text(on ? `on the release of ${on.name}, job ${on.number}`
            : "on the first release of both");
        const line = side.box.append("p").attr("class", "aligns");
        this.button(line, "align", "on the picked job (l)", "l", () => say(comparison.alignOnPicked()));
        this.button(line, "unalign", "on the start (L)", "L", () => say(comparison.align(null)));
    }

    addTasks(tasks) {
        const {box} = this.side;
        box.append("h3").text(this.isTimed ? "Tasks (times in ms)" : "Tasks (times in ticks, without a rate)");
        const isChanged = (task) => task.most_changed !== null || ["jobs", "missed"].some((name) => task[name][0]
            !== task[name][1]);
        for (const task of tasks.filter(isChanged)) {
            this.addTask(task);
        }
        const same = tasks.filter((task) => !isChanged(task));
        if (same.length > 0) {
            box.append("p").attr("class", "muted").text(`unchanged: ${same.map((task) => task.task).join(", ")}`);
        }
    }

    addTask(task) {
        const {box} = this.side;
        const only = task.jobs.map((jobs, i) => jobs > 0 && task.jobs[1 - i] === 0).indexOf(true);
        const table = box.append("table").attr("class", "changes").attr("data-task", task.task);
        table.append("tr").selectAll("th").data([task.task, "jobs", "miss", "mean R", "worst R", "B"]).join("th")
            .text((name) => name);
        const columns = ["jobs", "missed", "mean_response_ns", "worst_response_ns", "blocking_ns"];
        for (const number of [0, 1]) {
            const line = table.append("tr");
            line.append("td").append("b").attr("class", `mark${number}`).text("\u2212+"[number]);
            columns.forEach((name, i) => line.append("td")
                .text(i < 2 ? task[name][number] : this.ms(task[name][number])));
        }
        const line = table.append("tr").attr("class", "change");
        line.append("td");
        columns.forEach((name, i) => line.append("td").text(this.changeOf(task[name], i < 2)));
        if (only >= 0) {
            box.append("p").text(`Only in ${"\u2212+"[only]}.`);
        }
        if (task.most_changed) {
            this.addMost(task.task, task.most_changed);
        }
    }

    changeOf([before, after], isCount) {
        const change = before === null || after === null ? 0 : Math.abs(after - before);
        return change === 0 ? "" : `${after < before ? "\u2212" : "+"}${isCount ? change : this.ms(change)}`;
    }

    addMost(name, {job, contexts, response_ns: response, first_difference: decisions, shares}) {
        const {box} = this.side;
        box.append("p").append("button").attr("class", "place most").attr("title", "align on it, and show it")
            .text(`job ${job} changed most: ${this.ms(response[0])} \u2192 ${this.ms(response[1])}`)
            .on("click", () => this.comparison.showJob(name, job, contexts));
        this.addDecisions(decisions, "(its end)");
        const resolution = 100000; // It is in ns, as the default of `remora diff`.
        for (const {share, ns} of shares.filter((one) => Math.abs(one.ns[0] - one.ns[1]) >= resolution).slice(0, 3)) {
            const line = box.append("div").attr("class", "share");
            line.append("span").text(share);
            line.append("span").text(`${this.ms(ns[0])} \u2192 ${this.ms(ns[1])}`);
        }
    }
}

// The head of the page describes a second trace, and the banners state what a reader must know before a difference
// means anything.

function showComparedHead(comparison) {
    const {data, traces} = comparison;
    if (comparison.ofPhases) {
        return;
    }
    const [, b] = traces;
    const head = d3.select("#head");
    head.select(".chips").insert("b", ":first-child").attr("class", "mark0").text("\u2212");
    const line = head.append("div").attr("class", "chips").attr("id", "other");
    line.append("b").attr("class", "mark1").text("+");
    line.append("span").attr("class", "what").attr("title", data.sides[1].title).text(data.sides[1].title);
    chipsOf(b).filter(({name}) => name !== "tracing").forEach((one) => chip(line, one));
}

// Returns the banners of a page that compares: how the runs ended, what limits the figures of the first one, and what
// makes a difference doubtful.
function comparedBanners({data: {sides}, traces, ofPhases, view}) {
    const [first] = traces;
    if (ofPhases) {
        return bannersOfTrace(first, view.times);
    }
    const crashes = traces.flatMap(({facts}, i) => bannersOfCrashes(facts)
        .map(([style, text]) => [style, `${"\u2212+"[i]} ${sides[i].title}: ${text}`]));
    return [...crashes, ...bannersOfLimits(first, view.times), ...bannersOf({sides}, traces.map(({facts}) => facts))];
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
