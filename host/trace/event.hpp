// SPDX-License-Identifier: MIT
// One decoded event, as every consumer of a trace sees it: printers, summaries, checks, converters. It is a view: its
// pointers and its payload are valid until the next event is taken from the same Trace. Tables that are indexed by an
// event's code or by a 16-bit number of it follow.
#pragma once

#include "lib/fixed_string.hpp"
#include "lib/units.hpp"
#include "tracer/record/event_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace host::trace {

class Names;
class KernelImage;

enum class EventState : std::uint8_t {
    ok,
    incomplete, // a long event whose last slot is missing
    orphan,     // a later slot of a long event whose first slot is missing
    malformed,  // the slots contradict each other or the event table
    late,       // valid, but its stamp is less than an earlier one of its processor
};

[[nodiscard]] constexpr std::string_view state_name(EventState state) {
    constexpr auto kNames = std::to_array<std::string_view>({"ok", "incomplete", "orphan", "malformed", "late"});
    return kNames.at(static_cast<std::size_t>(state));
}

// The kind of trace that an event comes from.
enum class Origin : std::uint8_t {
    record, // 16-byte records of this tracer, in any container: chunks, compact, packets, packed
    kev,    // a QNX .kev file
    tlog,   // a tlog file
};

struct Event {
    lib::Ticks ticks;
    std::int64_t time_ns = 0; // negative only if the stamp is less than the start
    bool timed = false;       // time_ns is valid: false while the clock's rate is not known
    std::uint16_t cpu = 0;
    std::uint16_t chunk = 0;
    std::uint32_t generation = 0;
    std::uint32_t source = 0; // index of the chunk image in Trace::chunks()
    std::uint64_t record = 0; // index of the slot in its chunk, preamble included, from 0
    std::uint64_t offset_bytes = 0;
    const tracer::EventRow* row = nullptr; // null: the code is in no row of the event table
    std::uint16_t raw_code = 0;            // with its flags
    std::uint8_t code = 0;                 // canonical
    std::uint16_t par1 = 0;
    std::uint32_t par2 = 0;
    EventState state = EventState::ok;
    bool metadata = false;              // describes the trace instead of being part of it
    bool after_hole = false;            // records of its processor are missing before it (Holes); only if it is sound
    bool doubtful = false;              // its chunk is damaged (ChunkReport), so it may be wrong
    std::span<const std::byte> payload; // long events: the bytes after the length word
    const Names* names = nullptr;       // never null in an event that a Trace returned
    const KernelImage* image = nullptr; // the image that ran; null if there is none

    // For events of other systems' traces: `row`, `code`, `par1` and `par2` are set too if our own writer stored the
    // event there, or if it says the same about the schedule as an event of ours; else row is null and code is 0.
    Origin origin = Origin::record;
    std::uint16_t event_class = 0;        // the class of a .kev event; else 0
    std::uint16_t number = 0;             // .kev: event within its class; tlog: log_type
    std::string_view foreign_name;        // static text; empty for a record, and for an event without a name
    std::span<const std::uint32_t> words; // .kev: the data; tlog: arg1, arg2; empty for a record

    // Returns whether the contents of the event can be used.
    [[nodiscard]] bool is_sound() const { return state == EventState::ok || state == EventState::late; }

    [[nodiscard]] bool is(std::uint8_t of_code) const { return is_sound() && code == of_code; }
};

// Returns the name of the event: that in the table, that which the application declared, or that in the other system's
// table; "unknown" if there is none. A declared name comes from the input, so callers must escape it.
[[nodiscard]] std::string_view event_name(const Event& event);

// Is the code of an event, by its name in the table. A name that is not in the table does not compile.
template <lib::FixedString Name>
inline constexpr std::uint8_t kCodeOf = [] {
    std::size_t row = 0;
    while (tracer::kEvents.at(row).name != Name.view()) {
        ++row;
    }
    return tracer::kEvents[row].code;
}();

// Events of other systems' traces keep their class, number, name and words. If one says what an event of ours says
// about the schedule, it has the row, code and parameters of that event, so that every analysis and view has a
// schedule.
//
// Returns whether the event is shown with its own name and words. False for an event of ours, also in a file of another
// system's format.
[[nodiscard]] inline bool is_foreign(const Event& event) {
    return event.origin != Origin::record && (event.row == nullptr || !event.foreign_name.empty());
}

// The value of par2 in a context_switch that means a foreign event: the task that leaves the processor rests until
// it is chosen again. With 0 it is preempted, or another event says what it waits for.
inline constexpr std::uint32_t kLeaverRests = 1;

struct Meaning {
    std::uint8_t code = 0;
    std::uint16_t par1 = 0;
    std::uint32_t par2 = 0;
};

