// SPDX-License-Identifier: MIT
// This is the usage example of the S.Ha.R.K. user manual, volume V, statement by statement as it is printed, with
// apps/shark.hpp before it; only the comments are ours, and the declaration of i, which the manual leaves out. It must
// compile, no call may fail, and what it sends is checked from outside (tests/integration/guest.py).
#include "apps/shark.hpp"
#include "tests/kernel/case.hpp"

namespace {

namespace manual_cases {

using namespace guest;

// clang-format off
// NOLINTBEGIN: printed so.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast" // the example is C

void printed_example() {
int i;

int a,b,c;
SYS_FLAGS f;

a = FTrace_chunk_create(1000000, 1000000, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC);
b = FTrace_chunk_create(1000000, 1000000, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_JTN);
c = FTrace_chunk_create(1000000, 1000000, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC);

FTrace_chunk_link(a,b);
FTrace_chunk_link(b,c);

FTrace_actual_chunk_select(a);

FTrace_enable();

FTrace_set_filter(FTrace_filter_timer, 1);
TRACER_LOGEVENT(FTrace_EVT_trace_start, proc_table[exec_shadow].context, clk_per_msec);

for (i = 0; i < 10; i++)
  if (proc_table[i].context != 0)
    TRACER_LOGEVENT(FTrace_EVT_id, (unsigned short int)proc_table[i].context, i);

// "do something"

FTrace_set_filter(FTrace_filter_timer, 0);

TRACER_LOGEVENT(FTrace_EVT_next_chunk, 0, 0);
TRACER_LOGEVENT(FTrace_EVT_ipoint, 6000, 0);

// "do something"

TRACER_LOGEVENT(FTrace_EVT_trace_stop, 0, 0);

FTrace_disable();

FTrace_OSD_init_udp(1, "192.168.1.10", "192.168.1.1");

FTrace_send_chunk(a, 0, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_CYC);
FTrace_send_chunk(b, 0, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_JTN);
}

// Executes the line that the manual names for the disk.
void printed_alternative() {
FTrace_init_disk_writer("trace.dat", 0, NULL, NULL);
}

#pragma GCC diagnostic pop
// NOLINTEND
// clang-format on

int manual_printed(const kernel::AppArguments&) {
    printed_example();
    printed_alternative();
    const FTrace_Error error = FTrace_last_error();
    check(error.function == nullptr, error.function != nullptr ? error.function : "no call fails");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"s_manual_printed", "the manual's example as printed", &checked<&manual_printed>, true},
};

} // namespace manual_cases

} // namespace
