// SPDX-License-Identifier: MIT
// The names of the numbers in records: tasks by context, vectors, mutexes, semaphores, conditions, ports, servers,
// levels. Filled from the metadata in front of each chunk. Names are kept unescaped; the code that prints them escapes
// them. Ids are 16 bits wide, so each table has at most 65536 entries.
#pragma once

#include "tracer/event_table.hpp"
#include "tracer/metadata.hpp"
#include "tracer/user_fields.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace host::trace {

struct TaskNames {
    std::string name;
    std::optional<std::uint32_t> pid;
    std::optional<tracer::TaskParameters> parameters;
};

class Names {
  public:
    // The name of a value of this unit; empty if none is known or the unit names nothing.
    [[nodiscard]] std::string_view find(tracer::Unit unit, std::uint32_t value) const;

    // Null if nothing is known about this context.
    [[nodiscard]] const TaskNames* task(std::uint16_t context) const;

    [[nodiscard]] const std::map<std::uint16_t, TaskNames>& tasks() const { return m_tasks; }

    using Table = std::unordered_map<std::uint16_t, std::string>;

    // All names of a unit but tasks', in no order; null if the unit names nothing that is kept.
    [[nodiscard]] const Table* entries(tracer::Unit unit) const;

    // Null if no typed event of this number is declared.
    [[nodiscard]] const tracer::EventDeclaration* declaration(std::uint16_t id) const;

    [[nodiscard]] const auto& declarations() const { return m_declarations; }

    void declare(const tracer::EventDeclaration& declaration);

    // unit: context, vector, mutex, semaphore, condition, port, server or level; others are ignored.
    void set(tracer::Unit unit, std::uint16_t id, std::string_view name);
    void set_pid(std::uint16_t context, std::uint32_t pid);
    void set_parameters(const tracer::TaskParameters& parameters);

    // Names of the same version find() the same, so callers may keep the results.
    [[nodiscard]] std::uint64_t version() const { return m_version; }

  private:
    // The table of a unit, const or not as `names` is; null if the unit names nothing that is kept in a Table.
    template <typename Self>
    static auto table(Self& names, tracer::Unit unit) -> decltype(&names.m_vectors);

    // A number that no other content has had; a copy has the same. 0: no names at all.
    [[nodiscard]] static std::uint64_t next_version();

    std::uint64_t m_version = 0;
    std::map<std::uint16_t, TaskNames> m_tasks;
    Table m_vectors;
    Table m_mutexes;
    Table m_semaphores;
    Table m_conditions;
    Table m_ports;
    Table m_servers;
    Table m_levels;
    std::map<std::uint16_t, std::shared_ptr<const tracer::EventDeclaration>> m_declarations; // shared by copies
};

} // namespace host::trace
