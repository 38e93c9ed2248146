// SPDX-License-Identifier: MIT
// The formats of track viewers have this in common: the changes of the schedule go to the tracks of processors, jobs
// and waits become slices, and every event that these do not show is an instant.
#pragma once

#include "convert/schedule_words.hpp"
#include "convert/writer/writer.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace host::convert {

// Passes each change of the schedule to the function of its kind. A format overrides the functions that it needs; the
// others do nothing.
class ChangeHandler {
  public:
    ChangeHandler() = default;
    ChangeHandler(const ChangeHandler&) = delete;
    ChangeHandler& operator=(const ChangeHandler&) = delete;

    void apply(const Change& change);

  protected:
    ~ChangeHandler() = default;

  private:
    virtual void on_switch(const Change& /*change*/) {}

    virtual void on_wake(std::uint32_t /*context*/) {}

    virtual void on_create(std::uint32_t /*context*/) {}

    virtual void on_end(std::uint32_t /*context*/) {}

    virtual void on_interrupt(std::uint32_t /*vector*/) {}

    virtual void on_interrupt_end(std::uint32_t /*vector*/) {}

    // context has the priority of `from`: that of another task, or its own again.
    virtual void on_priority(std::uint32_t /*context*/, std::uint32_t /*from*/) {}

    virtual void on_gap() {}

    virtual void on_loss(std::uint32_t /*records*/) {}
};

// Stores a T for each processor that logged anything. It is found by its number without a search, through one pointer
// for each number up to the greatest.
template <typename T>
class PerProcessor {
  public:
    // Returns null if there is none yet. The pointer stays valid.
    [[nodiscard]] T* find(std::uint16_t cpu) const { return cpu < m_places.size() ? m_places[cpu].get() : nullptr; }

    template <typename... Arguments>
    T& add(std::uint16_t cpu, Arguments&&... arguments) {
        if (cpu >= m_places.size()) {
            m_places.resize(std::size_t{cpu} + 1);
        }
        m_places[cpu] = std::make_unique<T>(std::forward<Arguments>(arguments)...);
        return *m_places[cpu];
    }

    // Calls visit(cpu, T&) in rising order of the processors.
    template <typename Visit>
    void for_each(Visit visit) {
        for (std::size_t cpu = 0; cpu < m_places.size(); ++cpu) {
            if (m_places[cpu] != nullptr) {
                visit(static_cast<std::uint16_t>(cpu), *m_places[cpu]);
            }
        }
    }

  private:
    std::vector<std::unique_ptr<T>> m_places;
};

// Computes the time of events as viewers need it: nanoseconds since the start of the trace, never negative and never
// falling. Where the stamps of a damaged trace fall, the greatest time so far is used. Without a clock rate a tick
// counts as a nanosecond.
class TimeAxis {
  public:
    explicit TimeAxis(const Survey& survey)
        : m_first(survey.first)
        , m_khz(survey.facts.clock.khz) {}

    [[nodiscard]] std::uint64_t of(const trace::Event& event) {
        const std::int64_t time_ns = event.timed ? event.time_ns : static_cast<std::int64_t>(untimed(event.ticks));
        m_last_ns = std::max(m_last_ns, static_cast<std::uint64_t>(std::max<std::int64_t>(time_ns, 0)));
        return m_last_ns;
    }

    // Returns the time of the last event.
    [[nodiscard]] std::uint64_t last_ns() const { return m_last_ns; }

    // Returns false if the times are ticks.
    [[nodiscard]] bool has_rate() const { return m_khz != 0; }

    // Converts a duration.
    [[nodiscard]] std::uint64_t nanoseconds(std::uint64_t ticks) const {
        return m_khz == 0 ? ticks : lib::TickRate{m_khz}.to_nanoseconds({ticks}).value;
    }

  private:
    // Returns the time of an event before the trace has stated its rate, or without a rate.
    [[nodiscard]] std::uint64_t untimed(lib::Ticks ticks) const {
        constexpr std::uint64_t kMax = ~std::uint64_t{0} >> 1;
        return ticks < m_first ? 0 : std::min(nanoseconds((ticks - m_first).value), kMax);
    }

    lib::Ticks m_first;
    std::uint32_t m_khz;
    std::uint64_t m_last_ns = 0;
};

class TrackWriter : public Writer, protected ChangeHandler {
  public:
    [[nodiscard]] lib::Result<void, Failure> begin(const Survey* survey) final;
    void add(const trace::Event& event) final;
    [[nodiscard]] lib::Result<void, Failure> finish(const trace::TraceFacts& facts) final;

  protected:
    // A task has at most one slice of each kind at a time, so slices on one track never overlap.
    enum class Slice : std::uint8_t { job, wait };

    // Returns the event that is being added.
    [[nodiscard]] const trace::Event& event() const { return *m_event; }

    // Returns the time of that event; in end_tracks() that of the last event.
    [[nodiscard]] std::uint64_t time_ns() const { return m_time->last_ns(); }

    [[nodiscard]] const Schedule& schedule() const { return m_schedule; }

  private:
    virtual void begin_tracks(const Survey& survey) = 0;
    // Called before the changes of an event of this processor.
    virtual void select_processor(std::uint16_t cpu) = 0;
    virtual void begin_slice(Slice slice, std::uint32_t context, std::string_view name) = 0;
    virtual void end_slice(Slice slice, std::uint32_t context) = 0;
    virtual void add_budget(std::uint64_t left_ns) = 0;
    virtual void add_instant() = 0;
    // Called after all slices have ended.
    virtual void end_tracks(const trace::TraceFacts& facts) = 0;

    void draw_slice(const Change& change);
    void end_slices(const Change& change);

    std::optional<TimeAxis> m_time;
    Schedule m_schedule;
    const trace::Event* m_event = nullptr;
};

} // namespace host::convert
