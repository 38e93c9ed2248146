// SPDX-License-Identifier: MIT
#include "host/formats/dat/clock_rate.hpp"

#include "host/text/format.hpp"

namespace host::formats::dat {

void take_rate(ChunkScope& scope, std::uint32_t khz, std::uint64_t offset_bytes) {
    trace::Clock& clock = scope.facts().clock;
    if (clock.overridden) {
        return;
    }
    if (!trace::is_plausible_rate(khz)) {
        scope.report("E-FREQ", offset_bytes,
                     fmt::format("a clock of {} kHz is not believed ({} to {}): times stay ticks unless --tsc-khz is "
                                 "given",
                                 khz, trace::kTscKhzMin, trace::kTscKhzMax));
    } else if (clock.khz == 0) {
        clock.khz = khz;
    } else if (clock.khz != khz) {
        scope.report("W-RATE", offset_bytes,
                     fmt::format("the clock's rate is now {} kHz; times continue with {} kHz", khz, clock.khz));
    }
}

void take_clock(ChunkScope& scope, const tracer::ChunkBegin& description, std::uint64_t offset_bytes) {
    trace::Clock& clock = scope.facts().clock;
    clock.source = description.tsc_source;
    clock.mode = description.clock_mode;
    clock.error_ppm = description.tsc_error_ppm;
    if (description.tsc_khz != 0 || description.tsc_source != tracer::TscSource::unknown) {
        take_rate(scope, description.tsc_khz, offset_bytes);
    } else if (clock.khz == 0 && scope.diagnostics().count("W-NORATE") == 0) {
        scope.report("W-NORATE", offset_bytes,
                     "the clock's rate is not known: times stay ticks unless --tsc-khz is given");
    }
}

} // namespace host::formats::dat
