// SPDX-License-Identifier: MIT
// Puts the pages together. Their parts are in the program, as the assembler copied them from host/report/page/; the
// scripts of the page are one script in the order of this list.
#include "host/report/frame.hpp"

#include "host/report/document.hpp"
#include "host/report/packing.hpp"
#include "host/text/format.hpp"

#include <array>
#include <utility>

asm(R"(
    .pushsection .rodata
report_style_begin:
    .incbin "host/report/page/page.css"
report_style_end:
report_d3_begin:
    .incbin "d3.min.js"
report_d3_end:
report_page_begin:
    .incbin "host/report/page/page.html"
report_page_end:
report_script_begin:
    .incbin "host/report/page/common.js"
    .incbin "host/report/page/trace.js"
    .incbin "host/report/page/view.js"
    .incbin "host/report/page/paint.js"
    .incbin "host/report/page/paint_task.js"
    .incbin "host/report/page/paint_lanes.js"
    .incbin "host/report/page/rows.js"
    .incbin "host/report/page/surface.js"
    .incbin "host/report/page/timeline.js"
    .incbin "host/report/page/statistics.js"
    .incbin "host/report/page/side.js"
    .incbin "host/report/page/input.js"
    .incbin "host/report/page/compare.js"
    .incbin "host/report/page/compare_panel.js"
    .incbin "host/report/page/live.js"
    .incbin "host/report/page/main.js"
report_script_end:
    .popsection
)");

// NOLINTBEGIN(readability-identifier-naming): labels of the assembler
extern "C" {
extern const char report_style_begin[];
extern const char report_style_end[];
extern const char report_d3_begin[];
extern const char report_d3_end[];
extern const char report_page_begin[];
extern const char report_page_end[];
extern const char report_script_begin[];
extern const char report_script_end[];
}

// NOLINTEND(readability-identifier-naming)

namespace host::report {

namespace {

std::string hash_of(std::string_view script) {
    return fmt::format("'sha256-{}'", base64(sha256(script)));
}

std::string style_of(const Frame& frame) {
    return std::string(report_style_begin, report_style_end).append(frame.style);
}

std::string_view d3() {
    return {report_d3_begin, report_d3_end};
}

Frame frame_of_run() {
    return {
        .page = {report_page_begin, report_page_end}, .style = {}, .script = {report_script_begin, report_script_end}};
}

} // namespace

std::string packed_block(std::string_view name, std::span<const std::byte> bytes) {
    return fmt::format("<script type=\"application/x-remora-trace\" class=\"{}\">{}</script>\n", name,
                       base64(deflated(bytes)));
}

std::string policy_of(const Frame& frame, std::string_view more) {
    return fmt::format("default-src 'none'; script-src {} {}; style-src {}; {}base-uri 'none'; form-action 'none'; "
                       "require-trusted-types-for 'script'",
                       hash_of(d3()), hash_of(frame.script), hash_of(style_of(frame)), more);
}

std::string framed(const Frame& frame, std::string_view policy, std::string_view data) {
    const std::string style = style_of(frame);
    const std::array<std::pair<std::string_view, std::string_view>, 5> parts = {
        {{"@POLICY@", policy}, {"@STYLE@", style}, {"@D3@", d3()}, {"@DATA@", data}, {"@SCRIPT@", frame.script}}};
    // What is put in is not looked at again.
    std::string_view rest = frame.page;
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

std::string page(std::span<const std::vector<std::byte>> contents, std::span<const std::byte> comparison) {
    std::string data;
    for (const std::vector<std::byte>& trace : contents) {
        data += packed_block("trace", trace);
    }
    if (!comparison.empty()) {
        data += packed_block("comparison", comparison);
    }
    return framed(frame_of_run(), policy_of(frame_of_run()), data);
}

LivePage live_page() {
    const std::string policy = policy_of(frame_of_run(), "connect-src 'self'; ");
    return {.html = framed(frame_of_run(), policy, ""), .policy = policy};
}

} // namespace host::report
