// SPDX-License-Identifier: MIT
// A table of the worst cases, each with the report of its run around the job, or the command that makes it.
"use strict";

class Worst {
    constructor(fleet, filter) {
        this.fleet = fleet;
        this.filter = filter;
        const section = d3.select("#worst");
        this.title = addTitle(section, "Worst cases");
        if (fleet.facts.preparation !== "" && fleet.facts.worst.node.length > 0) {
            const line = section.append("p").attr("class", "cut");
            line.append("span").text("The store does not keep the sessions. Before the commands below, once:");
            addCommand(line, fleet.facts.preparation);
        }
        this.table = new Table(section, this.columns(), {sort: 4, descending: true, empty: () => this.emptyText()});
        addCuts(section, fleet, "worst");
        filter.listen("worst", () => this.show());
    }

    columns() {
        const {worst} = this.fleet.facts;
        const length = (title, column, more = {}) => ({title, value: (row) => worst[column][row],
                                                       text: (row) => lengthText(worst[column][row]),
                                                       tip: (row) => exactText(worst[column][row]), ...more});
        const words = (title, text) => ({title, words: true, kind: "name", value: text, text, tip: text});
        return [
            words("node", (row) => this.fleet.nodeName(worst.node[row])),
            words("task", (row) => this.fleet.taskName(worst.task[row])),
            {title: "job", value: (row) => worst.job[row], text: (row) => grouped(worst.job[row])},
            {title: "time", words: true, value: (row) => worst.time_s[row],
             text: (row) => momentText(worst.time_s[row])},
            length("response", "response_ns"),
            length("deadline", "deadline_ns"),
            length("lateness", "lateness_ns", {style: (row) => worst.lateness_ns[row] > 0 ? "bad" : ""}),
            {title: "outcome", words: true, value: (row) => this.outcome(row), text: (row) => this.outcome(row),
             style: (row) => worst.missed[row] ? "bad" : ""},
            {title: "run", words: true, kind: "command", value: (row) => worst.page[row] === "" ? 1 : 0,
             cell: (cell, row) => this.addLink(cell, row)},
            {title: "boot", words: true, value: (row) => worst.boot[row], text: (row) => worst.boot[row]},
        ];
    }

    outcome(row) {
        const {worst} = this.fleet.facts;
        return worst.missed[row] ? `${worst.outcome[row]}, missed` : worst.outcome[row];
    }

    addLink(cell, row) {
        const {worst, directory} = this.fleet.facts;
        if (worst.page[row] !== "") {
            const job = encodeURIComponent(`${this.fleet.taskName(worst.task[row])}/${worst.job[row]}`);
            const [folder, file] = [directory, worst.page[row]].map(encodeURIComponent);
            cell.append("a").attr("href", `./${folder}/${file}#job=${job}`).text("timeline");
        } else if (worst.command[row] !== "") {
            addCopy(cell, worst.command[row]);
            cell.append("span").attr("class", "muted").text(" command");
        }
    }

    show() {
        const {worst} = this.fleet.facts;
        const all = d3.range(worst.node.length);
        const rows = all.filter((row) => this.filter.has(worst.node[row], worst.task[row], worst.time_s[row]));
        this.title.note.text(rows.length < all.length ? `${grouped(rows.length)} of ${grouped(all.length)}`
            : "the longest responses, and the greatest latenesses");
        this.table.show(rows);
    }

    emptyText() {
        return this.fleet.facts.worst.node.length === 0 ? "No job has ended."
            : "None of the worst cases of the fleet is in this part of it.";
    }
}

function exactText(ns) {
    return ns === null ? "" : `${grouped(ns)} ns`;
}
