// SPDX-License-Identifier: MIT
// Tests the table of malformed inputs: each row's code, the place in its line, its exit status, and what must still
// come out. No row may be missing, and docs/malformed.md is the table. The rows are in the *_rows.cpp beside this file.
#include "host/text/format.hpp"
#include "tests/support/malformed_row.hpp"

#include "host/formats/trace.hpp"
#include "tests/support/capture_files.hpp"
#include "tests/support/kev_builder.hpp"
#include "tests/support/packed_archives.hpp"
#include "tests/support/tlog_files.hpp"

#include <cstdlib>
#include <gmock/gmock.h>
#include <set>
#include <sstream>

namespace support {

using host::trace::ExitStatus;

Outcome MalformedInput::read_path(const std::string& path, const host::trace::OpenOptions& options) {
    using namespace host::trace;
    Outcome outcome;
    Diagnostics diagnostics([&](std::string_view line) { outcome.lines += std::string(line) + '\n'; });
    const auto trace = host::formats::Trace::open(path, options, diagnostics);
    if (!trace) {
        outcome.status = diagnostics.exit_status(false);
        return outcome;
    }
    trace.value()->for_each([&](const Event& event) {
        if (!event.metadata) {
            ++(event.is_sound() ? outcome.events : outcome.unsound);
            outcome.late += event.state == EventState::late ? 1 : 0;
            outcome.ticks.push_back(event.ticks.value);
        }
    });
    diagnostics.finish();
    outcome.status = diagnostics.exit_status(trace.value()->facts().usable_events != 0);
    return outcome;
}

Outcome MalformedInput::read(const Bytes& bytes, const host::trace::OpenOptions& options) {
    return read_path(store("input", bytes), options);
}

Outcome MalformedInput::run(std::vector<std::string> arguments) {
    Outcome outcome;
    outcome.status = static_cast<ExitStatus>(remora(std::move(arguments)));
    outcome.lines = m_err;
    outcome.shown = m_out;
    return outcome;
}

namespace {

std::vector<MalformedRow> malformed() {
    std::vector<MalformedRow> rows;
    for (auto&& group : {malformed_records(), malformed_chunks(), malformed_long_events(), malformed_compact(),
                         malformed_packed(), malformed_packets(), malformed_exports()}) {
        rows.insert(rows.end(), group.begin(), group.end());
    }
    return rows;
}

// The line that has the code.
std::string line_with(const std::string& lines, const std::string& code) {
    std::istringstream in(lines);
    for (std::string line; std::getline(in, line);) {
        if (line.find(' ' + code + ' ') != std::string::npos) {
            return line;
        }
    }
    return "";
}

class MalformedTable : public MalformedInput, public testing::WithParamInterface<MalformedRow> {};

TEST_P(MalformedTable, SaysItsCodeAndPlaceAndEndsWithItsStatus) {
    const MalformedRow& row = GetParam();
    const auto* const bytes = std::get_if<Bytes>(&row.given);
    const Outcome outcome = bytes != nullptr ? read(*bytes, row.options) : std::get<MalformedAct>(row.given)(*this);
    EXPECT_EQ(outcome.status, row.status) << outcome.lines;
    if (row.says.code.empty()) {
        EXPECT_THAT(outcome.lines, testing::HasSubstr(row.says.text));
        EXPECT_TRUE(!row.says.text.empty() || outcome.lines.empty()) << outcome.lines;
    } else {
        const std::string line = line_with(outcome.lines, row.says.code);
        EXPECT_NE(line, "") << row.says.code << " is not in\n" << outcome.lines;
        EXPECT_THAT(line, testing::HasSubstr(row.says.text));
        if (row.says.offset_bytes) {
            EXPECT_THAT(line, testing::HasSubstr(fmt::format(":0x{:x} ", *row.says.offset_bytes)));
        }
    }
    if (row.events) {
        EXPECT_EQ(outcome.events, *row.events) << outcome.lines;
    }
}

INSTANTIATE_TEST_SUITE_P(Rows, MalformedTable, testing::ValuesIn(malformed()),
                         [](const auto& row) { return row.param.row + "_" + row.param.name; });

// --- --strict --------------------------------------------------------------------------------------------------------

struct Stopped {
    std::string name;
    Bytes bytes;
    std::size_t before; // events in front of the damage
    std::size_t all;
};

std::vector<Stopped> stopped_inputs() {
    const auto slot = [](std::uint16_t code, std::uint64_t stamp) { return tracer::make_record(code, 0, 0, {stamp}); };
    ChunkBuilder orphan = three_events().raw(slot(0x200E, 3000));
    orphan.event(4000, "ipoint", 1);
    ChunkBuilder middle(5);
    for (unsigned i = 0; i < 20; ++i) {
        middle.event(6000 + i, "ipoint", 1);
    }
    Bytes stream = middle.compact(tracer::compact::Layout::a);
    stream[main_area(middle) + 40] ^= std::byte{1};
    ChunkBuilder last(6);
    last.event(20'000'000, "ipoint", 1);
    KevBuilder kev;
    kev.buffer(0, 0x1000, 0).time(0, 0x1000).user(0, 0x1010, 1).slot('C', 0, 6, 1, 0x1020).user(0, 0x1030, 2);
    TlogFile tlog;
    tlog.record(0, 1, 0).record(0, 31, 1).record(0, 31, -1).record(0, 31, 2).record(0, 2, 3).pad();
    std::uint32_t number = 1;
    Pcap pcap;
    for (const ChunkBuilder& chunk : {three_events(), one_event(), last}) {
        for (const Bytes& datagram : packets(chunk.bytes(), number)) {
            Bytes frame = ethernet(ip_packet(datagram));
            frame.back() ^= std::byte{number == 3 ? std::uint8_t{1} : std::uint8_t{0}}; // the second one
            pcap.add(frame);
        }
    }
    Bytes archive = pack(two_chunks());
    archive[block_at(archive, 2) + host::formats::packed::kHeaderBytes + 30] ^= std::byte{1};
    return {
        {"described", orphan.bytes(), 3, 4},
        {"plain", orphan.plain(), 3, 4},
        {"compact", three_events().bytes() + stream + last.bytes(), 3, 4},
        {"kev", kev.bytes, 1, 2},
        {"tlog", tlog.bytes(), 2, 4},
        {"capture", pcap.bytes(), 3, 4},
        {"packed", archive, 12, 12},
    };
}

std::ostream& operator<<(std::ostream& out, const Stopped& input) {
    return out << input.name;
}

class MalformedStrictly : public MalformedInput, public testing::WithParamInterface<Stopped> {};

TEST_P(MalformedStrictly, StopsAtTheFirstDamage) {
    const Outcome whole = read(GetParam().bytes);
    EXPECT_EQ(whole.events, GetParam().all) << whole.lines;
    EXPECT_EQ(whole.status, ExitStatus::damaged);
    const Outcome strict = read(GetParam().bytes, {.strict = true});
    EXPECT_EQ(strict.events, GetParam().before) << strict.lines;
    EXPECT_EQ(strict.unsound, 0U);
    EXPECT_EQ(strict.status, ExitStatus::damaged);
}

INSTANTIATE_TEST_SUITE_P(Formats, MalformedStrictly, testing::ValuesIn(stopped_inputs()),
                         [](const auto& input) { return input.param.name; });

TEST(MalformedTableItself, HasEveryRowAndEveryNameOnce) {
    std::set<std::string> rows;
    std::set<std::string> names;
    for (const MalformedRow& row : malformed()) {
        rows.insert(row.row);
        EXPECT_TRUE(names.insert(row.name).second) << row.name << " is there twice";
    }
    for (unsigned number = 1; number <= 60; ++number) {
        EXPECT_TRUE(rows.contains("D" + std::to_string(number))) << "D" << number << " has no test";
    }
    EXPECT_EQ(rows.size(), 60U);
}

TEST(MalformedTableItself, IsTheOneInTheDocument) {
    constexpr const char* kPath = "docs/malformed.md";
    constexpr std::string_view kMark = "| row | name | input | code | exit |\n|---|---|---|---|---|\n";
    std::string table;
    for (const MalformedRow& row : malformed()) {
        table += fmt::format("| {} | {} | {} | {} | {} |\n", row.row, row.name, row.input,
                             row.says.code.empty() ? "-" : row.says.code, static_cast<unsigned>(row.status));
    }
    const std::string document = read_text(kPath);
    const std::size_t mark = document.find(kMark);
    ASSERT_NE(mark, std::string::npos);
    const std::size_t begin = mark + kMark.size();
    if (std::getenv("REMORA_UPDATE_DOCS") != nullptr) {
        std::FILE* const file = std::fopen(kPath, "w");
        std::fputs((document.substr(0, begin) + table).c_str(), file);
        std::fclose(file);
        return;
    }
    EXPECT_EQ(document.substr(begin), table) << "REMORA_UPDATE_DOCS=1 rewrites the table";
}

} // namespace

} // namespace support
