// SPDX-License-Identifier: MIT
#include "tests/kernel/stepping.hpp"

#include "lib/assert.hpp"
#include "tracer/record_path.hpp"

#include <array>

extern "C" {
extern const std::uint64_t arch_stub_table[256];
void guest_step_stub();
constinit std::uint64_t guest_path[guest::kPathMax]{};
constinit std::uint64_t guest_step_count = 0;
constinit std::uint64_t guest_chosen_step = 0;
constinit std::uint64_t guest_chosen_stub = 0;
}

asm(R"(
    .text
    .balign 16
guest_step_stub:
    pushq %rax
    movq 8(%rsp), %rax              # the instruction about to be executed
    cmpq $tracer_region_begin, %rax
    jb 2f
    cmpq $tracer_region_end, %rax   # the ret behind the region is a boundary, too
    ja 2f
    pushq %rcx
    movq guest_step_count, %rcx
    cmpq $2048, %rcx
    jae 1f
    movq %rax, guest_path(,%rcx,8)
1:
    incq guest_step_count
    cmpq guest_chosen_step, %rcx
    popq %rcx
    je 3f
2:
    popq %rax
    iretq
3:
    andq $~0x100, 24(%rsp)          # no more steps
    popq %rax
    jmp *guest_chosen_stub
)");

namespace guest {

namespace {

static_assert(kPathMax == 2048); // as in the stub
constexpr std::uint64_t kPattern = 0x1212'3434'5656'7878;

struct [[gnu::packed]] TablePointer {
    std::uint16_t limit;
    std::uint64_t base;
};

struct Gate {
    std::uint64_t low;
    std::uint64_t high;
};

alignas(16) constinit std::array<Gate, 256> g_table{};

void load(const TablePointer& pointer) {
    asm volatile("lidt %0" : : "m"(pointer));
}

// The kernel's table with the gate of debug exceptions bent.
TablePointer bend_table() {
    TablePointer kernels{};
    asm volatile("sidt %0" : "=m"(kernels));
    const auto* const gates = reinterpret_cast<const Gate*>(kernels.base);
    for (std::size_t i = 0; i < g_table.size(); ++i) {
        g_table[i] = gates[i];
    }
    const auto target = reinterpret_cast<std::uint64_t>(&guest_step_stub);
    Gate& gate = g_table[arch::x86_64::kVectorDebug];
    gate.low = (gate.low & 0x0000'FFFF'FFFF'0000) | (target & 0xFFFF) | (((target >> 16) & 0xFFFF) << 48);
    gate.high = target >> 32;
    load({sizeof(g_table) - 1, reinterpret_cast<std::uint64_t>(g_table.data())});
    return kernels;
}

} // namespace

bool record_in_steps(const RawEvent& event, std::uint64_t step, std::uint8_t vector) {
    guest_step_count = 0;
    guest_chosen_step = step;
    guest_chosen_stub = arch_stub_table[vector];
    const TablePointer kernels = bend_table();
    register std::uint64_t kept asm("r12") = kPattern;
    asm volatile("pushfq\n\t"
                 "orq $0x100, (%%rsp)\n\t"
                 "popfq\n\t"
                 "call *%[path]\n\t"
                 "pushfq\n\t"
                 "andq $~0x100, (%%rsp)\n\t"
                 "popfq"
                 : "+r"(kept)
                 : "D"(event.rdi), "S"(event.rsi), [path] "b"(event.path)
                 : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory");
    load(kernels);
    ASSERT(event.path != &tracer_record || kept == kPattern); // only long events may destroy it
    return guest_step_count == step + 1;
}

void record_freely(const RawEvent& event) {
    asm volatile("call *%[path]"
                 :
                 : "D"(event.rdi), "S"(event.rsi), [path] "b"(event.path)
                 : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "cc", "memory");
}

std::span<const std::uint64_t> path() {
    return {guest_path, guest_step_count < kPathMax ? guest_step_count : kPathMax};
}

} // namespace guest
