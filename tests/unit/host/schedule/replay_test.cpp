// SPDX-License-Identifier: MIT
// Tests everything that the schedule and its parts make of fixed sequences of records of two processors, damaged ones
// among them, field for field, as checksums of texts. What is right is shown by the other tests of this folder; a
// change of what is made of a record is seen here, and a test that fails prints the text of its records.
#include "tests/support/accounting_scene.hpp"

#include "host/schedule/intervals.hpp"
#include "host/schedule/latency.hpp"
#include "host/schedule/processor_time.hpp"
#include "lib/crc32c.hpp"

#include <gtest/gtest.h>

namespace host::schedule::replay_test {

namespace {

// --- the records -----------------------------------------------------------------------------------------------------

// Numbers that are the same with every library.
class Numbers {
  public:
    explicit Numbers(std::uint64_t seed)
        : m_state(seed * 2 + 1) {}

    std::uint32_t below(std::uint32_t limit) {
        m_state = m_state * 6364136223846793005U + 1442695040888963407U;
        return static_cast<std::uint32_t>(m_state >> 33) % limit;
    }

  private:
    std::uint64_t m_state;
};

// How often a record comes, and what its parameters are.
enum class Par : std::uint8_t { none, context, switched, mutex, wait, release, deadline, vector, server, budget, lost };

struct Row {
    std::string_view name;
    std::uint32_t weight;
    Par par;
};

constexpr auto kRows = std::to_array<Row>({
    {"context_switch", 20, Par::switched},
    {"task_epilogue", 6, Par::context},
    {"task_schedule", 6, Par::switched},
    {"task_dispatch", 6, Par::context},
    {"job_release", 12, Par::release},
    {"job_deadline", 5, Par::deadline},
    {"task_end_cycle", 10, Par::context},
    {"task_activate", 3, Par::context},
    {"task_begin_cycle", 3, Par::context},
    {"job_abort", 1, Par::context},
    {"task_block", 8, Par::wait},
    {"task_unblock", 8, Par::wait},
    {"set_mutex_lock", 3, Par::mutex},
    {"set_mutex_acquire", 5, Par::mutex},
    {"set_mutex_unlock", 5, Par::mutex},
    {"inheritance", 2, Par::switched},
    {"interrupt_start", 6, Par::vector},
    {"interrupt_end", 6, Par::vector},
    {"timer_wakeup_start", 2, Par::none},
    {"timer_wakeup_end", 2, Par::none},
    {"CLI", 1, Par::none},
    {"STI", 1, Par::none},
    {"task_create", 1, Par::context},
    {"task_end", 1, Par::context},
    {"task_sleep", 1, Par::context},
    {"task_deadline_miss", 1, Par::context},
    {"server_attach", 1, Par::server},
    {"server_budget", 1, Par::budget},
    {"blackout_start", 1, Par::none},
    {"blackout_end", 1, Par::lost},
    {"ipoint", 6, Par::context},
});

constexpr std::uint32_t kWeights = [] {
    std::uint32_t sum = 0;
    for (const Row& row : kRows) {
        sum += row.weight;
    }
    return sum;
}();

const Row& row_of(std::uint32_t place) {
    const Row* row = kRows.data();
    while (place >= row->weight) {
        place -= row++->weight;
    }
    return *row;
}

constexpr std::array<std::uint16_t, 6> kTasks{kIdle, kLow, kMiddle, kHigh, kServed, kDated};

trace::Meaning meaning_of(const Row& row, std::uint64_t stamp, Numbers& numbers) {
    constexpr auto kWaits = std::to_array<lib::WaitKind>(
        {lib::WaitKind::mutex, lib::WaitKind::semaphore, lib::WaitKind::delay, lib::WaitKind::mutex});
    trace::Meaning meaning{.code = tracer::find_event(row.name)->code};
    const std::uint16_t context = kTasks.at(numbers.below(kTasks.size()));
    meaning.par1 = context;
    switch (row.par) {
    case Par::none:
        meaning.par1 = 0;
        break;
    case Par::context:
        break;
    case Par::switched:
        meaning.par2 = numbers.below(3) == 0 ? kTasks.at(numbers.below(kTasks.size())) : 0;
        break;
    case Par::mutex:
        meaning.par2 = 1 + numbers.below(3);
        break;
    case Par::wait:
        meaning.par2 = wait_word(kWaits.at(numbers.below(kWaits.size())), 1 + numbers.below(3));
        break;
    case Par::release:
        meaning.par2 = static_cast<std::uint32_t>(stamp) - numbers.below(8);
        break;
    case Par::deadline:
        meaning.par2 = static_cast<std::uint32_t>(stamp) + 20 + numbers.below(60);
        break;
    case Par::vector:
        meaning.par1 = static_cast<std::uint16_t>(kTimer + numbers.below(2));
        break;
    case Par::server:
        meaning.par1 = 1;
        meaning.par2 = context;
        break;
    case Par::budget:
        meaning.par1 = 1;
        meaning.par2 = numbers.below(2) * 10;
        break;
    case Par::lost:
        meaning.par1 = 0;
        meaning.par2 = 1 + numbers.below(9);
        break;
    }
    return meaning;
}

// --- what is made of them --------------------------------------------------------------------------------------------

std::string text_of(const std::optional<Moment>& moment) {
    return moment ? fmt::format("{}{}", moment->ticks.value, moment->ns ? fmt::format("({})", *moment->ns) : "") : "-";
}

std::string text_of(const Job& job) {
    return fmt::format("{}/{} {} {} {} {} {}{}{}", job.context, job.number, text_of(job.release), text_of(job.start),
                       text_of(job.deadline), text_of(job.end), static_cast<unsigned>(job.outcome),
                       job.missed ? " missed" : "", job.is_late() ? " late" : "");
}

std::string text_of(const Executor& executor) {
    return fmt::format("{} {}", by_name(executor.by), who_text(executor.who));
}

std::string text_of(const Change& change) {
    return fmt::format("change {} {} {} of {} {} object {:x}", static_cast<unsigned>(change.kind),
                       state_name(change.before), state_name(change.state), who_text(change.context),
                       who_text(change.other), change.object);
}

std::string text_of(const ProcessorTime::Stretch& stretch) {
    return fmt::format("{} {} {}..{}", stretch.task ? std::to_string(*stretch.task) : "?",
                       stretch.handler ? std::to_string(*stretch.handler) : "-", stretch.begin.value,
                       stretch.end.value);
}

class Replay {
  public:
    Replay() {
        for (const auto& [level, name] :
             {std::pair<std::uint16_t, std::string_view>{0, "RM"}, {1, "SERVED"}, {2, "background"}, {3, "EDF"}}) {
            m_names.set(tracer::Unit::level, level, name);
        }
        m_names.set(tracer::Unit::context, kIdle, "idle");
        for (const auto& [context, level, deadline] :
             {std::tuple<std::uint16_t, std::uint16_t, std::uint64_t>{kIdle, 2, 0},
              {kLow, 0, 3000},
              {kMiddle, 0, 2000},
              {kHigh, 0, 1000},
              {kServed, 1, 0},
              {kDated, 3, 0}}) {
            m_names.set_parameters({.context = context, .level = level, .deadline_ns = deadline});
        }
        take(0, 0, {.code = trace::kCodeOf<"trace_start">});
        take(0, 0, {.code = trace::kCodeOf<"server_create">, .par2 = 1});
        take(0, 0,
             {.code = trace::kCodeOf<"server_kind">,
              .par1 = static_cast<std::uint16_t>(lib::ServerKind::deferrable),
              .par2 = 1});
        take(0, 0, {.code = trace::kCodeOf<"server_period">, .par1 = 1, .par2 = 500});
        take(0, 0, {.code = trace::kCodeOf<"server_attach">, .par1 = 1, .par2 = kServed});
    }

