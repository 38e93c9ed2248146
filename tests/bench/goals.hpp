// SPDX-License-Identifier: MIT
// Prints FIGURE, PEER and GOAL lines from the best times of all variants.
#pragma once

#include <map>
#include <string>

namespace bench {

// Best nanoseconds of one iteration, by the variant's name.
using Times = std::map<std::string, double, std::less<>>;

// Every variant of variants.hpp is required; "lttng_ust" is optional.
void print_record_figures(const Times& times);

} // namespace bench
