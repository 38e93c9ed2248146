// SPDX-License-Identifier: MIT
// Decides for instruction-level tracing which tasks run in steps, and which record each step leaves. StepHooks put the
// processor into steps; step() gets the address of each instruction before it is executed.
//
//   instruction   par1 how the processor came there (Flow), par2 the address
//   block         par1 Flow and, in the low bits, the number of instructions since the last block; par2 the address
//
// Addresses are the low 32 bits: the image is below 4 GiB. Only instructions that pass the filters leave a record: the
// range, and the application's flag. The set of tasks in steps and the filters apply to all processors; the state of
// each processor is in its CpuTrace. Context: irq-off, unless stated otherwise.
#pragma once

#include "lib/wire_numbers.hpp"
#include "tracer/record/code_flow.hpp"
#include "tracer/record/cpu_trace.hpp"
#include "tracer/record/unit_words.hpp"

#include <array>
#include <cstdint>

namespace tracer {

using lib::Grain;

// A longer block is recorded in parts.
inline constexpr std::uint32_t kBlockInstructionsMax = (1U << kBlockFlowShift) - 1;

// States how the machine runs in steps; the composition root sets it.
struct StepHooks {
    std::uint16_t (*context)() = nullptr;                 // of the running task
    bool (*is_task)(std::uint16_t context) = nullptr;     // whether there is such a task
    void (*set)(bool on) = nullptr;                       // whether the running context continues in steps
    const std::uint8_t* (*code)(std::uint64_t) = nullptr; // where the bytes of an instruction can be read
    void (*gap)() = nullptr;                              // tracing begins or continues: earlier records may be missing
    void (*begin)() = nullptr;                            // the first task starts to run in steps
};

// Has a bit for each context, in three sets; all zeros at first.
struct SteppedTasks {
    using Contexts = std::array<std::uint64_t, 0x1'0000 / 64>;

    Contexts traced{};
    Contexts in_blocks{}; // of the traced ones
    Contexts fresh{};     // of the traced ones: no step so far, or none since resumes()
};

class InstructionTrace {
  public:
    // tasks: null if there is no memory for it; then no task is added.
    constexpr explicit InstructionTrace(SteppedTasks* tasks)
        : m_tasks(tasks) {}

    void set_hooks(const StepHooks& hooks) { m_hooks = hooks; }

    [[nodiscard]] const StepHooks& hooks() const { return m_hooks; }

    // Returns whether this task runs in steps, which is cheap while no task does. Context: any.
    [[nodiscard]] bool wants(std::uint16_t context) const { return m_wanted != 0 && is_in(m_tasks->traced, context); }

    [[nodiscard]] bool in_use() const { return m_wanted != 0; }

    // Notes that the task ran freely since its last step: its next step has the flow `resumed`. Precondition: in_use().
    void resumes(std::uint16_t context) { put(m_tasks->fresh, context, true); }

    // Must be called after anything that may have cost records. Context: any.
    void report_gap() const {
        if (m_hooks.gap != nullptr) {
            m_hooks.gap();
        }
    }

    // Return false if the task was in steps already, or was not; add() also if there is no memory for it.
    bool add(std::uint16_t context, Grain grain);
    bool remove(std::uint16_t context);

    // Lets only instructions in [begin, end) leave records; with 0, 0 all do.
    void set_range(std::uint64_t begin, std::uint64_t end);

    // Records only while *flag is not 0; with null always. The flag is the application's, and must remain valid while
    // it is set here.
    void set_flag(const volatile int* flag) { m_flag = flag; }

    // Takes the step to the instruction at `address`, the next one of this task on this processor; `recorded` states
    // that the previous one called the record path, which has completed since. Returns wants(context).
    bool step(std::uint16_t context, std::uint64_t address, bool recorded = false);

  private:
    using Contexts = SteppedTasks::Contexts;

    static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

    [[nodiscard]] static bool is_in(const Contexts& contexts, std::uint16_t context) {
        return (contexts[context / 64] >> (context % 64) & 1) != 0;
    }

    static void put(Contexts& contexts, std::uint16_t context, bool in);

    [[nodiscard]] bool passes(std::uint64_t address) const {
        return address >= m_begin && address < m_end && (m_flag == nullptr || *m_flag != 0);
    }

    // Returns the flow from the previous instruction of the same task, whose bytes these are: `resumed` if other code
    // must have run in between.
    [[nodiscard]] static Flow flow(const std::uint8_t* code, std::uint64_t from, std::uint64_t to, bool recorded);

    // Visit the instruction that the task executes next, and record it.
    void visit(CpuSteps& steps, std::uint64_t address, Flow flow) const;
    void record(CpuSteps& steps, Flow flow) const;

    StepHooks m_hooks;
    SteppedTasks* m_tasks;
    std::uint32_t m_wanted = 0;
    std::uint64_t m_begin = 0;
    std::uint64_t m_end = kNowhere;
    const volatile int* m_flag = nullptr;
};

} // namespace tracer
