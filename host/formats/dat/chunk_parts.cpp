// SPDX-License-Identifier: MIT
#include "host/formats/dat/chunk_parts.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace host::formats::dat {

namespace {

using trace::ChunkReport;
using Reports = std::vector<ChunkReport>;

// The report of the part's chunk, which is not the part's own. None for a part that does not say whose it is.
Reports::iterator whole_of(Reports& reports, std::size_t part) {
    const ChunkReport& of = reports[part];
    return std::ranges::find_if(reports, [&of](const ChunkReport& report) {
        return &report != &of && of.described && report.described && report.description.cpu == of.description.cpu &&
               report.description.chunk == of.description.chunk;
    });
}

void add(ChunkReport& whole, const ChunkReport& part) {
    const std::uint64_t overwritten = whole.description.overwritten + part.description.overwritten;
    whole.order = part.order;
    whole.description = part.description;
    whole.description.overwritten = overwritten;
    whole.preamble += part.preamble;
    whole.records += part.records;
    whole.events += part.events;
    whole.missing += part.missing;
    whole.extra += part.extra;
    whole.unused += part.unused;
    whole.skipped += part.skipped;
    whole.gaps += part.gaps;
    whole.blackout += part.blackout;
    whole.in_blackout = part.in_blackout;
    whole.damaged = whole.damaged || part.damaged;
    whole.numevents = part.numevents;
    whole.first_stamp = whole.first_stamp ? whole.first_stamp : part.first_stamp;
    whole.last_stamp = part.last_stamp ? part.last_stamp : whole.last_stamp;
}

} // namespace

void add_part(Reports& reports, std::size_t part) {
    const auto whole = whole_of(reports, part);
    if (whole != reports.end()) {
        add(*whole, reports[part]);
    } else if (reports[part].described) {
        ChunkReport first = reports[part];
        reports.push_back(std::move(first));
    }
}

void end_parts(Reports& reports, std::size_t part) {
    const auto whole = whole_of(reports, part);
    if (whole != reports.end()) {
        add(*whole, reports[part]);
        reports[part] = std::move(*whole);
        reports.erase(whole);
    }
}

} // namespace host::formats::dat
