// SPDX-License-Identifier: MIT
// Writes TSDL text. Every type is aligned to a byte, except the upper part of a number whose parts are not whole bytes.
#include "convert/ctf/ctf_text.hpp"

#include "host/text/escape.hpp"
#include "host/trace/names.hpp"
#include "host/trace/value_text.hpp"
#include "lib/wire_numbers.hpp"
#include "tracer/record/unit_words.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <span>

namespace host::convert::ctf {

namespace {

using tracer::Unit;

// Values of these units have names in a trace. The alias of a unit begins with `alias`.
struct NamedUnit {
    Unit unit;
    std::string_view alias;
};

constexpr std::array<NamedUnit, 8> kNamedUnits = {{
    {Unit::context, "context"},
    {Unit::level, "level"},
    {Unit::vector, "vector"},
    {Unit::mutex, "mutex"},
    {Unit::semaphore, "semaphore"},
    {Unit::condition, "condition"},
    {Unit::port, "port"},
    {Unit::server, "server"},
}};

// The alias of a list of words begins with `alias`.
struct WordUnit {
    std::string_view alias;
    std::span<const std::string_view> words;
};

constexpr std::array<WordUnit, 9> kWordUnits = {{
    {"wait", lib::kWords<lib::WaitKind>},
    {"exception", lib::kWords<lib::TaskException>},
    {"reaction", lib::kWords<lib::Reaction>},
    {"protocol", lib::kWords<lib::MutexProtocol>},
    {"server_kind", lib::kWords<lib::ServerKind>},
    {"status", tracer::kStatusNames},
    {"flow", lib::kWords<lib::Flow>},
    {"grain", lib::kWords<lib::Grain>},
    {"outcome", lib::kWords<lib::StepOutcome>},
}};

// Returns the beginning of the alias, or an empty text if there are no words.
constexpr std::string_view alias_of(std::span<const std::string_view> words) {
    for (const WordUnit& unit : kWordUnits) {
        if (!words.empty() && std::ranges::equal(unit.words, words)) {
            return unit.alias;
        }
    }
    return {};
}

constexpr std::array<unsigned, 2> kNameBits = {16, 32};
constexpr std::array<unsigned, 3> kWordBits = {4, 16, 32}; // these are also widths of parts of a number

constexpr bool is_declared(std::span<const std::string_view> words, unsigned bits) {
    return words.empty() || (!alias_of(words).empty() && (std::ranges::find(kWordBits, bits) != kWordBits.end()) &&
                             words.size() <= std::uint64_t{1} << bits);
}

constexpr bool is_declared(tracer::Unit unit, unsigned bits) {
    const tracer::UnitWords& words = tracer::words_of(unit);
    return words.low_bits < bits && is_declared(words.words, bits - words.low_bits) &&
           is_declared(words.low, words.low_bits);
}

// Words without an alias of their width would have an undeclared type.
static_assert(std::ranges::all_of(tracer::kEvents, [](const tracer::EventRow& row) {
    return is_declared(row.par1.unit, 16) && is_declared(row.par2.unit, 32);
}));

void append(fmt::memory_buffer& out, std::string_view text) {
    out.append(text.data(), text.data() + text.size());
}

// Makes the labels of one enumeration different: a second "load" becomes "load#7".
class Enumerators {
  public:
    void add(std::uint32_t value, std::string_view label) {
        if (label.empty()) {
            return;
        }
        std::string own(label);
        while (!m_seen.insert(own).second) {
            own += fmt::format("#{}", value);
        }
        m_text += fmt::format("{}{} = {}", m_text.empty() ? " " : ", ", quoted(own), value);
    }

    // Appends an alias for each width; it is a plain integer if there are no names.
    void append_to(fmt::memory_buffer& out, std::string_view alias, std::span<const unsigned> widths) const {
        for (const unsigned bits : widths) {
            const std::string integer =
                fmt::format("integer {{ size = {}; align = {}; signed = false; }}", bits, bits % 8 == 0 ? 8 : 1);
            if (m_text.empty()) {
                fmt::format_to(std::back_inserter(out), "typealias {0} := {1}{2};\n", integer, alias, bits);
            } else {
                fmt::format_to(std::back_inserter(out), "typealias enum : {0} {{{3} }} := {1}{2};\n", integer, alias,
                               bits, m_text);
            }
        }
    }

