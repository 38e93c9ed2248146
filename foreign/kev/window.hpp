// SPDX-License-Identifier: MIT
// The events of a reader in time order, within a window: the earliest of kWindowEvents comes next. What was written
// later than that comes in the order of the file.
#pragma once

#include "foreign/kev/reader.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace host::formats::kev {

class Window {
  public:
    static constexpr std::size_t kWindowEvents = 4096;

    // The reader outlives the window.
    explicit Window(Reader& reader)
        : m_reader(reader) {}

    // False at the end.
    [[nodiscard]] bool next(RawEvent& event);

  private:
    struct Key {
        std::uint64_t ticks = 0;
        std::uint64_t order = 0; // of completion
        std::size_t index = 0;   // in m_pool
    };

    void fill();

    Reader& m_reader;
    std::vector<RawEvent> m_pool; // events in the window, and room for others
    std::vector<std::size_t> m_free;
    std::vector<Key> m_heap; // the earliest on top
    std::size_t m_words = 0;
    std::uint64_t m_order = 0;
    bool m_read_all = false;
};

} // namespace host::formats::kev
