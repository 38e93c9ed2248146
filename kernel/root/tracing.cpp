// SPDX-License-Identifier: MIT
// Configures the tracer at boot, and passes the chunks of the run to their export.
#include "kernel/root/tracing.hpp"

#include "arch/arch.hpp"
#include "arch/x86_64/msr.hpp"
#include "kernel/interrupt/interrupt.hpp"
#include "kernel/panic/console.hpp"
#include "kernel/root/sinks.hpp"
#include "kernel/root/tracing_parts.hpp"
#include "kernel/run/runlevel.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/state/task_table.hpp"
#include "kernel/sync/semaphore.hpp"
#include "kernel/task/task.hpp"
#include "kernel/time/clock.hpp"
#include "lib/version.hpp"
#include "lib/wire_numbers.hpp"
#include "tracer/black_box/black_box.hpp"
#include "tracer/export/sink_disk.hpp"
#include "tracer/ftrace.hpp"
#include "tracer/instance.hpp"
#include "tracer/log.hpp"
#include "tracer/record/unit_words.hpp"

// The linker's note about this image is between these places (linker.ld); they are no objects.
// NOLINTBEGIN(modernize-avoid-c-arrays,readability-identifier-naming)
extern "C" const std::byte build_id_begin[];
extern "C" const std::byte build_id_end[];
extern "C" const char formats_begin[]; // nothing is between them unless FORMATS=inband
extern "C" const char formats_end[];

// NOLINTEND(modernize-avoid-c-arrays,readability-identifier-naming)

namespace kernel::root {

namespace {

// Returns the trace's name of this image: the first bytes of the build id, as `remora` reads them from the file.
std::uint64_t image_id() {
    constexpr std::size_t kNoteHeadBytes = 16; // three sizes, "GNU"
    const auto bytes = static_cast<std::size_t>(build_id_end - build_id_begin);
    const std::span note(build_id_begin, bytes);
    return bytes >= kNoteHeadBytes + sizeof(std::uint64_t) ? lib::load_le<std::uint64_t>(note.subspan(kNoteHeadBytes))
                                                           : 0;
}

// A task sleeps this long between two looks at whether its chunk has left.
constexpr lib::Nanoseconds kSendPoll = lib::milliseconds(1);

constinit NetworkSetup g_network{};
constinit std::optional<drivers::acpi::PersistentRange> g_persistent{};
constinit bool g_streamed = false;

// The published sender is an NRT task that carries chunks while the application runs. It exists once an application has
// opened the network itself.
constinit Semaphore g_send_request{};
constinit bool g_sender_exists = false;
constinit bool g_sender_stops = false;

void sender_body(void*) {
    for (;;) {
        static_cast<void>(sem_wait(g_send_request)); // it was initialised before this task was created
        while (!g_sender_stops && tracer::instance().exporter.step() == tracer::StepResult::more) {
        }
    }
}

// Runs in SHUTDOWN, in task context: the sender must not be ended in the middle of a step.
void stop_sender(void*) {
    g_sender_stops = true;
    await_step_end(kSendPoll);
}

lib::Result<void> create_sender() {
    if (g_sender_exists || run_level() != RunLevel::running) {
        return {};
    }
    if (const auto made = sem_init(g_send_request, "UDP_Sender", 0); !made.ok()) {
        return made;
    }
    const auto pid =
        task_create({.name = "UDP_Sender", .body = &sender_body, .argument = nullptr, .model = NrtModel{}});
    if (!pid.ok()) {
        return pid.error();
    }
    g_sender_exists = true;
    if (const auto stopped = sys_atrunlevel(&stop_sender, nullptr, RunLevel::shutdown); !stopped.ok()) {
        return stopped;
    }
    return task_activate(pid.value());
}

class Sinks final : public tracer::SinkProvider {
  public:
    constexpr Sinks() = default;

    [[nodiscard]] lib::Result<tracer::ChunkSink*> open_udp(bool start_network, std::string_view local,
                                                           std::string_view target) override {
        NetworkSetup setup = g_network;
        setup.start = start_network;
        setup.local_address = local;
        setup.target_address = target;
        const auto sink = open_network(setup);
        network_sink().set_patience(kExportPatience); // FTrace_send_chunk waits
        const auto created = sink.ok() ? create_sender() : sink.error();
        return created.ok() ? sink : created.error();
    }

    [[nodiscard]] lib::Result<void> choose_protocol(tracer::reliable::Protocol protocol) override {
        return network_sink().choose(protocol);
    }

