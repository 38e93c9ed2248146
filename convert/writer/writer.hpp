// SPDX-License-Identifier: MIT
// An output format is a writer that receives the events of one trace in time order. There is one file for each format;
// the list of formats is in convert.cpp.
#pragma once

#include "host/output/output_file.hpp"
#include "host/trace/event.hpp"
#include "host/trace/event_stream.hpp"
#include "host/trace/facts.hpp"
#include "lib/result.hpp"

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace host::formats {
class Trace;
}

namespace host::convert {

// The converters use these names of host/output/ in nearly every file.
using output::Destination;
using output::Failure;
using output::failure_of;
using output::Fault;
using output::OutputFile;
using output::status_of;

// A survey is the result of a first pass over the trace, which formats need whose head lists names, processors or
// counts. Metadata is not counted.
struct Survey {
    trace::TraceFacts facts;                   // complete
    std::uint64_t events = 0;                  // in any state
    std::array<std::uint64_t, 256> per_code{}; // sound events by code; those of another system are 0
    std::vector<std::uint16_t> processors;     // that logged anything, in rising order
    std::bitset<0x1'0000> contexts;            // of tasks in sound events
    std::bitset<0x1'0000> vectors;             // of interrupts in sound events
    lib::Ticks first{};                        // smallest stamp; meaningless without events
    lib::Ticks last{};                         // greatest
    std::uint64_t lost = 0;                    // records that the trace reports as dropped
    trace::InputKind kind = trace::InputKind::records;
};

class Writer {
  public:
    Writer() = default;
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    virtual ~Writer() = default;

    // Called before the first event. survey: null if the row of the format does not request one. The destination has
    // errors of writing; unusable: the format cannot represent this trace.
    [[nodiscard]] virtual lib::Result<void, Failure> begin(const Survey* /*survey*/) { return {}; }

    // Adds an event. Events come in time order, without metadata.
    virtual void add(const trace::Event& event) = 0;

    // Called after the last event. Errors are those of begin().
    [[nodiscard]] virtual lib::Result<void, Failure> finish(const trace::TraceFacts& /*facts*/) { return {}; }

    // Called after finish(): returns what readers of the format may be unable to do with the output, and the remedy;
    // mostly empty.
    [[nodiscard]] virtual std::string warning() const { return {}; }
};

struct FormatRow {
    std::string_view name;    // on the command line
    std::string_view suffix;  // of a file in this format, with its dot; empty: a directory
    std::string_view meaning; // one line for --help: what it is, and which viewers open it
    Destination::Shape shape;
    bool needs_survey;
    bool keeps_stamps = false; // stamps are those of the trace, even if the kernel set its clock back
    std::unique_ptr<Writer> (*make)(Destination& destination) = nullptr; // the destination must outlive the writer
};

// Makes a writer that needs only the destination.
template <typename T>
[[nodiscard]] std::unique_ptr<Writer> make_writer(Destination& destination) {
    return std::make_unique<T>(destination);
}

// Returns null if there is no such format.
[[nodiscard]] const FormatRow* find_format(std::string_view name);

// Returns all formats in the order in which they are listed.
[[nodiscard]] std::vector<const FormatRow*> all_formats();

// Makes the first pass over a trace, for formats whose head describes what follows: reads every event of the trace and
// counts those that are wanted, or all.
[[nodiscard]] Survey survey_of(formats::Trace& trace, const std::function<bool(const trace::Event&)>& wanted = {});

} // namespace host::convert
