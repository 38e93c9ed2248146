// SPDX-License-Identifier: MIT
// Puts the page together after its data are unpacked. `fleet` has what a test needs; it is a property of the window,
// because scripts of a browser's automation may see nothing else.
"use strict";

var fleet = {};

async function main() {
    const data = await Fleet.of(document.querySelector("script.fleet"));
    const filter = new Filter(data);
    showHead(data);
    const parts = {nodes: new Nodes(data, filter), tasks: new Tasks(data, filter), worst: new Worst(data, filter),
                   runs: new Runs(data, filter), chart: new Chart(data, filter)};
    filter.goTo(location.hash);
    darkness.addEventListener("change", () => parts.chart.draw());
    Object.assign(fleet, {data, filter, ...parts});
    document.body.dataset.state = "ready";
}

main().catch((error) => {
    document.body.dataset.state = "failed";
    d3.select("#banners").append("p").attr("class", "bad").text(`This page cannot be shown: ${error.message}`);
    throw error;
});
