// SPDX-License-Identifier: MIT
// Reads a whole trace in one pass: its events and, if wanted, what follows from them, as tables; what it says about
// itself; and whether anything is missing. The schedule is that of host/schedule, in the rows that SQL has.
#pragma once

#include "host/analyse/verdict.hpp"
#include "host/formats/trace.hpp"
#include "host/trace/event_stream.hpp"
#include "host/trace/facts.hpp"
#include "python/table.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace python {

// The trace cannot be used. The text is what the reader reported.
class Unusable : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

struct Contents {
    std::string path;
    std::string kind;                           // as --from of the commands names it
    std::vector<std::shared_ptr<Table>> tables; // `events` is the first
    host::trace::TraceFacts facts;
    std::optional<tracer::ExportEnd> totals; // those of the machine
    host::analyse::Accounts accounts;
    host::analyse::Verdict verdict;
    std::string hidden;                // records that a filter of the application hid, in words; empty: none
    std::vector<std::string> problems; // every line that the reader reported
    std::optional<bool> complete;      // none: it is not known

    // Returns null if there is no such table.
    [[nodiscard]] std::shared_ptr<Table> find(std::string_view name) const;
};

struct Wanted {
    std::string path;
    host::trace::OpenOptions options{};
    bool schedule = true; // also the tables that follow from the schedule
};

// Throws Unusable. proceed: is called from time to time; what it throws ends the reading.
[[nodiscard]] std::shared_ptr<const Contents> contents_of(const Wanted& wanted, const std::function<void()>& proceed);

} // namespace python
