// SPDX-License-Identifier: MIT
// The kernel's command line has words KEY=VALUE separated by blanks, from PVH or from a file beside the UEFI loader. A
// word that is unknown or whose value does not fit is refused by name; nothing is guessed. Context: any.
#pragma once

#include "kernel/trace/interrupt_detail.hpp"

#include <cstdint>
#include <string_view>

namespace kernel {

// `automatic` is the network; what it does not carry whole goes to the disk.
enum class SinkChoice : std::uint8_t { none, udp, disk, both, automatic };
enum class ExitChoice : std::uint8_t { acpi, debug };
enum class ClockChoice : std::uint8_t { tcg, icount, kvm };
enum class InterruptChoice : std::uint8_t { apic, pic };
enum class ProtocolChoice : std::uint8_t { automatic, v1, v2 };
enum class NicChoice : std::uint8_t { none, pci, isa };

enum class StepChoice : std::uint8_t { none, instructions, blocks }; // the values are one above the grain

// The chunks of the run are written plainly, compactly in the layout that suits the machine, or in a given layout of
// the tracer.
enum class CompactChoice : std::uint8_t { off, automatic, a, b, c, d, plan12, a2, b2, c2, d2, large64, large96 };

// Holds the parameters of clock compensation, in ticks. With step 0 the clock is not compensated.
struct ClockWords {
    std::uint64_t step = 0;
    std::uint32_t trigger = 0;
    std::uint64_t max_delta = 0; // 0: the compensator's default
    std::uint64_t near_zero = 0; // 0: the compensator's default
};

struct Options {
    std::string_view app = "control";
    SinkChoice sink = SinkChoice::none;
    ExitChoice exit = ExitChoice::acpi;
    ClockChoice clock = ClockChoice::tcg;
    NicChoice nic = NicChoice::pci;
    InterruptChoice interrupts = InterruptChoice::apic; // the controller of the external lines
    std::string_view local_address = "192.168.1.10";
    std::string_view target_address = "192.168.1.1";
    std::uint16_t port = 20000;
    std::uint64_t seed = 1;
    std::uint32_t limit_ms = 0;                               // the run is ended after it; 0: never
    std::uint32_t duration_ms = 0;                            // 0: the application's own default
    std::uint8_t width_bits = 32;                             // of the network card's data port, at most
    StepChoice steps = StepChoice::none;                      // whether applications that offer it run in steps
    InterruptDetail interrupt_detail = InterruptDetail::span; // of every vector, until the application sets another one
    bool cli_sti = false;                                     // whether CLI and STI are recorded
    ClockWords compensation;
    bool clock_records = false; // the clock is compensated for records, not for steps
    CompactChoice compact = CompactChoice::off;
    ProtocolChoice protocol = ProtocolChoice::automatic; // of the network's chunks
    bool stream = false;                                 // chunks leave while the application runs
    std::uint32_t watchdog_ms = 30'000;                  // how long nothing may happen; 0: without a limit
    std::string_view shifts;                             // delays of activations (kernel/time/phase_shift.hpp)
    std::uint32_t event_shift = 0;                       // of periodic timer events, in ticks
};

[[nodiscard]] constexpr bool wants_udp(SinkChoice sink) {
    return sink == SinkChoice::udp || sink == SinkChoice::both || sink == SinkChoice::automatic;
}

[[nodiscard]] constexpr bool wants_disk(SinkChoice sink) {
    return sink == SinkChoice::disk || sink == SinkChoice::both;
}

struct ParsedCommandLine {
    Options options;
    std::string_view bad_word; // empty: every word was understood
    std::string_view expected; // what was expected instead
};

// Parses a command line. The result's views point into `text`.
[[nodiscard]] ParsedCommandLine parse_command_line(std::string_view text);

[[nodiscard]] std::string_view sink_name(SinkChoice sink);

} // namespace kernel
