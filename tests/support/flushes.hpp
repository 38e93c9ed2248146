// SPDX-License-Identifier: MIT
// Sets what the flushes of the program do: nothing, what a test wants, or what they always do. They are defined in
// tests/unit/host/collector/syncer_test.cpp in place of the system's.
#pragma once

#include <functional>

namespace support {

struct Flushes {
    std::function<int(int file)> of_file;        // fdatasync(); none: the system's
    std::function<int(int file)> of_file_system; // the same for syncfs()
    std::function<int(int file)> of_name;        // the same for fsync()
};

// Is in force for the life of this object, one at a time.
class WithFlushes {
  public:
    explicit WithFlushes(Flushes flushes);
    WithFlushes(const WithFlushes&) = delete;
    WithFlushes& operator=(const WithFlushes&) = delete;
    ~WithFlushes();

  private:
    Flushes m_flushes;
};

} // namespace support
