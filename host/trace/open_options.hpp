// SPDX-License-Identifier: MIT
// What the user may say about a trace when it is opened.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>

namespace host::trace {

// The kinds of input. `detect` looks at the first bytes, never at the name.
enum class InputKind : std::uint8_t {
    detect,
    records,  // chunks, plain or compact, with or without preambles
    kev,      // QNX .kev
    tlog,     // tlog, current layout
    tlog_old, // tlog of the OpenMP runtime
    capture,  // pcap or pcapng with our packets
    fat,      // image of a FAT volume with Ntrace.dat files
    packed,   // our own packed session
    memory,   // of a machine with a kernel that has a tracer: RAM file, pmemsave, ELF core
};

// The trace of a running machine's memory continues as the machine does.
struct FollowOptions {
    bool wanted = false;
    std::chrono::milliseconds wake{0}; // a part without records comes after so long without any; 0: never
    std::chrono::milliseconds idle{0}; // ends after so long without a new record; 0: never
    const volatile std::sig_atomic_t* stop = nullptr; // ends when it is not 0; null: never
};

struct OpenOptions {
    std::uint32_t tsc_khz = 0; // 0: as the trace says
    std::string kernel{};      // image that ran, for the formats of trace_printf; empty: the session's copy, if any
    bool find_kernel = true;   // also where none is named; false: who reads shows no texts
    InputKind kind = InputKind::detect;
    bool machine_clock = false; // times of the machine's counter, also where the kernel's clock was set back
    bool strict = false;        // stop at the first damage
    bool salvage = false;       // also decode what is damaged by its checksum or count
    bool whole_first = false;   // a pipe is copied to a file first: damage is known before any record is used
    FollowOptions follow{};
};

} // namespace host::trace
