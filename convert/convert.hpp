// SPDX-License-Identifier: MIT
// One conversion from end to end: a first pass if the format needs one, then every event to the writer.
#pragma once

#include "convert/writer/writer.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/event_stream.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace host::convert {

// Called now and then while a conversion runs: events done, and events in all (0: not known).
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

struct Request {
    std::string input;  // path, or "-"
    std::string output; // path, or "-"
    trace::OpenOptions options{};
    const FormatRow* format = nullptr;
    std::function<bool(const trace::Event&)> wanted{};         // asked for each event in order; not set: all are
    std::function<std::string(const trace::Names&)> refusal{}; // asked after the last: a text is an error, no output
    std::function<bool()> stopped{}; // asked now and then; true ends the conversion, and no output remains
};

struct Outcome {
    trace::ExitStatus status = trace::ExitStatus::clean;
    std::string error;        // empty if the output is complete
    std::uint64_t events = 0; // written
};

// What is wrong with the input goes to diagnostics, of the last pass only.
[[nodiscard]] Outcome convert(const Request& request, trace::Diagnostics& diagnostics, const Progress& progress);

} // namespace host::convert
