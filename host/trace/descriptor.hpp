// SPDX-License-Identifier: MIT
// A file descriptor that is closed with its owner.
#pragma once

#include <unistd.h>
#include <utility>

namespace host::trace {

class Descriptor {
  public:
    Descriptor() = default;

    explicit Descriptor(int number)
        : m_number(number) {}

    Descriptor(Descriptor&& other) noexcept
        : m_number(std::exchange(other.m_number, -1)) {}

    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(m_number, other.m_number);
        return *this;
    }

    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;

    ~Descriptor() {
        if (m_number >= 0) {
            ::close(m_number);
        }
    }

    // -1: none.
    [[nodiscard]] int number() const { return m_number; }

    [[nodiscard]] explicit operator bool() const { return m_number >= 0; }

  private:
    int m_number = -1;
};

} // namespace host::trace