inline void set_meaning(Event& event, const Meaning& meaning) {
    event.row = tracer::find_event(meaning.code);
    event.raw_code = event.code = meaning.code;
    event.par1 = meaning.par1;
    event.par2 = meaning.par2;
}

// Assigns contexts to the threads of another system, from 1 on: 0 is what ran before there were tasks.
class ForeignContexts {
  public:
    struct Found {
        std::uint16_t context;
        bool is_new;
    };

    // Returns nothing if there are more than 65,535.
    [[nodiscard]] std::optional<Found> of(std::uint64_t key) {
        const auto known = m_contexts.find(key);
        if (known != m_contexts.end()) {
            return Found{known->second, false};
        }
        if (m_contexts.size() == 0xFFFF) {
            return std::nullopt;
        }
        const auto context = static_cast<std::uint16_t>(m_contexts.size() + 1);
        m_contexts.emplace(key, context);
        return Found{context, true};
    }

    // Returns the contexts of the keys from `first` to `last`, as a pair of iterators.
    [[nodiscard]] auto between(std::uint64_t first, std::uint64_t last) const {
        return std::pair(m_contexts.lower_bound(first), m_contexts.upper_bound(last));
    }

  private:
    std::map<std::uint64_t, std::uint16_t> m_contexts;
};

// A set of events as a table by code. Usage: if (kAnyOf<"task_block", "task_unblock">[event.code]). One look-up
// replaces a switch before each call, which would cost more than most events need there.
template <lib::FixedString... Names>
inline constexpr std::array<bool, 256> kAnyOf = [] {
    std::array<bool, 256> set{};
    ((set[kCodeOf<Names>] = true), ...);
    return set;
}();

// Lists the events that state which records of a family are filtered from there on.
inline constexpr auto kSetsFilter = [] {
    std::array<bool, 256> set{};
    for (const tracer::EventRow& row : tracer::kEvents) {
        set[row.code] = row.name.starts_with("filter_");
    }
    return set;
}();

// A map by a 16-bit number (context, processor, vector) that is used at most events. After its first use each number is
// found by one look-up in a vector.
template <typename T>
class NumberMap {
  public:
    NumberMap() = default;

    // The look-up table is not copied, because it points to the values of the original.
    NumberMap(const NumberMap& other)
        : m_values(other.m_values) {}

    NumberMap(NumberMap&&) noexcept = default;

    NumberMap& operator=(NumberMap other) noexcept {
        m_values.swap(other.m_values);
        m_places.swap(other.m_places);
        return *this;
    }

    ~NumberMap() = default;

    // Adds the value if it is missing.
    T& operator[](std::uint16_t number) {
        if (T* const known = place_of(number)) [[likely]] {
            return *known;
        }
        return make(number);
    }

    // Returns null if it is missing.
    [[nodiscard]] T* find(std::uint16_t number) {
        if (T* const known = place_of(number)) [[likely]] {
            return known;
        }
        return find_value(number);
    }

    [[nodiscard]] const T* find(std::uint16_t number) const {
        if (const T* const known = place_of(number)) [[likely]] {
            return known;
        }
        const auto found = m_values.find(number);
        return found != m_values.end() ? &found->second : nullptr;
    }

    void erase(std::uint16_t number) {
        if (number < m_places.size()) {
            m_places[number] = nullptr;
        }
        m_values.erase(number);
    }

    // The time is that of the values, not that of the greatest number: a trace may state a loss at every second record.
    void clear() {
        for (const auto& [number, value] : m_values) {
            if (number < m_places.size()) {
                m_places[number] = nullptr;
            }
        }
        m_values.clear();
    }

    // The values are in the order of their numbers.
    [[nodiscard]] const std::map<std::uint16_t, T>& values() const { return m_values; }

    [[nodiscard]] std::map<std::uint16_t, T>& values() { return m_values; }

  private:
    [[nodiscard]] T* place_of(std::uint16_t number) const {
        return number < m_places.size() ? m_places[number] : nullptr;
    }

    // This is not inlined, so that the look-up is small enough to be inlined.
    [[gnu::noinline]] T& make(std::uint16_t number) { return keep(number, m_values[number]); }

    [[gnu::noinline]] T* find_value(std::uint16_t number) {
        const auto found = m_values.find(number);
        return found != m_values.end() ? &keep(number, found->second) : nullptr;
    }

    T& keep(std::uint16_t number, T& value) {
        if (number >= m_places.size()) {
            m_places.resize(std::size_t{number} + 1);
        }
        m_places[number] = &value;
        return value;
    }

    std::map<std::uint16_t, T> m_values;
    std::vector<T*> m_places; // by number, pointers into m_values; null: not used yet
};

} // namespace host::trace
