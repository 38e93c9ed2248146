// SPDX-License-Identifier: MIT
// Which mutant is switched on, and a note of those that are evaluated: a byte for each in the file MUTANTS_EXECUTED.
// It is mapped, so that what a child or a dying process executed counts, and several processes may share it.
#include "tests/mutate/switch.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

unsigned char s_unnoted[mutant::kMutantsMax];

std::size_t number_of(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr ? std::strtoul(value, nullptr, 10) : 0;
}

// Before all constructors of the program, which may contain mutants.
[[gnu::constructor(101)]] void begin() {
    mutant_chosen = static_cast<unsigned>(number_of("MUTANT"));
    const char* path = std::getenv("MUTANTS_EXECUTED");
    if (path == nullptr) {
        return;
    }
    const std::size_t size = mutant::kRowsMax * mutant::kMutantsMax;
    const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) {
        std::abort();
    }
    void* rows = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (rows == MAP_FAILED) {
        std::abort();
    }
    mutants_executed = static_cast<unsigned char*>(rows);
}

} // namespace

unsigned mutant_chosen = 0;
unsigned char* mutants_executed = s_unnoted;
