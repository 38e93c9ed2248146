// SPDX-License-Identifier: MIT
// Shows what surrounds the timeline: the search and the panel at the side. Saves and prints the timeline as a picture.
"use strict";

// Finds rows by their names (tasks, mutexes, servers, values) and events by their names and texts, one after another.
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

    // Returns the rows that fit, then all events whose kind or text fits, by time.
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
        // The first step backwards leads to the last result.
        const next = this.place < 0 && direction < 0 ? -1 : this.place + direction;
        this.place = (next + results.length) % results.length;
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

// Shows the panel at the side: a tab for what is picked or the violations, with commands to copy, and further tabs.
class Side {
    constructor(timeline) {
        this.timeline = timeline;
        this.run = timeline.view.runs[0]; // What is shown is of this run.
        const side = d3.select("#side");
        this.nav = side.append("nav");
        this.box = side.append("div");
        this.tabs = new Map();
        this.addTab("pick", "Selection", () => this.showPick(), ["pick"]);
        this.addTab("statistics", "Figures", () => showStatistics(this), ["pick", "span"], 200);
        this.addTab("legend", "Legend", () => {
            this.clear("What is drawn");
            showLegend(this.box, this.run.trace);
        }, []);
        darkness.addEventListener("change", () => this.show()); // Its pictures have the colours of the theme.
        let timer = 0;
        timeline.view.listen("side", (what) => {
            const {changes, delay} = this.tabs.get(this.chosen);
            if (what === "pick" && changes.length === 0 && timeline.view.job) {
                this.choose("pick"); // A job that is picked replaces what is about no job: the legend, a crash.
            } else if (changes.includes(what)) {
                clearTimeout(timer); // Figures are of what is in sight, once that is at rest.
                timer = setTimeout(() => this.show(), delay);
            }
        });
        this.choose("pick");
    }

    // Adds a tab. It is shown again after each of these changes of the view, `delay` milliseconds later.
    addTab(name, text, show, changes, delay = 0) {
        const button = this.nav.append("button").text(text).on("click", () => this.choose(name));
        this.tabs.set(name, {button, show, changes, delay});
    }

    choose(name) {
        this.chosen = name;
        this.tabs.forEach(({button}, its) => button.classed("chosen", its === name));
        this.show();
    }

    show() {
        this.run = this.timeline.view.runs[0];
        this.tabs.get(this.chosen).show();
    }

    clear(title) {
        this.box.selectAll("*").remove();
        this.box.append("h2").text(title);
    }

    showPick() {
        const {view, rows} = this.timeline;
        const row = rows.byKey.get(view.row);
        this.run = view.job ? view.runOf(view.job) : row && row.run ? row.run : view.runs[0];
        if (view.job) {
            showJob(this, this.run.trace.tasks[view.job.task], view.job.index);
        } else if (row && row.task) {
            showTask(this, row.task);
        } else {
            this.clear(row ? row.label : "Nothing is picked");
            this.box.append("p").attr("class", "muted")
                .text("Click a job, or press n for the next miss, ? for the keys.");
            if (!row) {
                showLegend(this.box, this.run.trace);
            }
        }
    }

    facts(pairs) {
        const list = this.box.append("dl");
        for (const [name, value, style] of pairs) {
            list.append("dt").text(name);
            list.append("dd").attr("class", style || null).text(value);
        }
    }

    // Adds commands, each with a button that copies it.
    commands(lines, parent = this.box) {
        if (this.run.trace.facts.trace === "-") {
            return; // A trace that came through a pipe cannot be read again.
        }
        const list = parent.append("div").attr("class", "commands");
        for (const line of lines) {
            const row = list.append("div");
            row.append("code").text(line);
            row.append("button").attr("title", "copy").text("copy")
                .on("click", () => navigator.clipboard.writeText(line));
        }
    }

    showViolations() {
        const {trace, view} = this.timeline;
        this.choose("pick");
        this.run = view.runs[0];
        this.clear("Violations of the theory");
        const list = this.box.append("ol").attr("class", "violations");
        for (const {at, task, rule, text, file, chunk, record} of trace.facts.oracle.shown) {
            const item = list.append("li");
            item.append("button").text(`${view.times.point(at)} ${rule}`).on("click", () => {
                view.cursors[0] = at;
                view.changed("cursors");
                view.row = task > 0 ? `task${task - 1}` : view.row;
                view.reveal(at, at);
            });
            const name = trace.taskName(task);
            const carrier = file.split("/").pop();
            item.append("p").text(`${text.startsWith(name) ? "" : `${name}: `}${text} (${carrier}, record ${record})`);
            this.commands([commandOf(trace, "goto", `${carrier}:${chunk}:${record}`)], item);
        }
        const more = trace.facts.oracle.violations - trace.facts.oracle.shown.length;
        if (more > 0) {
            this.box.append("p").text(`${grouped(more)} more:`);
            this.commands([commandOf(trace, "check", "--show", trace.facts.oracle.violations)]);
        }
    }
}

