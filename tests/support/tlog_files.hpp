// SPDX-License-Identifier: MIT
// Builds tlog files: one process at a time, padded to whole blocks, as the published library writes them. Bytes are
// written one by one here, independently of the codec under test.
#pragma once

#include "tests/support/host_trace_builder.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace support {

inline void put_be(Bytes& bytes, std::uint64_t value, unsigned size) {
    for (unsigned i = size; i-- > 0;) {
        bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
    }
}

class TlogFile {
  public:
    TlogFile& record(std::uint16_t process, std::uint8_t type, double seconds, std::uint8_t arg1 = 0,
                     std::uint32_t arg2 = 0) {
        put_be(m_bytes, process, 2);
        put_be(m_bytes, type, 1);
        put_be(m_bytes, arg1, 1);
        put_be(m_bytes, arg2, 4);
        put_be(m_bytes, std::bit_cast<std::uint64_t>(seconds), 8);
        return *this;
    }

    // Adds a record in the older layout.
    TlogFile& openmp(std::uint8_t process, std::uint8_t type, double seconds, std::uint16_t arg1 = 0,
                     std::uint32_t arg2 = 0) {
        put_be(m_bytes, type, 1);
        put_be(m_bytes, process, 1);
        put_be(m_bytes, arg1, 2);
        put_be(m_bytes, arg2, 4);
        put_be(m_bytes, std::bit_cast<std::uint64_t>(seconds), 8);
        return *this;
    }

    // Adds unused slots.
    TlogFile& unused(std::size_t slots) {
        m_bytes.resize(m_bytes.size() + 16 * slots);
        return *this;
    }

    // Pads to the end of the block.
    TlogFile& pad() {
        m_bytes.resize((m_bytes.size() + 1023) / 1024 * 1024);
        return *this;
    }

    [[nodiscard]] const Bytes& bytes() const { return m_bytes; }

    // Adds START, one pair around a single event, and END: one block.
    TlogFile& small_process(std::uint16_t process, double begin) {
        record(process, 1, begin)
            .record(process, 10, begin + 0.5, 3, 7)
            .record(process, 31, begin + 0.75, 4, 0xFFFFFFFF);
        record(process, 11, begin + 1, 3, 7).record(process, 2, begin + 2);
        return pad();
    }

  private:
    Bytes m_bytes;
};

} // namespace support
