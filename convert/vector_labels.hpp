// SPDX-License-Identifier: MIT
// How viewers are shown an interrupt: the name of its vector, else its number. Looked up once per vector and set of
// names, for writers through which millions of interrupts pass.
#pragma once

#include "convert/schedule_words.hpp"
#include "host/text/escape.hpp"
#include "host/trace/event.hpp"
#include "host/trace/names.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace host::convert {

class VectorLabels {
  public:
    VectorLabels()
        : m_entries(kEntries) {}

    // Escaped. Valid until the next call.
    [[nodiscard]] const std::string& of(const trace::Event& event, std::uint32_t vector) {
        Entry& entry = m_entries[vector % kEntries];
        const std::uint64_t version = event.names->version();
        if (entry.label.empty() || entry.vector != vector || entry.version != version) {
            entry = {.version = version, .vector = vector, .label = text::escaped(vector_label(*event.names, vector))};
        }
        return entry.label;
    }

  private:
    static constexpr std::size_t kEntries = 256;

    struct Entry {
        std::uint64_t version = 0; // of the names
        std::uint32_t vector = 0;
        std::string label; // empty: none yet
    };

    std::vector<Entry> m_entries;
};

} // namespace host::convert
