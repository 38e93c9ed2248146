// SPDX-License-Identifier: MIT
// A table of the runs: all runs of a selected node, else those whose account is not closed.
"use strict";

const STATES = ["missing", "open", "closed"]; // the most urgent first

class Runs {
    constructor(fleet, filter) {
        this.fleet = fleet;
        this.filter = filter;
        const section = d3.select("#runs");
        this.title = addTitle(section, "Runs");
        this.table = new Table(section, this.columns(), {sort: 5, descending: false, empty: () => this.emptyText()});
        addCuts(section, fleet, "runs");
        filter.listen("runs", () => this.show());
    }

    columns() {
        const {runs} = this.fleet.facts;
        const words = (title, value, more = {}) => ({title, words: true, value, text: value, ...more});
        const stored = (title, what) => ({title, value: (row) => runs[`stored_${what}`][row], text: (row) => {
            const [have, listed] = [runs[`stored_${what}`][row], runs[`listed_${what}`][row]];
            return listed === null ? grouped(have || 0) : `${grouped(have || 0)} of ${grouped(listed)}`;
        }});
        return [
            words("node", (row) => this.fleet.nodeName(runs.node[row]), {kind: "name"}),
            words("boot", (row) => runs.boot[row]),
            words("started", (row) => momentText(runs.started_s[row])),
            stored("chunks stored", "chunks"),
            stored("records stored", "records"),
            words("account", (row) => runs.state[row], {
                value: (row) => STATES.indexOf(runs.state[row]),
                style: (row) => ({closed: "good", missing: "bad"})[runs.state[row]] || "warning"}),
            words("why", (row) => runs.why[row], {kind: "long"}),
        ];
    }

    show() {
        const {runs} = this.fleet.facts;
        const {node, span} = this.filter;
        const rows = d3.range(runs.node.length).filter((row) => this.filter.has(runs.node[row], this.filter.task,
                                                                                runs.started_s[row]) &&
            (node !== null || runs.state[row] !== "closed"));
        this.title.note.text(node !== null ? `of ${this.fleet.nodeName(node)}` : "whose account is not closed");
        this.empty = runs.node.length === 0 ? "No run is stored."
            : node !== null || span !== null ? "No run began in this time."
                : "All accounts are closed. Click a node to see its runs.";
        this.table.show(rows);
    }

    emptyText() {
        return this.empty;
    }
}
