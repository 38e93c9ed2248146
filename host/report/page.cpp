// SPDX-License-Identifier: MIT
// Puts the page together. Its parts are in the program, as the assembler copied them from host/report/page/ and from
// Debian's node-d3; the scripts of the page are one script in the order of this list.
#include "host/report/document.hpp"
#include "host/report/packing.hpp"
#include "host/report/sha256.hpp"
#include "host/text/format.hpp"

#include <array>
#include <string_view>
#include <utility>

asm(R"(
    .pushsection .rodata
report_page_begin:
    .incbin "host/report/page/page.html"
report_page_end:
report_style_begin:
    .incbin "host/report/page/page.css"
report_style_end:
report_d3_begin:
    .incbin "/usr/share/nodejs/d3/dist/d3.min.js"
report_d3_end:
report_script_begin:
    .incbin "host/report/page/decode.js"
    .incbin "host/report/page/time_text.js"
    .incbin "host/report/page/palette.js"
    .incbin "host/report/page/trace.js"
    .incbin "host/report/page/runs.js"
    .incbin "host/report/page/view.js"
    .incbin "host/report/page/paint.js"
    .incbin "host/report/page/axis.js"
    .incbin "host/report/page/paint_task.js"
    .incbin "host/report/page/paint_lanes.js"
    .incbin "host/report/page/rows.js"
    .incbin "host/report/page/surface.js"
    .incbin "host/report/page/pick.js"
    .incbin "host/report/page/tip.js"
    .incbin "host/report/page/timeline.js"
    .incbin "host/report/page/overview.js"
    .incbin "host/report/page/search.js"
    .incbin "host/report/page/why.js"
    .incbin "host/report/page/statistics.js"
    .incbin "host/report/page/side.js"
    .incbin "host/report/page/save.js"
    .incbin "host/report/page/keys.js"
    .incbin "host/report/page/compare.js"
    .incbin "host/report/page/compare_rows.js"
    .incbin "host/report/page/compare_panel.js"
    .incbin "host/report/page/compare_head.js"
    .incbin "host/report/page/head.js"
    .incbin "host/report/page/live.js"
    .incbin "host/report/page/main.js"
report_script_end:
    .popsection
)");

// NOLINTBEGIN(readability-identifier-naming): labels of the assembler
extern "C" {
extern const char report_page_begin[];
extern const char report_page_end[];
extern const char report_style_begin[];
extern const char report_style_end[];
extern const char report_d3_begin[];
extern const char report_d3_end[];
extern const char report_script_begin[];
extern const char report_script_end[];
}

// NOLINTEND(readability-identifier-naming)

namespace host::report {

namespace {

std::string hash_of(std::string_view script) {
    return fmt::format("'sha256-{}'", base64(sha256(script)));
}

// A script that no browser executes.
std::string block(std::string_view name, std::span<const std::byte> bytes) {
    return fmt::format("<script type=\"application/x-remora-trace\" class=\"{}\">{}</script>\n", name,
                       base64(deflated(bytes)));
}

std::string_view style() {
    return {report_style_begin, report_style_end};
}

std::string_view d3() {
    return {report_d3_begin, report_d3_end};
}

std::string_view script() {
    return {report_script_begin, report_script_end};
}

// more: further directives, each with a semicolon after it.
std::string policy_with(std::string_view more) {
    return fmt::format("default-src 'none'; script-src {} {}; style-src {}; {}base-uri 'none'; form-action 'none'; "
                       "require-trusted-types-for 'script'",
                       hash_of(d3()), hash_of(script()), hash_of(style()), more);
}

std::string page_with(std::string_view policy, std::string_view data) {
    const std::array<std::pair<std::string_view, std::string_view>, 5> parts = {
        {{"@POLICY@", policy}, {"@STYLE@", style()}, {"@D3@", d3()}, {"@DATA@", data}, {"@SCRIPT@", script()}}};
    // Each mark is in the template once, in this order; what is put in is not looked at again.
    std::string_view rest(report_page_begin, report_page_end);
    std::string page;
    for (const auto& [mark, part] : parts) {
        const std::size_t at = rest.find(mark);
        page += rest.substr(0, at);
        page += part;
        rest.remove_prefix(at + mark.size());
    }
    page += rest;
    return page;
}

} // namespace

std::string page(std::span<const std::vector<std::byte>> contents, std::span<const std::byte> comparison) {
    std::string data;
    for (const std::vector<std::byte>& trace : contents) {
        data += block("trace", trace);
    }
    if (!comparison.empty()) {
        data += block("comparison", comparison);
    }
    return page_with(policy_with(""), data);
}

LivePage live_page() {
    const std::string policy = policy_with("connect-src 'self'; ");
    return {.html = page_with(policy, ""), .policy = policy};
}

} // namespace host::report
