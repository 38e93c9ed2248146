// SPDX-License-Identifier: MIT
// A file of expectations of a trace, read strictly: one to a line, such as `worst sensor response <= 3ms`.
//
//   line       = [figure [[comparison] value]] ["#" comment]
//   figure     = the words of a row of figures.hpp; a name with blanks in it in double quotes
//   comparison = "=" (may be left out) | "!=" | "<" | "<=" | ">" | ">="
//   value      = a number; a time such as 1500 (ns), 20us, 1.5ms, 2s; a percentage such as 12.5%
#pragma once

#include "host/cli/expect/figures.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace host::cli {

enum class Comparison : std::uint8_t { equal, unequal, less, less_equal, greater, greater_equal };

struct Expectation {
    std::size_t line = 0; // from 1
    std::string text;     // the statement as it was written, printable
    const FigureRow* figure = nullptr;
    std::vector<std::string> names; // in the order of the figure's words in capitals
    Comparison comparison = Comparison::equal;
    long double value = 0; // in ns, percent, or as it is

    [[nodiscard]] bool holds_for(long double found) const;
};

struct Expectations {
    std::vector<Expectation> list;
    std::vector<std::string> errors; // LINE:COLUMN: what is wrong, and the remedy
};

// At least one expectation, or an error.
[[nodiscard]] Expectations parse_expectations(std::string_view text_untrusted);

// A value of the unit, as a file would have it.
[[nodiscard]] std::string value_text(FigureUnit unit, long double value);

} // namespace host::cli
