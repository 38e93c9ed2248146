// SPDX-License-Identifier: MIT
// The names of the numbers in records: tasks by context, vectors, mutexes, semaphores, conditions, ports, servers,
// levels. Filled from the metadata in front of each chunk. Names are kept unescaped; the code that prints them escapes
// them. Ids are 16 bits wide, so each table has at most 65536 entries.
//
// A copy costs a pointer, and setting what is set already costs a search: every chunk repeats the names of the machine,
// and each that is being read has a copy of its own.
#pragma once

#include "host/trace/event.hpp"
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

// An event that names an object of the machine, and of which kind the object is.
struct NameEvent {
    std::uint8_t code;
    tracer::Unit unit;
};

// These events name units of each kind but tasks, of which more than a name is known.
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
    Names(const Names&) = default; // a move is a copy, too
    Names& operator=(const Names&) = default;
    ~Names() = default;

    // The name of a value of this unit; empty if none is known or the unit names nothing.
    [[nodiscard]] std::string_view find(tracer::Unit unit, std::uint32_t value) const;

    // Null if nothing is known about this context.
    [[nodiscard]] const TaskNames* task(std::uint16_t context) const;

    [[nodiscard]] const std::map<std::uint16_t, TaskNames>& tasks() const { return m_content->tasks; }

    using Table = std::unordered_map<std::uint16_t, std::string>;

    // All names of a unit but tasks', in no order; null if the unit names nothing that is kept.
    [[nodiscard]] const Table* entries(tracer::Unit unit) const;

    // Null if no typed event of this number is declared.
    [[nodiscard]] const tracer::EventDeclaration* declaration(std::uint16_t id) const;

    [[nodiscard]] const auto& declarations() const { return m_content->declarations; }

    void declare(const tracer::EventDeclaration& declaration);

    // Texts of trace_printf that the trace has in itself, by number.
    [[nodiscard]] const std::map<std::uint32_t, std::string>& formats() const { return m_content->formats; }

    void set_format(std::uint32_t id, std::string_view text);

    // unit: context, vector, mutex, semaphore, condition, port, server or level; others are ignored.
    void set(tracer::Unit unit, std::uint16_t id, std::string_view name);
    void set_pid(std::uint16_t context, std::uint32_t pid);
    void set_parameters(const tracer::TaskParameters& parameters);

    // Names of the same version find() the same, so callers may keep the results.
    [[nodiscard]] std::uint64_t version() const { return m_version; }

  private:
    // A number that no other content has had; a copy has the same. 0: no names at all.
    [[nodiscard]] static std::uint64_t next_version();

    struct Content {
        std::map<std::uint16_t, TaskNames> tasks;
        std::map<std::uint32_t, std::string> formats;
        std::array<Table, kNameEvents.size()> tables;                                          // by row
        std::map<std::uint16_t, std::shared_ptr<const tracer::EventDeclaration>> declarations; // shared, too
    };

    [[nodiscard]] static const std::shared_ptr<Content>& no_content();

    // To be changed: no copy has it.
    [[nodiscard]] Content& own();

    std::uint64_t m_version = 0;
    std::shared_ptr<Content> m_content = no_content(); // shared with copies until one of them changes
};

// The names of one kind of object in the order of their numbers, for heads of files that list them.
//
// Returns the names of a unit, tasks included. They are valid as long as `names` is. A name may be empty.
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
