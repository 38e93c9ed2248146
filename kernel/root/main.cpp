// SPDX-License-Identifier: MIT
// Orders a boot and a run, from the boot path's last instruction to the machine's end. Every part that needs another
// one gets it here; no other part of the kernel looks anything up.
#include "arch/arch.hpp"
#include "arch/boot_info.hpp"
#include "arch/x86_64/machine.hpp"
#include "arch/x86_64/paging.hpp"
#include "arch/x86_64/port_io.hpp"
#include "arch/x86_64/power.hpp"
#include "arch/x86_64/real_mode.hpp"
#include "drivers/net/address.hpp"
#include "drivers/serial.hpp"
#include "kernel/interrupt/interrupt.hpp"
#include "kernel/panic/console.hpp"
#include "kernel/panic/panic.hpp"
#include "kernel/root/firmware.hpp"
#include "kernel/root/tracing.hpp"
#include "kernel/root/watchdog.hpp"
#include "kernel/run/app.hpp"
#include "kernel/run/command_line.hpp"
#include "kernel/run/run.hpp"
#include "kernel/run/runlevel.hpp"
#include "kernel/sched/level.hpp"
#include "kernel/sched/levels/grub.hpp"
#include "kernel/sched/levels/hard_level.hpp"
#include "kernel/sched/levels/queue_level.hpp"
#include "kernel/sched/levels/served.hpp"
#include "kernel/sched/levels/soft_level.hpp"
#include "kernel/section/section_meter.hpp"
#include "kernel/state/task_table.hpp"
#include "kernel/time/compensated_clock.hpp"
#include "kernel/time/phase_shift.hpp"
#include "kernel/time/timer.hpp"
#include "tracer/log.hpp"

extern "C" {
extern const std::byte image_begin[]; // linker.ld: two groups, between which memory may belong to the firmware
extern const std::byte image_end[];
extern const std::byte arena_begin[];
extern const std::byte arena_end[];
}

extern "C" [[gnu::used]] void kernel_main(arch::BootInfo* boot);

