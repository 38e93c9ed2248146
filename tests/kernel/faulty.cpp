// SPDX-License-Identifier: MIT
#include "tests/kernel/faulty.hpp"

#include <cstddef>

extern "C" {
extern const std::byte text_begin[];
}

namespace guest::faulty {

namespace {

constexpr std::uint64_t kNearNull = 8;
constexpr std::uint64_t kNotCanonical = 0x8000'1234'5678'0000;

// Uses stack on every level and cannot become a loop: the result is needed after the call.
[[gnu::noinline]] int recurse(volatile int* outer) {
    volatile int inner[64] = {};
    inner[0] = *outer + 1;
    return inner[0] == 0 ? 0 : recurse(inner) + inner[0]; // never 0: it ends at the guard page
}

// Says where the store will be, and stores.
[[gnu::noinline]] void store(std::uint64_t address, std::uint64_t reported) {
    expected.address = reported;
    asm volatile("leaq 1f(%%rip), %%rax; movq %%rax, %0; 1: movb $0x90, (%1)"
                 : "=m"(expected.instruction)
                 : "r"(address)
                 : "rax", "memory");
}

} // namespace

void overflow_the_stack() {
    expected.instruction = 0;
    expected.address = 0;
    volatile int start = 0;
    static_cast<void>(recurse(&start));
}

void write_to_null() {
    store(kNearNull, kNearNull);
}

void write_to_code() {
    const auto address = reinterpret_cast<std::uint64_t>(text_begin);
    store(address, address);
}

void use_a_wild_address() {
    store(kNotCanonical, 0);
}

void execute_data() {
    static constinit std::uint8_t code[] = {0xC3}; // ret
    const auto address = reinterpret_cast<std::uint64_t>(code);
    expected.instruction = address;
    expected.address = address;
    asm volatile("call *%0" : : "r"(address) : "memory");
}

void lose_the_stack() {
    expected.address = 0;
    asm volatile("leaq 1f(%%rip), %%rax; movq %%rax, %0; movq %1, %%rsp; 1: pushq %%rax"
                 : "=m"(expected.instruction)
                 : "r"(kNotCanonical)
                 : "rax", "memory");
}

void divide_by_zero() {
    expected.address = 0;
    asm volatile("leaq 1f(%%rip), %%rax; movq %%rax, %0; xorl %%ecx, %%ecx; 1: divl %%ecx"
                 : "=m"(expected.instruction)
                 :
                 : "rax", "rcx", "rdx", "cc", "memory");
}

void raise_protection_fault() {
    expected.address = 0;
    asm volatile("leaq 1f(%%rip), %%rax; movq %%rax, %0; int $13; 1: nop" // a trap: the instruction after it
                 : "=m"(expected.instruction)
                 :
                 : "rax", "memory");
}

} // namespace guest::faulty
