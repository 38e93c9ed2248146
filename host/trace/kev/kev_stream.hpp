// SPDX-License-Identifier: MIT
// A .kev file as a stream of events in time order across processors. Events are put in order within a window of
// kWindowEvents; what is written later than that comes where it stands and is reported. Control events (TIME, BUFFER)
// are metadata. In a file that our own writer made, events are mapped back to the event table.
#pragma once

#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/event_stream.hpp"
#include "host/trace/kev/codes.hpp"
#include "host/trace/kev/reader.hpp"
#include "host/trace/kev/window.hpp"
#include "host/trace/open_options.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace host::trace::kev {

class KevStream final : public EventStream {
  public:
    static constexpr std::size_t kWindowEvents = Window::kWindowEvents;

    // Any error was reported to diagnostics, which outlives the stream.
    [[nodiscard]] static lib::Result<std::unique_ptr<KevStream>>
    open(const NamedSource& input, const OpenOptions& options, Diagnostics& diagnostics);

    [[nodiscard]] bool next(Event& event) override;

    [[nodiscard]] const Header& header() const { return m_reader->header(); }

  private:
    KevStream(std::unique_ptr<Reader> reader, const OpenOptions& options, Diagnostics& diagnostics, std::string name);

    void take_header(const OpenOptions& options);
    void fill(Event& event);
    void fill_native(Event& event);
    void take_metadata(const Event& event, const Native& native);
    void take_payload(const Event& event, std::span<const std::byte> payload);
    void set_time(Event& event);
    void check_order(const RawEvent& event);

    std::unique_ptr<Reader> m_reader;
    Window m_window;
    Diagnostics& m_diagnostics;
    std::string m_name;
    bool m_ours = false;
    std::uint64_t m_hertz = 0; // 0: not known

    RawEvent m_current; // whose data the caller holds
    std::vector<std::byte> m_payload;
    std::optional<std::uint64_t> m_start;
    std::uint64_t m_latest = 0; // ticks of what was delivered
};

} // namespace host::trace::kev
