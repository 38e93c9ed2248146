// SPDX-License-Identifier: MIT
// The answers of the store: tables as columns, in which nodes and tasks are numbers.
"use strict";

class Fleet {
    static async of(element) {
        const bytes = await inflated(bytesOfBase64(element.textContent));
        element.remove(); // its text is large
        return new Fleet(JSON.parse(new TextDecoder().decode(bytes)));
    }

    constructor(facts) {
        this.facts = facts;
        const {names, counts} = facts;
        this.nodes = names.node.length;
        this.tasks = names.task.length;
        this.buckets = Math.round((counts.end_s - counts.begin_s) / counts.bucket_s);
        this.nodeNames = names.node.map((node, i) => `${names.site[i]}/${node}`);
        this.rowOfNode = indexed(facts.nodes.node, this.nodes);
        this.accountsOfNode = indexed(facts.accounts.node, this.nodes);
        const whole = facts.percentiles;
        this.percentiles = new Map(whole.task.map((task, i) => [task, percentilesAt(whole, i)]));
        const single = facts.node_percentiles;
        this.nodePercentiles = new Map(single.task.map((task, i) => [`${single.node[i]}.${task}`,
                                                                     percentilesAt(single, i)]));
        this.classes = d3.nest().key((i) => facts.classes.task[i]).map(d3.range(facts.classes.task.length));
    }

    nodeName(node) {
        return this.nodeNames[node];
    }

    taskName(task) {
        return this.facts.names.task[task];
    }

    bucketOf(time_s) {
        return Math.floor((time_s - this.facts.counts.begin_s) / this.facts.counts.bucket_s);
    }

    timeOf(bucket) {
        return this.facts.counts.begin_s + bucket * this.facts.counts.bucket_s;
    }

    // Calls use(row) for each count that passes the filter. ignore: a part of the filter that is not applied.
    eachCount(filter, ignore, use) {
        const {node, task, bucket} = this.facts.counts;
        const only = (name) => name === ignore || filter[name] === null ? null : filter[name];
        const [ofNode, ofTask, ofSpan] = [only("node"), only("task"), only("span")];
        for (let row = 0; row < node.length; ++row) {
            if ((ofNode === null || node[row] === ofNode) && (ofTask === null || task[row] === ofTask) &&
                (ofSpan === null || bucket[row] >= ofSpan[0] && bucket[row] < ofSpan[1])) {
                use(row);
            }
        }
    }

    // Returns sums by node or by task, without that part of the filter.
    sumsBy(name, filter) {
        const {counts} = this.facts;
        const sums = Array.from({length: name === "node" ? this.nodes : this.tasks},
                                () => ({jobs: 0, missed: 0, longest: 0}));
        this.eachCount(filter, name, (row) => {
            const sum = sums[counts[name][row]];
            sum.jobs += counts.jobs[row];
            sum.missed += counts.missed[row];
            sum.longest = Math.max(sum.longest, counts.longest_ns[row]);
        });
        return sums;
    }

    // Returns jobs and misses by bucket, for everything and for each node or task.
    series(name, filter) {
        const {counts} = this.facts;
        const empty = () => ({jobs: new Float64Array(this.buckets), missed: new Float64Array(this.buckets)});
        const all = empty();
        const parts = new Map();
        this.eachCount(filter, "span", (row) => {
            const key = counts[name][row];
            const part = parts.get(key) || parts.set(key, empty()).get(key);
            for (const series of [all, part]) {
                series.jobs[counts.bucket[row]] += counts.jobs[row];
                series.missed[counts.bucket[row]] += counts.missed[row];
            }
        });
        return {all, parts};
    }
}

function indexed(numbers, count) {
    const rows = new Array(count).fill(-1);
    numbers.forEach((number, row) => {
        rows[number] = row;
    });
    return rows;
}

function percentilesAt(columns, row) {
    return {p50: columns.p50_ns[row], p99: columns.p99_ns[row], p999: columns.p999_ns[row]};
}
