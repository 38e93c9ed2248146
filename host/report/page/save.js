// SPDX-License-Identifier: MIT
// What the timeline shows, as an SVG file: the same rows, drawn by the same functions, with their labels and the axis.
"use strict";

const SAVED_HEAD = AXIS_HEIGHT + 2;

// whole: rows that are scrolled away, too.
function drawnAsSvg(timeline, whole) {
    const {rows, view, trace, box} = timeline;
    const surface = new SvgSurface();
    const offset = whole ? 0 : box.scrollTop;
    const height = whole ? rows.height : Math.min(rows.height - offset, timeline.height);
    surface.begin(LABELS_WIDTH, timeline.width, height + SAVED_HEAD);
    const root = surface.root;
    surface.root = root.append("g").attr("transform", `translate(0, ${SAVED_HEAD})`);
    paintRows(surface, {...timeline, pointer: null}, offset, height);
    const inSight = (y) => y >= offset && y < offset + height;
    rows.heads.filter((head) => inSight(head.y)).forEach(
        (head) => surface.text(4, head.y - offset + GROUP_HEIGHT / 2, head.text, surface.theme.muted));
    for (const row of rows.shown.filter((one) => inSight(one.y))) {
        const middle = row.y - offset + row.height / 2;
        if (row.task && !row.task.isIdle) {
            surface.rect(12, middle - 4, 8, 8, taskColour(row.task.colour));
        }
        surface.text(2, middle, row.mark || "", surface.theme.text);
        surface.text(26, middle, row.label, surface.theme.text, LABELS_WIDTH - 32);
    }
    surface.root = root;
    const [ticks, text, unit] = axisOf(view, trace, timeline.room);
    const scale = new Scale(surface, view.from, view.to);
    const widest = surface.width - 60; // room for the text
    ticks.forEach((tick, i) => scale.x(tick) <= widest
        && surface.text(scale.x(tick) + 2, 12, `${text(tick, i)} ${unit}`, surface.theme.text));
    return surface;
}

function svgOf(timeline) {
    return drawnAsSvg(timeline, false).toText();
}

// Paper has other sizes than the window: an SVG of all rows is printed instead of the canvas.
function printAsSvg(timeline) {
    const paper = document.getElementById("paper");
    window.addEventListener("beforeprint", () => {
        const {root} = drawnAsSvg(timeline, true);
        paper.replaceChildren(root.attr("width", null).attr("height", null).node());
    });
    window.addEventListener("afterprint", () => paper.replaceChildren());
}

function saveSvg(timeline) {
    const url = URL.createObjectURL(new Blob([svgOf(timeline)], {type: "image/svg+xml"}));
    const link = document.createElement("a");
    link.href = url;
    link.download = "timeline.svg";
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
}
