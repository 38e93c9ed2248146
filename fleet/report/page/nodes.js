// SPDX-License-Identifier: MIT
// A table of the nodes, each with its runs and its jobs. A click filters everything else.
"use strict";

class Nodes {
    constructor(fleet, filter) {
        this.fleet = fleet;
        this.filter = filter;
        const section = d3.select("#nodes");
        this.title = addTitle(section, "Nodes");
        this.title.controls.append("input").attr("id", "search").attr("type", "search").attr("autocomplete", "off")
            .attr("placeholder", "site, node, application, state").attr("aria-label", "Search the nodes")
            .attr("spellcheck", "false").on("input", () => this.show());
        this.table = new Table(section, this.columns(), {
            sort: 4, descending: true, click: (row) => filter.toggle("node", row.node),
            picked: (row) => row.node === filter.node,
            empty: () => fleet.nodes === 0 ? "No node is stored." : "No node has these words."});
        addCuts(section, fleet, "nodes");
        filter.listen("nodes", () => this.show());
    }

    columns() {
        const number = (title, value, more = {}) => ({title, value, text: (row) => grouped(value(row)), ...more});
        return [
            {title: "node", words: true, kind: "name", value: (row) => row.name, tip: (row) => row.name,
             cell: (cell, row) => cell.append("button").attr("class", "place").text(row.name)},
            number("runs", (row) => row.runs),
            number("events", (row) => row.events),
            number("jobs", (row) => row.jobs),
            number("misses", (row) => row.missed, {style: (row) => row.missed > 0 ? "bad" : ""}),
            {title: "share", value: (row) => row.jobs === 0 ? null : row.missed / row.jobs,
             text: (row) => sharePercent(row.missed, row.jobs)},
            {title: "worst", help: "the longest response", value: (row) => row.longest || null,
             text: (row) => lengthText(row.longest || null)},
            number("lost", (row) => row.lost, {style: (row) => row.lost > 0 ? "bad" : ""}),
            {title: "accounts", words: true, value: (row) => row.accounts, text: (row) => row.state,
             style: (row) => row.style, tip: (row) => row.stateTip},
            {title: "last run", words: true, value: (row) => row.last, text: (row) => row.last},
            {title: "application", words: true, kind: "name", value: (row) => row.application,
             text: (row) => row.application, tip: (row) => row.application},
            {title: "kernel", words: true, value: (row) => row.kernel, text: (row) => row.kernel},
        ];
    }

    row(node, sum) {
        const {nodes, accounts} = this.fleet.facts;
        const at = this.fleet.rowOfNode[node];
        const of = (column, other) => at < 0 ? other : nodes[column][at];
        const last = of("last_s", null);
        return {node, name: this.fleet.nodeName(node), ...sum, runs: of("runs", 0), events: of("events", 0),
                lost: of("lost", 0), last: last === null ? "" : momentText(last), application: of("application", ""),
                kernel: of("kernel", ""), ...accountOf(accounts, this.fleet.accountsOfNode[node])};
    }

    show() {
        const words = document.getElementById("search").value.toLowerCase().split(" ").filter((word) => word !== "");
        const sums = this.fleet.sumsBy("node", this.filter);
        const rows = sums.map((sum, node) => this.row(node, sum)).filter((row) => {
            const text = `${row.name} ${row.application} ${row.kernel} ${row.state}`.toLowerCase();
            return words.every((word) => text.includes(word));
        });
        this.title.note.text(rows.length < sums.length ? `${grouped(rows.length)} of ${grouped(sums.length)}` : "");
        this.table.show(rows);
    }
}

function accountOf(accounts, at) {
    const [closed, missing, open] = at < 0 ? [0, 0, 0]
        : [accounts.closed[at], accounts.missing[at], accounts.open[at]];
    const text = [[missing, "missing"], [open, "open"]].filter(([count]) => count > 0)
        .map(([count, word]) => closed + missing + open === 1 ? word : `${count} ${word}`).join(", ");
    return {accounts: -1e6 * missing - open, state: text || (closed > 0 ? "closed" : ""),
            style: missing > 0 ? "bad" : open > 0 ? "warning" : "good",
            stateTip: `runs: ${closed} closed, ${missing} with something missing, ${open} open`};
}