  private:
    std::set<std::string> m_seen;
    std::string m_text;
};

// Returns a number of two parts; the lower part comes first.
std::string two_parts(const tracer::Parameter& what, const tracer::UnitWords& words, unsigned bits) {
    const std::string_view low = alias_of(words.low);
    const bool block = what.unit == Unit::block;
    const std::string first = !low.empty() ? fmt::format(" {0}{1} _{0};", low, words.low_bits)
                                           : fmt::format(" integer {{ size = {}; align = 8; signed = false; }} {};",
                                                         words.low_bits, block ? "_instructions" : "_object");
    return fmt::format("{} {}{} {};", first, alias_of(words.words), bits - words.low_bits,
                       block ? "_flow" : identifier(what.name));
}

// Returns one parameter in the width of its half of the record.
std::string parameter(const tracer::Parameter& what, unsigned bits) {
    const std::string name = identifier(what.name);
    for (const NamedUnit& named : kNamedUnits) {
        if (named.unit == what.unit) {
            return fmt::format(" {}{} {};", named.alias, bits, name);
        }
    }
    if (what.unit == Unit::none) {
        return {};
    }
    const tracer::UnitWords& words = tracer::words_of(what.unit);
    if (words.low_bits != 0) {
        return two_parts(what, words, bits);
    }
    if (!words.words.empty()) {
        return fmt::format(" {}{} {};", alias_of(words.words), bits, name);
    }
    const bool hex = trace::is_hexadecimal(what.unit);
    return hex ? fmt::format(" hex{} {};", bits, name) : fmt::format(" uint{}_t {};", bits, name);
}

std::string_view type_of(const tracer::FieldDeclaration& field) {
    if (tracer::is_integer_field(field.type) && field.detail != 0) {
        return "float64";
    }
    static constexpr std::array<std::string_view, tracer::kFieldTypes> kTypes = {
        "uint8_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "int8_t",  "int16_t", "int32_t",
        "int64_t", "uint8_t", "string",   "hex64",    "float32",  "float64", "string"};
    return kTypes[static_cast<std::size_t>(field.type)];
}

} // namespace

std::string quoted(std::string_view text_untrusted) {
    std::string out = "\"";
    for (const char character : text::escaped(text_untrusted)) {
        if (character == '"' || character == '\\') {
            out += '\\';
        }
        out += character;
    }
    return out + '"';
}

std::string identifier(std::string_view text_untrusted) {
    std::string out = "_";
    for (const char character : text_untrusted) {
        const bool plain = (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
                           (character >= '0' && character <= '9') || character == '_';
        out += plain ? character : '_';
    }
    return out;
}

void append_head(fmt::memory_buffer& out, std::string_view clock) {
    for (const unsigned bits : {8U, 16U, 32U, 64U}) {
        fmt::format_to(std::back_inserter(out),
                       "typealias integer {{ size = {0}; align = 8; signed = false; }} := uint{0}_t;\n"
                       "typealias integer {{ size = {0}; align = 8; signed = true; }} := int{0}_t;\n"
                       "typealias integer {{ size = {0}; align = 8; signed = false; base = 16; }} := hex{0};\n",
                       bits);
    }
    append(out, "typealias floating_point { exp_dig = 8; mant_dig = 24; align = 8; } := float32;\n"
                "typealias floating_point { exp_dig = 11; mant_dig = 53; align = 8; } := float64;\n");
    fmt::format_to(std::back_inserter(out),
                   "typealias integer {{ size = 64; align = 8; signed = false; map = clock.{0}.value; }} := stamp_t;\n"
                   "trace {{\n"
                   "    major = 1;\n    minor = 8;\n    byte_order = le;\n"
                   "    packet.header := struct {{ uint32_t magic; uint32_t stream_id; }};\n"
                   "}};\n"
                   "stream {{\n"
                   "    id = 0;\n"
                   "    packet.context := struct {{\n"
                   "        stamp_t timestamp_begin; stamp_t timestamp_end;\n"
                   "        uint64_t content_size; uint64_t packet_size;\n"
                   "        uint64_t packet_seq_num; uint64_t events_discarded;\n"
                   "        uint32_t cpu_id;\n"
                   "    }};\n"
                   "    event.header := struct {{ stamp_t timestamp; uint16_t id; }};\n"
                   "}};\n",
                   clock);
}

void append_name_types(fmt::memory_buffer& out, const trace::Names& names) {
    for (const NamedUnit& named : kNamedUnits) {
        Enumerators enumerators;
        for (const auto& [value, name] : trace::sorted_names(names, named.unit)) {
            enumerators.add(value, name);
        }
        enumerators.append_to(out, named.alias, kNameBits);
    }
    for (const WordUnit& unit : kWordUnits) {
        Enumerators enumerators;
        for (std::uint32_t value = 0; value < unit.words.size(); ++value) {
            enumerators.add(value, unit.words[value]);
        }
        enumerators.append_to(out, unit.alias, kWordBits);
    }
}

void append_event(fmt::memory_buffer& out, std::string_view name_untrusted, std::uint32_t id, std::string_view fields) {
    fmt::format_to(std::back_inserter(out),
                   "event {{ name = {}; id = {}; stream_id = 0; fields := struct {{{} }}; }};\n",
                   quoted(name_untrusted), id, fields);
}

std::string record_fields(const tracer::EventRow& row) {
    return parameter(row.par1, 16) + parameter(row.par2, 32);
}

std::string declared_fields(const tracer::EventDeclaration& declaration) {
    std::string out;
    // A reader compares a name with those before it after it has removed an underscore from some of them: "__x" is a
    // duplicate of "_x".
    std::set<std::string> seen;
    for (std::size_t i = 0; i < declaration.field_count && i < tracer::kFieldsMax; ++i) {
        const tracer::FieldDeclaration& field = declaration.items[i];
        std::string name = identifier(field.name.view());
        while (seen.contains(name) || seen.contains(name.substr(1))) {
            name += fmt::format("_{}", i);
        }
        seen.insert({name, name.substr(1)});
        out += fmt::format(" {} {};", type_of(field), name);
    }
    return out;
}

} // namespace host::convert::ctf
