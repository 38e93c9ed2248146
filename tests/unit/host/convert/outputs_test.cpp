// SPDX-License-Identifier: MIT
// What each converter writes, byte for byte: four small traces that have every kind of event, name, loss and damage in
// them, and the outputs in tests/unit/host/convert/outputs/, one file per format. That other programs read these
// formats as they are meant is what tests/viewers/ shows; a change of an output is seen here. REMORA_UPDATE_DOCS=1
// rewrites the files. Runs in the root of the checkout, as `make test-unit` does.
#include "host/convert/convert.hpp"

#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "lib/version.hpp"
#include "lib/wire_numbers.hpp"
#include "tests/support/host_trace_builder.hpp"
#include "tests/support/kev_builder.hpp"
#include "tests/support/tlog_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <set>
#include <sqlite3.h>
#include <sstream>

namespace host::convert {

namespace {

using lib::Flow;
using lib::WaitKind;
using support::Bytes;
using support::ChunkBuilder;

constexpr std::string_view kFolder = "tests/unit/host/convert/outputs/";
constexpr std::uint64_t kImage = 0x1234'5678'9ABC'DEF0;

// --- the traces ------------------------------------------------------------------------------------------------------

std::uint32_t wait_on(WaitKind kind, std::uint16_t object = 0) {
    return static_cast<std::uint32_t>(kind) << 16 | object;
}

Bytes numbers(std::initializer_list<unsigned> values) {
    Bytes bytes;
    for (const unsigned value : values) {
        bytes.push_back(static_cast<std::byte>(value));
    }
    return bytes;
}

Bytes operator+(Bytes left, const Bytes& right) {
    left.insert(left.end(), right.begin(), right.end());
    return left;
}

// A long event: its length is put in front.
void add_long(ChunkBuilder& chunk, std::uint8_t code, std::uint64_t ticks, const Bytes& payload) {
    const auto length = static_cast<unsigned>(payload.size() + 2);
    for (const tracer::Record& slot :
         support::combined(code, numbers({length & 0xFF, length >> 8}) + payload, {ticks})) {
        chunk.raw(slot);
    }
}

// What every chunk of the machine states in its preamble.
ChunkBuilder chunk_of(std::uint16_t number, std::uint16_t cpu) {
    ChunkBuilder chunk(number);
    chunk.begin.cpu = cpu;
    chunk.begin.tsc_error_ppm = 40;
    chunk.build("con:trol", 7, kImage);
    chunk.name("task", 1, "idle").name("task", 2, "fast").name("task", 3, "slow loop").name("task", 5, "\"q\"\\\x01");
    chunk.name("level", 0, "EDF").name("level", 1, "RR").name("level", 2, "CBS");
    chunk.name("interrupt", 32, "timer").name("mutex", 1, "bus").name("semaphore", 2, "items").name("port", 4, "mail");
    chunk.name("condition", 3, "ready").name("server", 6, "cbs");
    chunk.parameters({.context = 2, .level = 0, .wcet_ns = 500, .period_ns = 10'000, .deadline_ns = 9'000});
    chunk.parameters({.context = 3, .level = 1, .budget_ns = 77, .offset_ns = 5});
    chunk.parameters({.context = 5, .level = 2, .budget_ns = 300});
    tracer::EventDeclaration declaration{.id = 9, .name = {"control out"}, .field_count = 6};
    declaration.items[0] = {.type = tracer::FieldType::u16, .detail = 4, .name = {"error"}, .unit = {"m/s"}};
    declaration.items[1] = {.type = tracer::FieldType::i8, .name = {"sign"}};
    declaration.items[2] = {.type = tracer::FieldType::text, .detail = 8, .name = {"why"}};
    declaration.items[3] = {.type = tracer::FieldType::float32, .name = {"gain"}};
    declaration.items[4] = {.type = tracer::FieldType::character, .name = {"mark"}};
    declaration.items[5] = {.type = tracer::FieldType::pointer, .name = {"at"}};
    chunk.declare(declaration).format(5, "x=%d %s");
    return chunk;
}

void add_schedule(ChunkBuilder& chunk) {
    chunk.event(1'000'000, "trace_start", 1, 1'000'000).event(1'000'010, "task_create", 2, 102);
    chunk.event(1'000'020, "task_create", 3, 103).event(1'000'030, "set_mutex_create", 2, 1);
    chunk.event(1'000'040, "set_mutex_protocol", 1, 1).event(1'000'050, "context_switch", 1);
    chunk.event(1'000'100, "task_activate", 2).event(1'000'110, "job_release", 2, 1'000'100);
    chunk.event(1'000'120, "job_deadline", 2, 1'009'100).event(1'000'130, "task_schedule", 2, 2);
    chunk.event(1'000'140, "task_dispatch", 2, 0).event(1'000'150, "context_switch", 2);
    chunk.event(1'000'160, "task_begin_cycle", 2, 0).event(1'000'200, "set_mutex_lock", 2, 1);
    chunk.event(1'000'210, "set_mutex_acquire", 2, 1).event(1'000'300, "interrupt_start", 32);
    chunk.event(1'000'310, "timer_wakeup_start").event(1'000'320, "interrupt_start", 33);
    chunk.event(1'000'330, "interrupt_end", 33).event(1'000'340, "task_activate", 3);
    chunk.event(1'000'350, "timer_wakeup_end", 2).event(1'000'360, "interrupt_end", 32);
    chunk.event(1'000'400, "context_switch", 3).event(1'000'410, "set_mutex_lock", 3, 1);
    chunk.event(1'000'420, "task_block", 3, wait_on(WaitKind::mutex, 1)).event(1'000'430, "inheritance", 2, 3);
    chunk.event(1'000'440, "context_switch", 2).event(1'000'500, "set_mutex_unlock", 2, 1);
    chunk.event(1'000'510, "task_unblock", 3, wait_on(WaitKind::mutex, 1)).event(1'000'520, "set_mutex_acquire", 3, 1);
    chunk.event(1'000'530, "set_mutex_wait", 2, 2).event(1'000'540, "task_block", 2, wait_on(WaitKind::semaphore, 2));
    chunk.event(1'000'550, "context_switch", 3).event(1'000'600, "set_mutex_post", 3, 2);
    chunk.event(1'000'610, "task_unblock", 2, wait_on(WaitKind::semaphore, 2)).event(1'000'620, "port_send", 3, 4);
    chunk.event(1'000'630, "task_block", 3, wait_on(WaitKind::delay)).event(1'000'640, "context_switch", 2);
    chunk.event(1'000'650, "task_epilogue", 3, 1).event(1'000'700, "task_end_cycle", 2, 0);
    chunk.event(1'000'710, "context_switch", 1)
        .event(1'000'720, "timer_post", 0, 8)
        .event(1'000'730, "timer_delete", 0, 8);
}

void add_others(ChunkBuilder& chunk) {
    chunk.event(1'001'000, "server_create", 0, 6).event(1'001'010, "server_kind", 1, 6);
    chunk.event(1'001'020, "server_budget", 6, 250).event(1'001'030, "server_budget", 9, 100);
    chunk.event(1'001'040, "condition_signal", 2, 3).event(1'001'050, "signal", 2, 10);
    chunk.event(1'001'060, "set_priority", 2, 50).event(1'001'070, "user_event_3", 0xFFFF, 0xFFFF'FFFF);
    chunk.raw(tracer::make_record(0x8001, 9, 8, {1'001'080})); // past the filters
    chunk.raw(tracer::make_record(0x10EC, 7, 6, {1'001'090})); // no row; of a long event that never began
    chunk.raw(tracer::make_record(0x00FC, 7, 6, {1'001'100})); // no row
    chunk.raw(tracer::make_record(0x4019, 1, 2, {1'001'110})); // reserved bits
    add_long(chunk, trace::kCodeOf<"typed_event">, 1'001'200,
             numbers({9, 0, 0x98, 0x01, 0xFD, 3, 'a', ' ', 'b', 0, 0, 0xC0, 0x3F, ':', 8, 7, 6, 5, 4, 3, 2, 1}));
    add_long(chunk, trace::kCodeOf<"typed_event">, 1'001'210, numbers({8, 0, 1}));
    add_long(chunk, trace::kCodeOf<"formatted_event">, 1'001'220,
             numbers({5, 0, 0, 0, 7, 0xFE, 0xFF, 0xFF, 0xFF, 14, 3, 'y', '"', 'z'}));
    add_long(chunk, trace::kCodeOf<"formatted_event">, 1'001'230, numbers({6, 0, 0, 0, 3, 1, 2, 0, 0}));
    chunk.event(1'002'000, "blackout_start")
        .event(1'002'100, "blackout_end", 0, 7)
        .event(1'002'200, "context_switch", 2);
    chunk.event(1'002'210, "task_fault", 2, 14).event(1'002'220, "fault_instruction", 0x12, 0x3456'789A);
}

// A task in steps; two turns of the clock's low half later its end.
void add_steps(ChunkBuilder& chunk) {
    const auto flow = [](Flow how) { return static_cast<std::uint16_t>(how); };
    chunk.event(200'000'000, "instruction_trace_begin", 2, 0)
        .event(200'000'010, "instruction", flow(Flow::resumed), 0x1000);
    chunk.event(200'000'020, "instruction", flow(Flow::call), 0x1104).event(200'000'030, "interrupt_start", 32);
    chunk.event(200'000'040, "interrupt_end", 32).event(200'000'050, "instruction", flow(Flow::next), 0x1108);
    chunk.event(200'000'060, "instruction", flow(Flow::ret), 0x1004).event(200'000'070, "context_switch", 3);
    chunk.event(200'000'080, "instruction", flow(Flow::resumed), 0x9000).event(200'000'090, "context_switch", 2);
    chunk.event(200'000'100, "block", static_cast<std::uint16_t>(flow(Flow::resumed) << 13 | 3), 0x1100);
    chunk.event(200'000'110, "job_abort", 2, 1).event(200'000'120, "instruction_trace_end", 2, 9);
    chunk.event(9'000'000'000, "task_end", 2, 102).event(9'000'000'001, "panic", 3, 0xDEAD);
}

ChunkBuilder second_processor() {
    ChunkBuilder chunk = chunk_of(1, 1);
    chunk.begin.dropped = 4;
    chunk.event(1'000'005, "context_switch", 1).event(1'000'105, "interrupt_start", 40);
    chunk.event(1'000'115, "interrupt_hit", 41).event(1'000'125, "interrupt_end", 40);
    chunk.event(1'000'615, "task_unblock", 5, wait_on(WaitKind::receive, 4)).event(1'000'625, "context_switch", 5);
    chunk.event(1'000'635, "port_receive", 5, 4).event(1'000'645, "server_attach", 6, 5);
    chunk.event(1'000'655, "task_block", 5, wait_on(WaitKind::condition, 3)).event(1'000'665, "context_switch", 4);
    chunk.event(1'001'005, "task_sleep", 4, 0).event(1'001'015, "context_switch", 0);
    return chunk;
}

// Two processors; the second has lost two records after its last one.
Bytes machine() {
    ChunkBuilder first = chunk_of(0, 0);
    first.begin.dropped = 9; // two more than the gap shows
    add_schedule(first);
    add_others(first);
    add_steps(first);
    const ChunkBuilder second = second_processor();
    tracer::ChunkBegin more = second.description();
    more.records += 2;
    return first.bytes() + second.with(more);
}

// Records of a published kernel: no preamble, a rate in between.
Bytes records() {
    ChunkBuilder chunk;
    chunk.event(100, "ipoint", 1, 2).event(200, "cycles_per_msec", 0, 2'000'000).event(300, "context_switch", 7);
    return chunk.event(400, "task_block", 7, 3).event(500, "context_switch", 8).plain();
}

Bytes kev() {
    support::KevBuilder file({.system = "QNX \"x\""});
    file.buffer(0, 0x1000, 0).time(0, 0x1000).time(1, 0x1000).user(0, 0x1010, 1).slot('S', 0, 4, 1, 0x1020, 1, 2);
    file.slot('B', 1, 6, 5, 0x1030, 3, 4).slot('S', 0, 2, 11, 0x1040, 5, 6).slot('E', 1, 6, 5, 0x1030, 5, 6);
    file.slot('C', 1, 6, 7, 0x1050, 1, 2).slot('S', 0, 4, 2, 0x1060, 1, 2).slot('S', 0, 4, 1, 0x1070, 1, 3);
    return file.buffer(0, 0x1080, 2).time(0, 0x1'0000'0000).user(0, 0x1'0000'0300, 9).bytes;
}

Bytes tlog() {
    return support::TlogFile().small_process(0, 0).small_process(1, 0.25).bytes();
}

// --- the outputs as texts --------------------------------------------------------------------------------------------

// Printable characters and line ends as they are, others by their numbers, long rows of one byte once.
std::string shown(std::string_view bytes) {
    constexpr std::size_t kRowMin = 12;
    std::string text;
    for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t end = std::min(bytes.find_first_not_of(bytes[at], at), bytes.size());
        const bool is_row = end - at >= kRowMin && bytes[at] != ' ';
        const std::size_t count = is_row ? end - at : 1;
        const bool is_plain = bytes[at] == '\n' || (bytes[at] >= ' ' && bytes[at] <= '~' && bytes[at] != '\\');
        text += is_plain && !is_row ? std::string(1, bytes[at])
                                    : fmt::format("\\{:02x}", static_cast<unsigned char>(bytes[at]));
        text += is_row ? fmt::format("{{{}}}", count) : "";
        at += count;
    }
    return text;
}

// Rows of lines that were in the texts before as one line: most of what describes a format is the same in each of its
// files.
std::string without_known(const std::string& text, std::set<std::string>& known) {
    std::string shorter;
    std::vector<std::string> row;
    const auto end_row = [&] {
        constexpr std::size_t kRowMin = 4;
        for (const std::string& line : row) {
            shorter += row.size() < kRowMin ? line + '\n' : "";
        }
        shorter += row.size() < kRowMin ? "" : fmt::format("[{} lines as above]\n", row.size());
        row.clear();
    };
    std::set<std::string> met;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line); met.insert(line)) {
        if (known.contains(line)) {
            row.push_back(line);
            continue;
        }
        end_row();
        shorter += line + '\n';
    }
    end_row();
    known.merge(met);
    return shorter;
}

// All rows of all tables and views, and how these were made.
std::string rows_of(const std::string& path) {
    std::string text;
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open_v2(path.c_str(), &database, SQLITE_OPEN_READONLY, nullptr), SQLITE_OK);
    const auto each = [&](const std::string& query, const std::function<void(sqlite3_stmt*)>& row) {
        sqlite3_stmt* statement = nullptr;
        EXPECT_EQ(sqlite3_prepare_v2(database, query.c_str(), -1, &statement, nullptr), SQLITE_OK) << query;
        while (sqlite3_step(statement) == SQLITE_ROW) {
            row(statement);
        }
        sqlite3_finalize(statement);
    };
    const auto cell = [](sqlite3_stmt* statement, int column) {
        const auto* const value = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
        return value == nullptr ? std::string("-") : shown(value);
    };
    std::vector<std::string> tables;
    each("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name",
         [&](sqlite3_stmt* statement) {
             text += cell(statement, 2) + '\n';
             if (cell(statement, 0) != "index") {
                 tables.push_back(cell(statement, 1));
             }
         });
    for (const std::string& table : tables) {
        text += "--- " + table + '\n';
        each("SELECT * FROM " + table, [&](sqlite3_stmt* statement) {
            for (int column = 0; column < sqlite3_column_count(statement); ++column) {
                text += (column == 0 ? "" : "|") + cell(statement, column);
            }
            text += '\n';
        });
    }
    sqlite3_close(database);
    return text;
}