// Returns the word for the shell, quoted unless it is plain.
function quoted(word) {
    return /^[\w./:@+-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`;
}

// Returns a command, with the options with which the trace was read.
function commandOf(trace, name, ...words) {
    const {trace: path, options} = trace.facts;
    return ["remora", name, path, ...words, ...options].map((word) => quoted(`${word}`)).join(" ");
}

// Returns the options for a span. If --from already names a format, --from-time has the time.
function spanOptions({facts}, from, to) {
    return [facts.options.includes("--from") ? "--from-time" : "--from", from, "--to", to];
}

// Returns the option --task. A name that is not plain may differ from that in the trace, so it would not be found, and
// digits mean a context: the context replaces both.
function taskOption(task) {
    return ["--task", /^[\w.+-]+$/.test(task.name) && !/^\d+$/.test(task.name) ? task.name : task.context];
}

function showTask(side, task) {
    const {trace, times} = side.run;
    const ns = (value) => value ? times.length(times.ticksOfNs(value)) : "\u2013";
    side.clear(task.name);
    side.facts([
        ["jobs", grouped(task.jobs.count)], ["missed", grouped(task.misses), task.misses > 0 ? "bad" : ""],
        ["context", task.context], ["C declared", ns(task.wcet_ns)], ["T", ns(task.period_ns)],
        ["D", ns(task.deadline_ns)], ["budget", ns(task.budget_ns)],
        ["ran", times.length(task.sums[RUNNING][task.count])],
        ["was ready", times.length(task.sums[READY][task.count])],
        ["waited", times.length(task.sums[WAITING][task.count] + task.sums[HELD][task.count])],
        ...(trace.cpus.length > 1 ? processorsOf(trace, task) : []),
    ]);
    side.commands([commandOf(trace, "print", ...taskOption(task)),
                   commandOf(trace, "why", ...taskOption(task), "--worst")]);
}

// Returns which part of its time a task ran on each processor, and how often it changed the processor.
function processorsOf(trace, task) {
    const shares = [...trace.sharesOfProcessors(task)].sort((a, b) => a[0] - b[0]);
    const whole = Math.max(task.sums[RUNNING][task.count], 1);
    return [...shares.map(([cpu, ticks]) => [`on processor ${cpu}`, `${(100 * ticks / whole).toFixed(1)}\u202f%`]),
            ["migrations", grouped(task.migrations)]];
}

function showJob(side, task, index) {
    const {trace, times} = side.run;
    const {number, release, start, deadline, end, outcome, late} = task.jobs;
    const at = (time) => isNaN(time) ? "\u2013" : times.point(time);
    side.clear(`${task.name}, job ${number[index]}`);
    const lateness = task.jobs.unaccounted[index] >= EARLY ? NaN : end[index] - deadline[index];
    side.facts([
        ["outcome", OUTCOMES[outcome[index]] + (late[index] ? ", MISSED" : ""), late[index] ? "bad" : ""],
        ["release", at(release[index])], ["start", at(start[index])], ["end", at(end[index])],
        ["deadline", at(deadline[index])],
        ["response", isNaN(task.response(index)) ? "\u2013" : times.length(task.response(index))],
        [lateness > 0 ? "late by" : "slack", isNaN(lateness) ? "\u2013" : times.length(Math.abs(lateness)),
         lateness > 0 ? "bad" : ""],
    ]);
    showWhy(side, task, index);
    const [begin, last] = spanOfJob(task, index);
    side.box.append("h3").attr("class", "commands-head").text("Commands");
    const commands = [commandOf(trace, "why", ...taskOption(task), "--job", number[index])];
    if (times.khz !== 0) {
        commands.push(
            commandOf(trace, "print", ...spanOptions(trace, times.ns(begin), times.ns(last) + 1)),
            commandOf(trace, "sql", `select * from intervals where context = ${task.context} and begin_ns < ${
                times.ns(last)} and end_ns > ${times.ns(begin)}`),
            commandOf(trace, "goto", `${times.ns(last)}ns`));
    }
    side.commands(commands);
}

// An SVG file has what the timeline shows: the same functions draw the same rows, with their labels and the axis.

const SAVED_HEAD = AXIS_HEIGHT + 2;

// Draws the timeline; `whole` includes rows that are scrolled away.
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
    const widest = surface.width - 60; // The text at a tick needs this room.
    ticks.forEach((tick, i) => scale.x(tick) <= widest
        && surface.text(scale.x(tick) + 2, 12, `${text(tick, i)} ${unit}`, surface.theme.text));
    return surface;
}

function svgOf(timeline) {
    return drawnAsSvg(timeline, false).toText();
}

// Prints an SVG of all rows instead of the canvas, because paper has other sizes than the window.
function printAsSvg(timeline) {
    const paper = document.getElementById("paper");
    window.addEventListener("beforeprint", () => {
        const {root} = drawnAsSvg(timeline, true);
        paper.classList.toggle("short", root.attr("height") <= root.attr("width")); // It is not cut by a page's end.
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
