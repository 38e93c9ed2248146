// SPDX-License-Identifier: MIT
// Tests the block of a page as a whole: what its directory and its tables have of a small trace with every kind of
// event, name, loss and damage in it. The file beside this one has what is expected. Runs in the root of the checkout,
// as `make test-unit` does.
#include "host/formats/trace.hpp"
#include "host/report/document.hpp"
#include "lib/endian.hpp"
#include "tests/support/example_traces.hpp"
#include "tests/support/expected_text.hpp"
#include "tests/support/scene.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace host::report::contents_test {

namespace {

using Json = nlohmann::ordered_json;
using Bytes = std::vector<std::byte>;

constexpr std::string_view kScene = R"(
    9000001000 switch 1; 9000001100 irq 32, release 2 at 9000001050 due 9000001200; 9000001140 iret 32
    9000001160 1 -> 2; 9000001170 acquire 2 1; 9000001190 unlock 2 1; 9000001300 complete 2
    9000001310 server_attach 6 2, budget 6 4; 9000001320 budget 6 3, switch 1
)";

// Fills the tables from a trace, as `remora report` does.
class Page {
  public:
    explicit Page(const Axis::Window& window = {}, std::uint64_t intervals_max = 1000)
        : m_axis(window)
        , m_schedule(m_axis, intervals_max) {
        const std::string path = m_directory.write("machine.dat", support::example::machine());
        auto opened = formats::Trace::open(path, {}, m_silent);
        EXPECT_TRUE(opened.ok());
        m_trace = std::move(opened.value());
    }

    // Takes all events, and calls back after so many that are no metadata. A late job that an interrupt released, and a
    // served task, follow those of the trace.
    void read(std::uint64_t pause = 0, const std::function<void()>& paused = {}) {
        const auto take = [&](const trace::Event& event) {
            if (event.metadata) {
                return; // the preambles of this trace are stamped later than its events
            }
            const std::uint32_t khz = m_trace->facts().clock.khz;
            m_axis.saw(event, khz);
            m_latencies.add(event, m_schedule.add(event, khz), m_schedule.schedule());
            m_events.add(event, event.par1 % (m_schedule.tasks().rows().size() + 1)); // any task will do
            if (++m_head.events == pause) {
                paused();
            }
        };
        m_trace->for_each(take);
        support::SceneReader scene;
        for (trace::Event event : scene.read(kScene)) {
            event.names = &m_trace->facts().names;
            take(event);
        }
        m_latencies.finish();
        m_schedule.finish(m_trace->facts().names);
    }

    [[nodiscard]] Trace trace() {
        return {.head = m_head,
                .axis = m_axis,
                .schedule = m_schedule,
                .events = m_events,
                .latencies = m_latencies,
                .facts = m_trace->facts()};
    }

    [[nodiscard]] Head& head() { return m_head; }

  private:
    support::TemporaryDirectory m_directory;
    trace::Diagnostics m_silent{[](std::string_view) {}};
    std::unique_ptr<formats::Trace> m_trace;
    Head m_head;
    Axis m_axis;
    ScheduleTables m_schedule;
    EventTables m_events{m_axis};
    analyse::Latencies m_latencies{std::nullopt};
};

std::vector<std::uint64_t> decoded(std::span<const std::byte> bytes) {
    std::vector<std::uint64_t> values;
    std::uint64_t value = 0;
    unsigned shift = 0;
    for (const std::byte byte : bytes) {
        value |= (std::to_integer<std::uint64_t>(byte) & 0x7F) << shift;
        shift += 7;
        if (std::to_integer<unsigned>(byte) < 0x80) {
            values.push_back(std::exchange(value, 0));
            shift = 0;
        }
    }
    return values;
}

// Returns the values, "8 x5" for five of them in a row.
std::string text_of(const std::vector<std::uint64_t>& values) {
    std::string text;
    for (std::size_t i = 0, same = 0; i < values.size(); i += same) {
        same = 1;
        while (i + same < values.size() && values[i + same] == values[i]) {
            ++same;
        }
        text += fmt::format(" {}", values[i]) + (same > 1 ? fmt::format(" x{}", same) : "");
    }
    return text;
}

