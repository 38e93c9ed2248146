// SPDX-License-Identifier: MIT
// What is under the pointer, in words.
"use strict";

function tipOf(trace, times, row, time) {
    if (row.task) {
        return tipOfTask(trace, times, row.task, time);
    }
    if (row.curve) {
        const i = firstAfter(row.curve.at, time) - 1;
        const value = row.curve.value[i];
        return i < 0 ? [] : [row.label, row.curve.isTime ? times.length(value) : `${value} ${row.curve.unit}`];
    }
    if (row.holds) {
        const i = firstAfter(row.holds.end, time);
        return i < row.holds.count && row.holds.begin[i] <= time
            ? [`held by ${trace.tasks[row.holds.task[i]].name}`, times.length(row.holds.end[i] - row.holds.begin[i]),
               HOLD_ENDS[row.holds.how[i]]] : [];
    }
    if (row.handlers) {
        const {begin, end, vector, depth} = row.handlers;
        for (let i = firstAfter(begin, time) - 1, n = 0; i >= 0 && n < 32; --i, ++n) {
            if (end[i] >= time) {
                return [trace.name("vectors", vector[i]), times.length(end[i] - begin[i]), `depth ${depth[i]}`];
            }
        }
    }
    return [];
}

function tipOfTask(trace, times, task, time) {
    const lines = [];
    const i = task.at(time);
    if (i < task.count && task.begin[i] <= time) {
        const detail = trace.detailOf(task, i);
        const length = times.length(task.end[i] - task.begin[i]);
        const other = detail && detail.other > 0 ? trace.taskName(detail.other) : "";
        if (task.activity[i] === RUNNING) {
            const where = trace.cpus.length > 1 ? ` on processor ${task.cpu[i]}` : "";
            lines.push(`runs ${length}${where}${other ? ` in the place of ${other}` : ""}`,
                       `then: ${causeText(task, i, detail)}`);
        } else if (task.activity[i] === READY) {
            lines.push(`ready ${length}`, causeText(task, i, detail));
        } else {
            lines.push(`waits ${length}: ${detail ? detail.wait : ""}${other ? `, held by ${other}` : ""}`);
        }
    }
    const job = task.jobAt(time);
    if (job >= 0) {
        const response = task.response(job);
        lines.push(`job ${task.jobs.number[job]}${isNaN(response) ? "" : `: response ${times.length(response)}`}`);
    }
    return lines;
}

function causeText(task, i, detail) {
    return task.cause[i] === 7 && detail ? `waits for ${detail.wait}` : CAUSES[task.cause[i]];
}

function showTip(timeline, event) {
    const tip = document.getElementById("tip");
    const {x, y} = timeline.pointer;
    const row = x > LABELS_WIDTH ? timeline.rows.at(y + timeline.box.scrollTop) : null;
    const time = timeline.scale().time(x);
    const run = row && row.run ? row.run : timeline.view.runs[0];
    const own = run.own(time);
    const lines = row ? tipOf(run.trace, run.times, row, own) : [];
    for (const [cpu, records] of x > LABELS_WIDTH ? run.trace.lostAt(own) : []) {
        lines.push(`${grouped(records)} records of processor ${cpu} are lost here`);
    }
    tip.hidden = lines.length === 0;
    d3.select(tip).selectAll("div").data([run.times.point(own), ...lines]).join("div").text((line) => line);
    tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 16, window.innerHeight - tip.offsetHeight - 8)}px`;
}

function hideTip() {
    document.getElementById("tip").hidden = true;
}
