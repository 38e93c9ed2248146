// SPDX-License-Identifier: MIT
// A trace that an earlier boot left in memory, because the machine was reset before it was exported. It leaves by the
// sinks of this run, before this run uses the memory, as a session of its own (the boot id, names and rates are those
// of the earlier boot; its files are 0prior.dat, 1prior.dat, ...).
#include "kernel/root/tracing_parts.hpp"

#include "kernel/panic/console.hpp"
#include "kernel/root/storage.hpp"
#include "lib/text.hpp"
#include "tracer/black_box/survivor.hpp"

#include <array>
#include <string_view>

namespace kernel::root {

namespace {

// These are still short names with the largest number of a chunk before them. Several resets leave a trace each, until
// the volume is emptied.
constexpr std::array<std::string_view, 10> kBaseNames = {"prior.dat", "prio1.dat", "prio2.dat", "prio3.dat",
                                                         "prio4.dat", "prio5.dat", "prio6.dat", "prio7.dat",
                                                         "prio8.dat", "prio9.dat"};

// Returns the first name that no file on the volume has, or the last one if all are taken.
std::string_view free_base_name() {
    for (const std::string_view base : kBaseNames) {
        lib::Text<16> first;
        if (!storage_has(first.add("0").add(base).view())) {
            return base;
        }
    }
    return kBaseNames.back();
}

// The end of the earlier boot is not known, except from its last records.
ExportEnd carry(const FormerTraceSetup& setup) {
    if (wants_disk(setup.sink)) {
        if (const auto sink = open_storage(setup.persistent); sink.ok()) {
            static_cast<void>(sink.value()->set_base_name(free_base_name())); // carry_trace() reports a disk that fails
        }
    }
    const ExportEnd end = carry_trace(RunEnd::unknown);
    renew_network_sink(setup.protocol);
    renew_storage_sink();
    return end;
}

} // namespace

void export_former_trace(const FormerTraceSetup& setup) {
    tracer::Setup own{.tsc_khz = setup.khz};
    own.build.image_id = setup.image_id;
    tracer::configure(own);
    const auto former = tracer::black_box::recover_former();
    if (!former) {
        return;
    }
    if (!former->defect.empty()) {
        console().mark("the trace of an earlier boot in memory is lost: ", former->defect);
        return;
    }
    const tracer::black_box::Recovered& found = former->recovered;
    console().mark("an earlier boot left ", found.chunks, " chunks in memory, boot id ", Hex{former->setup.boot_id},
                   former->ended ? ", after its end" : ", in the middle of its run");
    if (found.damaged != 0) {
        console().mark(found.damaged, " of its chunks are damaged, the last one is ", found.number, ": ", found.defect);
    }
    tracer::configure(former->setup);
    switch (carry(setup)) {
    case ExportEnd::whole:
        console().mark("the trace of the earlier boot has left");
        break;
    case ExportEnd::nothing_asked:
        console().mark("the trace of the earlier boot is lost: no sink is asked for");
        break;
    case ExportEnd::failed:
        console().mark("the trace of the earlier boot is lost: no sink has carried all of it");
        break;
    }
}

} // namespace kernel::root
