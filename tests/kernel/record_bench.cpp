// SPDX-License-Identifier: MIT
// Measures what one record costs in the guest, in clock ticks; under CLOCK=icount a tick is an instruction, and the
// figures are exact. It is no test: the name starts with b_ and `make bench` reads the console.
#include "kernel/panic/console.hpp"
#include "kernel/run/app.hpp"
#include "tests/support/attempts/attempts.hpp"
#include "tests/support/log_in_a_row.hpp"
#include "tracer/ftrace.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kernel {

namespace {

constexpr std::size_t kEvents = 100;
constexpr std::size_t kRows = 8;

void print(std::string_view name, std::uint64_t ticks) {
    const std::uint64_t hundredths = ticks * 100 / (kRows * kEvents);
    console().mark("figure ", name, " ", hundredths / 100, ".", hundredths % 100 / 10, hundredths % 10);
}

int measure(const AppArguments&) {
    // The test kernel counts attempts by the way (tests/support/attempts/), which is no part of a record.
    print("record_enabled", tests::ticks_of_records<kEvents>(kRows) - kRows * kEvents * tests::kCountingInstructions);
    FTrace_set_filter(FTrace_filter_user, 1);
    print("record_filtered", tests::ticks_of_records<kEvents>(kRows));
    FTrace_set_filter(FTrace_filter_user, 0);
    return FTrace_disable();
}

} // namespace

[[gnu::used, gnu::section(".apps")]] constinit const App kRecordBench{"b_record", "instructions per record", &measure,
                                                                      false};

} // namespace kernel
