// SPDX-License-Identifier: MIT
// Interrupts a record in the guest cases: has the ways in, what their handlers log, and the boundaries at which a
// record is worth being interrupted. Context: irq-off, unless stated otherwise.
#pragma once

#include "tests/kernel/case.hpp"
#include "tests/kernel/stepping.hpp"
#include "tracer/record/record.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace guest {

inline constexpr std::uint16_t kOuter = 1;  // par1 of the record that is interrupted
inline constexpr std::uint16_t kNested = 2; // par1 of what a handler logs
inline constexpr std::size_t kLongSlotsMax = 64;

enum class Way : std::uint8_t { irq, nmi, debug, breakpoint };
inline constexpr std::array kWays = {Way::irq, Way::nmi, Way::debug, Way::breakpoint};
inline constexpr std::array<std::string_view, 4> kWayNames = {"irq", "nmi", "debug", "breakpoint"};

// Attaches the handlers; the debug exception has none but theirs meanwhile. Task.
void start_interrupter();
void stop_interrupter();

// Sets what handlers log from now on: one record, or a long event of this many slots.
void set_nested_long_slots(std::uint32_t slots);

// Returns how often a handler ran. (An NMI has none; the kernel logs its start and its end.)
[[nodiscard]] int interrupter_hits();

[[nodiscard]] std::uint8_t vector_of(Way way);

// Raises the same interrupt where no record is under way.
void interrupt_by_instruction(Way way);

// The processor interrupts itself before it executes the instruction at this address.
void set_breakpoint(std::uint64_t address);
void clear_breakpoint();

// Fills the slots of a long event, which must live until it is recorded.
[[nodiscard]] RawEvent long_event(std::span<tracer::Record> slots, std::uint16_t number);

// Keeps the instructions of the record that was stepped last, and which of all instructions were ever chosen.
class Boundaries {
  public:
    constexpr Boundaries() = default;

    void take_path();

    [[nodiscard]] std::size_t size() const { return m_size; }

    [[nodiscard]] std::uint64_t address(std::size_t step) const { return m_steps[step]; }

    [[nodiscard]] bool after_commit(std::size_t step) const { return step + 1 == m_size; } // the `ret`

    // Chooses every instruction the first, the middle and the last time it is executed.
    [[nodiscard]] bool choose(std::size_t step);

    // Prints the figures; it is a failure if fewer instructions than these were chosen.
    void report(std::uint64_t instructions_min) const;

  private:
    std::array<std::uint64_t, kPathMax> m_steps{};
    std::size_t m_size = 0;
    std::array<bool, 8192> m_chosen{}; // by offset in the region
    int m_injections = 0;
};

} // namespace guest
