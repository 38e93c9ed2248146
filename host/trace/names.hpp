// SPDX-License-Identifier: MIT
// The names of the numbers in records: tasks by context, vectors, mutexes, semaphores, conditions, ports, servers,
// levels. They come from the metadata at the beginning of each chunk. Names are kept unescaped; the code that prints
// them escapes them. Ids are 16 bits wide, so each table has at most 65536 entries.
//
// A copy costs a pointer, and setting an unchanged name costs a search: every chunk repeats the names of the machine,
// and each chunk that is being read has its own copy.
#pragma once

#include "host/trace/event.hpp"
#include "lib/wire_numbers.hpp"
#include "tracer/names/metadata.hpp"
#include "tracer/names/user_fields.hpp"
#include "tracer/record/event_table.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace host::trace {

// An event that names an object of the machine, and the kind of the object.
struct NameEvent {
    std::uint8_t code;
    tracer::Unit unit;
};

// These events name objects of each kind except tasks, of which more than a name is known.
inline constexpr auto kNameEvents = std::to_array<NameEvent>({
    {kCodeOf<"level_name">, tracer::Unit::level},
    {kCodeOf<"interrupt_name">, tracer::Unit::vector},
    {kCodeOf<"mutex_name">, tracer::Unit::mutex},
    {kCodeOf<"semaphore_name">, tracer::Unit::semaphore},
    {kCodeOf<"condition_name">, tracer::Unit::condition},
    {kCodeOf<"port_name">, tracer::Unit::port},
    {kCodeOf<"server_name">, tracer::Unit::server},
});

struct TaskNames {
    std::string name;
    std::optional<std::uint32_t> pid;
    std::optional<tracer::TaskParameters> parameters;
};

class Names {
  public:
    Names() = default;
    Names(const Names&) = default; // a move is also a copy
    Names& operator=(const Names&) = default;
    ~Names() = default;

    // Returns the name of a value of this unit; empty if none is known or the unit has no names.
    [[nodiscard]] std::string_view find(tracer::Unit unit, std::uint32_t value) const;

    // Returns null if nothing is known about this context.
    [[nodiscard]] const TaskNames* task(std::uint16_t context) const;

    [[nodiscard]] const std::map<std::uint16_t, TaskNames>& tasks() const { return m_content->tasks; }

    using Table = std::unordered_map<std::uint16_t, std::string>;

    // Returns all names of a unit other than tasks, in no order; null if no names of the unit are kept.
    [[nodiscard]] const Table* entries(tracer::Unit unit) const;

    // Returns null if no typed event of this number is declared.
    [[nodiscard]] const tracer::EventDeclaration* declaration(std::uint16_t id) const;

    [[nodiscard]] const auto& declarations() const { return m_content->declarations; }

    void declare(const tracer::EventDeclaration& declaration);

    // The texts of trace_printf that the trace itself contains, by number.
    [[nodiscard]] const std::map<std::uint32_t, std::string>& formats() const { return m_content->formats; }

    void set_format(std::uint32_t id, std::string_view text);

    // unit: context, vector, mutex, semaphore, condition, port, server or level; others are ignored.
    void set(tracer::Unit unit, std::uint16_t id, std::string_view name);
    void set_pid(std::uint16_t context, std::uint32_t pid);
    void set_parameters(const tracer::TaskParameters& parameters);

    // Returns the order in which a level runs its tasks; none if the trace does not state it.
    [[nodiscard]] std::optional<lib::LevelKind> level_kind(std::uint16_t level) const;
    void set_level_kind(std::uint16_t level, std::uint8_t kind_untrusted);

    // Names of the same version give the same results of find(), so callers may keep the results.
    [[nodiscard]] std::uint64_t version() const { return m_version; }

  private:
    // Returns a number that no other contents have had; a copy keeps the number of its original. 0: there are no names.
    [[nodiscard]] static std::uint64_t next_version();

    struct Content {
        std::map<std::uint16_t, TaskNames> tasks;
        std::map<std::uint32_t, std::string> formats;
        std::map<std::uint16_t, lib::LevelKind> level_kinds;
        std::array<Table, kNameEvents.size()> tables;                                          // by row of kNameEvents
        std::map<std::uint16_t, std::shared_ptr<const tracer::EventDeclaration>> declarations; // shared between copies
    };

    [[nodiscard]] static const std::shared_ptr<Content>& no_content();

    // Returns contents that may be changed, because no copy shares them.
    [[nodiscard]] Content& own();

    std::uint64_t m_version = 0;
    std::shared_ptr<Content> m_content = no_content(); // shared with copies until one of them changes
};

// Makes the same change to both. If they are copies of each other, they stay so and share the contents: so a trace
// whose every chunk adds a name does not copy all names with each.
template <typename Change>
void change_both(Names& one, Names& other, Change change) {
    const bool are_copies = one.version() == other.version();
    other = are_copies ? Names() : other;
    change(one);
    if (are_copies) {
        other = one;
    } else {
        change(other);
    }
}

// Returns the names of a unit, tasks included, in the order of their numbers, for file headers that list them. They are
// valid as long as `names` is. A name may be empty.
[[nodiscard]] inline std::vector<std::pair<std::uint16_t, std::string_view>> sorted_names(const Names& names,
                                                                                          tracer::Unit unit) {
    std::vector<std::pair<std::uint16_t, std::string_view>> sorted;
    if (unit == tracer::Unit::context) {
        for (const auto& [context, task] : names.tasks()) {
            sorted.emplace_back(context, task.name);
        }
    } else if (const Names::Table* const table = names.entries(unit); table != nullptr) {
        sorted.assign(table->begin(), table->end());
        std::ranges::sort(sorted);
    }
    return sorted;
}

} // namespace host::trace
