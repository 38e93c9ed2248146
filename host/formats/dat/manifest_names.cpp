// SPDX-License-Identifier: MIT
// The words for enumerators in manifests and on the screen.
#include "host/formats/dat/manifest.hpp"

#include <array>

namespace host::formats::dat {

namespace {

// The first name is `unknown`, which is used for any other number, too.
template <typename Enum, std::size_t Count>
std::string_view name_in(const std::array<std::string_view, Count>& names, Enum value) {
    const auto index = static_cast<std::size_t>(value);
    return names[index < Count ? index : 0];
}

} // namespace

std::string_view clock_mode_name(tracer::ClockMode mode) {
    return name_in(std::to_array<std::string_view>({"unknown", "emulated", "icount", "hardware"}), mode);
}

std::string_view tsc_source_name(tracer::TscSource source) {
    return name_in(std::to_array<std::string_view>({"unknown", "pit", "pm_timer", "hpet", "cpuid"}), source);
}

std::string_view run_result_name(tracer::RunResult result) {
    return name_in(std::to_array<std::string_view>({"unknown", "completed", "failed", "panicked"}), result);
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
    return "compact " + std::string(layout_name(description.layout));
}

std::string_view layout_name(std::uint8_t layout) {
    return tracer::compact::is_layout(layout) ? tracer::compact::kLayoutRows[layout].name : "?";
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