    void take(std::uint64_t stamp, std::uint16_t cpu, const trace::Meaning& meaning) {
        trace::Event event;
        event.after_hole = std::exchange(m_forgets.at(cpu), false);
        trace::set_meaning(event, meaning);
        event.cpu = cpu;
        event.ticks = {stamp};
        event.time_ns = static_cast<std::int64_t>(stamp) - 100;
        event.timed = stamp > 40;
        event.names = &m_names;
        event.chunk = static_cast<std::uint16_t>(cpu + 1);
        event.record = m_record++;
        event.source = cpu + 2U;
        say("{} cpu {} {} {} {:x}", stamp, cpu, event.row->name, event.par1, event.par2);
        const std::optional<Moment> before = m_intervals.last(cpu);
        const auto changes = m_schedule.take(event);
        for (const Change& change : changes) {
            say("  {}", text_of(change));
        }
        m_accounting.take(event, changes, m_schedule, kKhz);
        m_latencies.take(event, changes, m_schedule);
        m_handlers.take(event, changes, m_schedule);
        m_holds.take(event, m_schedule, before);
        m_losses.take(event, changes, before);
        m_intervals.take(event, changes, m_schedule);
        if (const std::string now = state(cpu); std::exchange(m_states.at(cpu), now) != now) {
            say("  now {}", now);
        }
        if (const auto stretch = m_times.at(cpu).take(event); stretch.begin != stretch.end) {
            say("  ran {}", text_of(stretch));
        }
    }

