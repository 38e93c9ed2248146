// SPDX-License-Identifier: MIT
// Determines in which functions a task in steps is, from the flow between its instructions: a call opens a frame, a
// return closes one. Where records are missing (a range, a flag, a loss), the function of each recorded instruction
// corrects the stack.
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
    // A frame is a function, by its address.
    using Frame = std::uint64_t;

    struct Change {
        bool opens; // else it closes the top frame, which is `frame`
        Frame frame;
    };

    // Deeper calls are not followed; only damaged traces have them.
    static constexpr std::size_t kDepthMax = 1024;

    // An instruction of this function is executed next. The changes are valid until the next call of a member.
    [[nodiscard]] std::span<const Change> step(tracer::Flow flow, Frame function);

    // The function of the next instruction is unknown, but not its address. Only calls and returns are followed, and a
    // called function is a frame by its first address.
    [[nodiscard]] std::span<const Change> step_unknown(tracer::Flow flow, Frame address);

    // The task has no processor, or runs freely. Its frames are closed, with `forget` permanently; otherwise resume()
    // opens them again.
    [[nodiscard]] std::span<const Change> suspend(bool forget);
    [[nodiscard]] std::span<const Change> resume();

    // Opens a frame on top that is no function of the task: an interrupt handler, which must end before the task
    // continues.
    [[nodiscard]] std::span<const Change> begin_interlude(Frame frame);
    [[nodiscard]] std::span<const Change> end_interlude();

    // Returns whether frames are open: the task is in steps and has a processor.
    [[nodiscard]] bool is_open() const { return m_open; }

  private:
    // Returns true for calls and returns beyond the greatest depth, which need nothing else.
    [[nodiscard]] bool is_beyond(tracer::Flow flow);
    void open(Frame frame);
    void close();
    void close_all();
    void close_interludes();
    void close_down_to(Frame function);
    [[nodiscard]] bool holds(Frame function) const;

    std::vector<Frame> m_frames; // of the task, outermost first
    std::vector<Frame> m_interludes;
    std::size_t m_beyond = 0; // calls deeper than kDepthMax
    bool m_open = false;
    std::vector<Change> m_changes;
};

} // namespace host::convert::json
