// SPDX-License-Identifier: MIT
#include "tracer/chunk/cost_meter.hpp"

#include "tracer/chunk/compact_chunk.hpp"
#include "tracer/log.hpp"

#include <algorithm>

namespace tracer {

namespace {

constexpr std::uint32_t kFamily = mask_bit(event_code("user_event_0"));
constexpr std::uint32_t kEverything = ~std::uint32_t{0};
constexpr std::uint64_t kUnknown = ~std::uint64_t{0};

// Prevents the compiler from keeping anything in registers across calls: normally each record loads its own code and
// parameters.
[[gnu::always_inline]] inline void forget() {
    asm volatile("" : : : "rdi", "rsi", "memory");
}

// Logs in a loop, not by unrolled calls: under binary translation each unrolled call would cost its own translation.
[[gnu::noinline]] void log_times(std::uint32_t records) {
    for (std::uint32_t i = records; i != 0; --i) {
        log<"user_event_0">(1, 2);
        forget();
    }
}

// Runs the loop alone, to measure its cost.
[[gnu::noinline]] void loop_times(std::uint32_t records) {
    for (std::uint32_t i = records; i != 0; --i) {
        forget();
    }
}

class Bench {
  public:
    Bench(CpuTrace& cpu, Chunk& scratch, const CostMeter& meter)
        : m_cpu(cpu)
        , m_scratch(scratch)
        , m_empty(scratch.control.word)
        , m_meter(meter) {}

    // Logs this many records under this mask; the scratch chunk is empty before and after.
    [[nodiscard]] std::uint64_t ticks_of(std::uint32_t mask, void (*times)(std::uint32_t), std::uint32_t records) {
        const std::uint64_t state = m_meter.exclusion.enter != nullptr ? m_meter.exclusion.enter() : 0;
        write_shared(m_cpu.active, &m_scratch.control);
        write_shared(m_cpu.mask, mask);
        const lib::Ticks begin = m_meter.now();
        times(records);
        const lib::Ticks end = m_meter.now();
        write_shared(m_cpu.mask, std::uint32_t{0});
        write_shared(m_cpu.active, &null_chunk);
        write_shared(m_scratch.control.word, m_empty);
        if (m_meter.exclusion.leave != nullptr) {
            m_meter.exclusion.leave(state);
        }
        return end < begin ? 0 : (end - begin).value;
    }

  private:
    CpuTrace& m_cpu;
    Chunk& m_scratch;
    std::uint64_t m_empty; // a compact chunk has its header before the first record
    const CostMeter& m_meter;
};

// Holds the best times under one mask. Their difference removes the overhead that short and long runs share.
struct Best {
    std::uint32_t mask;
    void (*times)(std::uint32_t records) = &log_times;
    std::uint64_t few = kUnknown;
    std::uint64_t many = kUnknown;

    void measure(Bench& bench) {
        few = std::min(few, bench.ticks_of(mask, times, kFewRecords));
        many = std::min(many, bench.ticks_of(mask, times, kManyRecords));
    }

    // Returns the time of kManyRecords - kFewRecords records.
    [[nodiscard]] std::uint64_t ticks() const { return many > few ? many - few : 0; }
};

std::uint32_t per_record_x256(const Best& records, const Best& loop) {
    constexpr std::uint64_t kFactor = 256 / (kManyRecords - kFewRecords);
    static_assert(kFactor * (kManyRecords - kFewRecords) == 256);
    constexpr std::uint64_t kMost = ~std::uint32_t{0} / kFactor;
    const std::uint64_t ticks = records.ticks() > loop.ticks() ? records.ticks() - loop.ticks() : 0;
    return static_cast<std::uint32_t>(std::min(ticks, kMost) * kFactor);
}

// Creates an open, empty chunk that is no use of its number. no_space: there is no room for it.
lib::Result<Chunk*> create_scratch(ChunkStore& store, std::optional<compact::Layout> layout) {
    constexpr std::uint32_t kEventMax = TRACER_COMPACT_HEARTBEAT_MAX + TRACER_COMPACT_SIMPLE_MAX;
    if (!layout) {
        return store.create(kManyRecords * kRecordBytes, 0, kFlagFree | kFlagStop);
    }
    const auto bytes = static_cast<std::uint32_t>(compact_chunk_bytes_min(*layout) + kManyRecords * kEventMax);
    const auto made = store.create(bytes, 0, kFlagFree | kFlagStop | kFlagCompressed, *layout);
    if (made) {
        const auto started = start_compact_chunk(made.value()->control, *layout, made.value()->control.limit);
        ASSERT(started.ok());
    }
    return made;
}

} // namespace

TraceCost measure_cost(CpuTrace& cpu, ChunkStore& store, const CostMeter& meter,
                       std::optional<compact::Layout> layout) {
    ASSERT(meter.now != nullptr && cpu.active == &null_chunk && cpu.mask == 0 && cpu.selected == nullptr);
    const auto made = create_scratch(store, layout);
    if (!made) {
        return {};
    }
    Bench bench(cpu, *made.value(), meter);
    Best loop{.mask = 0, .times = &loop_times};
    Best enabled{.mask = kEverything};
    Best filtered{.mask = ~kFamily};
    Best disabled{.mask = 0};
    std::uint32_t rounds = 0;
    const lib::Ticks begin = meter.now();
    do {
        loop.measure(bench);
        enabled.measure(bench);
        filtered.measure(bench);
        disabled.measure(bench);
        ++rounds;
    } while (rounds < kCostRoundsMin || (rounds < kCostRoundsMax && (meter.now() - begin).value <= meter.budget_ticks));
    write_shared(made.value()->control.word, std::uint64_t{0}); // no record of it is in any count
    const auto removed = store.remove(*made.value());
    ASSERT(removed.ok());
    return {.enabled_ticks_x256 = per_record_x256(enabled, loop),
            .filtered_ticks_x256 = per_record_x256(filtered, loop),
            .disabled_ticks_x256 = per_record_x256(disabled, loop),
            .rounds = rounds};
}

} // namespace tracer
