// SPDX-License-Identifier: MIT
// Who is who: the names behind the small numbers that records carry. The kernel registers a task, mutex, ... when it
// comes to life; the exporter lists all of them in front of each chunk, so that any chunk decodes alone. Append-only: a
// task that ended may still stand in an unsent chunk, and a chunk exported twice must list the same names twice. If a
// number is used again for another object, both entries are listed, oldest first.
// Context: task or irq-off, additions serialised by the caller; readable at any time. Never blocks.
#pragma once

#include "tracer/metadata.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tracer {

enum class NameKind : std::uint8_t {
    task,
    interrupt,
    mutex,
    semaphore,
    server,
    level,
};

struct NameEntry {
    NameKind kind = NameKind::task;
    std::uint16_t id = 0;  // context, vector, mutex, ... as records carry it
    std::uint32_t pid = 0; // tasks only
    Name name;
    TaskParameters parameters; // tasks only

    friend bool operator==(const NameEntry&, const NameEntry&) = default;
};

class NameRegistry {
  public:
    static constexpr std::size_t kCapacity = 512;

    constexpr NameRegistry() = default;
    NameRegistry(const NameRegistry&) = delete;
    NameRegistry& operator=(const NameRegistry&) = delete;

    // Names are copied, cut at kNameBytesMax. parameters.context is filled in. An entry equal to an earlier one is not
    // added again. When the registry is full the entry is counted in lost() and the records keep their numbers without
    // a name.
    constexpr void add_task(std::uint16_t context, std::uint32_t pid, std::string_view name,
                            TaskParameters parameters) {
        parameters.context = context;
        add({NameKind::task, context, pid, name, parameters});
    }

    constexpr void add_name(NameKind kind, std::uint16_t id, std::string_view name) { add({kind, id, 0, name, {}}); }

    [[nodiscard]] constexpr std::size_t size() const { return m_size; }

    [[nodiscard]] constexpr std::size_t lost() const { return m_lost; }

    // Precondition: index < size().
    [[nodiscard]] constexpr const NameEntry& entry(std::size_t index) const {
        ASSERT(index < m_size);
        return m_entries[index];
    }

  private:
    constexpr void add(const NameEntry& entry) {
        for (std::size_t i = 0; i < m_size; ++i) {
            if (m_entries[i] == entry) {
                return;
            }
        }
        if (m_size == kCapacity) {
            ++m_lost;
            return;
        }
        m_entries[m_size] = entry;
        ++m_size; // last: an entry is visible only once it is whole
    }

    std::array<NameEntry, kCapacity> m_entries{};
    std::size_t m_size = 0;
    std::size_t m_lost = 0;
};

} // namespace tracer
