// SPDX-License-Identifier: MIT
// Tests jobs over time: as fine as the store counts them, coarser if that were too many, and never fewer jobs.
#include "fleet/report/gathered.hpp"

#include "fleet/local/directory_store.hpp"
#include "tests/support/fleet_fields.hpp"
#include "tests/support/fleet_run.hpp"

#include <gmock/gmock.h>

namespace host::fleet::report {

namespace {

using support::FleetRun;

constexpr std::int64_t kDayBegin = 20'000 * 86'400LL;
const std::vector<std::string_view> kFigures = {"bucket", "jobs", "missed", "longest_ns"};

class CountsTest : public testing::Test {
  protected:
    // A store with a run whose jobs, every other one late, were released then.
    std::shared_ptr<Store> store_with(const std::vector<std::int64_t>& times_s) {
        auto store = local::DirectoryStore::open(m_scratch / "fleet", local::Access::write).value();
        EXPECT_TRUE(store->prepare());
        FleetRun run("north", "pi-1", 1, kDayBegin);
        std::int64_t number = 0;
        for (const std::int64_t time_s : times_s) {
            ++number;
            run.job("control", number, time_s, 1000 * number, 1024 * number, number % 2 == 0);
        }
        run.chunk(0, 0, 0, 10).listed(0, 0, 0, 10).ended({});
        run.store(*store, m_scratch);
        return store;
    }

    static std::uint64_t jobs_of(const Counts& counts) {
        const questions::ListingColumns columns(counts.listing);
        std::uint64_t sum = 0;
        for (std::size_t row = 0; row < counts.listing.rows.size(); ++row) {
            sum += static_cast<std::uint64_t>(columns.number(row, "jobs").value());
        }
        return sum;
    }

    support::TemporaryDirectory m_scratch;
};

TEST_F(CountsTest, AreByMinuteOfAShortTime) {
    const auto store = store_with({kDayBegin, kDayBegin + 59, kDayBegin + 60});
    const Counts counts = counts_of({}, *store).value();
    EXPECT_EQ(counts.bucket_s, 60);
    EXPECT_EQ(counts.begin_s, kDayBegin);
    EXPECT_EQ(counts.end_s, kDayBegin + 120);
    EXPECT_THAT(support::rows_of(counts.listing, kFigures),
                testing::ElementsAre("bucket=0 jobs=2 missed=1 longest_ns=2000", "bucket=1 jobs=1 missed=0 "
                                                                                 "longest_ns=3000"));
}

TEST_F(CountsTest, AreCoarserOfALongTime) {
    const auto store = store_with({kDayBegin + 7, kDayBegin + 10 * 86'400 + 7});
    const Counts counts = counts_of({}, *store).value();
    EXPECT_EQ(counts.bucket_s, 4 * 3600) << "241 hours are more than 240";
    EXPECT_EQ(counts.begin_s, kDayBegin);
    EXPECT_EQ(counts.end_s, kDayBegin + 10 * 86'400 + 4 * 3600);
    EXPECT_EQ(jobs_of(counts), 2U);
}

TEST_F(CountsTest, AreCoarserIfTheyWereTooMany) {
    const auto store = store_with({kDayBegin, kDayBegin + 60, kDayBegin + 120, kDayBegin + 299});
    const Counts counts = counts_of({}, *store, {.rows = 2}).value();
    EXPECT_EQ(counts.bucket_s, 300);
    EXPECT_FALSE(counts.listing.cut);
    EXPECT_THAT(support::rows_of(counts.listing, kFigures),
                testing::ElementsAre("bucket=0 jobs=4 missed=2 longest_ns=4000"));
}

TEST_F(CountsTest, AreThoseWithTheMostMissesIfNothingElseHelps) {
    const auto store = store_with({kDayBegin});
    FleetRun late("south", "pi-9", 2, kDayBegin);
    late.job("control", 1, kDayBegin, 10, 10, true).chunk(0, 0, 0, 10).listed(0, 0, 0, 10).ended({});
    late.store(*store, m_scratch);
    const Counts counts = counts_of({}, *store, {.rows = 1}).value();
    EXPECT_TRUE(counts.listing.cut);
    EXPECT_THAT(support::rows_of(counts.listing, {"node"}), testing::ElementsAre("node=pi-9"));
}

TEST_F(CountsTest, AreNoneOfAnotherSelection) {
    const auto store = store_with({kDayBegin});
    const Counts counts = counts_of({.node = "pi-2"}, *store).value();
    EXPECT_TRUE(counts.listing.rows.empty());
    EXPECT_EQ(counts.begin_s, counts.end_s);
}

} // namespace

} // namespace host::fleet::report
