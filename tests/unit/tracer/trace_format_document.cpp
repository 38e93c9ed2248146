// SPDX-License-Identifier: MIT
// docs/trace-format.md ends with the event table: it must be the one in the source. REMORA_UPDATE_DOCS=1 rewrites it.
// Runs in the root of the checkout, as `make test-unit` does.
#include "tracer/event_table.hpp"
#include "tracer/metadata.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>

namespace {

constexpr const char* kPath = "docs/trace-format.md";
constexpr std::string_view kMarker = "<!-- events:";

std::string parameter_text(const tracer::Parameter& parameter) {
    return parameter.unit == tracer::Unit::none ? "" : std::string(parameter.name);
}

std::string_view kind_of(const tracer::EventRow& row) {
    switch (row.shape) {
    case tracer::Shape::combined:
        return "combined";
    case tracer::Shape::consumed:
        return "consumed";
    case tracer::Shape::simple:
        break;
    }
    return row.space == tracer::Space::emergency ? "emergency" : "";
}

std::string table() {
    std::string text = "\n| code | name | par1 | par2 | kind | meaning |\n|---|---|---|---|---|---|\n";
    for (const tracer::EventRow& row : tracer::kEvents) {
        text += fmt::format("| {:02X} | {} | {} | {} | {} | {} |\n", row.code, row.name, parameter_text(row.par1),
                            parameter_text(row.par2), kind_of(row), row.meaning);
    }
    return text;
}

TEST(TraceFormatDocument, ListsTheEventsOfTheSource) {
    std::ifstream file(kPath);
    ASSERT_TRUE(file) << kPath << ": run this in the root of the checkout";
    const std::string document{std::istreambuf_iterator<char>(file), {}};
    const std::size_t marker = document.find(kMarker);
    ASSERT_NE(marker, std::string::npos);
    const std::size_t begin = document.find('\n', marker) + 1;
    if (std::getenv("REMORA_UPDATE_DOCS") != nullptr) {
        std::ofstream(kPath) << document.substr(0, begin) << table();
        return;
    }
    EXPECT_EQ(document.substr(begin), table()) << "REMORA_UPDATE_DOCS=1 rewrites the table";
}

TEST(TraceFormatDocument, ListsTheFieldsOfEveryPayloadInTheirSizes) {
    // The sizes that the document's list of fields adds up to, length word included and names empty.
    std::array<std::byte, 256> bytes{};
    EXPECT_EQ(tracer::encode_payload(tracer::ChunkBegin{}, bytes).value(),
              2U + 2 + 2 + 2 + 1 + 1 + 4 * 4 + 2 + 4 + 4 * 8 + 2 + 2 * 8);
    EXPECT_EQ(tracer::encode_payload(tracer::Build{}, bytes).value(), 2U + 3 + 8 + 8);
    EXPECT_EQ(tracer::encode_payload(tracer::TraceCost{}, bytes).value(), 2U + 4 * 4);
    EXPECT_EQ(tracer::encode_payload(tracer::NameOf{}, bytes).value(), 2U + 2 + 1);
    EXPECT_EQ(tracer::encode_payload(tracer::TaskParameters{}, bytes).value(), 2U + 2 + 2 + 5 * 8);
    EXPECT_EQ(tracer::encode_payload(tracer::ExportEnd{}, bytes).value(), 2U + 4 + 1 + 4 * 8);
}

} // namespace
