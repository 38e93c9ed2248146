// SPDX-License-Identifier: MIT
// What one record costs in the guest, in clock ticks; under CLOCK=icount a tick is an instruction, and the figures are
// exact. Not a test: the name starts with b_ and `make bench` reads the console.
#include "arch/arch.hpp"
#include "kernel/panic/console.hpp"
#include "kernel/run/app.hpp"
#include "tests/support/attempts/attempts.hpp"
#include "tracer/ftrace.hpp"
#include "tracer/log.hpp"

#include <cstddef>
#include <utility>

namespace kernel {

namespace {

constexpr std::size_t kEvents = 100;

template <std::size_t... Index>
[[gnu::noinline]] void log_in_a_row(std::index_sequence<Index...>) {
    (tracer::log<"user_event_0">(1, static_cast<std::uint32_t>(Index)), ...);
}

template <std::size_t... Index>
[[gnu::noinline]] void log_nothing(std::index_sequence<Index...>) {}

template <typename Function>
std::uint64_t ticks_of(Function function) {
    const arch::IrqGuard guard;
    const lib::Ticks begin = arch::timestamp();
    function();
    return (arch::timestamp() - begin).value;
}

std::uint64_t ticks_of_logging() {
    return ticks_of([] { log_in_a_row(std::make_index_sequence<kEvents>{}); });
}

void print(std::string_view name, std::uint64_t ticks, std::uint64_t overhead) {
    const std::uint64_t hundredths = (ticks - overhead) * 100 / kEvents;
    console().mark("figure ", name, " ", hundredths / 100, ".", hundredths % 100 / 10, hundredths % 10);
}

int measure(const AppArguments&) {
    const std::uint64_t overhead = ticks_of([] { log_nothing(std::make_index_sequence<kEvents>{}); });
    // The test kernel counts attempts by the way (tests/support/attempts/), which is no part of a record.
    print("record_enabled", ticks_of_logging(), overhead + kEvents * tests::kCountingInstructions);
    FTrace_set_filter(FTrace_filter_user, 1);
    print("record_filtered", ticks_of_logging(), overhead);
    FTrace_set_filter(FTrace_filter_user, 0);
    return FTrace_disable();
}

} // namespace

[[gnu::used, gnu::section(".apps")]] constinit const App kRecordBench{"b_record", "instructions per record", &measure,
                                                                      false};

} // namespace kernel
