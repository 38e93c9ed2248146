// SPDX-License-Identifier: MIT
// The schedule oracle derives from the activations, parameters and costs in a trace what scheduling theory requires,
// and compares it with what the kernel did, event by event, in one pass over any trace. What it cannot judge because
// records are missing is reported and counted. The rules are in verdicts.hpp, the state is in model.hpp, the theories
// are in theory.hpp, servers.hpp and oracle_jobs.hpp.
#pragma once

#include "host/analyse/oracle/any_kernel.hpp"
#include "host/analyse/oracle/oracle_jobs.hpp"
#include "host/analyse/oracle/records.hpp"
#include "host/analyse/oracle/servers.hpp"
#include "host/analyse/oracle/theory.hpp"
#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"
#include "host/trace/filters.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace host::analyse::oracle {

// Measures how long steps have delayed a timer interrupt: a section with interrupts off lasts some hundred times longer
// in a task that runs in steps (docs/instruction-tracing.md), and the trace shows how long. The time counts while such
// a task runs, from the end of each timer interrupt on, and only affects what is measured near it.
class StepTime {
  public:
    // Returns whether an event of this code matters; the caller may leave out the others.
    [[nodiscard]] bool concerns(std::uint8_t code) const {
        return m_in_steps || m_now != 0 || !m_past.empty() || code == trace::kCodeOf<"instruction"> ||
               code == trace::kCodeOf<"block">;
    }

    // Must be called for the events in their order.
    void event(const trace::Event& event) {
        using trace::kCodeOf;
        const std::uint64_t now = event.ticks.value;
        if (m_in_steps) {
            m_now += now > m_last ? now - m_last : 0;
            m_longest = std::max(m_longest, m_now);
        }
        m_last = now;
        if (!m_past.empty()) {
            std::erase_if(m_past, [now](const Past& past) { return past.until < now; });
        }
        if (event.code == kCodeOf<"instruction"> || event.code == kCodeOf<"block">) {
            m_in_steps = true;
        } else if (event.code == kCodeOf<"context_switch">) {
            m_in_steps = false;
        } else if (event.code == kCodeOf<"timer_wakeup_end">) {
            end_section(now);
        }
    }

    // Must be called at a gap of the trace: what ran there is not known.
    void forget() { m_in_steps = false; }

    // Returns the ticks by which the kernel may have been late in what is measured up to now; 0 if no task ran in steps
    // lately.
    [[nodiscard]] std::uint64_t delay() const { return m_past.empty() ? m_now : std::max(m_now, m_past.front().ticks); }

    // Returns the longest delay in ticks, of the whole trace so far.
    [[nodiscard]] std::uint64_t longest() const { return m_longest; }

  private:
    // What ran late is measured later, when its job, slice or budget ends, so a delay counts for this many times its
    // length.
    static constexpr std::uint64_t kNear = 8;

    struct Past {
        std::uint64_t ticks = 0;
        std::uint64_t until = 0;
    };

    // A shorter section that ended earlier is also forgotten earlier and is never the longest, so it is dropped.
    void end_section(std::uint64_t now) {
        if (m_now != 0) {
            std::erase_if(m_past, [this](const Past& past) { return past.ticks <= m_now; });
            m_past.push_back({m_now, now + kNear * m_now});
            m_now = 0;
        }
    }

    bool m_in_steps = false;
    std::uint64_t m_last = 0;
    std::uint64_t m_now = 0;
    std::uint64_t m_longest = 0;
    std::vector<Past> m_past; // the longest first
};

// Under a clock that counts instructions a stamp is some hundred ticks later than the kernel's own reading of the
// clock, and a timer interrupt is at most one interrupts-off section late. In steps a section takes longer, so the
// delay that StepTime measures is added.
inline constexpr std::uint64_t kToleranceTicks = 20'000; // at one tick for each instruction

// At these events records are missing, or tracing was off: what was not recorded may have changed any state.
inline constexpr const auto& kGaps = trace::kAnyOf<"blackout_start", "blackout_end", "trace_start", "trace_stop">;

