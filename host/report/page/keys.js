// SPDX-License-Identifier: MIT
// The keyboard. Everything that the pointer does has a key.
"use strict";

const KEYS = [
    ["w", "s", "zoom in, zoom out"],
    ["a", "d", "move left, right"],
    ["0", "", "the whole trace"],
    ["\u2191", "\u2193", "row above, below"],
    ["\u2190", "\u2192", "job before, after, in the row"],
    ["Enter", "", "zoom to the job"],
    ["n", "N", "next miss, previous miss"],
    ["/", "", "search a task or an event; Enter: next, Shift Enter: previous"],
    ["[", "]", "cursor A, cursor B at the pointer (or in the middle)"],
    ["c", "", "remove the cursors"],
    ["f", "", "figures, or the selection"],
    ["p", "h", "pin the row, hide the row"],
    ["H", "", "show all rows, in their own order"],
    ["Shift \u2191", "Shift \u2193", "move the row"],
    ["g", "", "group the tasks by level, by processor, by nothing"],
    ["z", "", "fold or unfold the group of the row"],
    ["v", "V", "the comparison, its first difference"],
    ["l", "L", "align the runs on the picked job, on the first release"],
    ["x", "", "save what is in sight as SVG"],
    ["?", "", "these keys"],
];

function zoomBy(timeline, factor) {
    const {view, pointer} = timeline;
    const at = pointer && pointer.x > LABELS_WIDTH ? timeline.scale().time(pointer.x) : (view.from + view.to) / 2;
    view.show(at - (at - view.from) * factor, at + (view.to - at) * factor);
}

function moveBy(view, share) {
    const step = (view.to - view.from) * share;
    view.show(view.from + step, view.to + step);
}

function setCursor(timeline, which) {
    const {view, pointer} = timeline;
    view.cursors[which] = pointer && pointer.x > LABELS_WIDTH ? timeline.scale().time(pointer.x)
        : (view.from + view.to) / 2;
    view.changed("cursors");
}

function stepRow(timeline, steps, moves) {
    const {view, rows} = timeline;
    if (moves) {
        rows.move(view.row, steps);
    }
    const row = moves ? rows.byKey.get(view.row) : rows.step(view.row, steps);
    if (row) {
        if (!moves) {
            view.pick(row.key, null);
        }
        timeline.scrollTo(row);
    }
}

function toggleRow(timeline, set) {
    const {view, rows} = timeline;
    if (rows.byKey.has(view.row)) {
        view.toggle(set, view.row);
    }
}

function groupByNext({view, trace}) {
    view.by = groupingAfter(view.by, trace);
    view.order = [];
    view.changed("rows");
}

function foldGroup({view, rows}) {
    const row = rows.byKey.get(view.row);
    if (row) {
        view.toggle(view.folded, keyOfGroup(rows.groupOf(row)));
    }
}

function showAllRows(view) {
    view.hidden.clear();
    view.folded.clear();
    view.order = [];
    view.changed("rows");
}

function zoomToJob({view}) {
    if (view.job) {
        const [begin, end] = shownSpan(view);
        const margin = Math.max((end - begin) * 0.3, 20);
        view.show(begin - margin, end + margin);
    }
}

function showHelp() {
    const help = document.getElementById("help");
    const rows = d3.select(help).selectAll("p").data(KEYS).join("p");
    rows.selectAll("kbd").data(([one, other]) => [one, other].filter((key) => key !== "")).join("kbd")
        .text((key) => key);
    rows.selectAll("span").data(([, , meaning]) => [meaning]).join("span").text((meaning) => meaning);
    help.open ? help.close() : help.showModal();
}

function showMiss(timeline, search, side, direction) {
    search.say(pickMiss(timeline, direction));
    if (timeline.view.job) {
        side.choose("pick");
    }
}

function actionsOf(timeline, search, side) {
    const {view} = timeline;
    return {
        "w": () => zoomBy(timeline, 0.75), "s": () => zoomBy(timeline, 1 / 0.75),
        "a": () => moveBy(view, -0.15), "d": () => moveBy(view, 0.15),
        "0": () => view.showAll(),
        "n": () => showMiss(timeline, search, side, 1), "N": () => showMiss(timeline, search, side, -1),
        "ArrowUp": (event) => stepRow(timeline, -1, event.shiftKey),
        "ArrowDown": (event) => stepRow(timeline, 1, event.shiftKey),
        "ArrowLeft": () => stepJob(timeline, -1), "ArrowRight": () => stepJob(timeline, 1),
        "Enter": () => zoomToJob(timeline),
        "/": () => search.focus(),
        "[": () => setCursor(timeline, 0), "]": () => setCursor(timeline, 1),
        "c": () => { view.cursors = [null, null]; view.changed("cursors"); },
        "p": () => toggleRow(timeline, view.pinned), "h": () => toggleRow(timeline, view.hidden),
        "H": () => showAllRows(view),
        "g": () => groupByNext(timeline), "z": () => foldGroup(timeline),
        "x": () => saveSvg(timeline),
        "f": () => side.choose(side.chosen === "pick" ? "statistics" : "pick"),
        "?": showHelp,
    };
}

function listenToKeys(actions) {
    document.addEventListener("keydown", (event) => {
        const isTyping = event.target.matches("input, textarea, select");
        const isPressed = event.target.matches("button, a, summary") && (event.key === "Enter" || event.key === " ");
        const action = actions[event.key];
        const isHelp = document.getElementById("help").open && event.key !== "?";
        if (action && !isHelp && !isTyping && !isPressed && !event.ctrlKey && !event.metaKey && !event.altKey) {
            event.preventDefault();
            action(event);
        }
    });
}
