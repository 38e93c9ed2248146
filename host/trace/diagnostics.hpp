// SPDX-License-Identifier: MIT
// Errors for the user, and what readers report about their input. A report has one stable form: `file:0xoffset chunk N
// cpu N CODE text`. Codes never change: after E-xxx the unit it names (a chunk, an event) is given up, after W-xxx the
// reader continues. At most kLinesPerCode lines of each code are shown; finish() reports how many were not shown. Input
// is never asserted on and never trusted. The exit status of every command that reads a trace is derived here.
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

// An error of a hosted operation, for lib::Result, whose callers only report it. The text is for the user: it names
// what is wrong and, if there is one, the remedy.
struct Refusal {
    std::string text;
};

template <typename Cause>
struct Failure {
    Cause cause{};
    std::string text;
};

// Is the exit status of a command. Each value has the same meaning for every command.
enum class ExitStatus : std::uint8_t {
    clean = 0,
    usage = 1,    // wrong arguments, or a file or socket could not be used
    damaged = 2,  // something was salvaged, lost or found in violation
    nothing = 3,  // nothing usable
    no_space = 4, // the output could not be written
    timeout = 5,  // the work took longer than --timeout allows
};

// Returns the status of a command that could not use its input or output.
[[nodiscard]] constexpr ExitStatus status_of(lib::Error error) {
    return error == lib::Error::no_space ? ExitStatus::no_space : ExitStatus::usage;
}

enum class Damage : std::uint8_t {
    no,  // worth reporting, but nothing is missing
    yes, // records or bytes were skipped, lost or cannot be trusted
};

struct CodeRow {
    std::string_view text;
    Damage damage;
};

inline constexpr auto kCodes = std::to_array<CodeRow>({
    {"E-IO", Damage::yes},         {"E-DIR", Damage::yes},      {"E-MANIFEST", Damage::yes}, {"E-NAME", Damage::yes},
    {"E-EMPTY", Damage::yes},      {"E-TRUNC", Damage::yes},    {"E-VERSION", Damage::yes},  {"W-MINOR", Damage::no},
    {"W-TAIL", Damage::yes},       {"W-SHORT", Damage::yes},    {"W-EXTRA", Damage::yes},    {"E-COUNT", Damage::yes},
    {"W-UNUSED", Damage::no},      {"W-UNKNOWN", Damage::no},   {"E-LEN", Damage::yes},      {"W-TIME", Damage::no},
    {"W-ROTATED", Damage::no},     {"W-ORDER", Damage::no},     {"E-FREQ", Damage::yes},     {"W-NORATE", Damage::no},
    {"W-RATE", Damage::no},        {"W-RANGE", Damage::no},     {"W-RESERVED", Damage::no},  {"W-ORPHAN", Damage::yes},
    {"E-INCOMPLETE", Damage::yes}, {"E-MIX", Damage::yes},      {"E-TOOLONG", Damage::yes},  {"E-META", Damage::yes},
    {"E-USER", Damage::yes},       {"W-FORMATS", Damage::no},   {"E-BOOT", Damage::yes},     {"E-SIZE", Damage::yes},
    {"E-COMPACT", Damage::yes},    {"E-MAGIC", Damage::yes},    {"E-HCRC", Damage::yes},     {"W-BCRC", Damage::yes},
    {"W-GAP", Damage::yes},        {"W-DUP", Damage::no},       {"E-CONFLICT", Damage::yes}, {"E-CPU", Damage::yes},
    {"W-CLOCK", Damage::no},       {"W-CAP", Damage::no},       {"W-TIMEAMBIG", Damage::no}, {"E-RAWSIZE", Damage::yes},
    {"E-BOMB", Damage::yes},       {"E-COMP", Damage::yes},     {"W-TRAIL", Damage::no},     {"E-METHOD", Damage::yes},
    {"E-PCAP", Damage::yes},       {"E-LINKTYPE", Damage::yes}, {"E-BLOCK", Damage::yes},    {"W-PACKET", Damage::yes},
    {"W-COUNTER", Damage::no},     {"E-LINE", Damage::yes},     {"E-HEADER", Damage::yes},   {"E-FAT", Damage::yes},
    {"W-NESTING", Damage::no},     {"E-NOTHING", Damage::yes},  {"W-CRC", Damage::yes},      {"W-NAMES", Damage::no},
});

// A row of the table, named by its text: report("W-GAP", ...). A text that is not in the table does not compile.
class Code {
  public:
    template <std::size_t Size>
    consteval Code(const char (&text)[Size]) { // NOLINT: implicit, and a literal
        while (kCodes.at(m_row).text != std::string_view(text, Size - 1)) {
            ++m_row;
        }
    }

    [[nodiscard]] constexpr std::size_t row() const { return m_row; }

    friend constexpr bool operator==(Code, Code) = default;

  private:
    std::size_t m_row = 0;
};

struct Place {
    std::string_view file;
    std::uint64_t offset_bytes = 0;
    std::int32_t chunk = -1; // -1: not known
    std::int32_t cpu = -1;   // -1: not known
};

class Diagnostics {
  public:
    static constexpr std::uint64_t kLinesPerCode = 100;
    // Receives each complete line, without a newline. Text from the input is already escaped.
    using Sink = std::function<void(std::string_view)>;

    explicit Diagnostics(Sink sink);
    Diagnostics(const Diagnostics&) = delete;
    Diagnostics& operator=(const Diagnostics&) = delete;

    void report(Code code, const Place& place, std::string_view text);

    // Shows a line that is no report about the input. Text from the input must be escaped.
    void note(std::string_view line) { m_sink(line); }

    // Counts a record whose code is in no row of the event table. finish() reports each such code once, with the count
    // and the place of the first record.
    void count_unknown(std::uint8_t event_code, const Place& place);

    // Reports how many lines of each code were not shown, and the unknown event codes. Must be called once, after the
    // last event.
    void finish();

    [[nodiscard]] std::uint64_t count(Code code) const { return m_counts[code.row()]; }

    // Returns how many reports were made.
    [[nodiscard]] std::uint64_t reports() const { return m_reports; }

    // Returns how many reports of damage were made.
    [[nodiscard]] std::uint64_t damages() const { return m_damages; }

    [[nodiscard]] bool damaged() const { return m_damages != 0; }

    // Returns the codes of the damage that was reported, "E-CONFLICT, W-TAIL"; empty: none was.
    [[nodiscard]] std::string damage() const;

    // usable: whether any event could be decoded. A status that unusable_input() has set takes precedence.
    [[nodiscard]] ExitStatus exit_status(bool usable) const;

    // Records that the input could not be opened at all. no_space: there was no room for the bytes that had to be
    // unpacked first.
    void unusable_input(lib::Error error = lib::Error::io) { m_unusable_input = status_of(error); }

  private:
    struct Unknown {
        std::uint64_t count = 0;
        std::string file; // file of the first record
        std::uint64_t offset_bytes = 0;
    };

    Sink m_sink;
    std::array<std::uint64_t, kCodes.size()> m_counts{};
    std::array<Unknown, 256> m_unknown{};
    std::uint64_t m_reports = 0;
    std::uint64_t m_damages = 0;
    std::optional<ExitStatus> m_unusable_input;
};

} // namespace host::trace
