// SPDX-License-Identifier: MIT
// Counts the events of a trace by name, whatever its format. Built against the installed library:
//   g++ -std=c++20 count_events.cpp $(pkg-config --cflags --libs remora-trace) -o count_events
#include "host/formats/trace.hpp"

#include <cstdio>
#include <map>
#include <string>

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: %s TRACE\n", argv[0]);
        return 1;
    }
    host::trace::Diagnostics diagnostics(
        [](std::string_view line) { std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data()); });
    const auto trace = host::formats::Trace::open(argv[1], {}, diagnostics);
    if (!trace) {
        return static_cast<int>(diagnostics.exit_status(false));
    }
    std::map<std::string, unsigned long> counts;
    trace.value()->for_each([&](const host::trace::Event& event) {
        counts[std::string(host::trace::event_name(event))] += event.metadata ? 0 : 1;
    });
    for (const auto& [name, count] : counts) {
        std::printf("%10lu  %s\n", count, name.c_str());
    }
    diagnostics.finish();
    return static_cast<int>(diagnostics.exit_status(trace.value()->facts().usable_events != 0));
}
