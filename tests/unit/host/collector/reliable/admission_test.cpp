// SPDX-License-Identifier: MIT
// Tests which session of a full table gives up its place.
#include "host/collector/reliable/admission.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace host::collector::reliable {

namespace admission_test {

constexpr std::uint32_t kHere = 0x7F00'0001;
constexpr std::uint32_t kThere = 0x0A00'0001;
constexpr std::uint64_t kSecondBytes = Admission::kBytesPerSecond;

Occupant occupant(std::uint32_t ipv4, std::uint64_t bytes, std::uint64_t silence_ms, bool over = false) {
    return {.ipv4 = ipv4, .bytes = bytes, .silence = lib::milliseconds(silence_ms), .over = over};
}

TEST(Admission, OwesASecondOfSilenceForSixteenKibibytes) {
    EXPECT_EQ(Admission::owed(0).value, 0U);
    EXPECT_EQ(Admission::owed(kSecondBytes).value, lib::milliseconds(1'000).value);
    EXPECT_EQ(Admission::owed(10 * kSecondBytes).value, lib::milliseconds(10'000).value);
    EXPECT_EQ(Admission::owed(~std::uint64_t{0}).value, Admission::kSilentMax.value);
}

TEST(Admission, TakesWhatHasEndedFirst) {
    const std::vector<Occupant> all{occupant(kHere, 0, 60'000), occupant(kHere, kSecondBytes, 10, true),
                                    occupant(kHere, 0, 70'000)};
    EXPECT_EQ(Admission::replaced(all, kThere), 1U);
}

TEST(Admission, TakesWhatIsOverdueForTheLongestTime) {
    const std::vector<Occupant> all{occupant(kHere, 0, 3'000), occupant(kThere, 8 * kSecondBytes, 10'000),
                                    occupant(kHere, 20 * kSecondBytes, 15'000), occupant(kHere, 0, 10)};
    EXPECT_EQ(Admission::replaced(all, 1), 0U);
    EXPECT_EQ(Admission::replaced(std::span(all).subspan(1), 1), 0U) << "2 s, of the 8 that it is owed";
    EXPECT_EQ(Admission::replaced(std::span(all).subspan(2), 1), 1U);
}

TEST(Admission, RefusesIfAllProgress) {
    const std::vector<Occupant> all{occupant(kHere, kSecondBytes, 999), occupant(kThere, kSecondBytes, 500)};
    EXPECT_EQ(Admission::replaced(all, 1), std::nullopt);
    EXPECT_EQ(Admission::replaced({}, 1), std::nullopt);
}

// A machine that sends much, then nothing for minutes.
TEST(Admission, TakesWhatIsSilentForFiveMinutes) {
    const std::vector<Occupant> all{occupant(kHere, std::uint64_t{1} << 40U, 299'999),
                                    occupant(kHere, std::uint64_t{1} << 40U, 300'000)};
    EXPECT_EQ(Admission::replaced(all, kHere), 1U);
    EXPECT_EQ(Admission::replaced(std::span(all).first(1), kHere), std::nullopt);
}

TEST(Admission, GivesEachAddressAnEqualShare) {
    std::vector<Occupant> all(5, occupant(kHere, 4 * kSecondBytes, 1'000));
    all[3].silence = lib::milliseconds(2'000);
    EXPECT_EQ(Admission::replaced(all, kThere), 3U) << "the one that is owed the least";
    EXPECT_EQ(Admission::replaced(all, kHere), std::nullopt);
    all[0].ipv4 = all[1].ipv4 = kThere;
    EXPECT_EQ(Admission::replaced(all, kThere), std::nullopt) << "3 and 2";
    EXPECT_EQ(Admission::replaced(all, 1), 3U) << "3 and none";
    all[2].ipv4 = 1;
    EXPECT_EQ(Admission::replaced(all, 1), std::nullopt) << "2, 2 and 1";
}

TEST(Admission, AnAddressWithAQuarterOfThePlacesTakesItsOwn) {
    std::vector<Occupant> all(8, occupant(kHere, 0, 1'000));
    all[0] = all[1] = occupant(kThere, 0, 10);
    EXPECT_EQ(Admission::replaced(all, kThere), 0U);
    all[1].ipv4 = kHere;
    EXPECT_EQ(Admission::replaced(all, kThere), 2U) << "an eighth";
}

// Else it takes the place of each machine that has just come.
TEST(Admission, AnAddressWithAQuarterOfThePlacesTakesNoneThatMayStillBeUsed) {
    std::vector<Occupant> all(4, occupant(kHere, kSecondBytes, 10));
    all[2] = occupant(kThere, 0, 2'499);
    EXPECT_EQ(Admission::replaced(all, kHere), std::nullopt);
    all[2] = occupant(kThere, kSecondBytes, 3'500);
    EXPECT_EQ(Admission::replaced(all, kHere), 2U);
    all[2] = occupant(kThere, 0, 0);
    EXPECT_EQ(Admission::replaced(all, 1), 2U);
}

} // namespace admission_test

} // namespace host::collector::reliable
