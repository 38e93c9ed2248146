// SPDX-License-Identifier: MIT
// The page of a fleet: one HTML file as that of a run is, with the same policy (host/report/frame.hpp). What the store
// answers is in one packed block of JSON, so none of it is ever parsed as HTML.
#pragma once

#include "host/fleet/report/gathered.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace host::fleet::report {

// Where the reports of runs are.
struct Runs {
    std::string directory{};   // beside the page; empty: there are none
    std::string sessions{};    // the directory in which commands find packed sessions
    std::string preparation{}; // the command that fills it; empty: it is there
};

// JSON. Names are as they are, but bytes that are no UTF-8, and characters that would change the text around them, are
// escaped as everywhere.
[[nodiscard]] std::vector<std::byte> contents(const Gathered& gathered, const Runs& runs);

[[nodiscard]] std::string page(const std::vector<std::byte>& contents);

} // namespace host::fleet::report
