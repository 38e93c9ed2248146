// SPDX-License-Identifier: MIT
// When devices raised the interrupts that a processor took, read from QEMU's log: which request reached the local APIC
// (trace events apic_*), which interrupt the processor took (-d int), and when it read its time stamp counter next. For
// one processor: the log does not say which one it means.
//
//   line of the log                                                means
//   apic_mem_writel 0x3R0 = 0xV                                    a local line is set up (R: 2..7), or the processor
//                                                                  requests an interrupt of itself (0x300)
//   apic_register_write register 0x3R = 0xV                        the same, as QEMU 10 writes it
//   apic_local_deliver vector L delivery mode M                    local line L has expired or was raised
//   apic_deliver_irq dest .. delivery_mode M vector V ..           a line of the I/O APIC, or a message
//        N: v=XX e=.. i=S ..                                       vector XX is taken; S: by an instruction (int)
//
// The APIC holds one request of each vector: while it is pending, others of that vector add nothing, and the first one
// counts.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace host::observer {

// In instructions that were executed since the machine was switched on.
struct Interrupt {
    std::uint8_t vector = 0;
    std::optional<std::uint64_t> raised;  // none: by an instruction, or in a way that the log does not show
    std::uint64_t taken = 0;              // before the first instruction of the handler
    std::optional<std::uint64_t> stamped; // the first rdtsc after that; none if another interrupt came before it

    friend bool operator==(const Interrupt&, const Interrupt&) = default;
};

class RequestLog {
  public:
    using Sink = std::function<void(const Interrupt&)>;

    // In the order in which they were taken.
    explicit RequestLog(Sink sink)
        : m_sink(std::move(sink)) {}

    // A line that appeared after so many instructions, without its end. Lines that mean nothing here are ignored.
    void take(std::string_view line, std::uint64_t executed);

    // The processor reads its time stamp counter.
    void read_stamp(std::uint64_t executed);

    // No further line comes.
    void finish();

  private:
    void write(std::uint64_t address, std::uint64_t value, std::uint64_t executed);
    void request(std::uint64_t delivery, std::uint64_t vector, std::uint64_t executed);
    void interrupt(std::uint64_t vector, bool by_instruction, std::uint64_t executed);

    Sink m_sink;
    std::array<std::uint32_t, 6> m_local_lines{}; // as they were written; 0: vector 0, which is no interrupt
    std::array<std::optional<std::uint64_t>, 256> m_pending{}; // since when a vector is requested
    std::optional<Interrupt> m_taken;                          // and did not read its counter yet
};

} // namespace host::observer