namespace kernel::root {

namespace {

// QEMU's debug exit ends with value * 2 + 1, as the comments show.
enum class ExitCode : std::uint8_t {
    ok = 0x10,             // 33
    application_failed,    // 35
    panic,                 // 37
    bad_command_line,      // 39
    export_failed,         // 41
    machine_not_supported, // 43
};

constinit drivers::Serial<arch::x86_64::PortIo> g_serial{drivers::kSerialCom1};
constinit Options g_options{};
constinit const Firmware* g_firmware = nullptr; // null until the tables were read
constinit Reservations g_reservations{};
constinit RmLevel g_rm{g_reservations};
constinit EdfLevel g_edf{g_reservations};
constinit RoundRobinLevel g_round_robin{};
constinit BackgroundLevel g_background{};
constinit CbsLevel g_cbs{g_edf};
constinit GrubLevel g_grub{g_edf};
constinit ServedLevel g_served{g_rm};

// AFTER_EXIT finds here how the run ended, and leaves the result of the export. The run counts as panicked until it has
// ended otherwise.
constinit RunEnd g_run_end = RunEnd::panicked;
constinit ExportEnd g_export_end = ExportEnd::nothing_asked;

std::string_view exit_name(ExitCode code) {
    switch (code) {
    case ExitCode::ok:
        return "ok";
    case ExitCode::application_failed:
        return "application failed";
    case ExitCode::panic:
        return "panic";
    case ExitCode::bad_command_line:
        return "bad command line";
    case ExitCode::export_failed:
        return "export failed";
    case ExitCode::machine_not_supported:
        return "machine not supported";
    }
    return "unknown";
}

[[noreturn]] void leave(ExitCode code) {
    watchdog_end();
    console().mark("result ", exit_name(code));
    if (g_options.exit == ExitChoice::debug) {
        arch::x86_64::debug_exit(static_cast<std::uint8_t>(code));
    }
    if (g_firmware != nullptr && g_firmware->power_off) {
        arch::x86_64::acpi_power_off(g_firmware->power_off->control_port, g_firmware->power_off->sleep_type);
    }
    console().line("this machine cannot be switched off; halted");
    arch::stop();
}

// Prints how long interrupts were off, place by place: `make bench-kernel` reads these lines.
[[maybe_unused]] void report_sections(const SectionMeter& meter) {
    std::size_t number = 0;
    for (const MeasuredSection& section : meter.sections()) {
        console().mark("section ", number++, " longest ", section.longest.value, " mean ",
                       section.total.value / section.count, " count ", section.count, " ",
                       std::string_view(section.place.file), ":", section.place.line, " ",
                       std::string_view(section.place.function));
    }
    if (meter.lost() != 0) {
        console().mark("sections of further places, not measured: ", meter.lost());
    }
}

void start_console() {
    if (g_serial.start().ok()) {
        console().attach([](std::string_view text) { g_serial.write(text); });
    }
}

void require_boot_info(const arch::BootInfo* boot) {
    if (boot != nullptr && boot->version == arch::BootInfo::kVersion && boot->path == arch::BootPath::pvh &&
        boot->magic == 0) {
        console().line(
            "the start information of PVH is damaged: QEMU writes a command line of more than 4096 characters "
            "over it; Remora takes at most ",
            arch::kCommandLineMax - 1);
        g_options.exit = ExitChoice::debug; // neither a command line nor tables determine how to end
        leave(ExitCode::machine_not_supported);
    }
    if (boot == nullptr || boot->magic != arch::BootInfo::kMagic || boot->version != arch::BootInfo::kVersion) {
        console().line("the boot loader handed over no boot information of version ", arch::BootInfo::kVersion,
                       ": loader and kernel do not belong together");
        leave(ExitCode::machine_not_supported);
    }
    console().mark("boot ", boot->path == arch::BootPath::uefi ? "uefi" : "pvh");
}

bool is_memory(const arch::BootInfo& boot, std::uint64_t address, std::uint64_t end) {
    while (address < end) {
        std::uint64_t reached = address;
        for (std::uint32_t i = 0; i < boot.range_count; ++i) {
            const arch::MemoryRange& range = boot.ranges[i];
            if (range.kind == arch::MemoryKind::usable && range.base <= address &&
                address - range.base < range.size_bytes) {
                reached = range.base + range.size_bytes;
            }
        }
        if (reached == address) {
            return false;
        }
        address = reached;
    }
    return true;
}

// Ends the machine if memory is missing, which nothing else would notice: it accepts the trace and reads as zeros.
void require_memory(const arch::BootInfo& boot, const std::byte* first, const std::byte* last) {
    const auto begin = reinterpret_cast<std::uint64_t>(first);
    const auto end = reinterpret_cast<std::uint64_t>(last);
    if (boot.range_count > arch::BootInfo::kRangesMax || !is_memory(boot, begin, end)) {
        console().line("the machine has no memory from ", Hex{begin}, " to ", Hex{end}, ": give it more");
        leave(ExitCode::machine_not_supported);
    }
}

[[noreturn]] void refuse_word(std::string_view word, std::string_view expected) {
    console().mark("command line: \"", word, "\" is not understood; expected: ", expected);
    leave(ExitCode::bad_command_line);
}

void require_address(std::string_view key, std::string_view text) {
    const auto address = drivers::net::parse_ipv4_address(text);
    if (!address.ok() || !address.value().is_host()) {
        refuse_word(text, key);
    }
}

void read_options(const arch::BootInfo& boot) {
    const auto* const text = reinterpret_cast<const char*>(boot.command_line_address);
    const ParsedCommandLine parsed = parse_command_line(text != nullptr ? text : "");
    g_options = parsed.options;
    if (text != nullptr && std::string_view(text).size() >= arch::kCommandLineMax) {
        console().mark("the command line is longer than ", arch::kCommandLineMax - 1, " characters: shorten it");
        leave(ExitCode::bad_command_line);
    }
    if (!parsed.bad_word.empty()) {
        refuse_word(parsed.bad_word, parsed.expected);
    }
    if (g_options.clock_records) {
        if (g_options.compensation.step != 0 || g_options.compact != CompactChoice::off) {
            refuse_word("clock_records", "clock_records=on without clock_step and without compact");
        }
        g_options.compensation.step = 1; // no step is compensated, but the value starts the compensation
    }
    set_phase_shifts(g_options.shifts, lib::Ticks{g_options.event_shift}, IrqOff::from_boot());
    require_address("local=A.B.C.D of one machine", g_options.local_address);
    require_address("target=A.B.C.D of one machine", g_options.target_address);
}

[[noreturn]] void list_apps() {
    for (const App& app : apps()) {
        console().mark("app ", app.name, " - ", app.description);
    }
    leave(ExitCode::ok);
}

const App& chosen_app() {
    if (g_options.app == "list") {
        list_apps();
    }
    const App* const app = find_app(g_options.app);
    if (app == nullptr) {
        refuse_word(g_options.app, "app=NAME of an application (app=list names them)");
    }
    return *app;
}

void require_ordinary_chunks(const App& app) {
    const bool compact = g_options.compact != CompactChoice::off;
    if (!compact && !g_options.stream) {
        return;
    }
    const std::string_view word = compact ? "compact" : "stream";
    if (!tracer::kTracerBuilt) {
        refuse_word(word, compact ? "compact=OFF, for this kernel was built without a tracer"
                                  : "stream=off, for this kernel was built without a tracer");
    }
    if (app.traces_itself) {
        refuse_word(word, compact ? "compact=OFF, for this application makes its chunks itself"
                                  : "stream=off, for this application makes its chunks itself");
    }
    if (g_options.stream && g_options.sink != SinkChoice::udp && g_options.sink != SinkChoice::automatic) {
        refuse_word("stream", "sink=udp or sink=auto: a chunk that has left is recorded into again");
    }
    if (g_options.stream && g_options.protocol == ProtocolChoice::v1) {
        refuse_word("stream", "protocol=auto or protocol=v2: only what was acknowledged is recorded over");
    }
}

arch::x86_64::TscCalibration start_machine() {
    arch::x86_64::MachineDescription machine = g_firmware->machine;
    if (g_options.interrupts == InterruptChoice::pic) {
        machine.io_apic_count = 0;
    }
    const auto calibration = arch::x86_64::start_devices(machine);
    if (!calibration.ok()) {
        console().line("no reference clock counts: neither HPET nor PM timer nor PIT");
        leave(ExitCode::machine_not_supported);
    }
    console().line("clock: ", calibration.value().rate.khz, " kHz, two sources differ by ",
                   calibration.value().error_ppm, " ppm");
    return calibration.value();
}

void protect_task_stacks() {
    for (std::size_t i = 0; i < kTasksMax; ++i) {
        arch::x86_64::unmap_page(reinterpret_cast<std::uint64_t>(guard_page(i).data()));
    }
}

// Asserts a result that is an error only if the kernel itself is wrong.
void require(const lib::Result<void>& result) {
    ASSERT(result.ok());
}

// Starts the compensation; parameters that were not given are the compensator's defaults.
void start_compensation(const Options& options) {
    const ClockWords& words = options.compensation;
    if (words.step == 0) {
        return;
    }
    compensation::Parameters parameters;
    parameters.step = {words.step};
    if (options.clock_records) {
        parameters.record_x256 = tracing_record_ticks_x256();
    }
    parameters.trigger = words.trigger;
    parameters.max_delta = words.max_delta != 0 ? lib::Ticks{words.max_delta} : parameters.max_delta;
    parameters.near_zero = words.near_zero != 0 ? lib::Ticks{words.near_zero} : parameters.near_zero;
    const auto started = clock_compensation_start(parameters);
    if (!started.ok()) {
        refuse_word(options.clock_records ? "clock_records" : "clock_step", started.error() == lib::Error::unsupported
                                                                                ? "a kernel built with COMPENSATION=ON"
                                                                                : "a clock_max_delta that leaves room");
    }
}

void start_kernel() {
    const IrqOff off = IrqOff::from_boot();
    require(register_level(g_rm, off));
    require(register_level(g_edf, off));
    require(register_level(g_round_robin, off));
    require(register_level(g_background, off));
    require(register_level(g_cbs, off)); // these are guests of those above and have no queue of their own
    require(register_level(g_grub, off));
    require(register_level(g_served, off));
    use_served_level(g_served);
    require(interrupt_attach(
        arch::timer_vector(), "timer", [](void*) { timer_interrupt(IrqOff::from_entry()); }, nullptr));
    // It is registered first, so it runs last: no AFTER_EXIT function finds the trace already gone.
    require(sys_atrunlevel([](void*) { g_export_end = tracing_export(g_run_end); }, nullptr, RunLevel::after_exit));
}

AppArguments arguments() {
    // The words of the command line are separated by blanks; these two texts need an end of their own.
    static constinit lib::Text<32> local{};
    static constinit lib::Text<32> target{};
    local.add(g_options.local_address).add('\0');
    target.add(g_options.target_address).add('\0');
    return {.seed = g_options.seed,
            .duration = lib::milliseconds(g_options.duration_ms),
            .sink = g_options.sink == SinkChoice::automatic ? "none" : sink_name(g_options.sink),
            .local_address = local.view().data(),
            .target_address = target.view().data(),
            .icount = g_options.clock == ClockChoice::icount,
            .steps = static_cast<int>(g_options.steps) - 1};
}

RunEnd run_app(const App& app) {
    const lib::Ticks begin = arch::timestamp();
    console().mark("running ", app.name);
    const auto outcome = run(app, arguments(), g_background);
    if (!outcome.ok()) {
        PANIC("the idle task or the main task could not be created");
    }
    const lib::Nanoseconds elapsed = arch::tick_rate().to_nanoseconds(arch::timestamp() - begin);
    console().mark("exited after ", elapsed.value / 1'000'000, " ms with result ", outcome.value().result);
    if (const std::string_view name = unused_phase_shift(); !name.empty()) {
        console().mark("shift: no task ", name, " was activated");
    }
    return outcome.value().result == 0 && !outcome.value().aborted ? RunEnd::completed : RunEnd::failed;
}

ExitCode exit_code() {
    if (g_run_end != RunEnd::completed) {
        return ExitCode::application_failed;
    }
    return g_export_end == ExportEnd::failed ? ExitCode::export_failed : ExitCode::ok;
}

} // namespace

} // namespace kernel::root

