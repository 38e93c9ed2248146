// SPDX-License-Identifier: MIT
// Only a test moves this clock: each read advances it by one microsecond, so a bounded wait ends after a known number
// of iterations and no test depends on real time. current() reads without advancing.
#pragma once

#include "drivers/clock.hpp"
#include "lib/units.hpp"

#include <cstdint>

namespace test {

class FakeClock final : public drivers::Clock {
  public:
    static constexpr lib::TickRate kRate{1'000'000}; // 1 GHz: a tick is a nanosecond

    [[nodiscard]] lib::Ticks now() override {
        advance(m_step);
        return m_now;
    }

    [[nodiscard]] lib::TickRate rate() const override { return kRate; }

    void pause() override { ++m_pauses; }

    void advance(lib::Nanoseconds time) { m_now = m_now + kRate.to_ticks(time); }

    [[nodiscard]] lib::Ticks current() const { return m_now; }

    [[nodiscard]] std::uint64_t pauses() const { return m_pauses; }

  private:
    lib::Ticks m_now{1};
    lib::Nanoseconds m_step = lib::microseconds(1);
    std::uint64_t m_pauses = 0;
};

} // namespace test
