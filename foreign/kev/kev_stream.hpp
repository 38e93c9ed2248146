// SPDX-License-Identifier: MIT
// Reads a .kev file as a stream of events in time order across processors. Events are sorted within a window of
// kWindowEvents; an event that was written later than that is delivered in the order of the file and reported. Control
// events (TIME, BUFFER) are metadata. In a file of our own writer, events are mapped back to the event table; in any
// other, threads and interrupts become a schedule (thread_schedule.hpp).
#pragma once

#include "foreign/kev/codes.hpp"
#include "foreign/kev/reader.hpp"
#include "foreign/kev/thread_schedule.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/event_stream.hpp"
#include "lib/result.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace host::formats::kev {

class KevStream final : public trace::EventStream {
  public:
    static constexpr std::size_t kWindowEvents = Window::kWindowEvents;

    // Reports any error to diagnostics, which must outlive the stream.
    [[nodiscard]] static lib::Result<std::unique_ptr<KevStream>>
    open(const trace::NamedSource& input, const trace::OpenOptions& options, trace::Diagnostics& diagnostics);

  private:
    [[nodiscard]] std::span<trace::Event> read_batch() override {
        return next(m_single) ? std::span<trace::Event>(&m_single, 1) : std::span<trace::Event>();
    }

    [[nodiscard]] bool next(trace::Event& event);

    KevStream(std::unique_ptr<Reader> reader, const trace::OpenOptions& options, trace::Diagnostics& diagnostics,
              std::string name);

    void take_header(const trace::OpenOptions& options);
    void fill(trace::Event& event);
    void fill_native(trace::Event& event);
    void fill_meaning(trace::Event& event);
    void take_metadata(const trace::Event& event, const Native& native);
    void take_losses(const Header& header);
    void set_time(trace::Event& event);
    void take_object(trace::Event& event, const Native& native);
    void check_order(const RawEvent& event);

    std::unique_ptr<Reader> m_reader;
    Window m_window;
    trace::Diagnostics& m_diagnostics;
    std::string m_name;
    bool m_ours = false;
    std::array<std::optional<Native>, kProcessorsMax> m_objects; // objects of the next waits, by processor
    ThreadSchedule m_threads;                                    // for files of other systems
    std::uint64_t m_hertz = 0;                                   // 0 if unknown

    RawEvent m_current; // the data of the last event that was returned
    std::vector<std::byte> m_payload;
    std::optional<std::uint64_t> m_start;
    std::uint64_t m_latest = 0; // greatest ticks that were delivered
};

} // namespace host::formats::kev
