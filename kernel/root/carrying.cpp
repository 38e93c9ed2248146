// SPDX-License-Identifier: MIT
// Carries the contents of the tracer's instance to the sinks that the command line asks for, by polling, and reports
// the result on the console. With SINK=auto, the disk is used if the network fails. A panic in the middle, or the
// watchdog after a panic (a sink that hangs), begins again without the sink that was at work.
#include "arch/arch.hpp"
#include "kernel/panic/console.hpp"
#include "kernel/panic/hang.hpp"
#include "kernel/root/sinks.hpp"
#include "kernel/root/tracing_parts.hpp"
#include "lib/text.hpp"
#include "tracer/black_box/black_box.hpp"
#include "tracer/export/sink_disk.hpp"
#include "tracer/instance.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace kernel::root {

namespace {

// Nothing else runs at the end, so a sink that neither fails nor finishes would hold the machine forever.
constexpr std::uint64_t kExportStepsMax = 100'000'000;

constinit CarrySetup g_setup{};
constinit std::optional<lib::Error> g_network_error{}; // with SINK=auto, the reason why the disk has the trace

// A panic in the middle finds here how the run ended, and the sink that is being opened.
constinit std::optional<RunEnd> g_carrying{};
constinit std::string_view g_opening{};
constinit std::array<std::string_view, 2> g_avoided{}; // sinks whose opening did not return

template <typename Sink>
lib::Result<void> attach(const lib::Result<Sink*>& sink, tracer::SinkTime time) {
    return sink.ok() ? tracer::instance().exporter.attach(*sink.value(), time) : sink.error();
}

bool is_avoided(std::string_view name) {
    return std::ranges::find(g_avoided, name) != g_avoided.end();
}

// A sink whose opening does not return is not opened again.
template <typename Open>
lib::Result<void> open_once(std::string_view name, tracer::SinkTime time, Open open) {
    if (is_avoided(name)) {
        return lib::Error::timeout;
    }
    g_opening = name;
    const auto opened = attach(open(), time);
    g_opening = {};
    return opened;
}

lib::Result<void> open_udp() {
    return open_once("udp", tracer::SinkTime::at_once, [] { return open_network(g_setup.network); });
}

lib::Result<void> open_disk() {
    return open_once("disk", tracer::SinkTime::after_exit, [] { return open_storage(g_setup.persistent); });
}

// Returns the report of this sink, or null if it is not attached.
const tracer::Exporter::SinkReport* report_of(std::string_view name) {
    for (std::size_t i = 0; i < tracer::Exporter::kSinksMax; ++i) {
        const tracer::Exporter::SinkReport& report = tracer::instance().exporter.report(i);
        if (report.sink != nullptr && report.sink->name() == name) {
            return &report;
        }
    }
    return nullptr;
}

// Opens the sinks that the command line asks for and no application has opened yet; a sink that an application chose
// stays.
bool open_chosen_sinks() {
    bool all = true;
    const auto report = [&all](std::string_view name, const lib::Result<void>& result) {
        if (!result.ok()) {
            console().mark("export failed: ", name, ": ", lib::error_name(result.error()));
            all = false;
        }
    };
    if (wants_udp(g_setup.choice)) {
        console().mark("exporting udp");
        const auto opened = report_of("udp") != nullptr ? lib::Result<void>{} : open_udp();
        if (g_setup.choice != SinkChoice::automatic) {
            report("udp", opened);
        } else if (!opened.ok()) {
            g_network_error = opened.error();
        }
    }
    if (wants_disk(g_setup.choice)) {
        console().mark("exporting disk");
        report("disk", open_disk());
    }
    return all;
}

// Returns the sink that was at work in an export that was interrupted.
std::string_view stuck_sink() {
    return g_opening.empty() ? tracer::instance().exporter.at_work() : g_opening;
}

std::string_view protocol_text() {
    return network_sink().used() == tracer::reliable::Protocol::v2 ? ", TRACER-V2.0, acknowledged"
                                                                   : ", TRACER-V1.0, not acknowledged";
}

// Returns the words for a failure, with the number of packets if the collector has lost what it had acknowledged.
lib::Text<64> network_failure(lib::Error error) {
    const std::uint64_t lost = network_sink().v2().counters().lost;
    lib::Text<64> text;
    return error == lib::Error::corrupt && lost != 0 ? text.decimal(lost).add(" packets lost by the collector")
                                                     : text.add(lib::error_name(error));
}

void step_until_idle() {
    for (std::uint64_t step = 0; step < kExportStepsMax; ++step) {
        watchdog_kick();
        if (tracer::instance().exporter.step() == tracer::StepResult::idle) {
            return;
        }
    }
    console().mark("export failed: a sink neither fails nor finishes");
}

// Returns false if chunks that the network carried while the application ran have been recorded into again, so that
// neither the network nor the disk, which has replaced it (SINK=auto), has everything. A disk that failed is reported.
bool disk_has_all() {
    const auto* const network = report_of("udp");
    const auto* const disk = report_of("disk");
    if (network == nullptr || network->chunks == 0 || disk == nullptr || disk->failed) {
        return true;
    }
    const tracer::Totals totals = tracer::totals(0);
    const std::uint64_t kept = totals.committed + totals.tracer_made - totals.overwritten;
    if (disk->events < kept) {
        console().mark("export failed: ", kept - disk->events, " records were carried by udp alone, not by disk");
    }
    return disk->events >= kept;
}

// Completes SINK=auto after everything was tried: what the network did not carry whole, and what left by the
// unacknowledged V1, goes to the disk. Returns false if the disk did not carry it either.
bool use_disk_instead() {
    const auto* const network = report_of("udp");
    if (network != nullptr && network->failed) {
        g_network_error = network->error;
    }
    if (g_network_error) {
        console().mark("exporting disk, because udp failed: ", network_failure(*g_network_error).view());
    } else if (network->chunks != 0 && network_sink().used() == tracer::reliable::Protocol::v1) {
        console().mark("exporting disk, because nothing acknowledged what udp sent");
    } else {
        return true;
    }
    if (const auto opened = open_disk(); !opened.ok()) {
        console().mark("export failed: disk: ", lib::error_name(opened.error()));
        return false;
    }
    tracer::instance().exporter.export_unsent();
    step_until_idle();
    return disk_has_all();
}

// Returns false if this sink did not carry everything, unless the disk has it instead.
bool report_sink(const tracer::Exporter::SinkReport& report) {
    if (report.sink == nullptr) {
        return true;
    }
    if (report.failed || report.chunks_lost != 0 || !report.finished) {
        const bool network = report.sink == &network_sink();
        const bool replaced = g_setup.choice == SinkChoice::automatic && network;
        const lib::Text<64> why = !report.failed ? lib::Text<64>("did not finish")
                                  : network      ? network_failure(report.error)
                                                 : lib::Text<64>(lib::error_name(report.error));
        console().mark(replaced ? "not exported: " : "export failed: ", report.sink->name(), ": ", why.view(),
                       " after ", report.chunks, " chunks ", report.records, " records");
        return replaced;
    }
    console().mark("exported ", report.chunks, " chunks ", report.records, " records by ", report.sink->name(),
                   report.sink == &network_sink() ? protocol_text() : std::string_view{});
    return true;
}

} // namespace

