// SPDX-License-Identifier: MIT
// Colours. Those of tasks are Okabe and Ito's, those of resources Paul Tol's muted ones: both sets are distinct for the
// common kinds of colour blindness. What matters most has a shape as well: a miss is a cap, waiting is hatched.
"use strict";

const TASK_COLOURS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8a63b0", "#8f8f2f"];
const RESOURCE_COLOURS = ["#aa4499", "#44aa99", "#cc6677", "#999933", "#5b8fd6", "#117733", "#882255", "#c8a22c"];

const THEMES = {
    light: {paper: "#ffffff", band: "#f6f7f9", line: "#e3e6ea", text: "#1b1f24", muted: "#69727d", ready: "#e9ecef",
            hatch: "#8d96a0", idle: "#d5d9de", lost: "#c3c7cc", miss: "#d1242f", cursor: "#7a3cff", pick: "#fff3c4",
            over: "#b35900", held: "#c9a9c4", onColour: "#ffffff"},
    dark: {paper: "#16191d", band: "#1c2025", line: "#2c3238", text: "#e6e9ec", muted: "#98a2ad", ready: "#2a2f36",
           hatch: "#7c8793", idle: "#3a4149", lost: "#4b525a", miss: "#ff6b6b", cursor: "#b592ff", pick: "#3d3413",
           over: "#ffb454", held: "#6d5069", onColour: "#ffffff"},
};

const darkness = window.matchMedia("(prefers-color-scheme: dark)");

function theme() {
    return darkness.matches ? THEMES.dark : THEMES.light;
}

// Further tasks have the colours again, darker, then lighter.
const SHADES = [0, 0.9, -0.7];

function taskColour(number) {
    const shade = SHADES[Math.floor(number / TASK_COLOURS.length) % SHADES.length];
    return d3.color(TASK_COLOURS[number % TASK_COLOURS.length]).darker(shade).hex();
}

function resourceColour(number) {
    return RESOURCE_COLOURS[number % RESOURCE_COLOURS.length];
}

// As the bytes of a picture have it: alpha, blue, green, red.
function pixelOf(colour) {
    const {r, g, b} = d3.color(colour);
    return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
}
