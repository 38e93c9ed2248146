// SPDX-License-Identifier: MIT
// What chunks say about the clock of the machine. The first rate counts for the whole trace.
#pragma once

#include "host/formats/dat/chunk_scope.hpp"
#include "tracer/names/metadata.hpp"

#include <cstdint>

namespace host::formats::dat {

// A rate that a record or a header states. E-FREQ: it is not plausible; W-RATE: it is not the one that is used.
void take_rate(ChunkScope& scope, std::uint32_t khz, std::uint64_t offset_bytes);

// Source, mode, error and rate of the clock as a header states them. W-NORATE: the rate is not known.
void take_clock(ChunkScope& scope, const tracer::ChunkBegin& description, std::uint64_t offset_bytes);

} // namespace host::formats::dat
