// SPDX-License-Identifier: MIT
// What the observer uses of QEMU's interface for plugins (docs/devel/tcg-plugins.rst of its sources), in version 1,
// which QEMU 7.2 has, and in version 3, which QEMU 10 has. Functions that only one of them has are weak: their address
// is null in the other. Debian packages no header of either.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct qemu_plugin_tb;   // NOLINT(readability-identifier-naming): QEMU's names, here and below
struct qemu_plugin_insn; // NOLINT(readability-identifier-naming)

struct qemu_info_t { // NOLINT(readability-identifier-naming)
    const char* target_name;

    struct {
        int min;
        int cur;
    } version;

    bool system_emulation;

    struct {
        int smp_vcpus;
        int max_vcpus;
    } system;
};

enum qemu_plugin_cb_flags : int { QEMU_PLUGIN_CB_NO_REGS }; // NOLINT(readability-identifier-naming)

enum qemu_plugin_op : int { QEMU_PLUGIN_INLINE_ADD_U64 }; // NOLINT(readability-identifier-naming)

void qemu_plugin_register_vcpu_tb_trans_cb(std::uint64_t id, void (*callback)(std::uint64_t, qemu_plugin_tb*));
void qemu_plugin_register_atexit_cb(std::uint64_t id, void (*callback)(std::uint64_t, void*), void* argument);

// Called before the block, or the instruction, is executed.
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb* block, void (*callback)(unsigned, void*),
                                          qemu_plugin_cb_flags flags, void* argument);
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn* instruction, void (*callback)(unsigned, void*),
                                            qemu_plugin_cb_flags flags, void* argument);

// Version 1: adds to *number at each execution, without a call.
[[gnu::weak]] void qemu_plugin_register_vcpu_insn_exec_inline(qemu_plugin_insn* instruction, qemu_plugin_op operation,
                                                              void* number, std::uint64_t operand);

// Version 3: QEMU has the numbers, one for each processor.
struct qemu_plugin_scoreboard; // NOLINT(readability-identifier-naming)

struct qemu_plugin_u64 { // NOLINT(readability-identifier-naming)
    qemu_plugin_scoreboard* score;
    std::size_t offset;
};

[[gnu::weak]] qemu_plugin_scoreboard* qemu_plugin_scoreboard_new(std::size_t bytes);
[[gnu::weak]] void* qemu_plugin_scoreboard_find(qemu_plugin_scoreboard* score, unsigned processor);
[[gnu::weak]] void qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(qemu_plugin_insn* instruction,
                                                                       qemu_plugin_op operation, qemu_plugin_u64 number,
                                                                       std::uint64_t operand);

std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb* block);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb* block, std::size_t index);
// Version 1 returns the address of the instruction's bytes and ignores the other arguments; version 3 copies up to
// `size` bytes and returns how many.
std::uintptr_t qemu_plugin_insn_data(const qemu_plugin_insn* instruction, void* bytes, std::size_t size);
std::size_t qemu_plugin_insn_size(const qemu_plugin_insn* instruction);
}
