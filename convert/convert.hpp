// SPDX-License-Identifier: MIT
// One conversion from end to end: a first pass if the format needs one, then every event to the writer.
#pragma once

#include "convert/writer/writer.hpp"
#include "host/formats/trace.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/event_stream.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace host::convert {

// Called repeatedly while a conversion runs, with the number of events done and of all events (0 if unknown).
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

struct Request {
    std::string input;  // path, or "-"
    std::string output; // path, or "-"
    trace::OpenOptions options{};
    const FormatRow* format = nullptr;
    std::function<bool(const trace::Event&)> wanted{};         // called for each event in order; if not set, all events
                                                               // are wanted
    std::function<std::string(const trace::Names&)> refusal{}; // called after the last event; a text is an error, and
                                                               // there is no output
    std::function<bool()> stopped{}; // called repeatedly; true ends the conversion, and no output remains
    std::function<void(const formats::Trace&)> ended{}; // called at the end, if no diagnostics said anything
};

struct Outcome {
    trace::ExitStatus status = trace::ExitStatus::clean;
    std::string error;        // empty if the output is complete
    std::uint64_t events = 0; // written
};

// Converts a trace. diagnostics receives what is wrong with the input, from the last pass only.
[[nodiscard]] Outcome convert(const Request& request, trace::Diagnostics& diagnostics, const Progress& progress);

} // namespace host::convert
