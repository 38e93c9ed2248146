// SPDX-License-Identifier: MIT
// Of a GoogleTest program: which mutants each test evaluates, a row of the file MUTANTS_EXECUTED for each, in the order
// in which they run. Row 0 is what runs before the first test, the last row what all tests beyond kRowsMax execute.
#include "tests/mutate/switch.hpp"

#include <cstdlib>
#include <gtest/gtest.h>

namespace {

class Rows : public testing::EmptyTestEventListener {
  public:
    void OnTestStart(const testing::TestInfo& /*test*/) override {
        if (m_row + 1 < mutant::kRowsMax) {
            ++m_row;
            mutants_executed += mutant::kMutantsMax;
        }
    }

  private:
    std::size_t m_row = 0;
};

const bool s_counts = [] {
    if (std::getenv("MUTANTS_EXECUTED") == nullptr) {
        return false;
    }
    testing::UnitTest::GetInstance()->listeners().Append(new Rows);
    return true;
}();

} // namespace
