// SPDX-License-Identifier: MIT
// The observer outside of the machine is a plugin of QEMU's emulator. It counts the instructions that the processor
// executes, and so dates what QEMU logs of its interrupt controller (request_log.hpp). It does not affect the machine.
//
//   -plugin observer.so,log=FILE,out=FILE,shift=N -D FILE -d int,trace:apic_...      (qemu/boot.sh)
//
//   log     where QEMU logs. It is mapped, extended with zeros, so that before each block of instructions one look at
//           memory shows whether QEMU has written; removed from its directory when it is mapped.
//   out     CSV: vector,raised,taken,stamped in ticks of a clock with 2^N ticks per instruction; empty: not known
//
// Under a clock that counts instructions (-icount), QEMU ends a block at the instruction before a timer expires, and
// after each access to a device. So the number of instructions is that of the raise, not that of the next look at the
// log.
#include "host/observer/request_log.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

// The plugin uses this part of QEMU's interface for plugins (docs/devel/tcg-plugins.rst of its sources), in version 1,
// which QEMU 7.2 has, and in version 3, which QEMU 10 has. Functions that only one version has are weak: their address
// is null in the other. Debian packages no header of either version.
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

// The callbacks are called before the block, or the instruction, is executed.
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb* block, void (*callback)(unsigned, void*),
                                          qemu_plugin_cb_flags flags, void* argument);
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn* instruction, void (*callback)(unsigned, void*),
                                            qemu_plugin_cb_flags flags, void* argument);

// Version 1 adds to *number at each execution, without a call.
[[gnu::weak]] void qemu_plugin_register_vcpu_insn_exec_inline(qemu_plugin_insn* instruction, qemu_plugin_op operation,
                                                              void* number, std::uint64_t operand);

// In version 3 QEMU has the numbers, one for each processor.
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

// QEMU looks for these names in a plugin.
extern __attribute__((visibility("default"))) int qemu_plugin_version;
int qemu_plugin_version = &qemu_plugin_scoreboard_new != nullptr ? 3 : 1;
__attribute__((visibility("default"))) int qemu_plugin_install(std::uint64_t id, const qemu_info_t* info, int count,
                                                               char** arguments);
}

namespace {

using host::observer::Interrupt;
using host::observer::RequestLog;

constexpr std::size_t kLogBytesMax = std::size_t{1} << 36; // address space; only what was written takes memory

std::string g_log_name;
unsigned g_shift = 0;
std::FILE* g_out = nullptr;
const char* g_text = nullptr; // the next byte that QEMU will write
// The code that QEMU generates counts instructions here, or in a scoreboard of QEMU if it has them.
std::uint64_t g_counted = 0;
qemu_plugin_scoreboard* g_scoreboard = nullptr;
const std::uint64_t* g_executed = &g_counted;

std::string ticks(std::optional<std::uint64_t> executed) {
    return executed ? std::to_string(*executed << g_shift) : std::string();
}

RequestLog g_log([](const Interrupt& interrupt) {
    std::fprintf(g_out, "%u,%s,%s,%s\n", interrupt.vector, ticks(interrupt.raised).c_str(),
                 ticks(interrupt.taken).c_str(), ticks(interrupt.stamped).c_str());
});

[[noreturn]] void fail(const char* what, const std::string& name) {
    std::fprintf(stderr, "observer: %s %s: %s\n", what, name.c_str(), std::strerror(errno));
    std::exit(1);
}

void map_log() {
    const int file = open(g_log_name.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(kLogBytesMax)) != 0) {
        fail("cannot use", g_log_name);
    }
    void* const text = mmap(nullptr, kLogBytesMax, PROT_READ, MAP_SHARED, file, 0);
    if (text == MAP_FAILED) {
        fail("cannot map", g_log_name);
    }
    g_text = static_cast<const char*>(text);
    close(file);
    unlink(g_log_name.c_str());
}

// A line without its end is read the next time.
void read_log() {
    while (*g_text != '\0') {
        const char* end = g_text;
        while (*end != '\0' && *end != '\n') {
            ++end;
        }
        if (*end == '\0') {
            return;
        }
        g_log.take({g_text, end}, *g_executed);
        g_text = end + 1;
    }
}

