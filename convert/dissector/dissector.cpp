// SPDX-License-Identifier: MIT
// Writes the tables of the script, which are those of the event table, before the script itself, which the assembler
// copied into the program.
#include "convert/dissector/dissector.hpp"

#include "host/text/format.hpp"
#include "lib/version.hpp"
#include "lib/wire_numbers.hpp"
#include "tracer/export/wire.hpp"
#include "tracer/names/user_fields.hpp"
#include "tracer/record/unit_words.hpp"
#include "tracer/reliable/packet.hpp"

#include <array>
#include <iterator>
#include <span>
#include <string_view>

asm(R"(
    .pushsection .rodata
dissector_script_begin:
    .incbin "convert/dissector/remora.lua"
dissector_script_end:
    .popsection
)");

// NOLINTBEGIN(readability-identifier-naming): labels of the assembler
extern "C" {
extern const char dissector_script_begin[];
extern const char dissector_script_end[];
}

// NOLINTEND(readability-identifier-naming)

namespace host::dissector {

namespace {

// The names are in the order of tracer::Unit.
constexpr auto kUnitNames = std::to_array<std::string_view>(
    {"none",        "number",       "context",     "pid",    "level",     "vector",        "mutex",
     "semaphore",   "condition",    "port",        "server", "signal",    "cycles_per_ms", "count",
     "timer",       "pointer",      "hexadecimal", "status", "priority",  "ticks_low",     "ticks",
     "nanoseconds", "microseconds", "bandwidth",   "wait",   "exception", "protocol",      "server_kind",
     "flow",        "block",        "outcome",     "grain",  "code"});

static_assert(kUnitNames.size() == tracer::kUnits);

std::string_view unit_name(tracer::Unit unit) {
    return kUnitNames[static_cast<std::size_t>(unit)];
}

// The names are in the order of tracer::Shape.
constexpr auto kShapeNames = std::to_array<std::string_view>({"simple", "long", "consumed"});

// The texts of the tables are ours and have no quotes or backslashes.
std::string list_of(std::span<const std::string_view> words) {
    std::string list = "{";
    for (std::size_t i = 0; i < words.size(); ++i) {
        list += fmt::format("{}[{}] = \"{}\"", i == 0 ? " " : ", ", i, words[i]);
    }
    return list + " }";
}

void append_tables(std::string& script) {
    const auto out = std::back_inserter(script);
    fmt::format_to(out, "local PORT, HEADER, SLOT, RECORDS_MAX = {}, {}, {}, {}\n", tracer::kTracerPort,
                   tracer::kPacketHeaderBytes, tracer::kRecordBytes, tracer::kPacketRecordsMax);
    fmt::format_to(out, "local RELIABLE_HEADER, RELIABLE_MAX = {}, {}\n", tracer::reliable::kHeaderBytes,
                   tracer::reliable::kRecordsMax);
    fmt::format_to(out, "local FAMILIES = {}\n", list_of(tracer::kFamilyNames));
    script += "-- unit -> words of the number, or of what is above its low part; 2 ^ bits of that part; words of it\n"
              "local WORDS = {\n";
    for (std::size_t i = 0; i < tracer::kUnits; ++i) {
        const tracer::UnitWords& unit = tracer::words_of(static_cast<tracer::Unit>(i));
        if (!unit.words.empty()) {
            fmt::format_to(out, "  {} = {{ {}, {}, {} }},\n", kUnitNames[i], list_of(unit.words),
                           std::uint32_t{1} << unit.low_bits, unit.low.empty() ? "nil" : list_of(unit.low));
        }
    }
    script += "}\n-- of a wait: the unit of what its low part names\nlocal WAIT_OBJECTS = {";
    for (std::size_t i = 0; i < lib::kWords<lib::WaitKind>.size(); ++i) {
        const tracer::Unit object = tracer::object_of(static_cast<lib::WaitKind>(i));
        if (object != tracer::Unit::none) {
            fmt::format_to(out, " [{}] = \"{}\",", i, unit_name(object));
        }
    }
    script += " }\n";
    script += "-- code -> name, par1, its unit, par2, its unit, shape\nlocal EVENTS = {\n";
    for (const tracer::EventRow& row : tracer::kEvents) {
        fmt::format_to(out, "  [0x{:02X}] = {{ \"{}\", \"{}\", \"{}\", \"{}\", \"{}\", \"{}\" }},\n", row.code,
                       row.name, row.par1.name, unit_name(row.par1.unit), row.par2.name, unit_name(row.par2.unit),
                       kShapeNames.at(static_cast<std::size_t>(row.shape)));
    }
    script += "}\n";
    fmt::format_to(out, "EVENTS[0x{:02X}] = EVENTS[0x{:02X}] -- the manual's misprint\n",
                   tracer::kMisprintedMutexUnlock, tracer::canonical_code(tracer::kMisprintedMutexUnlock));
}

// Escapes a text from an image, which may have any bytes.
std::string lua_string(std::string_view text) {
    std::string quoted = "\"";
    for (const char character : text) {
        const bool plain = character >= ' ' && character <= '~' && character != '"' && character != '\\';
        quoted += plain ? std::string(1, character) : fmt::format("\\{:03}", static_cast<std::uint8_t>(character));
    }
    return quoted + '"';
}

void append_formats(std::string& script, const trace::KernelImage* image) {
    const auto out = std::back_inserter(script);
    script += "-- type of an argument -> kind, bytes\nlocal TYPES = {";
    for (std::size_t i = 1; i < tracer::kFieldTypes; ++i) {
        const auto type = static_cast<tracer::FieldType>(i);
        const bool is_float = type == tracer::FieldType::float32 || type == tracer::FieldType::float64;
        fmt::format_to(out, " [{}] = {{ \"{}\", {} }},", i,
                       type == tracer::FieldType::text ? "text"
                       : is_float                      ? "float"
                       : tracer::is_signed_field(type) ? "signed"
                                                       : "unsigned",
                       tracer::field_bytes(type));
    }
    fmt::format_to(
        out,
        " }}\n-- texts of trace_printf in the image with this build id\nlocal IMAGE = \"{}\"\nlocal FORMATS = {{\n",
        image != nullptr ? fmt::format("{:016x}", image->image_id()) : "");
    if (image != nullptr) {
        for (const auto& [id, text] : image->formats()) {
            fmt::format_to(out, "  [{}] = {},\n", id, lua_string(text));
        }
    }
    script += "}\n";
}

} // namespace

std::string wireshark_script(const trace::KernelImage* image) {
    std::string script = fmt::format("-- Wireshark dissector of Remora's trace packets, written by `remora dissector` "
                                     "(Remora {}).\n-- To install it, put it into the folder of personal Lua plugins "
                                     "(Help > About > Folders).\n\n",
                                     lib::kVersion);
    append_tables(script);
    append_formats(script, image);
    script.append(dissector_script_begin, dissector_script_end);
    return script;
}

} // namespace host::dissector
