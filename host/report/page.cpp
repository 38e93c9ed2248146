// SPDX-License-Identifier: MIT
// Puts the page together. Its parts are in the program, as the assembler copied them from host/report/page/; the
// scripts of the page are one script in the order of this list.
#include "host/report/document.hpp"
#include "host/report/frame.hpp"

#include <string_view>

asm(R"(
    .pushsection .rodata
report_page_begin:
    .incbin "host/report/page/page.html"
report_page_end:
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
extern const char report_script_begin[];
extern const char report_script_end[];
}

// NOLINTEND(readability-identifier-naming)

namespace host::report {

namespace {

Frame frame() {
    return {
        .page = {report_page_begin, report_page_end}, .style = {}, .script = {report_script_begin, report_script_end}};
}

} // namespace

std::string page(std::span<const std::vector<std::byte>> contents, std::span<const std::byte> comparison) {
    std::string data;
    for (const std::vector<std::byte>& trace : contents) {
        data += packed_block("trace", trace);
    }
    if (!comparison.empty()) {
        data += packed_block("comparison", comparison);
    }
    return framed(frame(), policy_of(frame()), data);
}

LivePage live_page() {
    const std::string policy = policy_of(frame(), "connect-src 'self'; ");
    return {.html = framed(frame(), policy, ""), .policy = policy};
}

} // namespace host::report
