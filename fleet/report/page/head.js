// SPDX-License-Identifier: MIT
// The head of the page: the store, the time of the answers, and the sums.
"use strict";

function chip(head, style, name, text, title) {
    const box = head.append("span").attr("class", `chip ${style}`).attr("title", title || null);
    box.append("b").text(name);
    box.append("span").text(text);
}

function showHead(fleet) {
    const {facts} = fleet;
    const head = d3.select("#head");
    head.append("h1").text("Fleet");
    const what = [facts.place, `asked ${momentText(facts.made_s)} UTC`];
    if (fleet.buckets > 0) {
        what.push(`jobs of ${spanText(facts.counts.begin_s, facts.counts.end_s)} UTC`);
    }
    head.append("p").attr("class", "what").attr("title", facts.selection).text(what.join("  \u00b7  "));
    document.title = `${facts.place} \u2013 Remora fleet`;
    const {nodes, accounts, counts} = facts;
    const jobs = d3.sum(counts.jobs);
    const missed = d3.sum(counts.missed);
    const lost = d3.sum(nodes.lost);
    const chips = head.append("div").attr("class", "chips");
    chip(chips, "plain", "nodes", grouped(nodes.node.length));
    chip(chips, "plain", "runs", grouped(d3.sum(nodes.runs)));
    chip(chips, "plain", "events", grouped(d3.sum(nodes.events)));
    chip(chips, "plain", "jobs", grouped(jobs));
    chip(chips, missed > 0 ? "bad" : jobs > 0 ? "good" : "plain", "deadlines",
         missed > 0 ? `${grouped(missed)} missed, ${sharePercent(missed, jobs)} of all jobs` : "no miss recorded");
    chip(chips, lost > 0 ? "bad" : nodes.node.length > 0 ? "good" : "plain", "lost",
         lost > 0 ? counted(lost, "record", "records") : "nothing");
    showAccounts(chips, accounts);
}

function showAccounts(chips, accounts) {
    const [closed, missing, open] = [accounts.closed, accounts.missing, accounts.open].map((column) => d3.sum(column));
    const parts = [[closed, "closed"], [missing, "with something missing"], [open, "open"]];
    chip(chips, missing > 0 ? "bad" : open > 0 ? "warning" : closed > 0 ? "good" : "plain", "accounts",
         parts.filter(([count]) => count > 0).map(([count, word]) => `${grouped(count)} ${word}`).join(", ") || "none",
         "closed: every record that the machine committed is stored; open: its session has not ended, or it did not "
         + "count");
}
