// SPDX-License-Identifier: MIT
// The C interface (remora_tracer.h) over an Instance for each processor: memory, processors, names, the usual run.
#include "port/remora_tracer.h"

#include "lib/wire_numbers.hpp"
#include "port/port.hpp"
#include "tracer/black_box/black_box.hpp"
#include "tracer/black_box/memory.hpp"
#include "tracer/log.hpp"

#include <algorithm>
#include <array>
#include <cstring>

// The first one refuses whatever the mask admits, and so counts it.
struct remora_cpu {
    tracer::CpuTrace trace;

    constexpr remora_cpu() { trace.mask = ~0U; }
};

namespace port {

using namespace tracer;

namespace {

static_assert(sizeof(CpuTrace) <= REMORA_CPU_BYTES && alignof(remora_cpu) == REMORA_CPU_BYTES / 2);
static_assert(black_box::kAlignment == REMORA_MEMORY_ALIGNMENT);
static_assert(REMORA_STOP == kFlagStop && REMORA_CYCLIC == kFlagCyclic);
static_assert(static_cast<int>(NameKind::interrupt) == REMORA_NAME_INTERRUPT &&
              static_cast<int>(NameKind::port) == REMORA_NAME_PORT);
static_assert(TRACER_CPU_MASK == 40, "remora_tracer.h tests it");
static_assert(static_cast<int>(lib::LevelKind::background) == REMORA_LEVEL_BACKGROUND &&
              static_cast<int>(lib::LevelKind::scan) == REMORA_LEVEL_SCAN);
static_assert(static_cast<unsigned>(lib::WaitKind::channel) == REMORA_WAIT_CHANNEL &&
              static_cast<unsigned>(lib::WaitKind::mutex) == REMORA_WAIT_MUTEX);

constexpr remora_sizes kSmall = REMORA_SIZES_SMALL;

constinit std::array<Instance*, REMORA_CPUS> g_instances{};
constinit std::array<black_box::Descriptor*, REMORA_CPUS> g_descriptors{};
constinit std::uint64_t g_virt_minus_phys = 0;

black_box::Sizes sizes_of(const remora_sizes& sizes) {
    return {.chunks = sizes.chunks,
            .names = sizes.names,
            .declarations = sizes.declarations,
            .exports = sizes.no_export == 0,
            .compresses = sizes.compress != 0,
            .steps = false};
}

bool valid(const remora_sizes& sizes) {
    return sizes.chunks >= 1 && sizes.chunks <= kChunksMax && sizes.names >= 1 &&
           sizes.names <= NameRegistry::Names::kCapacityMax && sizes.declarations >= 1 &&
           sizes.declarations <= NameRegistry::Declarations::kCapacityMax;
}

const remora_sizes& given_or_small(const remora_sizes& sizes) {
    return sizes.chunks == 0 && sizes.names == 0 && sizes.declarations == 0 ? kSmall : sizes;
}

Name name_of(const char* text) {
    return text != nullptr ? Name(std::string_view(text)) : Name();
}

// Checks one piece of memory that is given for tables and an arena; returns null if it is right.
const char* memory_defect(const void* memory, std::size_t bytes, const black_box::Places& places) {
    if (memory == nullptr || reinterpret_cast<std::uintptr_t>(memory) % REMORA_MEMORY_ALIGNMENT != 0) {
        return "the memory is not aligned to 4,096 bytes";
    }
    return bytes < places.arena + 2 * kRecordBytes ? "the memory is smaller than the tables: see remora_bytes()"
                                                   : nullptr;
}

Hooks hooks_of(const remora_config& config) {
    Hooks hooks;
    for (const std::uint8_t code : std::span(config.hooks, config.hook_count)) {
        hooks.add(code);
    }
    return hooks;
}

Setup setup_of(const remora_config& config) {
    return {.tsc_khz = config.khz,
            .tsc_source = TscSource::unknown,
            .tsc_error_ppm = config.error_ppm,
            .clock_mode = ClockMode::hardware,
            .boot_id = config.boot_id != 0 ? config.boot_id : __builtin_ia32_rdtsc(),
            .build = {.kernel = name_of(config.kernel),
                      .compiler = Name(std::string_view("g++ " __VERSION__)),
                      .application = name_of(config.application),
                      .hooks = hooks_of(config)}};
}

void begin(Instance& made, const Setup& setup) {
    made.exporter.configure(setup);
    made.lock.set_exclusion({.enter = &remora_port_irq_save, .leave = &remora_port_irq_restore});
    g_instances[made.cpu.cpu] = &made;
}

// Describes a processor's memory, and puts it into the list of those, whose processors rise.
void publish(const Instance& tracer, black_box::Descriptor& descriptor) {
    const unsigned cpu = tracer.cpu.cpu;
    const auto physical = [](const black_box::Descriptor* of) {
        return of != nullptr ? reinterpret_cast<std::uintptr_t>(of) - g_virt_minus_phys : 0;
    };
    black_box::describe(tracer, descriptor, g_virt_minus_phys);
    const auto after = std::find_if(g_descriptors.begin() + cpu, g_descriptors.end(),
                                    [](const black_box::Descriptor* of) { return of != nullptr; });
    descriptor.next = physical(after != g_descriptors.end() ? *after : nullptr);
    g_descriptors[cpu] = &descriptor;
    for (unsigned before = cpu; before-- > 0;) {
        if (g_descriptors[before] != nullptr) {
            write_shared(g_descriptors[before]->next, physical(&descriptor));
            break;
        }
    }
}

} // namespace

int fail(const char* function, const char* argument, long long value, const char* text) {
    tracer::instance().last_error = {function, argument, value, text};
    return -1;
}

void mark_ended(unsigned cpu) {
    write_shared(g_descriptors[cpu]->state, black_box::State::ended);
}

Instance* instance_of(unsigned cpu) {
    return cpu < REMORA_CPUS ? g_instances[cpu] : nullptr;
}

} // namespace port

