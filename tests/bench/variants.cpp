// SPDX-License-Identifier: MIT
#include "tests/bench/variants.hpp"

#include "tests/support/tracer/fixture.hpp"

#include <cpuid.h>
#include <x86intrin.h>

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

extern "C" {
// The replacement of the time stamp counter in record_path.S, assembled with fake_clock.h: low half, high half.
struct FakeClock {
    std::uint32_t low;
    std::uint32_t high;
};

extern volatile FakeClock bench_clock;
volatile FakeClock bench_clock = {1, 0};
}

namespace tracer {

Instance& instance() {
    return *tests::TracerFixture::current();
}

} // namespace tracer

namespace bench {

namespace {

constexpr std::uint32_t kSmallRecords = 32 * 1024;       // 512 KiB
constexpr std::uint32_t kLargeRecords = 4 * 1024 * 1024; // 64 MiB
constexpr std::size_t kArenaBytes = (std::size_t{kSmallRecords} + kLargeRecords) * 16 + 4096;
constexpr std::uint32_t kAllFamilies = ~std::uint32_t{0};

struct alignas(16) Slot {
    std::uint64_t low;
    std::uint64_t high;
};

// BASE's own rings: as large as the tracer's, written through once, so that no page is new.
struct Rings {
    std::vector<Slot> small = std::vector<Slot>(kSmallRecords, Slot{1, 1});
    std::vector<Slot> large = std::vector<Slot>(kLargeRecords, Slot{1, 1});
    std::uint64_t small_cursor = 0;
    std::uint64_t large_cursor = 0;
};

struct World {
    tests::TracerFixture fixture{kArenaBytes, tests::TracerFixture::Attempts::uncounted};
    Rings rings;
    tracer::Chunk* small = nullptr;
    tracer::Chunk* large = nullptr;
};

std::unique_ptr<World>& world() {
    static std::unique_ptr<World> the_world;
    return the_world;
}

// --- the references --------------------------------------------------------------------------------------------------

std::uint64_t real_clock() {
    return __rdtsc();
}

std::uint64_t fake_clock() {
    return std::uint64_t{bench_clock.high} << 32 | bench_clock.low;
}

// The original's serialised stamp. In a virtual machine cpuid exits to the hypervisor.
std::uint64_t serialised_clock() {
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;
    __cpuid(0, a, b, c, d);
    asm volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d));
    return __rdtsc();
}

template <std::uint64_t (*Clock)(), std::uint32_t Records>
[[gnu::always_inline]] inline void fill(std::vector<Slot>& ring, std::uint64_t& cursor, std::uint64_t iterations) {
    Slot* const slots = ring.data();
    std::uint64_t next = cursor;
    for (std::uint64_t i = 0; i < iterations; ++i) {
        Slot& slot = slots[next++ % Records];
        slot.low = Clock();
        slot.high = i;
        asm volatile("" : : : "memory");
    }
    cursor = next;
}

void run_loop(std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
        asm volatile("" : : "r"(i) : "memory");
    }
}

void run_cycles(std::uint64_t iterations) {
    std::uint64_t chain = 1;
    for (std::uint64_t i = 0; i < iterations; ++i) {
        asm volatile(".rept %c1\n\tneg %0\n\t.endr" : "+r"(chain) : "i"(kCyclesOfVariant) : "cc");
    }
}

void run_base(std::uint64_t iterations) {
    fill<&real_clock, kSmallRecords>(world()->rings.small, world()->rings.small_cursor, iterations);
}

void run_base_large(std::uint64_t iterations) {
    fill<&real_clock, kLargeRecords>(world()->rings.large, world()->rings.large_cursor, iterations);
}

void run_fake_base(std::uint64_t iterations) {
    fill<&fake_clock, kSmallRecords>(world()->rings.small, world()->rings.small_cursor, iterations);
}

void run_cpuid_base(std::uint64_t iterations) {
    fill<&serialised_clock, kSmallRecords>(world()->rings.small, world()->rings.small_cursor, iterations);
}

// --- the record path -------------------------------------------------------------------------------------------------

constexpr std::uint8_t kEvent = tracer::event_code("task_dispatch");

void run_record(std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
        tracer::log<"task_dispatch">(1, static_cast<std::uint32_t>(i));
    }
}

