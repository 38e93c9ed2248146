// SPDX-License-Identifier: MIT
// The schedule oracle: derives from the activations, parameters and costs in a trace what scheduling theory requires,
// and compares it with what the kernel did, event by event. One pass, any trace. What it cannot judge because records
// are missing is reported and counted. The rules are in rules.hpp, the state is in model.hpp, and each theory has a
// file beside them.
#pragma once

#include "host/analyse/oracle/cbs.hpp"
#include "host/analyse/oracle/fixed_servers.hpp"
#include "host/analyse/oracle/grub.hpp"
#include "host/analyse/oracle/mutexes.hpp"
#include "host/analyse/oracle/oracle_jobs.hpp"
#include "host/analyse/oracle/round_robin.hpp"
#include "host/analyse/oracle/scheduling.hpp"
#include "host/analyse/oracle/step_time.hpp"
#include "host/analyse/oracle/wakeups.hpp"
#include "host/trace/facts.hpp"

#include <span>

namespace host::analyse::oracle {

// Under a clock that counts instructions a stamp is some hundred ticks later than the kernel's own reading of the
// clock, and a timer's interrupt is at most one interrupts-off section late. In steps a section takes longer: what the
// trace shows of that (StepTime) is added.
inline constexpr std::uint64_t kToleranceTicks = 20'000; // of one instruction each

class Oracle {
  public:
    // tolerance: in ticks, for each interval that stamps measure; none: kToleranceTicks times the ticks of an
    // instruction, and what steps add, if the clock counts instructions, else nothing that stamps measure is judged.
    Oracle(Verdicts::Sink sink, std::optional<std::uint64_t> tolerance);
    Oracle(const Oracle&) = delete; // its theories look at its model
    Oracle& operator=(const Oracle&) = delete;

    // facts: of the trace that the event comes from.
    void add(const trace::Event& event, const trace::TraceFacts& facts);

    // Several, as EventStream::next_batch() has them.
    void add(std::span<const trace::Event> batch, const trace::TraceFacts& facts);

    // Call once, after the last event.
    void finish(const trace::TraceFacts& facts);

    [[nodiscard]] const Verdicts& verdicts() const { return m_verdicts; }

    [[nodiscard]] const Timing& timing() const { return m_timing; }

    [[nodiscard]] std::uint64_t events() const { return m_events; }

  private:
    void begin_chunk(const trace::Event& event, const trace::TraceFacts& facts);
    void begin_after_hole(const trace::ChunkReport& chunk);
    void begin_gap(const trace::Event& event);
    void give_up(const char* why);
    void lose_filtered(const trace::Event& event);
    void forget();
    void set_tolerance(const trace::TraceFacts& facts);
    template <typename Concerned>
    static void show(Concerned& theory, const trace::Event& event, std::uint8_t code);
    void take(const trace::Event& event, std::uint8_t code);
    void judge(const trace::Event& event, std::uint8_t code);
    void judge_server(const trace::Event& event);
    void judge_server_event(const trace::Event& event, std::uint16_t id, Policy kind);
    void end_interval(const trace::Event& event);

    Verdicts m_verdicts;
    std::optional<std::uint64_t> m_tolerance;
    Timing m_timing;
    StepTime m_steps;
    Model m_model;
    ServerMeter m_meter{m_model, m_verdicts, m_timing};
    Scheduling m_scheduling{m_model, m_verdicts, m_timing};
    Mutexes m_mutexes{m_model, m_verdicts, m_timing};
    Jobs m_jobs{m_model, m_verdicts, m_timing};
    WakeUps m_wakeups{m_model, m_verdicts, m_timing};
    RoundRobin m_round_robin{m_model, m_verdicts, m_timing};
    Cbs m_cbs{m_model, m_verdicts, m_timing, m_meter};
    Grub m_grub{m_model, m_verdicts, m_timing, m_meter};
    FixedServers m_fixed_servers{m_model, m_verdicts, m_timing, m_meter};
    std::uint64_t m_without_steps = 0; // m_timing.tolerance, less what steps add
    trace::Holes m_holes;
    std::vector<bool> m_chunks_begun;
    std::size_t m_source = ~std::size_t{0}; // the chunk of the latest event
    trace::Event m_last;                    // for what shows only at the end
    std::uint64_t m_events = 0;
};

} // namespace host::analyse::oracle
