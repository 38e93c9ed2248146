// SPDX-License-Identifier: MIT
// See section_report.hpp.
#include "kernel/root/section_report.hpp"

#include "kernel/panic/console.hpp"
#include "kernel/section/section_meter.hpp"

#include <string_view>

namespace kernel::root {

namespace {

[[maybe_unused]] void report(const SectionMeter& meter) {
    std::size_t number = 0;
    for (const MeasuredSection& section : meter.sections()) {
        console().mark("section ", number++, " longest ", section.longest.value, " mean ",
                       section.total.value / section.count, " count ", section.count, " ",
                       std::string_view(section.place.file), ":", section.place.line, " ",
                       std::string_view(section.place.function));
    }
    if (meter.lost() != 0) {
        console().mark("sections of further places, not measured: ", meter.lost());
    }
}

} // namespace

void report_sections() {
    if constexpr (kSectionsMeasured) {
        report(kernel::detail::section_meter);
    }
}

} // namespace kernel::root