void carry_configure(const CarrySetup& setup) {
    g_setup = setup;
}

ExportEnd carry_trace(RunEnd end) {
    const lib::Ticks begin = arch::timestamp();
    g_carrying = end;
    g_network_error.reset();
    tracer::Exporter& exporter = tracer::instance().exporter;
    exporter.begin_exit();
    network_sink().set_patience(kExportPatience);
    bool whole = open_chosen_sinks();
    stream_rest();
    exporter.export_unsent();
    step_until_idle();
    exporter.finish(end);
    step_until_idle();
    if (g_setup.choice == SinkChoice::automatic) {
        whole = use_disk_instead() && whole;
    }
    const lib::Nanoseconds elapsed = arch::tick_rate().to_nanoseconds(arch::timestamp() - begin);

    const tracer::Totals totals = tracer::totals(0);
    console().mark("trace: ", totals.committed, " records kept, ", totals.dropped, " dropped, ", totals.refused,
                   " refused, ", totals.overwritten, " overwritten, ", tracer::instance().names.lost(), " names lost");
    bool any = false;
    for (std::size_t i = 0; i < tracer::Exporter::kSinksMax; ++i) {
        whole = report_sink(exporter.report(i)) && whole;
        any = any || exporter.report(i).sink != nullptr;
    }
    if (any) {
        console().mark("export took ", elapsed.value / 1'000, " us");
    }
    g_carrying.reset();
    if (!whole) {
        return ExportEnd::failed;
    }
    return any ? ExportEnd::whole : ExportEnd::nothing_asked;
}

bool can_carry_again() {
    const std::string_view stuck = stuck_sink();
    if (!g_carrying || stuck.empty()) {
        return false;
    }
    for (std::size_t i = 0; i < tracer::Exporter::kSinksMax; ++i) {
        const auto& report = tracer::instance().exporter.report(i);
        if (report.sink != nullptr && report.sink->name() != stuck && !report.failed) {
            return true;
        }
    }
    const auto may_open = [stuck](std::string_view name, bool wanted) {
        return wanted && name != stuck && report_of(name) == nullptr && !is_avoided(name);
    };
    const bool may_use_disk = wants_disk(g_setup.choice) || g_setup.choice == SinkChoice::automatic;
    return may_open("udp", wants_udp(g_setup.choice)) || may_open("disk", may_use_disk);
}

void carry_again() {
    if (!g_carrying) {
        return;
    }
    const std::string_view stuck = stuck_sink();
    tracer::Exporter& exporter = tracer::instance().exporter;
    exporter.begin_exit(); // what was interrupted does not continue
    if (g_opening.empty()) {
        exporter.give_up(stuck, lib::Error::timeout);
    } else {
        *std::ranges::find(g_avoided, std::string_view{}) = g_opening;
        g_opening = {};
    }
    console().mark("exporting again, without ", stuck.empty() ? "a change" : stuck);
    static_cast<void>(carry_trace(*g_carrying));
}

// A trace of an earlier boot is still in memory if the machine was reset before the export. It leaves by the sinks of
// this run, before this run uses the memory, as a session of its own (the boot id, names and rates are those of the
// earlier boot; its files are 0prior.dat, 1prior.dat, ...).

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

// Carries a trace whose end is known only from its last records.
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