class Outputs : public testing::TestWithParam<const FormatRow*> {
  protected:
    [[nodiscard]] std::string converted(const std::string& input, const FormatRow& format) const {
        std::string text;
        trace::Diagnostics diagnostics([&text](std::string_view line) { text += std::string(line) + '\n'; });
        const Request request{.input = input, .output = m_directory / "out", .format = &format};
        const Outcome outcome = convert(request, diagnostics, [](std::uint64_t, std::uint64_t) {});
        text += fmt::format("exit {}, {} events {}\n", static_cast<unsigned>(outcome.status), outcome.events,
                            outcome.error);
        for (const std::string& path : files_of(request.output)) {
            text += path == request.output ? "" : "--- " + path.substr(request.output.size() + 1) + '\n';
            text += format.name == "sqlite" ? rows_of(path) : shown(support::read_text(path));
            text += text.ends_with('\n') ? "" : "\n";
        }
        std::filesystem::remove_all(request.output);
        return text;
    }

    // The file, or those of the directory.
    static std::vector<std::string> files_of(const std::string& path) {
        std::vector<std::string> files;
        if (std::filesystem::is_directory(path)) {
            for (const auto& entry : std::filesystem::directory_iterator(path)) {
                files.push_back(entry.path());
            }
        } else if (std::filesystem::exists(path)) {
            files.push_back(path);
        }
        std::ranges::sort(files);
        return files;
    }

