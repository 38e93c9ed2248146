// SPDX-License-Identifier: MIT
// Tests formatted events without their texts: why they have none is reported once.
#include "tests/support/reading_text.hpp"

#include "tests/support/host_trace_builder.hpp"
#include "tests/support/memory_source.hpp"

#include <gmock/gmock.h>

namespace host::formats::dat::image_lookup_test {

namespace {

using support::Bytes;
using support::ChunkBuilder;
using support::Lines;
using testing::ElementsAre;
using testing::IsEmpty;

// With so many events of the format 6.
Bytes formatted(std::size_t events, bool has_text = false) {
    ChunkBuilder chunk;
    if (has_text) {
        chunk.format(6, "go");
    }
    const Bytes payload{std::byte{6}, std::byte{0}, std::byte{6}, std::byte{0}, std::byte{0}, std::byte{0}};
    for (std::size_t i = 0; i < events; ++i) {
        for (const tracer::Record& slot : support::combined(trace::kCodeOf<"formatted_event">, payload, {1000 + i})) {
            chunk.raw(slot);
        }
    }
    return chunk.bytes();
}

Lines reports(const Bytes& bytes) {
    Lines lines = support::reading_of(support::memory_source(bytes), {});
    std::erase_if(lines, [](const std::string& line) { return line.find(" W-FORMATS ") == std::string::npos; });
    return lines;
}

TEST(ImageLookup, ReportsOnceThatTextsAreNotThere) {
    EXPECT_THAT(
        reports(formatted(3)),
        ElementsAre("f:0x0 W-FORMATS trace_printf events are shown by number: their texts are in the kernel image; "
                    "name it with --kernel kernel.elf, or store it beside the trace or in a directory of "
                    "REMORA_KERNELS"));
}

TEST(ImageLookup, NeedsNoImageForTextsThatTheTraceHas) {
    EXPECT_THAT(reports(formatted(3, true)), IsEmpty());
    EXPECT_THAT(reports(formatted(0)), IsEmpty());
}

} // namespace

} // namespace host::formats::dat::image_lookup_test
