// SPDX-License-Identifier: MIT
// What every output format is: a writer that takes the events of one trace in time order. One file per format; the list
// of formats is in formats.cpp.
#pragma once

#include "convert/writer/output.hpp"
#include "host/trace/event.hpp"
#include "host/trace/event_stream.hpp"
#include "host/trace/facts.hpp"
#include "lib/result.hpp"

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace host::convert {

// What a first pass over the trace found: formats whose head lists names, processors or counts need it before the first
// event. Metadata is not counted.
struct Survey {
    trace::TraceFacts facts;                   // complete
    std::uint64_t events = 0;                  // of any state
    std::array<std::uint64_t, 256> per_code{}; // sound events, by code; another system's: 0
    std::vector<std::uint16_t> processors;     // that logged anything, in rising order
    std::bitset<0x1'0000> contexts;            // of tasks that sound events name
    std::bitset<0x1'0000> vectors;             // of interrupts, likewise
    lib::Ticks first{};                        // smallest stamp; meaningless without events
    lib::Ticks last{};                         // greatest
    std::uint64_t lost = 0;                    // records that the trace itself says were dropped
    trace::InputKind kind = trace::InputKind::records;
};

class Writer {
  public:
    Writer() = default;
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;
    virtual ~Writer() = default;

    // Before the first event. survey: null if the format's row says that it needs none. Errors of writing show in the
    // destination; unusable: the format cannot carry this trace.
    [[nodiscard]] virtual lib::Result<void, Failure> begin(const Survey* /*survey*/) { return {}; }

    // Events in time order, metadata left out.
    virtual void add(const trace::Event& event) = 0;

    // After the last event. Errors as begin().
    [[nodiscard]] virtual lib::Result<void, Failure> finish(const trace::TraceFacts& /*facts*/) { return {}; }

    // After finish(): what readers of the format may not be able to do with the output, and the remedy; mostly empty.
    [[nodiscard]] virtual std::string warning() const { return {}; }
};

struct FormatRow {
    std::string_view name;    // as the command line has it
    std::string_view suffix;  // of a file in this format, with its dot; empty: a directory
    std::string_view meaning; // one line for --help: what it is, and which viewers open it
    Destination::Shape shape;
    bool needs_survey;
    bool keeps_stamps = false; // as they are in the trace, even if the kernel set its clock back
    std::unique_ptr<Writer> (*make)(Destination& destination) = nullptr; // the destination outlives the writer
};

// Of a format whose writer takes nothing but the destination.
template <typename T>
[[nodiscard]] std::unique_ptr<Writer> make_writer(Destination& destination) {
    return std::make_unique<T>(destination);
}

// Null if there is no such format.
[[nodiscard]] const FormatRow* find_format(std::string_view name);

// All formats, in the order in which they are listed.
[[nodiscard]] std::vector<const FormatRow*> all_formats();

} // namespace host::convert
