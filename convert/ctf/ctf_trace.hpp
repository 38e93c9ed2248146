// SPDX-License-Identifier: MIT
// Writes a CTF 1.8 directory and its streams. Source: Common Trace Format, version 1.8.3.
#pragma once

#include "convert/writer/writer.hpp"
#include "host/text/format.hpp"
#include "lib/assert.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace host::convert::ctf {

// Writes a number in the byte order of this machine, and returns the position after it.
template <typename T>
char* put_value(char* at, T value) {
    std::memcpy(at, &value, sizeof(value));
    return at + sizeof(value);
}

// A stream of a trace is a file of packets of one processor.
//
//   packet header | packet context                                                              | events ...
//   magic, stream | begin, end, content bits, packet bits, number, discarded so far, processor  |
//
// A packet is built in memory and written when it is full, so nothing in the file is changed later.
class CtfStream {
  public:
    static constexpr std::size_t kPacketBytes = 64 * 1024;
    static constexpr std::size_t kEventBytesMax = 8 * 1024;
    static constexpr std::size_t kHeadBytes = 60;
    static constexpr std::size_t kEventHeadBytes = 10;

    CtfStream(OutputFile& file, std::uint16_t cpu)
        : m_file(file)
        , m_packet(kPacketBytes)
        , m_cpu(cpu) {}

    // Begins an event and returns the position of its fields, which take at most `bytes` bytes (up to kEventBytesMax);
    // used() states where they end. A stamp below the last one of the stream is raised to it, and counted.
    [[nodiscard]] char* event(std::uint16_t id, std::uint64_t stamp, std::size_t bytes) {
        ASSERT(bytes <= kEventBytesMax);
        if (stamp < m_end) {
            stamp = m_end;
            ++m_raised;
        }
        if (kEventHeadBytes + bytes > kPacketBytes - m_filled) {
            close_packet();
        }
        if (m_filled == kHeadBytes && !m_gap) {
            m_begin = stamp;
        }
        m_end = stamp;
        char* const at = m_packet.data() + m_filled;
        std::memcpy(at, &stamp, sizeof(stamp));
        std::memcpy(at + sizeof(stamp), &id, sizeof(id));
        return at + kEventHeadBytes;
    }

    void used(const char* end) {
        m_filled = static_cast<std::size_t>(end - m_packet.data());
        ASSERT(m_filled <= kPacketBytes);
    }

    // Records that `records` records are missing between the last event and the next one. Readers place a loss between
    // the ends of two packets, so the event after the gap has a packet of its own: end_gap() must be called after it.
    void lost(std::uint64_t records);
    void end_gap();

    // Ends the stream. Records that are missing at an unknown position are reported at its end.
    void finish(std::uint64_t lost_elsewhere);

    // Returns how many stamps were raised.
    [[nodiscard]] std::uint64_t raised() const { return m_raised; }

    // Returns the stamp of the last event.
    [[nodiscard]] std::uint64_t last_stamp() const { return m_end; }

    [[nodiscard]] std::uint64_t discarded() const { return m_discarded; }

  private:
    void close_packet();

    OutputFile& m_file;
    std::vector<char> m_packet;
    std::size_t m_filled = kHeadBytes;
    std::uint64_t m_begin = 0;
    std::uint64_t m_end = 0;
    std::uint64_t m_number = 0;
    std::uint64_t m_discarded = 0;
    std::uint64_t m_raised = 0;
    std::uint16_t m_cpu;
    bool m_gap = false; // the packet covers a gap and begins where the last one ended
};

// The directory has one stream for each processor, our events under their own names, and the metadata. The metadata is
// written last, when all names and event classes are known, so that one pass over the trace is enough. The two CTF
// formats differ in the clock, the environment, and in what they add.
class CtfTrace {
  public:
    enum class Clock : std::uint8_t {
        ticks,       // stamps are those of the trace, at its rate, so that nothing is rounded
        nanoseconds, // since the start of the trace
    };

    // prefix: of the names that an application or another system has given to events. With one, none of them is taken
    // for an event that the readers of the format know.
    CtfTrace(Destination& destination, Clock clock, std::string_view prefix)
        : m_destination(destination)
        , m_clock(clock)
        , m_prefix(prefix) {}

    // Adds one of our events, or another system's, under its own name.
    void add(const trace::Event& event);

    // Returns the stream of a processor for events that a viewer needs beside ours; the text given to finish() declares
    // their classes. Null if the processor can have no stream. used() must be called on the same stream.
    [[nodiscard]] CtfStream* stream(std::uint16_t cpu) {
        return cpu < m_streams.size() && m_streams[cpu] != nullptr ? m_streams[cpu].get() : open_stream(cpu);
    }

    [[nodiscard]] std::uint64_t stamp(const trace::Event& event) const {
        if (m_clock == Clock::ticks || !event.timed) {
            return event.ticks.value;
        }
        return event.time_ns < 0 ? 0 : static_cast<std::uint64_t>(event.time_ns);
    }

    // Writes the rest. environment: lines of `key = value;`, before those of the trace. classes: further event classes.
    // Errors are those of Writer::finish().
    [[nodiscard]] lib::Result<void, Failure> finish(const trace::TraceFacts& facts, std::string_view environment,
                                                    std::string_view classes);

    // Ids of the classes that a format adds itself begin here.
    static constexpr std::uint16_t kFirstOwnId = 0xF000;

  private:
    static constexpr std::uint16_t kDamagedId = 256;
    static constexpr std::uint16_t kOtherId = 257;
    static constexpr std::uint16_t kFirstFreeId = 258;
    static constexpr std::size_t kStreamsMax = 512; // a trace with more processors is damaged, and each stream needs
                                                    // buffers

    // A class that was found in the trace is a typed event as it was declared, or an event of another system.
    struct Declared {
        const tracer::EventDeclaration* seen = nullptr; // the last one compared
        tracer::EventDeclaration declaration;
        std::uint16_t id = 0;
    };

    // Returns whether stamps are ticks with a known rate.
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
    std::uint16_t new_class(std::string_view name, std::string_view fields); // 0 if there are too many

    Destination& m_destination;
    Clock m_clock;
    std::string_view m_prefix;
    std::vector<std::unique_ptr<CtfStream>> m_streams; // by processor
    std::size_t m_open = 0;
    lib::Result<void, Failure> m_opened{};
    std::array<bool, 256> m_unknown{}; // codes outside the table that occurred
    std::map<std::uint16_t, Declared> m_declared;
    std::map<std::uint64_t, std::uint16_t> m_foreign; // by origin, class and number
    std::string m_classes;
    std::uint16_t m_next_id = kFirstFreeId;
};

} // namespace host::convert::ctf
