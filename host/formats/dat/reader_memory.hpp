// SPDX-License-Identifier: MIT
// Memory that the reader of a chunk leaves to the next one: a session may have many thousands of small chunks, and to
// allocate and clear buffers costs more than to read what is in them.
#pragma once

#include "host/trace/event.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace host::formats::dat {

// Bytes that are not cleared.
class SlotBuffer {
  public:
    // At least so many. What it held is lost if it must grow.
    void reserve(std::size_t bytes) {
        if (m_bytes == nullptr || m_size < bytes) { // one that was moved from has no bytes
            m_bytes = std::make_unique_for_overwrite<std::byte[]>(bytes);
            m_size = bytes;
        }
    }

    [[nodiscard]] std::span<std::byte> first(std::size_t bytes) const {
        return std::span(m_bytes.get(), m_size).first(bytes);
    }

  private:
    std::unique_ptr<std::byte[]> m_bytes;
    std::size_t m_size = 0;
};

struct ReaderMemory {
    SlotBuffer slots;
    std::vector<trace::Event> events;
};

} // namespace host::formats::dat
