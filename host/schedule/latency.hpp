// SPDX-License-Identifier: MIT
// Measures the latency from an interrupt to the task that its handler wakes, and matches interrupts with the times at
// which devices raised them.
//
//      device raises       interrupt_start      job_release, task_unblock      context_switch
//            |--- to entry ------->|--- to ready -------------->|--- to first ------>|
//            (Raises)              Latency::entry           Latency::ready      Latency::first
//
// A task that is woken more than once before it runs counts from the first wake-up. A task that waits again, ends or is
// forgotten before it runs has no latency. Neither has a task that was running when the handler began: it continues,
// and no switch shows when. Interrupts of the light mode (interrupt_hit) have no begin, so they have no latencies.
#pragma once

#include "host/schedule/moment.hpp"
#include "host/schedule/schedule.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/event.hpp"
#include "lib/result.hpp"
#include "lib/units.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace host::schedule {

// Is an interrupt_start: the processor, the vector, and the position of its record in the trace (image and number).
struct Entry {
    std::uint16_t vector = 0;
    std::uint16_t cpu = 0;
    std::uint32_t source = 0;
    std::uint64_t record = 0;
    Moment at;
};

// Precondition: the event is an interrupt_start.
[[nodiscard]] inline Entry entry_of(const trace::Event& event) {
    return {.vector = event.par1,
            .cpu = event.cpu,
            .source = event.source,
            .record = event.record,
            .at = Moment::of(event)};
}

struct Latency {
    std::uint16_t context = 0; // of the task
    Entry entry;               // that of the innermost handler
    Moment ready;
    Moment first; // the switch to the task, whose first instruction follows the record
};

class Latencies {
  public:
    using Sink = std::function<void(const Latency&)>;

    // A latency is reported when its task gets the processor.
    explicit Latencies(Sink sink)
        : m_sink(std::move(sink)) {}

    // changes: what Schedule::take() returned for the event. schedule: its state after the event.
    void take(const trace::Event& event, std::span<const Change> changes, const Schedule& schedule);

  private:
    Sink m_sink;
    void wake(const trace::Event& event, std::uint32_t context, const Schedule& schedule);
    void run(const trace::Event& event, std::uint32_t context);
    void drop(std::uint32_t context);

    trace::NumberMap<std::vector<Entry>> m_handlers; // by processor, outermost first
    std::vector<Latency> m_woken;                    // of tasks that are ready and have not run yet: few
};

// When devices raised interrupts, as an observer outside of the machine (host/observer) saw it in the run that was
// traced. The observer counts instructions since the machine was switched on; the trace has stamps of the machine's
// counter. Under a clock that counts instructions the two differ by a constant offset, which is not known. It is taken
// to be the offset at which most entries of the trace equal an observed first reading of the counter in a handler of
// the same vector.
//
//   observer   vector   raised ..... taken .. stamped
//                          |                     | + offset
//   trace                  v                     v
//   -------------------- raise ------------ interrupt_start, vector

// One interrupt that the processor took.
struct Observed {
    std::uint16_t vector = 0;
    std::optional<std::uint64_t> raised; // none if an instruction raised it, or the observer did not see it
    std::uint64_t taken = 0;
    std::optional<std::uint64_t> stamped; // the first reading of the counter in the handler

    friend bool operator==(const Observed&, const Observed&) = default;
};

// Reads CSV with the head kRaisesHead; a field is a number, or empty if it is not known.
inline constexpr std::string_view kRaisesHead = "vector,raised,taken,stamped";
[[nodiscard]] lib::Result<std::vector<Observed>, trace::Refusal> parse_raises(std::string_view text);

struct Raises {
    enum class Fit : std::uint8_t {
        one, // at one offset more entries match than at any other
        // No offset matches more than half of the entries, or some between the first and the last are missing: another
        // run or clock.
        none,
        several, // several offsets match equally many entries: there are too few interrupts, or they are too regular
    };

    Fit fit = Fit::none;
    std::size_t observed = 0;                      // how many entries match
    std::vector<std::optional<lib::Ticks>> raised; // for each entry, in the trace's clock
};

// entries: all entries of the trace, in its order.
[[nodiscard]] Raises match(std::span<const Observed> observed, std::span<const Entry> entries);

} // namespace host::schedule
