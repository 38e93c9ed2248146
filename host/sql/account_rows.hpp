// SPDX-License-Identifier: MIT
// Rows of `jobs` and `shares`: what host/schedule/accounting.hpp made of a job.
#pragma once

#include "host/schedule/accounting.hpp"
#include "host/sql/tables.hpp"
#include "host/trace/names.hpp"
#include "tracer/names/metadata.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace host::sql {

// What is known of the trace when the job ends.
struct AccountRows {
    const trace::Names& names;
    std::function<std::string(std::uint32_t context)> task; // its name
    std::uint32_t khz = 0;                                  // 0: not known
    std::optional<tracer::TraceCost> cost{};

    void add_job(const schedule::JobAccount& account, const RowSink& sink) const;
    void add_shares(const schedule::JobAccount& account, const RowSink& sink) const;
};

} // namespace host::sql
