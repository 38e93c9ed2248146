// SPDX-License-Identifier: MIT
// What a reader found wrong with its input, in one stable form: `file:0xoffset chunk N cpu N CODE text`. Codes never
// change: E-xxx ends the unit it names (a chunk, an event), after W-xxx the reader continues. At most kLinesPerCode
// lines of each code are shown; the rest is counted and totalled by finish(). Input is never asserted on and never
// trusted. The exit status of every command that reads a trace derives from here.
#pragma once

#include "lib/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace host::trace {

// What a shell sees. Same meaning for every command.
enum class ExitStatus : std::uint8_t {
    clean = 0,
    usage = 1,    // wrong arguments, or a file or socket could not be used
    damaged = 2,  // something was salvaged, lost or found in violation
    nothing = 3,  // nothing usable
    no_space = 4, // the output could not be written
};

enum class Code : std::uint8_t {
    io,
    directory,
    manifest,
    manifest_name,
    empty,
    truncated,
    version,
    minor,
    tail,
    short_chunk,
    extra,
    count,
    unused,
    unknown,
    length,
    time,
    rotated,
    order,
    frequency,
    no_rate,
    rate,
    range,
    reserved,
    orphan,
    incomplete,
    mixed,
    too_long,
    metadata,
    user,
    formats,
    boot,
    size,
    compact,
    magic,
    header_crc,
    body_crc,
    gap,
    duplicate,
    conflict,
    processor,
    clock,
    cap,
    time_ambiguous,
    raw_size,
    bomb,
    compressed,
    trailing,
    method,
    capture,
    link_type,
    block,
    packet,
    counter,
    line,
    header,
    file_system,
    nesting,
    nothing,
};

enum class Damage : std::uint8_t {
    no,  // worth saying, nothing is missing
    yes, // records or bytes were skipped, lost or cannot be trusted
};

struct CodeRow {
    Code code;
    std::string_view text;
    Damage damage;
};

inline constexpr auto kCodes = std::to_array<CodeRow>({
    {Code::io, "E-IO", Damage::yes},
    {Code::directory, "E-DIR", Damage::yes},
    {Code::manifest, "E-MANIFEST", Damage::yes},
    {Code::manifest_name, "E-NAME", Damage::yes},
    {Code::empty, "E-EMPTY", Damage::yes},
    {Code::truncated, "E-TRUNC", Damage::yes},
    {Code::version, "E-VERSION", Damage::yes},
    {Code::minor, "W-MINOR", Damage::no},
    {Code::tail, "W-TAIL", Damage::yes},
    {Code::short_chunk, "W-SHORT", Damage::yes},
    {Code::extra, "W-EXTRA", Damage::yes},
    {Code::count, "E-COUNT", Damage::yes},
    {Code::unused, "W-UNUSED", Damage::no},
    {Code::unknown, "W-UNKNOWN", Damage::no},
    {Code::length, "E-LEN", Damage::yes},
    {Code::time, "W-TIME", Damage::no},
    {Code::rotated, "W-ROTATED", Damage::no},
    {Code::order, "W-ORDER", Damage::no},
    {Code::frequency, "E-FREQ", Damage::yes},
    {Code::no_rate, "W-NORATE", Damage::no},
    {Code::rate, "W-RATE", Damage::no},
    {Code::range, "W-RANGE", Damage::no},
    {Code::reserved, "W-RESERVED", Damage::no},
    {Code::orphan, "W-ORPHAN", Damage::yes},
    {Code::incomplete, "E-INCOMPLETE", Damage::yes},
    {Code::mixed, "E-MIX", Damage::yes},
    {Code::too_long, "E-TOOLONG", Damage::yes},
    {Code::metadata, "E-META", Damage::yes},
    {Code::user, "E-USER", Damage::yes},
    {Code::formats, "W-FORMATS", Damage::no},
    {Code::boot, "E-BOOT", Damage::yes},
    {Code::size, "E-SIZE", Damage::yes},
    {Code::compact, "E-COMPACT", Damage::yes},
    {Code::magic, "E-MAGIC", Damage::yes},
    {Code::header_crc, "E-HCRC", Damage::yes},
    {Code::body_crc, "W-BCRC", Damage::yes},
    {Code::gap, "W-GAP", Damage::yes},
    {Code::duplicate, "W-DUP", Damage::no},
    {Code::conflict, "E-CONFLICT", Damage::yes},
    {Code::processor, "E-CPU", Damage::yes},
    {Code::clock, "W-CLOCK", Damage::no},
    {Code::cap, "W-CAP", Damage::no},
    {Code::time_ambiguous, "W-TIMEAMBIG", Damage::no},
    {Code::raw_size, "E-RAWSIZE", Damage::yes},
    {Code::bomb, "E-BOMB", Damage::yes},
    {Code::compressed, "E-COMP", Damage::yes},
    {Code::trailing, "W-TRAIL", Damage::no},
    {Code::method, "E-METHOD", Damage::yes},
    {Code::capture, "E-PCAP", Damage::yes},
    {Code::link_type, "E-LINKTYPE", Damage::yes},
    {Code::block, "E-BLOCK", Damage::yes},
    {Code::packet, "W-PACKET", Damage::yes},
    {Code::counter, "W-COUNTER", Damage::no},
    {Code::line, "E-LINE", Damage::yes},
    {Code::header, "E-HEADER", Damage::yes},
    {Code::file_system, "E-FAT", Damage::yes},
    {Code::nesting, "W-NESTING", Damage::no},
    {Code::nothing, "E-NOTHING", Damage::yes},
});