class Oracle {
  public:
    // tolerance: in ticks, for each interval that stamps measure. If there is none and the clock counts instructions,
    // it is kToleranceTicks times the ticks of an instruction plus what steps add; under another clock nothing that
    // stamps measure is judged.
    // order: by which each choice is judged, too.
    Oracle(Verdicts::Sink sink, std::optional<std::uint64_t> tolerance, std::optional<Order> order = std::nullopt);
    Oracle(const Oracle&) = delete; // its theories have references to its model
    Oracle& operator=(const Oracle&) = delete;

    // facts: those of the trace that the event comes from.
    void add(const trace::Event& event, const trace::TraceFacts& facts);

    // Must be called once, after the last event.
    void finish(const trace::TraceFacts& facts);

    [[nodiscard]] const Verdicts& verdicts() const { return m_verdicts; }

    // Returns the families of Filters::kParts of which a filter was set.
    [[nodiscard]] trace::Families filtered() const { return m_filters.used() & trace::Filters::kParts; }

    // Returns why a part of the trace was not judged although nothing of it is missing; empty if all was. Valid after
    // finish().
    [[nodiscard]] std::string_view not_judged() const { return m_not_judged; }

    [[nodiscard]] const Timing& timing() const { return m_timing; }

    [[nodiscard]] std::uint64_t events() const { return m_events; }

  private:
    void begin_chunk(const trace::Event& event, const trace::TraceFacts& facts);
    void begin_after_hole(const trace::ChunkReport& chunk);
    void begin_gap(const trace::Event& event);
    void give_up(std::string_view why);
    void lose_filtered(const trace::Event& event);
    void forget();
    void set_tolerance(const trace::TraceFacts& facts);
    template <typename Concerned>
    static void show(Concerned& theory, const trace::Event& event);
    void take(const trace::Event& event);
    void judge(const trace::Event& event);
    void judge_server(const trace::Event& event);
    void judge_server_event(const trace::Event& event, std::uint16_t id, Policy kind);
    void end_interval(const trace::Event& event);
    void note_handler(const trace::Event& event);
    void judge_processors(const trace::Event& event);
    [[nodiscard]] bool judge_any_kernel(const trace::Event& event, const trace::TraceFacts& facts);

    Verdicts m_verdicts;
    std::optional<std::uint64_t> m_tolerance;
    Timing m_timing;
    StepTime m_steps;
    Model m_model;
    AnyKernel m_any_kernel{m_model, m_verdicts, m_timing};
    bool m_has_order = false;
    ServerMeter m_meter{m_model, m_verdicts, m_timing};
    Scheduling m_scheduling{m_model, m_verdicts, m_timing};
    Mutexes m_mutexes{m_model, m_verdicts, m_timing};
    Jobs m_jobs{m_model, m_verdicts, m_timing};
    Records m_records{m_model, m_verdicts, m_timing};
    WakeUps m_wakeups{m_model, m_verdicts, m_timing};
    RoundRobin m_round_robin{m_model, m_verdicts, m_timing};
    Cbs m_cbs{m_model, m_verdicts, m_timing, m_meter};
    Grub m_grub{m_model, m_verdicts, m_timing, m_meter};
    FixedServers m_fixed_servers{m_model, m_verdicts, m_timing, m_meter};
    std::uint64_t m_without_steps = 0; // m_timing.tolerance without what steps add
    std::string_view m_not_judged;
    std::map<std::uint16_t, trace::Event> m_switches; // by processor: its latest context_switch
    bool m_switches_filtered = false;
    std::uint32_t m_handlers = 0; // those that have begun and not ended
    bool m_strict = false;        // no two records can have the same stamp
    trace::Filters m_filters;
    bool m_forgot = false;                    // nothing has been taken since the latest forget()
    std::uint64_t m_forgot_with = kNoVersion; // the version of the names at that time
    std::vector<bool> m_chunks_begun;
    std::size_t m_source = ~std::size_t{0}; // the chunk of the latest event
    trace::Event m_last;                    // the last event, for what is only found at the end
    std::uint64_t m_events = 0;
};

} // namespace host::analyse::oracle
