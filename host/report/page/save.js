// SPDX-License-Identifier: MIT
// What the timeline shows, as an SVG file: the same rows, drawn by the same functions, with their labels and the axis.
"use strict";

const SAVED_HEAD = 28;

function svgOf(timeline) {
    const {rows, view, trace, box} = timeline;
    const surface = new SvgSurface();
    const offset = box.scrollTop;
    const height = Math.min(rows.height - offset, timeline.height);
    surface.begin(LABELS_WIDTH, timeline.width, height + SAVED_HEAD);
    const root = surface.root;
    surface.root = root.append("g").attr("transform", `translate(0, ${SAVED_HEAD})`);
    paintRows(surface, {...timeline, pointer: null}, offset, height);
    const inSight = (y) => y >= offset && y < offset + height;
    rows.heads.filter((head) => inSight(head.y)).forEach(
        (head) => surface.text(4, head.y - offset + GROUP_HEIGHT / 2, head.text, surface.theme.muted));
    rows.shown.filter((row) => inSight(row.y)).forEach(
        (row) => surface.text(14, row.y - offset + row.height / 2, row.label, surface.theme.text, LABELS_WIDTH - 20));
    surface.root = root;
    const [ticks, text, unit] = axisOf(view, trace, timeline.room);
    const scale = new Scale(surface, view.from, view.to);
    ticks.forEach((tick, i) => surface.text(scale.x(tick) + 2, 12, `${text(tick, i)} ${unit}`, surface.theme.text));
    return surface.toText();
}

function saveSvg(timeline) {
    const url = URL.createObjectURL(new Blob([svgOf(timeline)], {type: "image/svg+xml"}));
    const link = document.createElement("a");
    link.href = url;
    link.download = "timeline.svg";
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
}
