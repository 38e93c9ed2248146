// SPDX-License-Identifier: MIT
// The words for enumerators in manifests and on the screen.
#include "host/formats/dat/manifest.hpp"

namespace host::formats::dat {

std::string_view clock_mode_name(tracer::ClockMode mode) {
    switch (mode) {
    case tracer::ClockMode::unknown:
        return "unknown";
    case tracer::ClockMode::emulated:
        return "emulated";
    case tracer::ClockMode::icount:
        return "icount";
    case tracer::ClockMode::hardware:
        return "hardware";
    }
    return "unknown";
}

std::string_view tsc_source_name(tracer::TscSource source) {
    switch (source) {
    case tracer::TscSource::unknown:
        return "unknown";
    case tracer::TscSource::pit:
        return "pit";
    case tracer::TscSource::pm_timer:
        return "pm_timer";
    case tracer::TscSource::hpet:
        return "hpet";
    case tracer::TscSource::cpuid:
        return "cpuid";
    }
    return "unknown";
}

std::string_view run_result_name(tracer::RunResult result) {
    switch (result) {
    case tracer::RunResult::unknown:
        return "unknown";
    case tracer::RunResult::completed:
        return "completed";
    case tracer::RunResult::failed:
        return "failed";
    case tracer::RunResult::panicked:
        return "panicked";
    }
    return "unknown";
}

std::string_view chunk_mode_name(std::uint8_t flags) {
    constexpr std::uint8_t kModeMask = 0x0C; // S.Ha.R.K.: cyclic 00, jump to next 04, stop 08
    switch (flags & kModeMask) {
    case 0x00:
        return "cyclic";
    case 0x04:
        return "jump";
    default:
        return "stop";
    }
}

std::string encoding_name(const tracer::ChunkBegin& description) {
    if (description.encoding == tracer::Encoding::records) {
        return "records";
    }
    const bool known = tracer::compact::is_layout(description.layout);
    return "compact " + (known ? std::string(tracer::compact::kLayoutRows[description.layout].name) : "?");
}

bool is_chunk_file_name(std::string_view name) {
    std::size_t digits = 0;
    while (digits < name.size() && name[digits] >= '0' && name[digits] <= '9') {
        ++digits;
    }
    const std::string_view rest = name.substr(digits);
    return digits >= 1 && digits <= 9 && (rest == "trace.dat" || rest == "TRACE.DAT");
}

} // namespace host::formats::dat
