// SPDX-License-Identifier: MIT
// Plays the interrupt: single-steps the record path by the trap flag and, at one chosen instruction boundary inside its
// region, runs another logger; then, like every entry stub, rewinds RIP to the start of the region. Stepping itself
// rewinds nothing, otherwise no sequence would ever end. A second level may interrupt the interrupter.
#pragma once

#include "tracer/log.hpp"
#include "tracer/record/record_path.hpp"

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <ucontext.h>

namespace tests {

class Stepper {
  public:
    static constexpr int kNowhere = -1;
    static constexpr std::uint64_t kOtherHalf = 0xA5A5A5A500000000; // of rsi, which may hold anything

    struct Options {
        bool rewind = true;
        std::ptrdiff_t region_shortened_by = 0; // bytes at the region's end that the stub wrongly omits
        int boundary = kNowhere;                // of the outer logger; counts from 0 at the region's start
        int inner_boundary = kNowhere;          // of the first event that the interrupter logs
        std::function<void(Stepper&)> interrupter = nullptr;
    };

    explicit Stepper(Options options)
        : m_options(std::move(options)) {
        s_stepper = this;
        struct sigaction action = {};
        action.sa_sigaction = &on_trap;
        action.sa_flags = SA_SIGINFO | SA_NODEFER;
        sigaction(SIGTRAP, &action, &m_former);
    }

    ~Stepper() {
        sigaction(SIGTRAP, &m_former, nullptr);
        s_stepper = nullptr;
    }

    Stepper(const Stepper&) = delete;
    Stepper& operator=(const Stepper&) = delete;

    // Steps one record. Returns the instructions executed in the record path, ret included (if nothing interrupted).
    int record(std::uint16_t code, std::uint16_t par1, std::uint32_t par2) {
        const int level = begin_level();
        if (!stepped(level)) {
            tracer::detail::record(code, par1, par2);
            return 0;
        }
        asm volatile("pushfq\n\t"
                     "orq $0x100, (%%rsp)\n\t"
                     "popfq\n\t"
                     "call tracer_record\n\t"
                     "pushfq\n\t"
                     "andq $~0x100, (%%rsp)\n\t"
                     "popfq"
                     :
                     : "D"(code | std::uint32_t{par1} << 16), "S"(kOtherHalf | par2)
                     : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "cc", "memory");
        return m_instructions[level];
    }

    // Does the same for one event of several slots.
    int record_long(std::span<const tracer::Record> slots) {
        const int level = begin_level();
        if (!stepped(level)) {
            tracer::detail::record_long(slots.data(), static_cast<std::uint32_t>(slots.size()));
            return 0;
        }
        const std::uint64_t first = slots[0].code | std::uint32_t{slots[0].par1} << 16;
        asm volatile("pushfq\n\t"
                     "orq $0x100, (%%rsp)\n\t"
                     "popfq\n\t"
                     "call tracer_record_long\n\t"
                     "pushfq\n\t"
                     "andq $~0x100, (%%rsp)\n\t"
                     "popfq"
                     :
                     : "D"(first | std::uint64_t{slots.size()} << 36), "S"(slots.data())
                     : "rax", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "cc", "memory");
        return m_instructions[level];
    }

    // Returns the number of boundaries that the outermost logger passed inside the region.
    [[nodiscard]] int boundaries() const { return m_boundaries[0]; }

    // Steps any function and counts its instructions, the final ret included.
    template <typename Function, typename... Arguments>
    static int count_instructions(Function* function, Arguments... arguments) {
        Stepper stepper({});
        stepper.m_counted_from = reinterpret_cast<std::uintptr_t>(function);
        asm volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "cc", "memory");
        function(arguments...);
        asm volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "cc", "memory");
        return stepper.m_counted;
    }

    // Steps any function and runs `interrupter` before one of its instructions, the first being 0. Returns
    // whether there is such an instruction.
    template <typename Function>
    static bool interrupt_call(Function* function, int instruction, std::function<void()> interrupter) {
        Stepper stepper({});
        stepper.m_counted_from = reinterpret_cast<std::uintptr_t>(function);
        stepper.m_call_boundary = instruction;
        stepper.m_call_interrupter = std::move(interrupter);
        asm volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "cc", "memory");
        function();
        asm volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "cc", "memory");
        return stepper.m_counted > instruction;
    }

  private:
    int begin_level() {
        m_boundaries[m_level] = 0;
        m_instructions[m_level] = 0;
        return m_level;
    }

    // Stepping is needed only if there is something to interrupt.
    [[nodiscard]] bool stepped(int level) const {
        return level == 0 || (level == 1 && m_options.inner_boundary != kNowhere);
    }

    static void on_trap(int, siginfo_t*, void* context) {
        s_stepper->at(static_cast<ucontext_t*>(context)->uc_mcontext.gregs);
    }

    void at(greg_t* registers) {
        greg_t& rip = registers[REG_RIP];
        const auto address = static_cast<std::uintptr_t>(rip);
        count(address, registers[REG_RSP]);
        if (m_counting && m_counted - 1 == m_call_boundary) {
            m_call_interrupter();
            registers[REG_EFL] &= ~kTrapFlag;
            return;
        }
        const auto begin = reinterpret_cast<std::uintptr_t>(&tracer_region_begin);
        const auto end = reinterpret_cast<std::uintptr_t>(&tracer_region_end);
        if (address < begin || address > end) {
            return;
        }
        ++m_instructions[m_level]; // the one about to be executed
        if (address == end || address == reinterpret_cast<std::uintptr_t>(&tracer_region_exit)) {
            return;
        }
        const int chosen = m_level == 0 ? m_options.boundary : m_options.inner_boundary;
        const bool here = m_boundaries[m_level]++ == chosen;
        if (!here || m_level == 2) {
            return;
        }
        ++m_level;
        m_options.interrupter(*this);
        --m_level;
        if (m_options.rewind && address + static_cast<std::uintptr_t>(m_options.region_shortened_by) < end) {
            rip = reinterpret_cast<greg_t>(&tracer_region_restart);
        }
        registers[REG_EFL] &= ~kTrapFlag; // no choice left: the rest runs freely
    }

    // Counts from the first instruction of the counted function until its frame is removed.
    void count(std::uintptr_t address, greg_t stack) {
        if (m_counted_from == address && m_counted == 0) {
            m_counted_stack = stack;
            m_counting = true;
        }
        m_counting = m_counting && stack <= m_counted_stack;
        m_counted += m_counting ? 1 : 0;
    }

    static constexpr greg_t kTrapFlag = 0x100;
    static inline Stepper* s_stepper = nullptr;
    Options m_options;
    struct sigaction m_former = {};
    int m_level = 0;
    int m_boundaries[3] = {};
    int m_instructions[3] = {};
    std::uintptr_t m_counted_from = 0;
    greg_t m_counted_stack = 0;
    bool m_counting = false;
    int m_counted = 0;
    int m_call_boundary = kNowhere;
    std::function<void()> m_call_interrupter;
};

} // namespace tests