void kernel_main(arch::BootInfo* boot) {
    using namespace kernel;
    using namespace kernel::root;
    set_panic_end({.export_trace =
                       [] {
                           watchdog_last_stage();
                           mark_aborted();
                           run_level_functions(RunLevel::after_exit);
                           tracing_export_again();
                       },
                   .exit = [] { leave(ExitCode::panic); }});
    arch::set_upcalls({.interrupt = &interrupt_entry, .exception = &fault_entry, .nmi = &nmi_entry});
    arch::x86_64::start_processor(tracing_per_cpu_base());
    start_console();

    require_boot_info(boot);
    tracing_keep_key(*boot);
    g_firmware = &read_firmware(*boot); // this is first, so that every end from here on can switch the machine off
    read_options(*boot);
    require_memory(*boot, image_begin, image_end);
    require_memory(*boot, arena_begin, arena_end);
    arch::x86_64::real_mode_start(*boot);
    const App& app = chosen_app();
    require_ordinary_chunks(app);
    if (g_options.limit_ms != 0) {
        require(sys_atrunlevel([](void*) { limit_run(lib::milliseconds(g_options.limit_ms), IrqOff::from_boot()); },
                               nullptr, RunLevel::init));
    }
    const arch::x86_64::TscCalibration calibration = start_machine();
    protect_task_stacks();
    watchdog_begin(g_options.watchdog_ms, *g_firmware, g_background);

    tracing_configure(
        {.options = g_options, .firmware = *g_firmware, .calibration = calibration, .app_name = app.name});
    if (!app.traces_itself) {
        tracing_begin();
    }
    start_kernel();
    start_compensation(g_options);
    g_run_end = run_app(app);
    if constexpr (kSectionsMeasured) {
        report_sections(kernel::detail::section_meter);
    }
    tracing_end();
    run_level_functions(RunLevel::after_exit);
    leave(exit_code());
}
