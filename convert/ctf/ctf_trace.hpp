// SPDX-License-Identifier: MIT
// A CTF 1.8 directory that grows: one stream per processor, our events under their own names, and the metadata, which
// is written last, when all names and event classes are known. So one pass over the trace is enough. The two CTF
// formats differ in the clock, the environment, and in what they add.
#pragma once

#include "convert/ctf/ctf_stream.hpp"
#include "convert/writer/writer.hpp"
#include "host/text/format.hpp"

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace host::convert::ctf {

class CtfTrace {
  public:
    enum class Clock : std::uint8_t {
        ticks,       // stamps are the trace's, at its rate: nothing is rounded
        nanoseconds, // since the start of the trace
    };

    CtfTrace(Destination& destination, Clock clock)
        : m_destination(destination)
        , m_clock(clock) {}

    // One of our events, or another system's, under its own name.
    void add(const trace::Event& event);

    // What a viewer needs beside that: an event of a class that the text given to finish() declares. Null if the
    // processor can have no stream. used() goes to the same stream.
    [[nodiscard]] CtfStream* stream(std::uint16_t cpu) {
        return cpu < m_streams.size() && m_streams[cpu] != nullptr ? m_streams[cpu].get() : open_stream(cpu);
    }

    [[nodiscard]] std::uint64_t stamp(const trace::Event& event) const {
        if (m_clock == Clock::ticks || !event.timed) {
            return event.ticks.value;
        }
        return event.time_ns < 0 ? 0 : static_cast<std::uint64_t>(event.time_ns);
    }

    // environment: lines of `key = value;`, in front of what the trace says about itself. classes: further event
    // classes. Errors as Writer::finish().
    [[nodiscard]] lib::Result<void, Failure> finish(const trace::TraceFacts& facts, std::string_view environment,
                                                    std::string_view classes);

    // Ids of classes that a format adds itself: from here on.
    static constexpr std::uint16_t kFirstOwnId = 0xF000;

  private:
    static constexpr std::uint16_t kDamagedId = 256;
    static constexpr std::uint16_t kOtherId = 257;
    static constexpr std::uint16_t kFirstFreeId = 258;
    static constexpr std::size_t kStreamsMax = 512; // more processors than that are damage, and each holds buffers

    // Classes found on the way: typed events as they were declared, and other systems' events.
    struct Declared {
        const tracer::EventDeclaration* seen = nullptr; // the last one that was compared
        tracer::EventDeclaration declaration;
        std::uint16_t id = 0;
    };

    // Stamps are ticks, and their rate is known.
    [[nodiscard]] bool counts_ticks(const trace::TraceFacts& facts) const {
        return m_clock == Clock::ticks && facts.clock.khz != 0;
    }

    [[nodiscard]] lib::Result<void, Failure> finish_streams(const trace::TraceFacts& facts);
    void append_metadata_head(fmt::memory_buffer& out, const trace::TraceFacts& facts,
                              std::string_view environment) const;
    void append_classes(fmt::memory_buffer& out) const;
    CtfStream* open_stream(std::uint16_t cpu);
    void add_record(CtfStream& stream, const trace::Event& event);
    void add_long(CtfStream& stream, const trace::Event& event);
    bool add_typed(CtfStream& stream, const trace::Event& event);
    void add_formatted(CtfStream& stream, const trace::Event& event);
    void add_foreign(CtfStream& stream, const trace::Event& event);
    void add_damaged(CtfStream& stream, const trace::Event& event);
    std::uint16_t declared_id(std::uint16_t type, const tracer::EventDeclaration& declaration);
    std::uint16_t new_class(std::string_view name, std::string_view fields); // 0: there are too many

    Destination& m_destination;
    Clock m_clock;
    std::vector<std::unique_ptr<CtfStream>> m_streams; // by processor
    std::size_t m_open = 0;
    lib::Result<void, Failure> m_opened{};
    std::array<bool, 256> m_unknown{}; // codes outside of the table that came
    std::map<std::uint16_t, Declared> m_declared;
    std::map<std::uint64_t, std::uint16_t> m_foreign; // by origin, class and number
    std::string m_classes;
    std::uint16_t m_next_id = kFirstFreeId;
};

} // namespace host::convert::ctf