void before_block(unsigned /*processor*/, void* /*argument*/) {
    if (*g_text != '\0') {
        read_log();
    }
}

void before_rdtsc(unsigned /*processor*/, void* /*argument*/) {
    g_log.read_stamp(*g_executed);
}

bool reads_stamp(const qemu_plugin_insn* instruction) {
    const std::size_t size = qemu_plugin_insn_size(instruction);
    std::array<unsigned char, 3> bytes{};
    if (size < 2 || size > bytes.size()) {
        return false;
    }
    const std::uintptr_t data = qemu_plugin_insn_data(instruction, bytes.data(), size);
    if (g_scoreboard == nullptr) {
        std::memcpy(bytes.data(), reinterpret_cast<const void*>(data), size);
    }
    return (size == 2 && bytes[0] == 0x0F && bytes[1] == 0x31) ||                   // rdtsc
           (size == 3 && bytes[0] == 0x0F && bytes[1] == 0x01 && bytes[2] == 0xF9); // rdtscp
}

void count(qemu_plugin_insn* instruction) {
    if (g_scoreboard != nullptr) {
        qemu_plugin_register_vcpu_insn_exec_inline_per_vcpu(instruction, QEMU_PLUGIN_INLINE_ADD_U64, {g_scoreboard, 0},
                                                            1);
    } else {
        qemu_plugin_register_vcpu_insn_exec_inline(instruction, QEMU_PLUGIN_INLINE_ADD_U64, &g_counted, 1);
    }
}

void translate(std::uint64_t /*id*/, qemu_plugin_tb* block) {
    if (g_text == nullptr) {
        map_log(); // by now QEMU has opened the log and made its processor
        if (g_scoreboard != nullptr) {
            g_executed = static_cast<const std::uint64_t*>(qemu_plugin_scoreboard_find(g_scoreboard, 0));
        }
    }
    qemu_plugin_register_vcpu_tb_exec_cb(block, &before_block, QEMU_PLUGIN_CB_NO_REGS, nullptr);
    const std::size_t instructions = qemu_plugin_tb_n_insns(block);
    for (std::size_t i = 0; i < instructions; ++i) {
        qemu_plugin_insn* const instruction = qemu_plugin_tb_get_insn(block, i);
        if (reads_stamp(instruction)) {
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, &before_rdtsc, QEMU_PLUGIN_CB_NO_REGS, nullptr);
        }
        count(instruction);
    }
}

void finish(std::uint64_t /*id*/, void* /*argument*/) {
    g_log.finish();
    if (std::fclose(g_out) != 0) {
        fail("cannot write", "its output");
    }
}

} // namespace

int qemu_plugin_install(std::uint64_t id, const qemu_info_t* info, int count, char** arguments) {
    std::string out;
    for (int i = 0; i < count; ++i) {
        const std::string_view argument = arguments[i];
        if (argument.starts_with("log=")) {
            g_log_name = argument.substr(4);
        } else if (argument.starts_with("out=")) {
            out = argument.substr(4);
        } else if (argument.starts_with("shift=")) {
            g_shift = static_cast<unsigned>(std::atoi(arguments[i] + 6)); // qemu/boot.sh passes a valid number
        }
    }
    if (info->system.max_vcpus != 1) {
        std::fputs("observer: QEMU's log does not say which processor it means: one processor only\n", stderr);
        return 1;
    }
    g_out = std::fopen(out.c_str(), "we");
    if (g_out == nullptr) {
        fail("cannot write", out);
    }
    std::fputs("vector,raised,taken,stamped\n", g_out);
    if (&qemu_plugin_scoreboard_new != nullptr) {
        g_scoreboard = qemu_plugin_scoreboard_new(sizeof *g_executed);
    }
    qemu_plugin_register_vcpu_tb_trans_cb(id, &translate);
    qemu_plugin_register_atexit_cb(id, &finish, nullptr);
    return 0;
}
