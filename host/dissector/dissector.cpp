// SPDX-License-Identifier: MIT
// The tables of the dissector, from the event table and the packet's constants.
#include "host/dissector/dissector.hpp"

#include "host/dissector/script.hpp"
#include "lib/version.hpp"
#include "tracer/event_table.hpp"
#include "tracer/wire.hpp"

#include <array>
#include <fmt/format.h>
#include <iterator>
#include <string_view>

namespace host::dissector {

namespace {

// In the order of tracer::Unit.
constexpr auto kUnitNames = std::to_array<std::string_view>(
    {"none",        "number",       "context",     "pid",    "level",     "vector",        "mutex",
     "semaphore",   "condition",    "port",        "server", "signal",    "cycles_per_ms", "count",
     "timer",       "pointer",      "hexadecimal", "status", "priority",  "ticks_low",     "ticks",
     "nanoseconds", "microseconds", "bandwidth",   "wait",   "exception", "protocol",      "server_kind"});

static_assert(kUnitNames.size() == static_cast<std::size_t>(tracer::Unit::server_kind) + 1);

std::string_view unit_name(tracer::Unit unit) {
    return kUnitNames[static_cast<std::size_t>(unit)];
}

std::string_view shape_name(tracer::Shape shape) {
    switch (shape) {
    case tracer::Shape::simple:
        return "simple";
    case tracer::Shape::combined:
        return "long";
    case tracer::Shape::consumed:
        return "consumed";
    }
    return "simple";
}

// Texts of the tables are our own: no quote or backslash stands in them.
template <std::size_t N>
void append_words(std::string& script, std::string_view name, const std::array<std::string_view, N>& words) {
    const auto out = std::back_inserter(script);
    fmt::format_to(out, "local {} = {{", name);
    for (std::size_t i = 0; i < N; ++i) {
        fmt::format_to(out, "{}[{}] = \"{}\"", i == 0 ? " " : ", ", i, words[i]);
    }
    script += " }\n";
}

void append_tables(std::string& script) {
    const auto out = std::back_inserter(script);
    fmt::format_to(out, "local PORT, HEADER, SLOT, RECORDS_MAX = {}, {}, {}, {}\n", tracer::kTracerPort,
                   tracer::kPacketHeaderBytes, tracer::kRecordBytes, tracer::kPacketRecordsMax);
    append_words(script, "FAMILIES", tracer::kFamilyNames);
    append_words(script, "WAITS", tracer::kWaitNames);
    append_words(script, "EXCEPTIONS", tracer::kExceptionNames);
    append_words(script, "REACTIONS", tracer::kReactionNames);
    append_words(script, "PROTOCOLS", tracer::kProtocolNames);
    append_words(script, "SERVER_KINDS", tracer::kServerKindNames);
    script += "-- code -> name, par1, its unit, par2, its unit, shape\nlocal EVENTS = {\n";
    for (const tracer::EventRow& row : tracer::kEvents) {
        fmt::format_to(out, "  [0x{:02X}] = {{ \"{}\", \"{}\", \"{}\", \"{}\", \"{}\", \"{}\" }},\n", row.code,
                       row.name, row.par1.name, unit_name(row.par1.unit), row.par2.name, unit_name(row.par2.unit),
                       shape_name(row.shape));
    }
    script += "}\n";
    fmt::format_to(out, "EVENTS[0x{:02X}] = EVENTS[0x{:02X}] -- the manual's misprint\n",
                   tracer::kMisprintedMutexUnlock, tracer::canonical_code(tracer::kMisprintedMutexUnlock));
}

} // namespace

std::string wireshark_script() {
    std::string script = fmt::format("-- Wireshark dissector of Remora's trace packets, written by `remora dissector` "
                                     "(Remora {}).\n-- To install it, put it into the folder of personal Lua plugins "
                                     "(Help > About > Folders).\n\n",
                                     lib::kVersion);
    append_tables(script);
    script += kScriptFields;
    script += kScriptDecode;
    script += kScriptRecords;
    script += kScriptPackets;
    return script;
}

} // namespace host::dissector
