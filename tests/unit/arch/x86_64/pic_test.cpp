// SPDX-License-Identifier: MIT
// Tests the interrupt controllers against two fake 8259A, which know what is in service and refuse an acknowledgement
// of nothing.
#include "arch/x86_64/pic.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <vector>

namespace arch::x86_64 {
namespace pic_test {

struct Fake8259 {
    std::vector<std::uint8_t> initialised{}; // ICW2 to ICW4
    unsigned awaits = 0;                     // so many of these words
    std::uint8_t mask = 0;
    std::uint8_t in_service = 0;
    bool reads_in_service = false;
    unsigned ends = 0; // acknowledgements
};

struct FakePorts {
    static inline Fake8259 first{};
    static inline Fake8259 second{};

    static Fake8259& at(std::uint16_t port) { return (port & 0xFE) == 0x20 ? first : second; }

    static std::uint8_t in8(std::uint16_t port) {
        const Fake8259& chip = at(port);
        return (port & 1) != 0 ? chip.mask : chip.reads_in_service ? chip.in_service : std::uint8_t{0};
    }

    static void out8(std::uint16_t port, std::uint8_t value) {
        Fake8259& chip = at(port);
        if ((port & 1) != 0) {
            if (chip.awaits != 0) {
                --chip.awaits;
                chip.initialised.push_back(value);
            } else {
                chip.mask = value;
            }
        } else if ((value & 0x10) != 0) {
            chip = {.awaits = 3};
        } else if ((value & 0x08) != 0) {
            chip.reads_in_service = (value & 3) == 3;
        } else {
            EXPECT_EQ(value, 0x20) << "the end of the highest interrupt in service";
            EXPECT_NE(chip.in_service, 0) << "nothing is in service";
            chip.in_service &= static_cast<std::uint8_t>(chip.in_service - 1);
            ++chip.ends;
        }
    }

    // What the processor has taken; a spurious one is in service only where the second controller interrupts the first.
    static void interrupt(std::uint8_t line, bool real) {
        if (line >= 8) {
            first.in_service |= 1U << 2;
        }
        if (real) {
            (line < 8 ? first : second).in_service |= static_cast<std::uint8_t>(1U << (line % 8));
        }
    }
};

class Pic : public testing::Test {
  protected:
    Pic() { pic_start<FakePorts>(); }
};

TEST_F(Pic, IsRemappedAndMasked) {
    EXPECT_EQ(FakePorts::first.initialised, (std::vector<std::uint8_t>{0x20, 1U << 2, 0x01}));
    EXPECT_EQ(FakePorts::second.initialised, (std::vector<std::uint8_t>{0x28, 2, 0x01}));
    EXPECT_EQ(FakePorts::first.mask, 0xFF);
    EXPECT_EQ(FakePorts::second.mask, 0xFF);
}

TEST_F(Pic, OpensALineAndTheCascadeBeforeIt) {
    pic_enable<FakePorts>(4, true);
    EXPECT_EQ(FakePorts::first.mask, 0b1110'1111);
    pic_enable<FakePorts>(9, true);
    EXPECT_EQ(FakePorts::first.mask, 0b1110'1011);
    EXPECT_EQ(FakePorts::second.mask, 0b1111'1101);
    pic_enable<FakePorts>(9, false);
    EXPECT_EQ(FakePorts::first.mask, 0b1110'1011) << "others may use the cascade";
    EXPECT_EQ(FakePorts::second.mask, 0xFF);
}

TEST_F(Pic, RestoresWhatItMasked) {
    pic_enable<FakePorts>(4, true);
    pic_enable<FakePorts>(9, true);
    const PicMasks masks = pic_mask_all<FakePorts>();
    EXPECT_EQ(FakePorts::first.mask & FakePorts::second.mask, 0xFF);
    pic_restore<FakePorts>(masks);
    EXPECT_EQ(FakePorts::first.mask, 0b1110'1011);
    EXPECT_EQ(FakePorts::second.mask, 0b1111'1101);
}

TEST_F(Pic, AcknowledgesWhatIsInServiceAndNothingElse) {
    for (std::uint8_t line = 0; line < kPicLines; ++line) {
        for (const bool real : {true, false}) {
            if (!real && line % 8 != 7) {
                continue;
            }
            FakePorts::first.ends = FakePorts::second.ends = 0;
            FakePorts::interrupt(line, real);
            EXPECT_EQ(pic_is_real<FakePorts>(line), real) << int{line};
            pic_end_of_interrupt<FakePorts>(line);
            EXPECT_EQ(FakePorts::first.in_service, 0) << int{line} << (real ? "" : ", spurious");
            EXPECT_EQ(FakePorts::second.in_service, 0) << int{line};
            EXPECT_EQ(FakePorts::first.ends, line >= 8 || real ? 1U : 0U) << int{line};
            EXPECT_EQ(FakePorts::second.ends, line >= 8 && real ? 1U : 0U) << int{line};
        }
    }
}

} // namespace pic_test
} // namespace arch::x86_64
