// SPDX-License-Identifier: MIT
// One walk over the events of a trace, whole or in part.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"

#include <cstdint>

namespace host::sql {

// Stamps from `first` to `last`, both included.
struct TickRange {
    std::uint64_t first = 0;
    std::uint64_t last = ~std::uint64_t{0};

    [[nodiscard]] bool whole() const { return first == 0 && last == ~std::uint64_t{0}; }
};

// The work that queries caused.
struct Statistics {
    std::uint64_t visited = 0;  // records that were read: probes of a search, metadata and events; not for a checksum
    std::uint64_t searched = 0; // chunks in which a search found where to begin
    std::uint64_t skipped = 0;  // chunks of which only the metadata was read
    std::uint64_t scanned = 0;  // chunks read from end to end
};

class Scan {
  public:
    Scan() = default;
    Scan(const Scan&) = delete;
    Scan& operator=(const Scan&) = delete;
    virtual ~Scan() = default;

    // The next event, metadata left out, in the order in which `remora print` shows them. Valid until the next call.
    [[nodiscard]] virtual bool next(trace::Event& event) = 0;

    // Grows while events are taken.
    [[nodiscard]] virtual const trace::TraceFacts& facts() const = 0;
};

} // namespace host::sql
