// SPDX-License-Identifier: MIT
// What the formats of track viewers have in common: the changes of the schedule go to the tracks of processors, jobs
// and waits become slices, and every event that these do not show is an instant.
#pragma once

#include "convert/change_handler.hpp"
#include "convert/time_axis.hpp"
#include "convert/writer/writer.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace host::convert {

class TrackWriter : public Writer, protected ChangeHandler {
  public:
    [[nodiscard]] lib::Result<void, Failure> begin(const Survey* survey) final;
    void add(const trace::Event& event) final;
    [[nodiscard]] lib::Result<void, Failure> finish(const trace::TraceFacts& facts) final;

  protected:
    // Of each a task has at most one at a time, so slices on one track never overlap.
    enum class Slice : std::uint8_t { job, wait };

    // The event that is being added.
    [[nodiscard]] const trace::Event& event() const { return *m_event; }

    // Its time; in end_tracks() that of the last event.
    [[nodiscard]] std::uint64_t time_ns() const { return m_time->last_ns(); }

    [[nodiscard]] const Schedule& schedule() const { return m_schedule; }

  private:
    virtual void begin_tracks(const Survey& survey) = 0;
    // In front of the changes of an event of this processor.
    virtual void select_processor(std::uint16_t cpu) = 0;
    virtual void begin_slice(Slice slice, std::uint32_t context, std::string_view name) = 0;
    virtual void end_slice(Slice slice, std::uint32_t context) = 0;
    virtual void add_budget(std::uint64_t left_ns) = 0;
    virtual void add_instant() = 0;
    // All slices have ended.
    virtual void end_tracks(const trace::TraceFacts& facts) = 0;

    void draw_slice(const Change& change);
    void end_slices(const Change& change);

    std::optional<TimeAxis> m_time;
    Schedule m_schedule;
    const trace::Event* m_event = nullptr;
};

} // namespace host::convert
