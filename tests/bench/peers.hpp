// SPDX-License-Identifier: MIT
// Figures of other recorders that are not measured in this run: published ones, each measured together with BASE (rdtsc
// and one 16-byte store) on the same machine (Zen 4, 2.6 GHz, g++ 12 -O2). Only the ratio to that BASE is used.
#pragma once

#include <array>
#include <string_view>

namespace bench {

struct Peer {
    std::string_view name;
    double ns = 0;      // of one event
    double fake_ns = 0; // with the fake clock; 0: no figure
};

inline constexpr double kPublishedBaseNs = 9.53;
inline constexpr double kPublishedFakeBaseNs = 0.68;

inline constexpr Peer kSystemView{"SEGGER-SystemView", 16.4, 13.3};
inline constexpr Peer kPercepio{"Percepio-TraceRecorder", 15.5, 12.1};
inline constexpr Peer kBarectf{"barectf-3.1", 9.64, 4.76};
inline constexpr Peer kRtems{"RTEMS-record-one-CPU", 9.8, 6.6};
inline constexpr Peer kRtemsSmp{"RTEMS-record-SMP", 11.1, 8.2};
inline constexpr Peer kNanoLog{"NanoLog", 9.6, 0};
inline constexpr Peer kQuill{"Quill", 9.6, 0};
inline constexpr Peer kBinlog{"binlog", 24, 0};
inline constexpr Peer kOriginal{"S.Ha.R.K.-original", 3570, 0};

inline constexpr std::array kPeers = {kSystemView, kPercepio, kBarectf, kRtems,   kRtemsSmp,
                                      kNanoLog,    kQuill,    kBinlog,  kOriginal};

} // namespace bench
