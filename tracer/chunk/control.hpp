// SPDX-License-Identifier: MIT
// Controls where records go: enable, disable, select, filters, next_chunk, and the totals. It is the counterpart of the
// record path: every change that the path can observe is a single store; everything else is prepared before it or
// repaired after it. Functions are called in task context or irq-off, one at a time (ControlLock), except
// close_active(), which any context may call.
#pragma once

#include "lib/result.hpp"
#include "tracer/chunk/chunk_store.hpp"

#include <cstdint>
#include <optional>

namespace tracer {

// Holds totals over all chunks of the session, deleted and emptied ones included. attempts = committed + dropped +
// refused holds exactly; tracer_made records are counted separately. overwritten counts records replaced by cyclic
// recording, or lost when a chunk was emptied or deleted before it was sent.
struct Totals {
    std::uint64_t committed = 0;
    std::uint64_t dropped = 0;
    std::uint64_t refused = 0;
    std::uint64_t tracer_made = 0;
    std::uint64_t overwritten = 0;

    friend bool operator==(const Totals&, const Totals&) = default;
};

// Keeps the holder of a lock on the processor, so that it is neither preempted nor ended while it holds the lock: the
// kernel passes functions that disable and restore interrupts. leave() gets what enter() returned.
struct Exclusion {
    std::uint64_t (*enter)() = nullptr; // null: none, as in hosted programs
    void (*leave)(std::uint64_t state) = nullptr;
};

// This lock never waits: if it is taken, the caller gets busy.
class ControlLock {
  public:
    constexpr ControlLock() = default;
    ControlLock(const ControlLock&) = delete;
    ControlLock& operator=(const ControlLock&) = delete;

    // Must be called before the lock is used.
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

    // Precondition: the caller holds the lock.
    void release() {
        const std::uint64_t state = m_state;
        write_shared(m_taken, std::uint8_t{0});
        leave(state);
    }

    [[nodiscard]] bool taken() const { return read_shared(m_taken) != 0; }

    // Opens the lock. Only the last running context (panic, exit) calls it, when a holder will never run again.
    void force_open() { write_shared(m_taken, std::uint8_t{0}); }

  private:
    void leave(std::uint64_t state) const {
        if (m_exclusion.leave != nullptr) {
            m_exclusion.leave(state);
        }
    }

    Exclusion m_exclusion;
    std::uint64_t m_state = 0; // what enter() returned
    std::uint8_t m_taken = 0;
};

struct TriggerRequest {
    TriggerAction action = TriggerAction::stop;
    std::uint8_t code = 0;
    std::optional<std::uint16_t> par1; // nullopt: any
    std::optional<std::uint32_t> par2;
    std::uint32_t records_after = 0; // not for start
};

enum class TriggerState : std::uint8_t {
    idle,  // none is set
    armed, // waiting
    fired, // the event was recorded; its window is open
    done,  // the window is complete (start: recording has begun)
};

class Control {
  public:
    constexpr Control(CpuTrace& cpu, ChunkStore& store)
        : m_cpu(cpu)
        , m_store(store) {}

    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;

    // Enables recording; enabling twice is allowed. refused: no chunk is selected.
    [[nodiscard]] lib::Result<void> enable();

    // Disables recording: a further record is filtered, or refused if it passes the filters. The selection stays.
    void disable();

    [[nodiscard]] bool enabled() const { return read_shared(m_cpu.active) != &null_chunk; }

    // Let only what passes every filter be recorded, until admit(): what a caller states about a pause is before
    // the records of an interrupt. enter() enables recording so; hold(): it is enabled.
    [[nodiscard]] lib::Result<void> enter();

    void hold() { write_shared(m_cpu.mask, std::uint32_t{0}); }

    void admit();

    // Selects the chunk for records from now on, or from enable() on. refused: it is not FREE; busy: it is queued.
    [[nodiscard]] lib::Result<void> select(Chunk& chunk);

    // Closes the active chunk, as the event next_chunk does; the next record opens its successor. refused (and counted
    // as a refused record): no chunk is active, or there is no successor. Context: any.
    [[nodiscard]] lib::Result<void> close_active();

    // Suppresses the records of a family, or enables them again. invalid_argument: not a code 0xF0..0xFB, 0xFD, 0xFE.
    [[nodiscard]] lib::Result<void> set_filter(std::uint8_t filter_code, bool suppress);

    // Waits for an event and replaces any earlier trigger. `records_after` records are kept after the one that fires
    // the trigger (stop, freeze); the window extends into the next chunk. invalid_argument: the action is invalid, no
    // record carries the code, or a long event has parameters; refused: no chunk is selected; busy: the family of the
    // code is filtered; unsupported: a chunk that may be recorded into is written compactly, so its records cannot be
    // counted.
    [[nodiscard]] lib::Result<void> arm(const TriggerRequest& request);

    // Returns what arm() would.
    [[nodiscard]] lib::Result<void> check(const TriggerRequest& request) const;

    // Removes the trigger; recording that it refused continues.
    void disarm();

    [[nodiscard]] TriggerState trigger_state() const;

    // Return whether the trigger refuses records: all until its event comes (start), or all after its window (stop).
    [[nodiscard]] bool awaits_start() const;
    [[nodiscard]] bool has_stopped() const;

    // Let records pass as if no trigger were set, and set it again. Precondition: it is armed.
    void unwatch();
    void watch();

    // Returns the totals, which are exact if nothing is recorded meanwhile (disabled, or interrupts off).
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
