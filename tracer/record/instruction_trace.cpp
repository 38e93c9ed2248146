// SPDX-License-Identifier: MIT
#include "tracer/record/instruction_trace.hpp"

#include "tracer/log.hpp"

namespace tracer {

void InstructionTrace::put(Contexts& contexts, std::uint16_t context, bool in) {
    const std::uint64_t bit = std::uint64_t{1} << (context % 64);
    std::uint64_t& word = contexts[context / 64];
    word = in ? word | bit : word & ~bit;
}

bool InstructionTrace::add(std::uint16_t context, Grain grain) {
    if (m_tasks == nullptr || is_in(m_tasks->traced, context)) {
        return false;
    }
    put(m_tasks->traced, context, true);
    put(m_tasks->fresh, context, true);
    put(m_tasks->in_blocks, context, grain == Grain::blocks);
    if (m_wanted == 0 && m_hooks.begin != nullptr) {
        m_hooks.begin();
    }
    ++m_wanted;
    log<"instruction_trace_begin">(context, static_cast<std::uint32_t>(grain));
    return true;
}

bool InstructionTrace::remove(std::uint16_t context) {
    if (!wants(context)) {
        return false;
    }
    put(m_tasks->traced, context, false);
    --m_wanted;
    log<"instruction_trace_end">(context, static_cast<std::uint32_t>(this_cpu().steps.taken));
    return true;
}

void InstructionTrace::set_range(std::uint64_t begin, std::uint64_t end) {
    m_begin = begin;
    m_end = begin == 0 && end == 0 ? kNowhere : end;
}

// The record path counts as one step together with the instruction that leads there: after a call the flow is as if no
// function had been called; after a jump (a tail call) its return is that of the calling function.
Flow InstructionTrace::flow(const std::uint8_t* code, std::uint64_t from, std::uint64_t to, bool recorded) {
    const Flow decoded = flow_of({code, kInstructionBytesMax}, from, to);
    if (recorded && (decoded == Flow::call || decoded == Flow::jump)) {
        return decoded == Flow::call ? Flow::next : Flow::ret;
    }
    const bool follows = to > from && to - from <= kInstructionBytesMax;
    return decoded == Flow::next && !follows ? Flow::resumed : decoded;
}

bool InstructionTrace::step(std::uint16_t context, std::uint64_t address, bool recorded) {
    if (!wants(context)) {
        return false;
    }
    CpuSteps& steps = this_cpu().steps;
    if (context != steps.context || is_in(m_tasks->fresh, context)) {
        ++steps.taken;
        put(m_tasks->fresh, context, false);
        steps.in_block = context != steps.context ? 0 : steps.in_block;
        steps.context = context;
        visit(steps, address, Flow::resumed);
        return true;
    }
    const std::uint8_t* code = m_hooks.code(steps.address);
    if (address == steps.address && is_repeated({code, kInstructionBytesMax})) {
        return true; // still the same instruction, at its next item
    }
    ++steps.taken;
    if (delays_step(*code) && address != steps.address + 1) {
        visit(steps, steps.address + 1, Flow::next); // executed without a step of its own
        ++code;
    }
    visit(steps, address, flow(code, steps.address, address, recorded));
    return true;
}

void InstructionTrace::visit(CpuSteps& steps, std::uint64_t address, Flow flow) const {
    steps.address = address;
    if (passes(address)) {
        record(steps, flow);
    }
}

void InstructionTrace::record(CpuSteps& steps, Flow flow) const {
    const auto low = static_cast<std::uint32_t>(steps.address);
    if (!is_in(m_tasks->in_blocks, steps.context)) {
        log<"instruction">(static_cast<std::uint16_t>(flow), low);
        return;
    }
    if (flow != Flow::next || steps.in_block == kBlockInstructionsMax) {
        log<"block">(static_cast<std::uint16_t>(static_cast<unsigned>(flow) << kBlockFlowShift | steps.in_block), low);
        steps.in_block = 0;
    }
    ++steps.in_block;
}

} // namespace tracer
