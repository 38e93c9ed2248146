// SPDX-License-Identifier: MIT
// Passes each change of the schedule to the function of its kind. A format overrides what it has something for; the
// rest does nothing.
#pragma once

#include "convert/schedule_words.hpp"

#include <cstdint>

namespace host::convert {

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

    // context has the priority of `from`: of another task, or its own again.
    virtual void on_priority(std::uint32_t /*context*/, std::uint32_t /*from*/) {}

    virtual void on_gap() {}

    virtual void on_loss(std::uint32_t /*records*/) {}
};

} // namespace host::convert
