// SPDX-License-Identifier: MIT
// docs/trace-format.md ends with the table of events and the table of numbers that have words: they must equal those in
// the source. REMORA_UPDATE_DOCS=1 rewrites them. Runs in the root of the checkout, as `make test-unit` does.
#include "tracer/names/metadata.hpp"
#include "tracer/record/event_table.hpp"
#include "tracer/record/unit_words.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

namespace trace_format_document_test {

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

struct WordList {
    std::string_view what;
    std::span<const std::string_view> words;
    std::string_view where;
};

const auto kWordLists = std::to_array<WordList>({
    {"status", tracer::kStatusNames, "par1 of `filter_*`"},
    {"wait", lib::kWords<lib::WaitKind>,
     "par2 of `task_block`, `task_unblock`, `wait_timeout`, high half; low half: the number of the object"},
    {"exception", lib::kWords<lib::TaskException>, "par2 of `task_exception`, `job_abort`, high half"},
    {"reaction", lib::kWords<lib::Reaction>, "par2 of `task_exception`, `job_abort`, low half"},
    {"protocol", lib::kWords<lib::MutexProtocol>, "par1 of `set_mutex_protocol`"},
    {"server kind", lib::kWords<lib::ServerKind>, "par1 of `server_kind`"},
    {"flow", lib::kWords<lib::Flow>, "par1 of `instruction`; of `block`, bits 15..12; bits 11..0: instructions"},
    {"grain", lib::kWords<lib::Grain>, "par2 of `instruction_trace_begin`"},
    {"outcome", lib::kWords<lib::StepOutcome>, "par1 of `compensation_count`"},
});

std::string numbered(std::span<const std::string_view> words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (!words[i].empty()) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", i, words[i]);
        }
    }
    return text;
}

std::string table() {
    std::string text = "\n| code | name | par1 | par2 | kind | meaning |\n|---|---|---|---|---|---|\n";
    for (const tracer::EventRow& row : tracer::kEvents) {
        text += fmt::format("| {:02X} | {} | {} | {} | {} | {} |\n", row.code, row.name, parameter_text(row.par1),
                            parameter_text(row.par2), kind_of(row), row.meaning);
    }
    text += "\n## 7. Numbers that have words\n\n"
            "A number that a list does not have is of a kernel of another version: a reader prints the number.\n\n"
            "| numbers | words | in |\n|---|---|---|\n";
    for (const WordList& list : kWordLists) {
        text += fmt::format("| {} | {} | {} |\n", list.what, numbered(list.words), list.where);
    }
    return text;
}

TEST(TraceFormatDocument, ListsTheEventsAndWordsOfTheSource) {
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
    EXPECT_EQ(document.substr(begin), table()) << "REMORA_UPDATE_DOCS=1 rewrites the tables";
}

TEST(TraceFormatDocument, HasEachListOfWords) {
    const auto listed = [](std::span<const std::string_view> words) {
        return words.empty() || std::ranges::any_of(kWordLists, [words](const WordList& list) {
                   return std::ranges::equal(list.words, words);
               });
    };
    for (std::size_t i = 0; i < tracer::kUnits; ++i) {
        const tracer::UnitWords& words = tracer::words_of(static_cast<tracer::Unit>(i));
        EXPECT_TRUE(listed(words.words) && listed(words.low)) << "unit " << i;
    }
}

TEST(TraceFormatDocument, ListsTheFieldsOfEveryPayloadInTheirSizes) {
    // The sizes that the document's list of fields adds up to, length word included and names empty.
    std::array<std::byte, 256> bytes{};
    EXPECT_EQ(tracer::encode_payload(tracer::ChunkBegin{}, bytes).value(),
              2U + 2 + 2 + 2 + 1 + 1 + 4 * 4 + 2 + 4 + 4 * 8 + 2 + 2 * 8 + 4);
    EXPECT_EQ(tracer::encode_payload(tracer::Build{}, bytes).value(), 2U + 3 + 8 + 8);
    EXPECT_EQ(tracer::encode_payload(tracer::TraceCost{}, bytes).value(), 2U + 4 * 4);
    constexpr tracer::TraceCost kCompact{.choice = tracer::LayoutChoice::given};
    EXPECT_EQ(tracer::encode_payload(kCompact, bytes).value(), 2U + 4 * 4 + 2 + 2 * 4);
    EXPECT_EQ(tracer::encode_payload(tracer::NameOf{}, bytes).value(), 2U + 2 + 1);
    EXPECT_EQ(tracer::encode_payload(tracer::TaskParameters{}, bytes).value(), 2U + 2 + 2 + 5 * 8);
    EXPECT_EQ(tracer::encode_payload(tracer::ExportEnd{}, bytes).value(), 2U + 4 + 1 + 6 * 8 + 4);
}

} // namespace trace_format_document_test
