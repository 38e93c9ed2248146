// SPDX-License-Identifier: MIT
// Models the required behaviour of chunks in plain C++ with vectors: the published modes, closing, jumping, blackouts,
// the counts. It does not model words, bits and restarts; the property test compares the real tracer with it after
// every operation.
#pragma once

#include "tracer/chunk/control.hpp"
#include "tracer/record/event_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace tests {

struct ModelEvent {
    std::uint8_t code = 0;
    std::uint32_t par2 = 0;

    friend bool operator==(const ModelEvent&, const ModelEvent&) = default;
};

struct ModelChunk {
    bool exists = false;
    bool free = false;
    bool closed = false;
    bool resume = false;
    bool blackout = false;
    tracer::ChunkFlags mode = 0;
    std::size_t slots = 0;
    std::size_t emergency_slots = 0;
    int next = -1;
    std::vector<ModelEvent> events; // everything ever recorded since the start
    std::vector<ModelEvent> emergency;
    std::uint64_t made = 0;

    [[nodiscard]] bool has_room() const { return mode == tracer::kFlagCyclic || events.size() < slots; }

    // After the first lap the slot at the position is scratch.
    [[nodiscard]] std::vector<ModelEvent> kept() const {
        std::size_t count = events.size();
        if (count > slots) {
            count = count % slots == 0 ? slots : slots - 1;
        }
        return {events.end() - static_cast<std::ptrdiff_t>(count), events.end()};
    }
};

class TracerModel {
  public:
    static constexpr int kNone = -1;

    std::array<ModelChunk, 6> chunks;
    int active = kNone;
    int selected = kNone;
    bool enabled = false;
    std::uint64_t attempts = 0;
    tracer::Totals totals; // committed is counted by the chunks

    void log(std::uint8_t code, std::uint32_t par2) {
        if (!enabled) {
            return; // stopped by the inline test
        }
        ++attempts;
        while (active != kNone && !place(code, par2)) {
        }
    }

    bool select(int index) {
        ModelChunk& chunk = at(index);
        if (!chunk.exists || !chunk.free || index == active) {
            return false;
        }
        start(chunk);
        const int left = enabled ? active : selected;
        const bool left_open = left != kNone && (at(left).blackout || at(left).resume);
        chunk.resume = left_open || totals.dropped != m_reported;
        (enabled ? active : selected) = index;
        return true;
    }

    bool link(int from, int to) {
        if (from == to || !at(from).exists || !at(to).exists || !at(to).free || to == active) {
            return false;
        }
        start(at(to));
        at(from).next = to;
        return true;
    }

    bool enable() {
        if (!enabled && selected == kNone) {
            return false;
        }
        if (!enabled) {
            active = selected;
            selected = kNone;
            enabled = true;
        }
        return true;
    }

    void disable() {
        if (enabled) {
            selected = active;
            active = kNone;
            enabled = false;
        }
    }

    bool next_chunk() {
        if (active == kNone || at(active).next == kNone) {
            ++attempts;
            ++totals.refused;
            return false;
        }
        at(active).closed = true;
        return true;
    }

    bool make_free(int index) {
        if (!at(index).exists || index == active) {
            return false;
        }
        at(index).free = true;
        if (selected == index) {
            selected = kNone;
        }
        return true;
    }

    [[nodiscard]] tracer::Totals sum() const {
        tracer::Totals result = totals;
        for (const ModelChunk& chunk : chunks) {
            result.committed += chunk.events.size() + chunk.emergency.size() - chunk.made;
            result.tracer_made += chunk.made;
            result.overwritten += chunk.events.size() - chunk.kept().size();
        }
        return result;
    }

  private:
    static constexpr std::uint8_t kBlackoutStart = tracer::event_code("blackout_start");
    static constexpr std::uint8_t kBlackoutEnd = tracer::event_code("blackout_end");

    [[nodiscard]] ModelChunk& at(int index) { return chunks[static_cast<std::size_t>(index)]; }

    void start(ModelChunk& chunk) {
        totals.committed += chunk.events.size() + chunk.emergency.size() - chunk.made;
        totals.tracer_made += chunk.made;
        totals.overwritten += chunk.events.size() + chunk.emergency.size(); // never exported
        chunk.events.clear();
        chunk.emergency.clear();
        chunk.made = 0;
        chunk.free = chunk.closed = chunk.resume = chunk.blackout = false;
    }

    // Takes one step towards placing the event; returns true when it is stored or dropped.
    bool place(std::uint8_t code, std::uint32_t par2) {
        ModelChunk& chunk = at(active);
        if (!chunk.closed && chunk.has_room()) {
            if (chunk.resume) {
                chunk.events.push_back({kBlackoutEnd, static_cast<std::uint32_t>(totals.dropped - m_reported)});
                m_reported = totals.dropped;
                ++chunk.made;
                chunk.resume = false;
                return false;
            }
            chunk.events.push_back({code, par2});
            return true;
        }
        const bool may_leave = chunk.closed || chunk.mode == tracer::kFlagJumpToNext;
        if (may_leave && chunk.next != kNone && !at(chunk.next).closed && at(chunk.next).has_room()) {
            at(chunk.next).resume |= chunk.blackout || chunk.resume || totals.dropped != m_reported;
            active = chunk.next;
            return false;
        }
        return drop(chunk, code, par2);
    }

    bool drop(ModelChunk& chunk, std::uint8_t code, std::uint32_t par2) {
        const bool room = chunk.emergency.size() < chunk.emergency_slots;
        if (room && tracer::find_event(code)->space == tracer::Space::emergency) {
            chunk.emergency.push_back({code, par2});
            return true;
        }
        if (!chunk.blackout) {
            chunk.blackout = true;
            if (room) {
                chunk.emergency.push_back({kBlackoutStart, 0});
                ++chunk.made;
            }
            return false;
        }
        ++totals.dropped;
        return true;
    }

    std::uint64_t m_reported = 0;
};

} // namespace tests
