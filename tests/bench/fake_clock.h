// SPDX-License-Identifier: MIT
// Included before tracer/record/record_path.S when it is assembled for the benchmark's "fake clock": the same code,
// with the time stamp counter replaced by a counter in memory. This measures the software part, which rdtsc hides.
#ifndef BENCH_FAKE_CLOCK_H
#define BENCH_FAKE_CLOCK_H

// clang-format off
#define rdtsc mov eax, [rip + bench_clock]; mov edx, [rip + bench_clock + 4]
// clang-format on

#endif
