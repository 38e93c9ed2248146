// SPDX-License-Identifier: MIT
// Who records where: enable, disable, select, filters, next_chunk, and the totals. The counterpart of the record path:
// every change that the path can see is one store, and the rest is prepared before it or repaired after it.
// Task context or irq-off, one at a time (ControlLock), except close_active(), which any context may call.
#pragma once

#include "lib/result.hpp"
#include "tracer/chunk_store.hpp"

#include <cstdint>
#include <optional>

namespace tracer {

// Over all chunks of the session, deleted and emptied ones included. attempts = committed + dropped + refused holds
// exactly; tracer_made records stand apart. overwritten: records replaced by cyclic recording, or lost when a chunk was
// emptied or deleted unsent.
struct Totals {
    std::uint64_t committed = 0;
    std::uint64_t dropped = 0;
    std::uint64_t refused = 0;
    std::uint64_t tracer_made = 0;
    std::uint64_t overwritten = 0;

    friend bool operator==(const Totals&, const Totals&) = default;
};

// Keeps the holder of a lock on the processor, so that it is neither preempted nor ended while it holds: the kernel
// hands in "interrupts off" and "as before". What enter() returns goes back to leave().
struct Exclusion {
    std::uint64_t (*enter)() = nullptr; // null: none, as in hosted programs
    void (*leave)(std::uint64_t state) = nullptr;
};

// One caller at a time, and nobody waits: who finds it taken gets busy.
class ControlLock {
  public:
    constexpr ControlLock() = default;
    ControlLock(const ControlLock&) = delete;
    ControlLock& operator=(const ControlLock&) = delete;

    // Before the lock is used.
    void set_exclusion(const Exclusion& exclusion) { m_exclusion = exclusion; }

    [[nodiscard]] bool try_take() {
        const std::uint64_t state = m_exclusion.enter != nullptr ? m_exclusion.enter() : 0;
        if (exchange_shared(m_taken, std::uint8_t{1}) == 0) {
            m_state = state;
            return true;
        }
        leave(state);
        return false;
    }

    // Precondition: the caller holds it.
    void release() {
        const std::uint64_t state = m_state;
        write_shared(m_taken, std::uint8_t{0});
        leave(state);
    }

    [[nodiscard]] bool taken() const { return read_shared(m_taken) != 0; }

    // For the last context standing (panic, exit), when a holder will never run again.
    void force_open() { write_shared(m_taken, std::uint8_t{0}); }

  private:
    void leave(std::uint64_t state) const {
        if (m_exclusion.leave != nullptr) {
            m_exclusion.leave(state);
        }
    }

    Exclusion m_exclusion;
    std::uint64_t m_state = 0; // of the holder
    std::uint8_t m_taken = 0;
};

// An event to wait for, and what to do then.
struct TriggerRequest {
    TriggerAction action = TriggerAction::stop;
    std::uint8_t code = 0;
    std::optional<std::uint16_t> par1; // none: any
    std::optional<std::uint32_t> par2;
    std::uint32_t records_after = 0; // not for start
};

enum class TriggerState : std::uint8_t {
    idle,  // none is set
    armed, // waiting
    fired, // met; the window behind it is open
    done,  // the window is complete (start: recording has begun)
};

class Control {
  public:
    constexpr Control(CpuTrace& cpu, ChunkStore& store)
        : m_cpu(cpu)
        , m_store(store) {}

    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;

    // refused: no chunk is selected. Enabling twice is no error.
    [[nodiscard]] lib::Result<void> enable();

    // Records that arrive from now on are refused and counted. The selection stays.
    void disable();

    [[nodiscard]] bool enabled() const { return read_shared(m_cpu.mask) != 0; }

    // Records go to this chunk from now on (or from enable() on). refused: not FREE.
    [[nodiscard]] lib::Result<void> select(Chunk& chunk);

    // next_chunk: the active chunk is closed, the next record opens its successor. refused (and counted as a refused
    // record): nothing is active, or there is no successor. Context: any.
    [[nodiscard]] lib::Result<void> close_active();

    // Suppresses a family's records (or lets them pass again). invalid_argument: not a code 0xF0..0xFB, 0xFD, 0xFE.
    [[nodiscard]] lib::Result<void> set_filter(std::uint8_t filter_code, bool suppress);

    // Waits for an event from now on; a trigger that was there before is forgotten. Counted from the record that meets
    // it, `records_after` records are kept (stop, freeze); the window goes along into the next chunk. invalid_argument:
    // an action, or a code that no record carries, or parameters of a long event; refused: no chunk is selected; busy:
    // the code's family is filtered; unsupported: a chunk that would be recorded into is written compactly, and holds
    // no whole records to count.
    [[nodiscard]] lib::Result<void> arm(const TriggerRequest& request);

    // Forgets the trigger; a recording that it stopped goes on.
    void disarm();

    [[nodiscard]] TriggerState trigger_state() const;

    // Exact while nothing is recorded meanwhile (disabled, or interrupts off).
    [[nodiscard]] Totals totals() const;

  private:
    void settle(ChunkControl& left);
    void hand_over_trigger(const ChunkControl& left, ChunkControl& entered);
    [[nodiscard]] bool records_compactly() const;
    [[nodiscard]] ChunkControl* recording_into() const;
    [[nodiscard]] bool current(const ChunkControl& control) const;
    void hand_over_blackout(const ChunkControl& left, ChunkControl& entered);

    CpuTrace& m_cpu;
    ChunkStore& m_store;
};

} // namespace tracer
