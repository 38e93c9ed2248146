// SPDX-License-Identifier: MIT
// Finds when devices raised the interrupts that a processor took, from QEMU's log: which request reached the local APIC
// (trace events apic_*), which interrupt the processor took (-d int), and when it next read its time stamp counter. It
// is for one processor only, because the log does not state which one a line is about.
//
//   line of the log                                                means
//   apic_mem_writel 0x3R0 = 0xV                                    a local line is set up (R: 2..7), or the processor
//                                                                  requests an interrupt of itself (0x300)
//   apic_register_write register 0x3R = 0xV                        the same, as QEMU 10 writes it
//   apic_local_deliver vector L delivery mode M                    local line L has expired or was raised
//   apic_deliver_irq dest .. delivery_mode M vector V ..           a line of the I/O APIC, or a message
//        N: v=XX e=.. i=S ..                                       vector XX is taken; S: by an instruction (int)
//
// The APIC holds one request of each vector: while it is pending, further ones of that vector have no effect, so the
// first one counts.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

namespace host::observer {

// Times are numbers of instructions executed since the machine was switched on.
struct Interrupt {
    std::uint8_t vector = 0;
    std::optional<std::uint64_t> raised;  // none if an instruction raised it, or the log does not show it
    std::uint64_t taken = 0;              // before the first instruction of the handler
    std::optional<std::uint64_t> stamped; // the first rdtsc after `taken`; none if another interrupt came before it

    friend bool operator==(const Interrupt&, const Interrupt&) = default;
};

class RequestLog {
  public:
    using Sink = std::function<void(const Interrupt&)>;

    // Returns the interrupts in the order in which they were taken.
    explicit RequestLog(Sink sink)
        : m_sink(std::move(sink)) {}

    // Takes a line, without its end, that appeared after this number of instructions. Other lines than those above are
    // ignored.
    void take(std::string_view line, std::uint64_t executed);

    // Must be called when the processor reads its time stamp counter.
    void read_stamp(std::uint64_t executed);

    // Must be called when no further line comes.
    void finish();

  private:
    void write(std::uint64_t address, std::uint64_t value, std::uint64_t executed);
    void request(std::uint64_t delivery, std::uint64_t vector, std::uint64_t executed);
    void interrupt(std::uint64_t vector, bool by_instruction, std::uint64_t executed);

    Sink m_sink;
    std::array<std::uint32_t, 6> m_local_lines{}; // the values as written; 0 has vector 0, which is no interrupt
    std::array<std::optional<std::uint64_t>, 256> m_pending{}; // since when a vector has been requested
    std::optional<Interrupt> m_taken; // the interrupt taken last, if its handler has not read the counter yet
};

} // namespace host::observer