    void forget(std::uint16_t cpu) {
        say("forget {}", cpu);
        m_forgets.at(cpu) = true;
    }

    void finish() {
        say("end");
        for (const Change& change : m_schedule.finish()) {
            say("  {}", text_of(change));
        }
        m_accounting.finish();
        m_handlers.finish();
        m_holds.finish();
        m_intervals.finish();
        for (const ProcessorTime::Stretch& stretch : {m_times[0].finish(), m_times[1].finish()}) {
            say("  ran {}", text_of(stretch));
        }
        for (std::uint16_t cpu = 0; cpu < 2; ++cpu) {
            const ExecutorHistory& history = m_accounting.executors(cpu);
            say("executors {}: {} records, {} within", cpu, history.records(), history.records_within({50}, {400}));
            history.within({30}, {300}, [this](const ExecutorHistory::Stretch& stretch) {
                say("  {} {}..{}", text_of(stretch.executor), stretch.begin.value, stretch.end.value);
            });
        }
        for (const std::uint16_t a : kTasks) {
            for (const std::uint16_t b : kTasks) {
                say("order {} {}: {}", a, b, static_cast<int>(m_accounting.priorities().order(a, b)));
            }
        }
    }

    // What was made of the records since the last call.
    std::string text() { return std::exchange(m_text, {}); }

  private:
    template <typename... Values>
    void say(fmt::format_string<Values...> format, Values&&... values) {
        m_text += fmt::format(format, std::forward<Values>(values)...) + '\n';
    }

    [[nodiscard]] std::string state(std::uint16_t cpu) const {
        const Schedule::Processor& here = m_schedule.processor(cpu);
        std::string text =
            fmt::format("running {} switched {} place {} chosen {} in {} dispatched {} depth {}",
                        who_text(here.running), who_text(here.switched_to), who_text(here.place), who_text(here.chosen),
                        who_text(here.chosen_place), who_text(here.dispatched), here.depth);
        for (std::uint32_t i = 0; i < here.depth; ++i) {
            text += fmt::format(" {}", here.vectors.at(i));
        }
        for (std::uint32_t mutex = 1; mutex <= 3; ++mutex) {
            text += fmt::format(", {}", who_text(m_schedule.holder(mutex)));
        }
        return text + fmt::format("; executes {}", text_of(m_accounting.executors(cpu).now()));
    }

    void report(const JobAccount& account) {
        say("  job {}; cpu {} ready {} gross {} records {} dispatches {} preemptions {} migrations {} known {} rest {}",
            text_of(account.job), account.cpu, text_of(std::optional(account.ready)), account.gross.value,
            account.records, account.dispatches, account.preemptions, account.migrations,
            static_cast<unsigned>(account.unaccounted), account.residue);
        for (const Share& share : account.shares) {
            say("    {} in {}, {} records, longest {} from {} at {}.{}.{}", text_of(share), share.pieces, share.records,
                share.longest.value, share.longest_begin.value, share.longest_place.cpu, share.longest_place.chunk,
                share.longest_place.record);
        }
    }

    void report(const Interval& interval) {
        say("  interval of {} cpu {} activity {} causes {} {} waits {:x} {:x} {} {} to {}", interval.context,
            interval.cpu, static_cast<unsigned>(interval.activity), static_cast<unsigned>(interval.began),
            static_cast<unsigned>(interval.ended), interval.wait, interval.next_wait, who_text(interval.other),
            text_of(std::optional(interval.begin)), text_of(std::optional(interval.end)));
    }

