// SPDX-License-Identifier: MIT
// Runs a driver on a fake card with 16 KiB of buffer memory, with distinguishable frames.
#pragma once

#include "drivers/ne2000/device.hpp"
#include "tests/support/fake_ne2000.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace test {

inline constexpr drivers::net::MacAddress kCardMac{
    {std::byte{0x52}, std::byte{0x54}, std::byte{0x00}, std::byte{0x12}, std::byte{0x34}, std::byte{0x56}}};

// Returns a frame to the fake card whose bytes depend on their position and on `seed`.
inline Frame make_frame(std::size_t size, std::size_t seed = 0) {
    Frame frame(size);
    for (std::size_t i = 0; i < size; ++i) {
        frame[i] = static_cast<std::byte>(i * 7 + i / 251 + seed * 31 + 1);
    }
    std::copy_n(kCardMac.bytes.begin(), std::min<std::size_t>(6, size), frame.begin());
    return frame;
}

class Ne2000Fixture : public testing::Test {
  protected:
    static drivers::ne2000::Options options() { return {.io_base = FakeNe2000::kBase}; }

    FakeClock clock;
    FakeNe2000 card{clock, 16 * 1024};
    drivers::ne2000::Device<FakeNe2000> nic{card, clock};
    std::array<std::byte, drivers::net::kReceiveFrameBytesMax> buffer{};
};

} // namespace test
