// SPDX-License-Identifier: MIT
#include "tests/kernel/stepping.hpp"

#include "lib/assert.hpp"
#include "tests/kernel/interrupt_table.hpp"
#include "tracer/record/record_path.hpp"

extern "C" {
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
    cmpq $tracer_region_end, %rax   # the returns are boundaries, too
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

constinit InterruptTable g_table;

} // namespace

bool record_in_steps(const RawEvent& event, std::uint64_t step, std::uint8_t vector) {
    guest_step_count = 0;
    guest_chosen_step = step;
    guest_chosen_stub = arch_stub_table[vector];
    g_table.copy_kernels();
    g_table.bend(arch::x86_64::kVectorDebug, &guest_step_stub, true);
    g_table.load();
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
    g_table.load_kernels();
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