using namespace tracer;
using namespace port;

extern "C" {

constinit remora_cpu remora_boot_cpu;

} // extern "C"

namespace {

// What each processor has before it has memory: its tables are empty, so all that is asked of it is refused.
constinit NameRegistry g_no_names({}, {});
constinit Instance g_nothing({}, g_no_names, remora_boot_cpu.trace);

} // namespace

namespace tracer {

// The area of a kernel's own is zeros until the processor has its memory.
Instance& instance() {
    const CpuTrace* cpu = nullptr;
    asm volatile("movq %%gs:remora_gs+%c[self], %[cpu]" : [cpu] "=r"(cpu) : [self] "i"(TRACER_CPU_SELF));
    Instance* const made = cpu != nullptr && cpu != &remora_boot_cpu.trace ? instance_of(cpu->cpu) : nullptr;
    return made != nullptr ? *made : g_nothing;
}

} // namespace tracer

extern "C" {

std::size_t remora_bytes(const remora_sizes* sizes) {
    return places_of(sizes_of(given_or_small(*sizes))).arena;
}

int remora_init(const remora_config* config) {
    const remora_sizes& given = given_or_small(config->sizes);
    if (g_instances[0] != nullptr) {
        return fail("remora_init", nullptr, 0, "the tracer has its memory already");
    }
    if (config->khz == 0) {
        return fail("remora_init", "khz", 0,
                    "give the rate of the time stamp counter: remora_calibrate_pit() measures it");
    }
    if (!valid(given)) {
        return fail("remora_init", "sizes", given.chunks, "chunks are 1 to 256, names and declarations 1 to 65,534");
    }
    const black_box::Sizes sizes = sizes_of(given);
    const black_box::Places places = places_of(sizes);
    if (const char* const defect = memory_defect(config->memory, config->bytes, places)) {
        return fail("remora_init", "memory", static_cast<long long>(config->bytes), defect);
    }
    const black_box::Memory memory({static_cast<std::byte*>(config->memory), config->bytes}, sizes, places);
    memory.clear();
    Instance& made =
        memory.construct(memory.construct_names(), {.own_cpu = config->own != nullptr ? &config->own->trace : nullptr});
    made.cpu.refused_bytes = remora_boot_cpu.trace.refused_bytes;
    begin(made, setup_of(*config));
    g_virt_minus_phys = config->virt_minus_phys;
    publish(made, memory.descriptor());
    return 0;
}

int remora_cpu_init(unsigned cpu, void* memory, std::size_t bytes, remora_cpu* own) {
    if (g_instances[0] == nullptr) {
        return fail("remora_cpu_init", nullptr, 0, "remora_init() comes first");
    }
    if (cpu == 0 || cpu >= REMORA_CPUS || g_instances[cpu] != nullptr) {
        return fail("remora_cpu_init", "cpu", cpu, "the processor has its memory already, or is not 1 to 31");
    }
    const black_box::Sizes sizes{
        .chunks = kSmall.chunks, .names = 0, .declarations = 0, .exports = false, .compresses = false, .steps = false};
    const black_box::Places places = places_of(sizes);
    if (const char* const defect = memory_defect(memory, bytes, places)) {
        return fail("remora_cpu_init", "memory", static_cast<long long>(bytes), defect);
    }
    const black_box::Memory given({static_cast<std::byte*>(memory), bytes}, sizes, places);
    given.clear();
    // The processors' exporters work one after the other, so one place for a preamble is enough.
    Instance& made = given.construct(g_instances[0]->names, {.number = cpu,
                                                             .own_cpu = own != nullptr ? &own->trace : nullptr,
                                                             .preamble = g_instances[0]->exporter.preamble()});
    begin(made, g_instances[0]->exporter.setup());
    publish(made, given.descriptor());
    return 0;
}

remora_cpu* remora_cpu_of(unsigned cpu) {
    Instance* const made = instance_of(cpu);
    return made != nullptr ? reinterpret_cast<remora_cpu*>(&made->cpu) : nullptr;
}

void remora_name(remora_name_kind kind, std::uint16_t id, const char* name) {
    if (g_instances[0] != nullptr) {
        g_instances[0]->names.add_name(static_cast<NameKind>(kind), id, name);
    }
}

void remora_name_level(std::uint16_t level, const char* name, remora_level_kind kind) {
    if (g_instances[0] != nullptr) {
        g_instances[0]->names.add_name(NameKind::level, level, name, static_cast<std::uint8_t>(kind));
    }
}

void remora_name_task(const remora_task* task) {
    if (g_instances[0] != nullptr) {
        g_instances[0]->names.add_task(task->context, task->pid, task->name,
                                       {.level = task->level,
                                        .wcet_ns = task->wcet_ns,
                                        .period_ns = task->period_ns,
                                        .deadline_ns = task->deadline_ns,
                                        .budget_ns = task->budget_ns,
                                        .offset_ns = task->offset_ns});
    }
}

remora_error remora_last_error(void) {
    const LastError& last = instance().last_error;
    return {last.function, last.argument, last.value, last.text};
}

} // extern "C"
