// SPDX-License-Identifier: MIT
// Waits briefly between two reads of a clock during calibration. It uses plain instructions on purpose: under emulation
// every device access, and every PAUSE, leaves the translated code and costs more than this whole loop. Context: any.
#pragma once

namespace arch::x86_64 {

inline void spin_briefly() {
    constexpr int kTurns = 500; // about a microsecond, against windows of a millisecond and more
    for (int i = 0; i < kTurns; ++i) {
        asm volatile("");
    }
}

} // namespace arch::x86_64
