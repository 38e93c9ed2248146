// SPDX-License-Identifier: MIT
// Instruction-level tracing: which tasks run in steps, and what each step leaves in the trace. The processor is put
// into steps by others (StepHooks); step() is told the address of each instruction before it is executed.
//
//   instruction   par1 how the processor came there (Flow), par2 the address
//   block         par1 Flow and, below it, how many instructions ran since the last block; par2 where it goes on
//
// Addresses are the low 32 bits: the image lies below 4 GiB. Only what the filters let through leaves a record: the
// range, and the application's flag. Who runs in steps, and what leaves a record, holds for all processors; where each
// of them is stands in its CpuTrace. Context of everything here: irq-off, but where said otherwise.
#pragma once

#include "tracer/code_flow.hpp"
#include "tracer/cpu_steps.hpp"
#include "tracer/unit_words.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tracer {

enum class Grain : std::uint8_t {
    instructions, // a record for each
    blocks,       // a record where the flow leaves the straight line
};

// A longer block is told in parts.
inline constexpr std::uint32_t kBlockInstructionsMax = (1U << kBlockFlowShift) - 1;

// How the machine runs in steps; given by the composition root.
struct StepHooks {
    std::uint16_t (*context)() = nullptr;                 // of the running task
    bool (*is_task)(std::uint16_t context) = nullptr;     // whether there is such a task
    void (*set)(bool on) = nullptr;                       // whether the running context goes on in steps
    const std::uint8_t* (*code)(std::uint64_t) = nullptr; // where the bytes of an instruction can be read
    void (*gap)() = nullptr;   // tracing begins, or goes on: records that somebody needs may be missing
    void (*begin)() = nullptr; // nobody ran in steps until here: from here on they have to be told
};

class InstructionTrace {
  public:
    constexpr InstructionTrace() = default;

    void set_hooks(const StepHooks& hooks) { m_hooks = hooks; }

    [[nodiscard]] const StepHooks& hooks() const { return m_hooks; }

    // Whether this task runs in steps. Context: any. Cheap while nobody does.
    [[nodiscard]] bool wants(std::uint16_t context) const { return m_wanted != 0 && is_in(m_traced, context); }

    [[nodiscard]] bool in_use() const { return m_wanted != 0; }

    // What this task ran since its last step it ran freely: the next one comes from elsewhere.
    void resumes(std::uint16_t context) { put(m_new, context, true); }

    // Behind whatever may have cost records. Context: any.
    void tell_gap() const {
        if (m_hooks.gap != nullptr) {
            m_hooks.gap();
        }
    }

    // False: it is, or is not, already.
    bool add(std::uint16_t context, Grain grain);
    bool remove(std::uint16_t context);

    // Only instructions in [begin, end) leave records; 0, 0: all do.
    void set_range(std::uint64_t begin, std::uint64_t end);

    // Only while *flag is not 0; null: always. The flag is the application's, and must live as long as it is set here.
    void set_flag(const volatile int* flag) { m_flag = flag; }

    // The next instruction of this task, on this processor, lies there. recorded: the one before called the record
    // path, which has been done since. Returns wants(context).
    bool step(std::uint16_t context, std::uint64_t address, bool recorded = false);

  private:
    using Contexts = std::array<std::uint64_t, 0x1'0000 / 64>;

    static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

    [[nodiscard]] static bool is_in(const Contexts& contexts, std::uint16_t context) {
        return (contexts[context / 64] >> (context % 64) & 1) != 0;
    }

    static void put(Contexts& contexts, std::uint16_t context, bool in);

    [[nodiscard]] bool passes(std::uint64_t address) const {
        return address >= m_begin && address < m_end && (m_flag == nullptr || *m_flag != 0);
    }

    // From the instruction before, whose bytes these are, and which was the same task's. `resumed` if others must have
    // run in between.
    [[nodiscard]] static Flow flow(const std::uint8_t* code, std::uint64_t from, std::uint64_t to, bool recorded);

    // The task executes this instruction next.
    void visit(CpuSteps& steps, std::uint64_t address, Flow flow) const;
    void record(CpuSteps& steps, Flow flow) const;

    StepHooks m_hooks;
    Contexts m_traced{};
    Contexts m_in_blocks{}; // of the traced ones
    Contexts m_new{};       // of the traced ones: no step so far, or none since resumes()
    std::uint32_t m_wanted = 0;
    std::uint64_t m_begin = 0;
    std::uint64_t m_end = kNowhere;
    const volatile int* m_flag = nullptr;
};

} // namespace tracer
