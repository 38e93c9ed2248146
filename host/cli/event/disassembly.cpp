// SPDX-License-Identifier: MIT
// Reads the lines that objdump prints: `  101a3c:<tab>add    $0x1,%eax`.
#include "host/cli/event/disassembly.hpp"

#include "host/trace/program_output.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace host::cli {

namespace {

constexpr trace::ProgramLimits kLimits{.processor_s = 60, .wall_s = 120, .output_bytes = std::size_t{1} << 30};

// Replaces the tab between name and operands by a blank, and removes one at the end.
std::string tidied(std::string_view text) {
    std::string out;
    for (const char character : text) {
        const bool blank = character == ' ' || character == '\t';
        if (!blank) {
            out += character;
        } else if (!out.empty() && out.back() != ' ') {
            out += ' ';
        }
    }
    while (!out.empty() && out.back() == ' ') {
        out.pop_back();
    }
    return out;
}

} // namespace

lib::Result<Disassembly, trace::Refusal> Disassembly::of_image(const std::string& path) {
    const auto listing = trace::output_of(
        {"objdump", "--disassemble", "--demangle", "--no-show-raw-insn", "--wide", "--", path}, kLimits);
    if (!listing) {
        return listing.error();
    }
    Disassembly disassembly = parse(listing.value());
    if (disassembly.m_instructions.empty()) {
        return trace::Refusal{"objdump found no instruction in it"};
    }
    return disassembly;
}

Disassembly Disassembly::parse(std::string_view listing) {
    Disassembly disassembly;
    while (!listing.empty()) {
        const std::string_view line = listing.substr(0, listing.find('\n'));
        listing.remove_prefix(std::min(line.size() + 1, listing.size()));
        const std::size_t begin = line.find_first_not_of(' ');
        const std::size_t colon = line.find(":\t");
        if (begin == std::string_view::npos || colon == std::string_view::npos || begin > colon) {
            continue;
        }
        std::uint64_t address = 0;
        const auto [end, error] = std::from_chars(line.data() + begin, line.data() + colon, address, 16);
        if (error == std::errc{} && end == line.data() + colon) {
            disassembly.m_instructions.insert_or_assign(address, tidied(line.substr(colon + 2)));
        }
    }
    return disassembly;
}

std::string_view Disassembly::at(std::uint64_t address) const {
    const auto found = m_instructions.find(address);
    return found != m_instructions.end() ? std::string_view(found->second) : std::string_view();
}

std::string_view Disassembly::of(const trace::Event& event) const {
    const bool is_code = event.row != nullptr && event.is_sound() && event.row->par2.unit == tracer::Unit::code;
    return is_code && event.image != nullptr ? at(event.par2) : std::string_view();
}

} // namespace host::cli
