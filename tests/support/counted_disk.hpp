// SPDX-License-Identifier: MIT
// Counts the flushes of the program of host/collector's tests, and flushes nothing meanwhile.
#pragma once

#include "tests/support/flushes.hpp"

#include <atomic>
#include <cstddef>
#include <thread>

namespace support {

struct CountedDisk {
    std::atomic<std::size_t> flushes = 0;
    std::atomic<std::size_t> own_flushes = 0; // by the thread that made this object

  private:
    int count() {
        ++flushes;
        own_flushes += m_owner == std::this_thread::get_id() ? 1U : 0U;
        return 0;
    }

    const std::thread::id m_owner = std::this_thread::get_id();
    const WithFlushes m_instead{{.of_file = [this](int) { return count(); },
                                 .of_file_system = [this](int) { return count(); },
                                 .of_name = [this](int) { return count(); }}};
};

} // namespace support
