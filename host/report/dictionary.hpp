// SPDX-License-Identifier: MIT
// Numbers for values that occur often, from 0 in the order of their first use.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

namespace host::report {

template <typename Value>
class Dictionary {
  public:
    [[nodiscard]] std::size_t number_of(const Value& value) {
        const auto [place, is_new] = m_numbers.try_emplace(value, m_values.size());
        if (is_new) {
            m_values.push_back(value);
        }
        return place->second;
    }

    [[nodiscard]] const std::vector<Value>& values() const { return m_values; }

  private:
    std::map<Value, std::size_t> m_numbers;
    std::vector<Value> m_values;
};

} // namespace host::report
