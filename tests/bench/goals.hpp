// SPDX-License-Identifier: MIT
// From the best times of all variants to what is printed: FIGURE, PEER and GOAL lines.
#pragma once

#include <map>
#include <string>

namespace bench {

// Best nanoseconds of one iteration, by the variant's name.
using Times = std::map<std::string, double, std::less<>>;

// Every variant of variants.hpp must be there; "lttng_ust" need not.
void print_record_figures(const Times& times);

} // namespace bench
