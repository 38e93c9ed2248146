// SPDX-License-Identifier: MIT
// A Call begins every FTrace_* function: it has the function's name for the error report, and the lock for its
// duration. Context: task or irq-off.
#pragma once

#include "tracer/instance.hpp"

namespace tracer::detail {

class Call {
  public:
    explicit Call(const char* function)
        : m_function(function)
        , m_locked(instance().lock.try_take()) {
        if (!m_locked) {
            fail("another tracer call is in progress");
        }
    }

    ~Call() {
        if (m_locked) {
            instance().lock.release();
        }
    }

    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    [[nodiscard]] bool locked() const { return m_locked; }

    // Releases the lock while this call waits.
    void unlock() {
        instance().lock.release();
        m_locked = false;
    }

    // Takes the lock again. Returns false, with the reason recorded, if another call has it.
    [[nodiscard]] bool relock() {
        m_locked = instance().lock.try_take();
        if (!m_locked) {
            fail("another tracer call is in progress");
        }
        return m_locked;
    }

    int fail(const char* text) const { return fail(nullptr, 0, text); }

    int fail(const char* argument, long long value, const char* text) const {
        instance().last_error = {m_function, argument, value, text};
        return -1;
    }

    // Returns the chunk of this number, or null, with the reason recorded, if there is none.
    [[nodiscard]] Chunk* find(const char* argument, int number) const {
        const auto chunk = instance().store.find(number);
        if (!chunk) {
            fail(argument, number,
                 chunk.error() == lib::Error::not_found ? "no chunk has this number" : "chunk numbers are 0 to 255");
            return nullptr;
        }
        return chunk.value();
    }

  private:
    const char* m_function;
    bool m_locked;
};

} // namespace tracer::detail