[[nodiscard]] constexpr std::string_view code_text(Code code) {
    return kCodes[static_cast<std::size_t>(code)].text;
}

struct Place {
    std::string_view file;
    std::uint64_t offset_bytes = 0;
    std::int32_t chunk = -1; // -1: not known
    std::int32_t cpu = -1;   // -1: not known
};

class Diagnostics {
  public:
    static constexpr std::uint64_t kLinesPerCode = 100;
    // Receives each finished line, without a newline. Text from the input is already escaped.
    using Sink = std::function<void(std::string_view)>;

    explicit Diagnostics(Sink sink);
    Diagnostics(const Diagnostics&) = delete;
    Diagnostics& operator=(const Diagnostics&) = delete;

    void report(Code code, const Place& place, std::string_view text);

    // One more record whose code no row of the event table has; finish() reports each code once, with a count and the
    // place of the first.
    void count_unknown(std::uint8_t event_code, const Place& place);

    // Reports the totals of limited codes and of unknown events. Must be called once, after the last event.
    void finish();

    [[nodiscard]] std::uint64_t count(Code code) const { return m_counts[static_cast<std::size_t>(code)]; }

    // How often damage was reported.
    [[nodiscard]] std::uint64_t damages() const { return m_damages; }

    [[nodiscard]] bool damaged() const { return m_damages != 0; }

    // usable: whether any event could be decoded. What unusable_input() said counts, whatever else happened.
    [[nodiscard]] ExitStatus exit_status(bool usable) const;

    // The input could not be opened at all; no_space: no room for the bytes that had to be unpacked first.
    void unusable_input(lib::Error error = lib::Error::io) {
        m_unusable_input = error == lib::Error::no_space ? ExitStatus::no_space : ExitStatus::usage;
    }

  private:
    struct Unknown {
        std::uint64_t count = 0;
        std::string file; // of the first
        std::uint64_t offset_bytes = 0;
    };

    Sink m_sink;
    std::array<std::uint64_t, kCodes.size()> m_counts{};
    std::array<Unknown, 256> m_unknown{};
    std::uint64_t m_damages = 0;
    std::optional<ExitStatus> m_unusable_input;
};

namespace detail {

consteval bool rows_are_in_enum_order() {
    for (std::size_t i = 0; i < kCodes.size(); ++i) {
        if (static_cast<std::size_t>(kCodes[i].code) != i) {
            return false;
        }
    }
    return true;
}

} // namespace detail

static_assert(detail::rows_are_in_enum_order());

} // namespace host::trace
