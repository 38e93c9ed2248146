// SPDX-License-Identifier: MIT
// The causes that a job's window shows, and what is left out of a replay without them.
#pragma once

#include "host/analyse/why/diagnosis.hpp"
#include "host/analyse/why/job_case.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace host::analyse::why {

// Each with its gain; those without one are left out.
[[nodiscard]] std::vector<Finding> find_causes(const JobCase& job, double ticks_per_record);

// How much earlier the job would have ended without all of these. of_job: the one of this task by which the causes were
// found.
[[nodiscard]] lib::Ticks gain_without(const JobCase& job, std::span<const Finding> findings, std::uint64_t of_job);

} // namespace host::analyse::why
