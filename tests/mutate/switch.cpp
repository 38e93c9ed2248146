// SPDX-License-Identifier: MIT
// Which mutant is switched on, and which of them each test executes: a row of MUTANTS bytes for each test of the
// program, in the order in which they run, in the file MUTANTS_EXECUTED. Row 0 is what runs before the first test. The
// file is mapped, so that what a child or a dying test executed counts.
#include "tests/mutate/switch.hpp"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

constexpr std::size_t kMutantsMax = 65536;
constexpr std::size_t kTestsMax = 4096; // the last row is that of all further tests

unsigned char s_before[kMutantsMax];

std::size_t number_of(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr ? std::strtoul(value, nullptr, 10) : 0;
}

class Rows : public testing::EmptyTestEventListener {
  public:
    Rows(unsigned char* rows, std::size_t width)
        : m_rows{rows}
        , m_width{width} {}

    void OnTestStart(const testing::TestInfo& /*test*/) override {
        if (m_row == 0) {
            std::memcpy(m_rows, s_before, m_width);
        }
        m_row += m_row + 1 < kTestsMax ? 1 : 0;
        mutants_executed = m_rows + m_row * m_width;
    }

  private:
    unsigned char* m_rows;
    std::size_t m_width;
    std::size_t m_row = 0;
};

const bool s_counts = [] {
    const char* path = std::getenv("MUTANTS_EXECUTED");
    const std::size_t width = number_of("MUTANTS");
    if (path == nullptr) {
        return false;
    }
    const int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    const std::size_t size = kTestsMax * width;
    if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) {
        std::abort();
    }
    void* rows = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (rows == MAP_FAILED) {
        std::abort();
    }
    testing::UnitTest::GetInstance()->listeners().Append(new Rows{static_cast<unsigned char*>(rows), width});
    return true;
}();

} // namespace

unsigned mutant_chosen = static_cast<unsigned>(number_of("MUTANT"));
unsigned char* mutants_executed = s_before;
