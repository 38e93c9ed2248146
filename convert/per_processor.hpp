// SPDX-License-Identifier: MIT
// What a writer keeps for each processor, found by its number without a search: one pointer for each number up to the
// greatest, and a T for each processor that logged anything.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace host::convert {

template <typename T>
class PerProcessor {
  public:
    // Null if there is none yet. What it points to stays where it is.
    [[nodiscard]] T* find(std::uint16_t cpu) const { return cpu < m_places.size() ? m_places[cpu].get() : nullptr; }

    template <typename... Arguments>
    T& add(std::uint16_t cpu, Arguments&&... arguments) {
        if (cpu >= m_places.size()) {
            m_places.resize(std::size_t{cpu} + 1);
        }
        m_places[cpu] = std::make_unique<T>(std::forward<Arguments>(arguments)...);
        return *m_places[cpu];
    }

    // visit(cpu, T&), in rising order.
    template <typename Visit>
    void for_each(Visit visit) {
        for (std::size_t cpu = 0; cpu < m_places.size(); ++cpu) {
            if (m_places[cpu] != nullptr) {
                visit(static_cast<std::uint16_t>(cpu), *m_places[cpu]);
            }
        }
    }

  private:
    std::vector<std::unique_ptr<T>> m_places;
};

} // namespace host::convert