    [[nodiscard]] lib::Result<tracer::ChunkSink*> open_disk(std::string_view name) override {
        const auto sink = open_storage(g_persistent);
        if (!sink.ok()) {
            return sink.error();
        }
        const auto named = sink.value()->set_base_name(name);
        return named.ok() ? lib::Result<tracer::ChunkSink*>(sink.value()) : named.error();
    }
};

constinit Sinks g_sinks{};

// Is the wait hook of FTrace_send_chunk: while the application runs it wakes the sender and lets it work.
bool wait_for_sender(void*) {
    if (run_level() != RunLevel::running || !g_sender_exists || g_sender_stops) {
        return tracer::instance().exporter.step() == tracer::StepResult::more;
    }
    static_cast<void>(sem_post(g_send_request));
    task_delay(kSendPoll);
    return true;
}

tracer::ClockMode clock_mode(ClockChoice chosen) {
    if (chosen == ClockChoice::icount) {
        return tracer::ClockMode::icount;
    }
    return chosen == ClockChoice::kvm || arch::x86_64::under_kvm() ? tracer::ClockMode::hardware
                                                                   : tracer::ClockMode::emulated;
}

tracer::TscSource tsc_source(arch::x86_64::ReferenceClock clock) {
    switch (clock) {
    case arch::x86_64::ReferenceClock::pit:
        return tracer::TscSource::pit;
    case arch::x86_64::ReferenceClock::pm_timer:
        return tracer::TscSource::pm_timer;
    case arch::x86_64::ReferenceClock::hpet:
        return tracer::TscSource::hpet;
    case arch::x86_64::ReferenceClock::none:
        break;
    }
    return tracer::TscSource::unknown;
}

// Returns a number that distinguishes boots; the same boot under a deterministic clock gets the same number.
std::uint64_t boot_id(std::uint64_t seed) {
    std::uint64_t mixed = arch::timestamp().value ^ (seed * 0x9E37'79B9'7F4A'7C15);
    mixed = (mixed ^ (mixed >> 30)) * 0xBF58'476D'1CE4'E5B9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D0'49BB'1331'11EB;
    return mixed ^ (mixed >> 31);
}

tracer::reliable::Protocol protocol_of(ProtocolChoice chosen) {
    return chosen == ProtocolChoice::v1   ? tracer::reliable::Protocol::v1
           : chosen == ProtocolChoice::v2 ? tracer::reliable::Protocol::v2
                                          : tracer::reliable::Protocol::automatic;
}

// Records the count of each outcome of steps that occurred.
void report_compensation() {
    for (std::size_t i = 0; i < lib::kWords<compensation::Outcome>.size(); ++i) {
        const std::uint64_t count = clock_compensation().count(static_cast<compensation::Outcome>(i));
        if (kCompensationBuilt && count != 0) {
            tracer::log<"compensation_count">(static_cast<std::uint16_t>(i), static_cast<std::uint32_t>(count));
        }
    }
}

} // namespace

namespace {

// Sets what the trace shows of interrupts from the start on.
void choose_interrupt_detail(const Options& options) {
    if (options.interrupt_detail != InterruptDetail::span) {
        for (unsigned vector = 0; vector <= 0xFF; ++vector) {
            record_interrupt(static_cast<arch::Vector>(vector), options.interrupt_detail);
        }
    }
    record_interrupt_sections(options.cli_sti);
}

} // namespace

void* tracing_per_cpu_base() {
    tracer::black_box::start();
    return tracer::cpu_trace(0);
}

void tracing_keep_key(arch::BootInfo& boot) {
    keep_loader_key(boot);
}

void tracing_configure(const TracingSetup& setup) {
    const Options& options = setup.options;
    g_network = {.nic = options.nic,
                 .width_bits = options.width_bits,
                 .local_address = options.local_address,
                 .target_address = options.target_address,
                 .port = options.port,
                 .protocol = protocol_of(options.protocol)};
    g_persistent = setup.firmware.persistent_memory;
    carry_configure({.network = g_network, .persistent = g_persistent, .choice = options.sink});
    g_streamed = options.stream;
    export_former_trace({.image_id = image_id(),
                         .khz = setup.calibration.rate.khz,
                         .sink = options.sink,
                         .protocol = g_network.protocol,
                         .persistent = g_persistent});
    tracer::black_box::clear();
    tracer::configure({.tsc_khz = setup.calibration.rate.khz,
                       .tsc_source = tsc_source(setup.calibration.source),
                       .tsc_error_ppm = setup.calibration.error_ppm,
                       .clock_mode = clock_mode(options.clock),
                       .boot_id = boot_id(options.seed),
                       .build = {.kernel = std::string_view(lib::kVersion),
                                 .compiler = std::string_view("g++ " __VERSION__),
                                 .application = setup.app_name,
                                 .seed = options.seed,
                                 .image_id = image_id()},
                       .cost = measure_trace_cost(options.compact, setup.calibration.rate),
                       .formats = {formats_begin, static_cast<std::size_t>(formats_end - formats_begin)}});
    tracer::instance().sinks = &g_sinks;
    tracer::instance().lock.set_exclusion({.enter = &arch::irq_save, .leave = &arch::irq_restore});
    instruction_steps_configure();
    choose_interrupt_detail(options);
    tracer::instance().wait = {.wait = &wait_for_sender, .context = nullptr};
    tracer::black_box::publish();
}

std::uint32_t tracing_record_ticks_x256() {
    return tracer::instance().exporter.setup().cost.enabled_ticks_x256;
}

void tracing_begin() {
    const int first = create_linked_chunks(g_streamed);
    if (g_streamed) {
        stream_chunks(g_network);
    }
    const int selected = FTrace_actual_chunk_select(first);
    ASSERT(selected == 0);
    tracing_enable();
}

void tracing_enable() {
    const IrqGuard off;
    if (FTrace_enable() != 0) {
        return;
    }
    const std::uint32_t khz = arch::tick_rate().khz;
    tracer::log<"cycles_per_msec">(0, khz);
    tracer::log<"trace_start">(tracer::instance().instructions.hooks().context(), khz);
    for (const Task& task : task_table(off)) {
        if (task.state != TaskState::free) {
            tracer::log<"id">(task.context, task.pid.value);
        }
    }
}

void tracing_end() {
    if (tracer::instance().control.enabled()) {
        flush_interrupt_counts();
        report_compensation();
        tracer::log<"trace_stop">(tracer::instance().instructions.hooks().context(), arch::tick_rate().khz);
        FTrace_disable();
    }
}

bool tracing_can_export_again() {
    return can_carry_again();
}

void tracing_export_again() {
    carry_again();
}

ExportEnd tracing_export(RunEnd end) {
    tracing_end();
    tracer::black_box::mark_ended();
    const ExportEnd exported = carry_trace(end);
    if (exported != ExportEnd::failed) {
        tracer::black_box::mark_carried();
    }
    return exported;
}

} // namespace kernel::root
