// SPDX-License-Identifier: MIT
// The instructions of a kernel image as text, as binutils' objdump prints them. They are read once, completely.
#pragma once

#include "host/trace/diagnostics.hpp"
#include "host/trace/event.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace host::cli {

class Disassembly {
  public:
    // Refused if objdump is missing, fails, or finds no instruction.
    [[nodiscard]] static lib::Result<Disassembly, trace::Refusal> of_image(const std::string& path);

    // Takes the output of `objdump -d`.
    [[nodiscard]] static Disassembly parse(std::string_view listing);

    // Returns an empty text if no instruction begins there.
    [[nodiscard]] std::string_view at(std::uint64_t address) const;

    // Returns the text of the instruction that an event is about; empty if it is about none, or if the trace is of
    // another image.
    [[nodiscard]] std::string_view of(const trace::Event& event) const;

  private:
    std::unordered_map<std::uint64_t, std::string> m_instructions;
};

} // namespace host::cli
