// SPDX-License-Identifier: MIT
// In which functions a task in steps is, from the flow between its instructions: a call opens a frame, a return closes
// one. Where records are missing (a range, a flag, a loss) the function of each recorded instruction sets it right.
//
//   flow       instruction in           frames become
//   call       F                        ... caller F
//   return     the caller               what was below; else: F alone, whose caller is unknown
//   others     the function on top      as they are
//              a function further down  closed down to it
//              another                  a jump: it takes the place of the top (a tail call); a resumption: it is called
#pragma once

#include "tracer/record/code_flow.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace host::convert::json {

class CallStack {
  public:
    // What a frame is: a function by its address.
    using Frame = std::uint64_t;

    struct Change {
        bool opens; // else it closes the one on top, which is `frame`
        Frame frame;
    };

    // Deeper calls are not followed: nothing of ours nests like that, only damage does.
    static constexpr std::size_t kDepthMax = 1024;

    // An instruction of this function is executed next. The changes are valid until the next call of anything here.
    [[nodiscard]] std::span<const Change> step(tracer::Flow flow, Frame function);

    // Likewise where the function is unknown, but not the address of the instruction: calls and returns alone count,
    // and what was called is a frame by its first address.
    [[nodiscard]] std::span<const Change> step_unknown(tracer::Flow flow, Frame address);

    // The task has no processor, or runs freely: its frames are closed, with `forget` permanently; otherwise resume()
    // opens them again.
    [[nodiscard]] std::span<const Change> suspend(bool forget);
    [[nodiscard]] std::span<const Change> resume();

    // Something on top that is no function of the task: an interrupt handler; it must end before the task continues.
    [[nodiscard]] std::span<const Change> begin_interlude(Frame frame);
    [[nodiscard]] std::span<const Change> end_interlude();

    // Whether frames are open: it is in steps, and has the processor.
    [[nodiscard]] bool is_open() const { return m_open; }

  private:
    // Calls and returns beyond the greatest depth: true, nothing else is to be done.
    [[nodiscard]] bool is_beyond(tracer::Flow flow);
    void open(Frame frame);
    void close();
    void close_all();
    void close_interludes();
    void close_down_to(Frame function);
    [[nodiscard]] bool holds(Frame function) const;

    std::vector<Frame> m_frames; // the task's, outermost first
    std::vector<Frame> m_interludes;
    std::size_t m_beyond = 0; // calls deeper than kDepthMax
    bool m_open = false;
    std::vector<Change> m_changes;
};

} // namespace host::convert::json
