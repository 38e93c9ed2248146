// SPDX-License-Identifier: MIT
// Puts the page together, as host/report/frame.cpp does with that of a run: the first scripts are those of both.
#include "fleet/report/page.hpp"

#include "host/report/frame.hpp"

asm(R"(
    .pushsection .rodata
fleet_page_begin:
    .incbin "fleet/report/page/page.html"
fleet_page_end:
fleet_style_begin:
    .incbin "fleet/report/page/page.css"
fleet_style_end:
fleet_script_begin:
    .incbin "host/report/page/common.js"
    .incbin "fleet/report/page/words.js"
    .incbin "fleet/report/page/data.js"
    .incbin "fleet/report/page/filter.js"
    .incbin "fleet/report/page/table.js"
    .incbin "fleet/report/page/head.js"
    .incbin "fleet/report/page/chart.js"
    .incbin "fleet/report/page/nodes.js"
    .incbin "fleet/report/page/tasks.js"
    .incbin "fleet/report/page/worst.js"
    .incbin "fleet/report/page/runs.js"
    .incbin "fleet/report/page/main.js"
fleet_script_end:
    .popsection
)");

// NOLINTBEGIN(readability-identifier-naming): labels of the assembler
extern "C" {
extern const char fleet_page_begin[];
extern const char fleet_page_end[];
extern const char fleet_style_begin[];
extern const char fleet_style_end[];
extern const char fleet_script_begin[];
extern const char fleet_script_end[];
}

// NOLINTEND(readability-identifier-naming)

namespace host::fleet::report {

std::string page(const std::vector<std::byte>& contents) {
    const host::report::Frame frame{.page = {fleet_page_begin, fleet_page_end},
                                    .style = {fleet_style_begin, fleet_style_end},
                                    .script = {fleet_script_begin, fleet_script_end}};
    return host::report::framed(frame, host::report::policy_of(frame), host::report::packed_block("fleet", contents));
}

} // namespace host::fleet::report