// tracer::log, except for the routine that it calls.
void run_fake_record(std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
        if (tracer::detail::family_enabled(tracer::mask_bit(kEvent))) {
            asm volatile("call bench_fake_record"
                         :
                         : "D"(std::uint64_t{kEvent | 1U << 16}), "S"(static_cast<std::uint32_t>(i))
                         : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory");
        }
    }
}

template <std::uint32_t Slots>
std::array<tracer::Record, Slots> long_event() {
    constexpr auto kFlag = [](std::uint32_t i) {
        return Slots == 1       ? tracer::Combine::simple
               : i == 0         ? tracer::Combine::first
               : i == Slots - 1 ? tracer::Combine::last
                                : tracer::Combine::middle;
    };
    std::array<tracer::Record, Slots> slots{};
    for (std::uint32_t i = 0; i < Slots; ++i) {
        const auto code = static_cast<std::uint16_t>(kEvent | static_cast<std::uint16_t>(kFlag(i)));
        slots[i] = tracer::make_record(code, 1, i, {});
    }
    return slots;
}

// tracer::detail::record_long in the same way.
template <std::uint32_t Slots>
void run_fake_long(std::uint64_t iterations) {
    const auto slots = long_event<Slots>();
    for (std::uint64_t i = 0; i < iterations; ++i) {
        if (tracer::detail::family_enabled(tracer::mask_bit(kEvent))) {
            const std::uint64_t first = slots[0].code | std::uint32_t{slots[0].par1} << 16;
            asm volatile("call bench_fake_record_long"
                         :
                         : "D"(first | std::uint64_t{Slots * tracer::kRecordBytes} << 32), "S"(slots.data())
                         : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "cc", "memory");
        }
    }
}

constexpr std::array kVariants = {
    Variant{.name = "loop", .run = &run_loop},
    Variant{.name = "cycles", .run = &run_cycles, .iterations = 5'000},
    Variant{.name = "base", .run = &run_base},
    Variant{.name = "base_64mib", .run = &run_base_large, .ring = Ring::mib_64},
    Variant{.name = "enabled", .run = &run_record},
    Variant{.name = "enabled_64mib", .run = &run_record, .ring = Ring::mib_64},
    Variant{.name = "filtered", .run = &run_record, .recording = Recording::filtered},
    Variant{.name = "disabled", .run = &run_record, .recording = Recording::disabled},
    Variant{.name = "fake_base", .run = &run_fake_base},
    Variant{.name = "fake_enabled", .run = &run_fake_record},
    Variant{.name = "fake_long_1", .run = &run_fake_long<1>},
    Variant{.name = "fake_long_2", .run = &run_fake_long<2>},
    Variant{.name = "fake_long_8", .run = &run_fake_long<8>, .iterations = 5'000},
    Variant{.name = "fake_long_64", .run = &run_fake_long<64>, .iterations = 1'000},
    Variant{.name = "cpuid_base", .run = &run_cpuid_base, .iterations = 100},
};

} // namespace

std::span<const Variant> variants() {
    return kVariants;
}

Machine::Machine() {
    world() = std::make_unique<World>();
    tests::TracerFixture& fixture = world()->fixture;
    world()->small = &fixture.chunk(kSmallRecords, 16, tracer::kFlagCyclic);
    world()->large = &fixture.chunk(kLargeRecords, 16, tracer::kFlagCyclic);
    for (tracer::Chunk* const chunk : {world()->small, world()->large}) {
        ASSERT(fixture.tracer().store.start(*chunk).ok());
    }
}

Machine::~Machine() {
    world().reset();
}

// Sets the processor's words directly, as enable() and set_filter() do, without a record of the change.
void Machine::prepare(const Variant& variant) {
    tracer::CpuTrace& cpu = world()->fixture.tracer().cpu;
    tracer::Chunk& chunk = variant.ring == Ring::kib_512 ? *world()->small : *world()->large;
    switch (variant.recording) {
    case Recording::enabled:
        cpu.active = &chunk.control;
        cpu.mask = kAllFamilies;
        break;
    case Recording::filtered:
        cpu.active = &chunk.control;
        cpu.mask = kAllFamilies & ~tracer::mask_bit(kEvent);
        break;
    case Recording::disabled:
        cpu.active = &tracer::null_chunk;
        cpu.mask = 0;
        break;
    }
}

} // namespace bench
