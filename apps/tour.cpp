// SPDX-License-Identifier: MIT
// The tour covers the event table: each station uses a part of the kernel as an application does, so that the trace has
// every published event at least once (docs/apps/tour.md names the few that it cannot have). Each begins with an
// ipoint, its number. The question to the BIOS at station 5 is refused by a machine that has none (BOOT=uefi).
//
//   1 tasks     2 overruns     3 waiting     4 servers     5 machine     6 tracer
#include "apps/tour.hpp"
#include "kernel/run/app.hpp"

#include <array>

namespace apps {

namespace {

constexpr auto kStations = std::to_array<void (*)()>({&tour::visit_tasks, &tour::visit_overruns, &tour::visit_waiting,
                                                      &tour::visit_servers, &tour::visit_machine, &tour::visit_tracer});

int start(const kernel::AppArguments&) {
    for (std::size_t i = 0; i < kStations.size(); ++i) {
        TRACER_LOGEVENT(FTrace_EVT_ipoint, i + 1, 0);
        kStations[i]();
        kernel::task_delay(lib::milliseconds(10)); // the stations are apart in the trace
    }
    return tour::verdict.result();
}

} // namespace

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kTour{
    "tour", "every event of the table, one station after the other", &start, false};

} // namespace apps