    // Neither the directory of the test nor the version of the program belongs to what is compared.
    [[nodiscard]] std::string without_chance(std::string text) const {
        for (const auto& [chance, instead] : {std::pair<std::string, std::string>{m_directory.path() + '/', ""},
                                              {fmt::format("remora {}", lib::kVersion), "remora VERSION"}}) {
            for (std::size_t at = text.find(chance); at != std::string::npos; at = text.find(chance, at)) {
                text.replace(at, chance.size(), instead);
            }
        }
        return text;
    }

    support::TemporaryDirectory m_directory;
};

TEST_P(Outputs, AreThoseOfTheirFile) {
    const FormatRow& format = *GetParam();
    const std::string functions = R"({"format":"remora-formats","version":1,"image":"123456789abcdef0","formats":
        [{"id":6,"text":"six %u"}],"functions":[{"address":4096,"size":256,"name":"main"},
        {"address":4352,"size":16,"name":"work<\"x\">"}]})";
    m_directory.write("formats.json", std::as_bytes(std::span(functions)));
    std::string text;
    std::set<std::string> known;
    for (const auto& [name, bytes] : {std::pair<std::string, Bytes>{"machine.dat", machine()},
                                      {"records.dat", records()},
                                      {"qnx.kev", kev()},
                                      {"two.log", tlog()}}) {
        text += "=== " + name + '\n' +
                without_known(without_chance(converted(m_directory.write(name, bytes), format)), known);
    }
    const std::string path = std::string(kFolder) + std::string(format.name) + ".txt";
    if (std::getenv("REMORA_UPDATE_DOCS") != nullptr) {
        std::FILE* const file = std::fopen(path.c_str(), "w");
        std::fputs(text.c_str(), file);
        std::fclose(file);
        return;
    }
    const std::string expected = support::read_text(path);
    const auto [is, was] = std::ranges::mismatch(text, expected);
    EXPECT_TRUE(text == expected) << path << " differs from byte " << was - expected.begin() << " on; there it has\n"
                                  << std::string(was, expected.end()).substr(0, 300) << "\nand the output is\n"
                                  << std::string(is, text.end()).substr(0, 300) << "\nREMORA_UPDATE_DOCS=1 rewrites it";
}

INSTANTIATE_TEST_SUITE_P(Formats, Outputs, testing::ValuesIn(all_formats()), [](const auto& row) {
    std::string name(row.param->name);
    std::ranges::replace(name, '-', '_');
    return name;
});

} // namespace

} // namespace host::convert
