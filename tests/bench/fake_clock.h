// SPDX-License-Identifier: MIT
// Put in front of tracer/record_path.S when it is assembled for the benchmark's "fake clock": the same code, with the
// time stamp counter's place taken by a counter in memory. What is left is the software part, which rdtsc hides.
#ifndef BENCH_FAKE_CLOCK_H
#define BENCH_FAKE_CLOCK_H

// clang-format off
#define rdtsc mov eax, [rip + bench_clock]; mov edx, [rip + bench_clock + 4]
// clang-format on

#endif
