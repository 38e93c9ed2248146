// SPDX-License-Identifier: MIT
// Format texts. libtraceevent parses them, so names that could end a string or a line are made plain here.
#include "convert/linux/tracefs_formats.hpp"

#include "host/text/format.hpp"
#include "host/trace/value_text.hpp"

namespace host::convert::linux::tracefs {

namespace {

using tracer::Unit;

// One parameter as printed: the value, and its meaning if names were given.
void append_parameter(std::string& text, std::string& arguments, const tracer::Parameter& parameter,
                      std::string_view names) {
    if (parameter.unit == Unit::none) {
        return;
    }
    if (!text.empty()) {
        text += ' ';
    }
    const unsigned low_bits = tracer::words_of(parameter.unit).low_bits;
    const std::string low = low_bits != 0 ? fmt::format(" & {:#x}", (1U << low_bits) - 1) : "";
    const std::string high = low_bits != 0 ? fmt::format(" >> {}", low_bits) : "";
    text += fmt::format("{}={}", parameter.name, trace::is_hexadecimal(parameter.unit) ? "0x%x" : "%u");
    arguments += fmt::format(", REC->{}{}", parameter.name, low);
    if (!names.empty()) {
        text += " (%s)";
        arguments += fmt::format(", __print_symbolic(REC->{}{}, {})", parameter.name, high, names);
    }
}

} // namespace

const std::string_view kHeaderPage = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                                     "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                                     "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                                     "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";

const std::string_view kHeaderEvent = "# compressed entry header\n"
                                      "\ttype_len    :    5 bits\n"
                                      "\ttime_delta  :   27 bits\n"
                                      "\tarray       :   32 bits\n"
                                      "\n"
                                      "\tpadding     : type == 29\n"
                                      "\ttime_extend : type == 30\n"
                                      "\ttime_stamp : type == 31\n"
                                      "\tdata max type_len  == 28\n";

std::string format(std::string_view name, std::uint32_t id, const std::vector<Field>& fields, std::string_view print) {
    std::string out = fmt::format("name: {}\nID: {}\nformat:\n", name, id);
    std::size_t offset = 0;
    const auto add = [&](const Field& field) {
        out += fmt::format("\tfield:{};\toffset:{};\tsize:{};\tsigned:{};\n", field.declaration, offset, field.bytes,
                           field.is_signed ? 1 : 0);
        offset += field.bytes;
    };
    add({"unsigned short common_type", 2, false});
    add({"unsigned char common_flags", 1, false});
    add({"unsigned char common_preempt_count", 1, false});
    add({"int common_pid", 4, true});
    out += '\n';
    for (const Field& field : fields) {
        add(field);
    }
    return out + fmt::format("\nprint fmt: {}\n", print);
}

std::string record_format(const tracer::EventRow& row, std::uint32_t id, std::string_view par1_names,
                          std::string_view par2_names) {
    std::vector<Field> fields;
    const std::string par1 = fmt::format("unsigned int {}", row.par1.name);
    const std::string par2 = fmt::format("unsigned int {}", row.par2.name);
    if (row.par1.unit != Unit::none) {
        fields.push_back({par1, sizeof(std::uint32_t), false});
    }
    if (row.par2.unit != Unit::none) {
        fields.push_back({par2, sizeof(std::uint32_t), false});
    }
    std::string text;
    std::string arguments;
    append_parameter(text, arguments, row.par1, par1_names);
    append_parameter(text, arguments, row.par2, par2_names);
    return format(plain_name(row.name), id, fields, fmt::format("\"{}\"{}", text, arguments));
}

std::string plain_name(std::string_view text_untrusted) {
    std::string out;
    for (const char character : text_untrusted) {
        const bool plain = (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
                           (character >= '0' && character <= '9') || character == '_';
        out += plain ? character : '_';
    }
    return out.empty() ? "_" : out;
}

} // namespace host::convert::linux::tracefs
