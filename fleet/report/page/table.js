// SPDX-License-Identifier: MIT
// A table that can be sorted by its columns. The page has its first rows only, because browsers are slow with many
// thousands.
"use strict";

const ROWS_SHOWN = 300;

// A column: {title, words: text, not numbers; value(row): what sorts; text(row); cell(td, row): in place of text;
// style(row): a class; tip(row)}. Empty values come last.
class Table {
    // options: {sort: index, descending, empty(): text, click(row), picked(row)}
    constructor(parent, columns, options) {
        this.columns = columns;
        this.options = options;
        this.sort = options.sort;
        this.descending = options.descending;
        this.rows = [];
        const table = parent.append("div").attr("class", "scroll").append("table");
        this.heads = table.append("thead").append("tr").selectAll("th").data(columns).join("th")
            .classed("words", (column) => column.words).attr("scope", "col");
        this.heads.filter((column) => column.value).append("button").text((column) => column.title)
            .attr("title", (column) => column.help || null)
            .on("click", (column, i) => this.sortBy(columns.indexOf(column)));
        this.heads.filter((column) => !column.value).each(function add(column) {
            column.head ? column.head(d3.select(this)) : d3.select(this).text(column.title);
        });
        this.body = table.append("tbody");
        this.more = parent.append("p").attr("class", "cut more");
    }

    sortBy(index) {
        this.descending = this.sort === index ? !this.descending : !this.columns[index].words;
        this.sort = index;
        this.draw();
    }

    show(rows) {
        this.rows = rows;
        this.draw();
    }

    sorted() {
        const {value} = this.columns[this.sort];
        const sign = this.descending ? -1 : 1;
        const isEmpty = (one) => one === null || one === undefined || one === "";
        return this.rows.map((row, i) => [value(row), i, row]).sort(([a, i], [b, j]) => {
            if (isEmpty(a) || isEmpty(b)) {
                return isEmpty(a) - isEmpty(b) || i - j;
            }
            return sign * (typeof a === "string" ? a.localeCompare(b, "en", {numeric: true}) : a - b) || i - j;
        }).map(([, , row]) => row);
    }

    draw() {
        const {columns, options} = this;
        this.heads.attr("aria-sort", (_, i) => i !== this.sort ? null : this.descending ? "descending" : "ascending");
        const sorted = this.sorted();
        const shown = sorted.slice(0, ROWS_SHOWN);
        const picked = options.picked && sorted.find(options.picked);
        if (picked && !shown.includes(picked)) {
            shown[shown.length - 1] = picked;
        }
        this.body.text("");
        const lines = this.body.selectAll("tr").data(shown).join("tr");
        if (options.click) {
            lines.attr("class", (row) => options.picked(row) ? "links picked" : "links")
                .on("click", (row) => options.click(row));
        }
        lines.each(function fill(row) {
            for (const column of columns) {
                const style = [column.words ? "words" : "", column.kind || "", column.style ? column.style(row) : ""];
                const cell = d3.select(this).append("td").attr("class", style.join(" ").trim() || null);
                column.tip && cell.attr("title", column.tip(row) || null);
                column.cell ? column.cell(cell, row) : cell.text(column.text(row));
            }
        });
        this.reveal(this.body.select(".picked").node());
        if (shown.length === 0) {
            this.body.append("tr").append("td").attr("class", "empty").attr("colspan", columns.length)
                .text(options.empty());
        }
        this.more.text(this.rows.length > shown.length
            ? `${grouped(this.rows.length - shown.length)} more: sort, search or choose a part.` : "");
    }

    // Scrolls the table, not the page.
    reveal(line) {
        const box = this.body.node().closest(".scroll");
        const head = this.heads.node().offsetHeight;
        if (line && (line.offsetTop - head < box.scrollTop || line.offsetTop + line.offsetHeight > box.scrollTop
            + box.clientHeight)) {
            box.scrollTop = line.offsetTop - head - 60;
        }
    }
}

// Adds the title of a section, with a note beside it that changes.
function addTitle(section, title) {
    const line = section.append("div").attr("class", "title");
    line.append("h2").text(title);
    return {note: line.append("span").attr("class", "note"), controls: line.append("span").attr("class", "controls")};
}

// Adds what the page leaves out of a section, and the commands that show it.
function addCuts(section, fleet, where) {
    for (const {text, command} of fleet.facts.cuts.filter((cut) => cut.where === where)) {
        const line = section.append("p").attr("class", "cut");
        line.append("span").text(text);
        addCommand(line, command);
    }
}