    std::string m_text;
    trace::Names m_names;
    std::uint64_t m_record = 0;
    std::array<bool, 2> m_forgets{}; // by processor: records are missing before its next event
    std::array<std::string, 2> m_states{};
    std::array<ProcessorTime, 2> m_times{};
    Schedule m_schedule;
    Accounting m_accounting{[this](const JobAccount& account) { report(account); },
                            [this](const Piece& piece) {
                                say("  piece of {}/{} {} {} {} {}..{} #{} {} records, then {}", piece.context,
                                    piece.job, part_name(piece.culprit.part), by_name(piece.culprit.by),
                                    who_text(piece.culprit.who), piece.begin.value, piece.end.value, piece.place.record,
                                    piece.records, text_of(piece.ended_by));
                            }};
    Latencies m_latencies{[this](const Latency& latency) {
        say("  latency of {} from {} cpu {} source {} record {} at {} ready {} first {}", latency.context,
            latency.entry.vector, latency.entry.cpu, latency.entry.source, latency.entry.record,
            latency.entry.at.ticks.value, latency.ready.ticks.value, latency.first.ticks.value);
    }};
    Handlers m_handlers{[this](const Handler& handler) {
        say("  handler {} cpu {} task {} depth {} {} to {}", handler.vector, handler.cpu, who_text(handler.task),
            handler.depth, handler.begin.ticks.value, text_of(handler.end));
    }};
    Holds m_holds{[this](const Hold& hold) {
        say("  hold of {} by {} how {} {} to {}", hold.mutex, hold.context, static_cast<unsigned>(hold.how),
            hold.begin.ticks.value, text_of(hold.end));
    }};
    Losses m_losses{[this](const Loss& loss) {
        say("  loss cpu {} of {}: {} to {}", loss.cpu, loss.records, text_of(loss.begin), loss.end.ticks.value);
    }};
    Intervals m_intervals{[this](const Interval& interval) { report(interval); }};
};

// The CRC32C of the text of each twenty records.
struct Sequence {
    std::uint64_t seed;
    std::array<std::uint32_t, 8> sums;
};

constexpr auto kSequences = std::to_array<Sequence>({
    {1, {0x67D6BE61, 0x8A6B7FF0, 0x8D63BBCA, 0xC1C51074, 0x0B9848A1, 0xA36A7456, 0x75691849, 0x82777BAF}},
    {2, {0x27624E6E, 0x42C55BA6, 0xEC2FDE58, 0x3731FDA9, 0x08D54698, 0xE36220F6, 0xC77901DF, 0x22722CDF}},
    {3, {0xAAB284CF, 0x4951CF52, 0x22CE6453, 0x7D608C71, 0xFE2C2DC2, 0x16B35EA8, 0x4D834FCF, 0x406C99DD}},
    {4, {0x7A5CA730, 0xFBDCBC28, 0xBF2BA18B, 0x8E87CCD2, 0x9BDCE6A5, 0xF2B94AA6, 0x49E5D8A2, 0xD91B4B5A}},
    {5, {0xF4AB97DA, 0x2A9F67AB, 0x9EE94093, 0x7229136E, 0x35C13808, 0x3598882F, 0x307B8AEB, 0x6B1D7585}},
    {6, {0x88A90E1C, 0xB7395B70, 0x4465D0A5, 0xE02F99D3, 0x78B32106, 0xB997B3EA, 0xF712AC83, 0xA741D0DF}},
    {7, {0x6223A9A4, 0xD39E7E7C, 0xF46522F3, 0x6A467EEA, 0xD595C1B1, 0x5E49ACA5, 0xDAC64B56, 0x6F0CDCF5}},
    {8, {0x98C6CD08, 0x291A4EA6, 0x03967D79, 0x71B881EC, 0xB9483FEE, 0xCE53277A, 0x02B51D9A, 0x6D6B1435}},
});

class Replays : public testing::TestWithParam<Sequence> {};

TEST_P(Replays, AreAsTheyWere) {
    constexpr unsigned kRecords = 20;
    Numbers numbers(GetParam().seed);
    Replay replay;
    std::uint64_t stamp = 1;
    for (const std::uint32_t& sum : GetParam().sums) {
        for (unsigned i = 0; i < kRecords; ++i) {
            stamp += numbers.below(8);
            const std::uint64_t now = numbers.below(60) == 0 ? stamp - std::min<std::uint64_t>(stamp, 3) : stamp;
            const Row& row = row_of(numbers.below(kWeights));
            const auto cpu = static_cast<std::uint16_t>(numbers.below(4) == 0 ? 1 : 0);
            if (numbers.below(80) == 0) {
                replay.forget(cpu); // records are missing before the next one
            }
            replay.take(now, cpu, meaning_of(row, now, numbers));
        }
        if (&sum == &GetParam().sums.back()) {
            replay.finish();
        }
        const std::string text = replay.text();
        ASSERT_EQ(fmt::format("0x{:08X}", lib::crc32c(std::as_bytes(std::span(text)))), fmt::format("0x{:08X}", sum))
            << text;
    }
}

INSTANTIATE_TEST_SUITE_P(Sequences, Replays, testing::ValuesIn(kSequences));

} // namespace

} // namespace host::schedule::replay_test
