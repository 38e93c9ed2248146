// SPDX-License-Identifier: MIT
// Search by name: tasks, mutexes, servers and values by their rows; events by their names and texts, one after another.
"use strict";

class Search {
    constructor(timeline) {
        this.timeline = timeline;
        this.input = document.getElementById("search");
        this.place = -1;
        this.input.addEventListener("input", () => {
            this.place = -1;
            this.results = this.find(this.input.value.trim().toLowerCase());
            this.say(this.input.value.trim() === "" ? "" : `${this.results.length} found`);
        });
        this.input.addEventListener("keydown", (event) => {
            if (event.key === "Enter") {
                this.step(event.shiftKey ? -1 : 1);
            } else if (event.key === "Escape") {
                this.timeline.box.focus();
            }
        });
        this.results = [];
    }

    focus() {
        this.input.focus();
        this.input.select();
    }

    say(text) {
        document.getElementById("found").textContent = text;
    }

    // Rows first, then events by time; of each kind of event that fits, all.
    find(words) {
        if (words === "") {
            return [];
        }
        const {rows, trace} = this.timeline;
        const fits = (text) => text.toLowerCase().includes(words);
        const found = rows.all.filter((row) => fits(row.label)).map((row) => ({row}));
        const {marks} = trace;
        const kinds = trace.facts.kinds.map(fits);
        const texts = trace.facts.texts.map(fits);
        for (let i = 0; i < marks.count; ++i) {
            if (kinds[marks.kind[i]] || (marks.text[i] > 0 && texts[marks.text[i] - 1])) {
                found.push({at: marks.at[i], mark: i});
            }
        }
        return found;
    }

    step(direction) {
        const {timeline, results} = this;
        if (results.length === 0) {
            return;
        }
        this.place = (this.place + direction + results.length) % results.length;
        const {row, at, mark} = results[this.place];
        const {view, rows} = timeline;
        if (row) {
            rows.bringUp(row);
            view.pick(row.key, null);
            timeline.scrollTo(row);
        } else {
            view.cursors[0] = at;
            view.changed("cursors");
            view.reveal(at, at);
            const marks = rows.byKey.get("marks");
            if (rows.shown.includes(marks)) {
                timeline.scrollTo(marks);
            }
        }
        const what = row ? row.label : `${timeline.trace.markName(mark)} ${timeline.trace.markText(mark)}`;
        this.say(`${this.place + 1} of ${results.length}: ${what}`);
    }
}