Json directory_of(std::span<const std::byte> block) {
    const auto size = lib::load_le<std::uint32_t>(block);
    const auto* const text = reinterpret_cast<const char*>(block.data()) + sizeof size;
    return Json::parse(text, text + size);
}

// Returns the directory, a line for each member and element, and after a table's line its columns.
std::string text_of(const Bytes& block) {
    std::string text;
    const Json directory = directory_of(block);
    auto columns = std::span(block).subspan(sizeof(std::uint32_t) + lib::load_le<std::uint32_t>(std::span(block)));
    for (const auto& [key, value] : directory.items()) {
        text += key + (value.is_array() ? "\n" : " " + value.dump() + "\n");
        for (const Json& element : value.is_array() ? value : Json::array()) {
            text += "  " + element.dump() + '\n';
            const Json sizes = element.is_object() ? element.value("columns", Json::object()) : Json::object();
            for (const auto& [name, size] : sizes.items()) {
                if (columns.size() < size) {
                    return text + "    the block is too short for this column\n";
                }
                text += fmt::format("    {}{}\n", name, text_of(decoded(columns.first(size))));
                columns = columns.subspan(size);
            }
        }
    }
    return text + fmt::format("{} bytes are left\n", columns.size());
}

Head whole_head() {
    return {.trace = "a.dat",
            .options = {"--from", "1us"},
            .ended = "passed",
            .started_s = 1'700'000'000,
            .verdict = "All is here.",
            .verdict_style = "good",
            .lost = 5,
            .judgement =
                {.checked = 6,
                 .undecided = 7,
                 .violations = 1,
                 .shown = {{.at = 8, .task = 2, .rule = "edf", .text = "late", .file = "0a", .chunk = 3, .record = 4}},
                 .relaxations = {"a level is unknown"}},
            .late = {{.context = 2, .end = 9, .sentences = {"It waited.", "It ran."}}},
            .crashes = {R"({"kind":"panic"})"},
            .tracing = analyse::TracingShare{.records = 10, .ticks_per_record = 2.5, .time = {25}, .share = 0.125}};
}

TEST(Contents, HaveWhatTheTraceHas) {
    Page page;
    page.head() = whole_head();
    page.read();
    support::expect_text_of("tests/unit/host/report/outputs/machine.txt", text_of(contents(page.trace())));
}

// Everything after the cut is as in the whole block; what has numbers continues after those of the cut.
TEST(Contents, HaveOnlyWhatIsNewAfterACut) {
    Page page;
    Cut cut;
    page.read(60, [&] { cut = cut_of(page.trace()); });
    EXPECT_EQ(cut.events, 60U);
    const Live live{.state = "running", .cut = 3, .first = false, .run = 2};
    support::expect_text_of("tests/unit/host/report/outputs/machine-after.txt",
                            text_of(contents(page.trace(), cut, live)));
    const Json nothing_new = directory_of(contents(page.trace(), cut_of(page.trace()), live));
    for (const std::string_view list : {"details", "culprits", "kinds", "texts"}) {
        EXPECT_TRUE(nothing_new[list].empty()) << list;
    }
    for (const Json& table : nothing_new["tables"]) {
        EXPECT_TRUE(table["name"] == "overview" || table["rows"] == 0) << table;
    }
}

TEST(Contents, EndWhereThePageIsFullOrTheWindowDoes) {
    Page full({}, 3);
    full.read();
    const Json span = directory_of(contents(full.trace()))["span"];
    EXPECT_EQ(span["full"], true);
    EXPECT_GT(span["intervals"], 3) << "those of the trace";
    EXPECT_NE(span["to_ns"], nullptr);
    Page window({.from_ns = 300, .to_ns = 500});
    window.read();
    support::expect_text_of("tests/unit/host/report/outputs/machine-window.txt", text_of(contents(window.trace())));
}

TEST(Contents, SayOfAMachineWithoutATraceThatItHasNone) {
    EXPECT_EQ(text_of(contents_without_trace({.state = "waiting", .cut = 0, .first = true, .run = 4})),
              "version 1\nlive {\"state\":\"waiting\",\"cut\":0,\"first\":true,\"run\":4}\ntables\n"
              "0 bytes are left\n");
}

} // namespace

} // namespace host::report::contents_test
