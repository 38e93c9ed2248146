// SPDX-License-Identifier: MIT
// The fast path of an object gives the text of the slow one, for every event of the table.
#include "host/cli/event/event_lines.hpp"

#include "tests/support/table_events.hpp"

#include <gtest/gtest.h>
#include <string>

namespace json_lines_test {

using namespace host;

std::string text(const fmt::memory_buffer& buffer) {
    return {buffer.data(), buffer.size()};
}

TEST(JsonLines, SayWhatAnObjectSays) {
    cli::JsonLines lines;
    unsigned number = 0;
    support::TableEvents().for_each([&](trace::Event event) {
        ++number;
        event.raw_code = number % 19 == 0 ? event.raw_code | tracer::kFastPathBit : event.raw_code;
        const std::string_view instruction = number % 23 == 0 ? "mov %eax,\"x\"" : "";
        fmt::memory_buffer expected;
        fmt::memory_buffer line;
        cli::append_json(expected, event, instruction);
        lines.append(line, event, instruction);
        ASSERT_EQ(text(line), text(expected));
    });
}

TEST(JsonLines, OneObject) {
    trace::Names names;
    names.set(tracer::Unit::context, 12, "sensor");
    trace::Event event;
    event.row = tracer::find_event(trace::kCodeOf<"task_dispatch">);
    event.code = trace::kCodeOf<"task_dispatch">;
    event.raw_code = event.code;
    event.names = &names;
    event.par1 = 12;
    event.par2 = 0;
    event.timed = true;
    event.time_ns = -5;
    event.ticks = {700};
    event.chunk = 2;
    event.record = 31;
    fmt::memory_buffer line;
    cli::JsonLines().append(line, event, {});
    EXPECT_EQ(text(line), fmt::format(R"({{"version":1,"time_ns":-5,"ticks":700,"cpu":0,"chunk":2,"record":31,)"
                                      R"("event":"task_dispatch","code":"0x{:04x}","family":"task","state":"ok",)"
                                      R"("par1":12,"par2":0,"parameters":{{"context":12,"context_name":"sensor",)"
                                      R"("level":0}}}})"
                                      "\n",
                                      event.code));
}

} // namespace json_lines_test
